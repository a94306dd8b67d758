//! One snapshot of the kernel's counters, cheap enough to be taken every second: the files stay open and are read
//! again from their start into one buffer.

pub(crate) mod parse;
mod values;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::clock::{monotonic_ns, process_cpu_ns};

pub(crate) use values::InterfaceCounters;
pub use values::{
    Counters, CpuTicks, DEVICES_MAX, DiskCounters, Disks, MemoryBytes, NetworkCounters,
    PagingCounters, PressureUs,
};

/// Longest counter file that is read; a host with ten thousand block devices stays below.
const FILE_BYTES_MAX: usize = 1 << 20;

/// A sector of `/proc/diskstats`, whatever the device's own block size is.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// Bytes of `/proc/stat` that are read: only its first line is needed.
const STAT_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub struct Reader {
    stat: Option<File>,
    diskstats: Option<File>,
    /// Names, and true for devices that are added up.
    devices: Vec<(String, bool)>,
    net_dev: Option<File>,
    interfaces: Vec<String>,
    snmp: Option<File>,
    sockstat: Option<File>,
    meminfo: Option<File>,
    vmstat: Option<File>,
    pressure: [Option<File>; 3],
    statm: Option<File>,
    page_bytes: u64,
    buffer: Vec<u8>,
}

impl Reader {
    /// Opens the files below `root` (`/` except in tests), with the block device to be counted.
    pub fn open(root: &Path, device: Option<&str>) -> Self {
        let devices = device.map(|name| (name.to_owned(), true));
        Self::with_devices(root, devices.into_iter().collect())
    }

    /// Opens the files with several block devices; the flag is true for those that are added up.
    pub(crate) fn with_devices(root: &Path, devices: Vec<(String, bool)>) -> Self {
        let open = |name: &str| File::open(root.join("proc").join(name)).ok();
        Self {
            stat: open("stat"),
            diskstats: (!devices.is_empty()).then(|| open("diskstats")).flatten(),
            devices,
            net_dev: open("net/dev"),
            interfaces: physical_interfaces(root),
            snmp: open("net/snmp"),
            sockstat: open("net/sockstat"),
            meminfo: open("meminfo"),
            vmstat: open("vmstat"),
            pressure: ["cpu", "memory", "io"].map(|name| open(&format!("pressure/{name}"))),
            statm: open("self/statm"),
            page_bytes: rustix::param::page_size() as u64,
            buffer: vec![0; FILE_BYTES_MAX],
        }
    }

    pub fn snapshot(&mut self) -> Counters {
        let (buffer, page_bytes) = (&mut self.buffer, self.page_bytes);
        let at_ns = monotonic_ns();
        let process_cpu_ns = Some(process_cpu_ns());
        let cpu = read(&self.stat, &mut buffer[..STAT_BYTES_MAX]).and_then(parse::cpu);
        let disks = disks(&self.devices, read(&self.diskstats, buffer));
        let interfaces = &self.interfaces;
        let network = read(&self.net_dev, buffer)
            .and_then(|text| parse::network(text, |name| is_counted(interfaces, name)));
        let tcp_retransmits = read(&self.snmp, buffer).and_then(parse::tcp_retransmits);
        let tcp_sockets = read(&self.sockstat, buffer).and_then(parse::tcp_sockets);
        let (memory, page_cache_bytes) = read(&self.meminfo, buffer)
            .map(|text| (parse::memory(text), parse::page_cache_bytes(text)))
            .unwrap_or_default();
        let paging = read(&self.vmstat, buffer)
            .map(|text| parse::paging(text, page_bytes))
            .unwrap_or_default();
        let [cpu_us, memory_us, io_us] = self
            .pressure
            .each_ref()
            .map(|file| read(file, buffer).and_then(parse::pressure_us));
        let process_rss_bytes =
            read(&self.statm, buffer).and_then(|text| parse::resident_bytes(text, page_bytes));
        Counters {
            at_ns,
            cpu,
            disks,
            network,
            tcp_retransmits,
            tcp_sockets,
            memory,
            page_cache_bytes,
            paging,
            pressure_us: PressureUs {
                cpu: cpu_us,
                memory: memory_us,
                io: io_us,
            },
            process_cpu_ns,
            process_rss_bytes,
        }
    }
}

impl Reader {
    /// Reads the network interfaces one by one, for the start or the end of a window; empty if they cannot be read.
    pub(crate) fn interfaces(&mut self) -> Vec<InterfaceCounters> {
        let text = read(&self.net_dev, &mut self.buffer);
        text.map(parse::interfaces).unwrap_or_default()
    }

    /// Bytes read so far by the devices that are added up; `None` if one of them is not counted, or there is none.
    pub(crate) fn device_read_bytes(&mut self) -> Option<u64> {
        let disks = disks(&self.devices, read(&self.diskstats, &mut self.buffer));
        let bytes = disks
            .summed()
            .map(|disk| Some(disk?.read_sectors * SECTOR_BYTES));
        bytes.reduce(|sum, each| Some(sum? + each?)).flatten()
    }

    pub(crate) fn physical_interfaces(&self) -> &[String] {
        &self.interfaces
    }
}

pub(crate) fn disks(devices: &[(String, bool)], diskstats: Option<&[u8]>) -> Disks {
    Disks::of(devices.iter().map(|(name, is_summed)| {
        let counters = diskstats.and_then(|text| parse::disk(text, name.as_bytes()));
        (counters, *is_summed)
    }))
}

/// Reads a file from its start up to the size of the buffer. A counter file returns a page at a time, so a short read
/// is not its end.
fn read<'a>(file: &Option<File>, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let file = file.as_ref()?;
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(&buffer[..length])
}

/// Interfaces with a device. Bridges, bonds and VLANs carry the same bytes once more and must not count as well.
pub(crate) fn physical_interfaces(root: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.join("sys/class/net")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.path().join("device").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// If no interface has a device (in a container), all count except loopback.
pub(crate) fn is_counted(physical: &[String], name: &[u8]) -> bool {
    if physical.is_empty() {
        return name != b"lo";
    }
    physical.iter().any(|known| known.as_bytes() == name)
}
