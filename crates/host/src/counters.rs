//! One snapshot of the kernel's counters, cheap enough to be taken every second.
//!
//! The files stay open and are read again from their start into one buffer.

pub(crate) mod parse;
mod values;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::clock::{monotonic_ns, process_cpu_ns};

pub use values::{
    Counters, CpuTicks, DiskCounters, MemoryBytes, NetworkCounters, PagingCounters, PressureUs,
};

/// Longest counter file that is read; a host with ten thousand block devices stays below.
const FILE_BYTES_MAX: usize = 1 << 20;

/// The part of `/proc/stat` that is read: its first line is all that is needed.
const STAT_BYTES_MAX: usize = 4096;

/// The counter files of one machine, held open.
#[derive(Debug)]
pub struct Reader {
    stat: Option<File>,
    diskstats: Option<File>,
    device: Option<String>,
    net_dev: Option<File>,
    interfaces: Vec<String>,
    snmp: Option<File>,
    meminfo: Option<File>,
    vmstat: Option<File>,
    pressure: [Option<File>; 3],
    statm: Option<File>,
    page_bytes: u64,
    buffer: Vec<u8>,
}

impl Reader {
    /// Opens the files below `root` (`/` but in tests), with the block device to be counted.
    pub fn open(root: &Path, device: Option<&str>) -> Self {
        let open = |name: &str| File::open(root.join("proc").join(name)).ok();
        Self {
            stat: open("stat"),
            diskstats: device.and_then(|_| open("diskstats")),
            device: device.map(str::to_owned),
            net_dev: open("net/dev"),
            interfaces: physical_interfaces(root),
            snmp: open("net/snmp"),
            meminfo: open("meminfo"),
            vmstat: open("vmstat"),
            pressure: ["cpu", "memory", "io"].map(|name| open(&format!("pressure/{name}"))),
            statm: open("self/statm"),
            page_bytes: page_bytes(),
            buffer: vec![0; FILE_BYTES_MAX],
        }
    }

    /// Reads everything now.
    pub fn snapshot(&mut self) -> Counters {
        let (buffer, page_bytes) = (&mut self.buffer, self.page_bytes);
        let at_ns = monotonic_ns();
        let process_cpu_ns = Some(process_cpu_ns());
        let cpu = read(&self.stat, &mut buffer[..STAT_BYTES_MAX]).and_then(parse::cpu);
        let disk = self
            .device
            .as_deref()
            .and_then(|device| parse::disk(read(&self.diskstats, buffer)?, device.as_bytes()));
        let interfaces = &self.interfaces;
        let network = read(&self.net_dev, buffer)
            .and_then(|text| parse::network(text, |name| is_counted(interfaces, name)));
        let tcp_retransmits = read(&self.snmp, buffer).and_then(parse::tcp_retransmits);
        let memory = read(&self.meminfo, buffer).and_then(parse::memory);
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
            disk,
            network,
            tcp_retransmits,
            memory,
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

/// Reads a file from its start as far as the buffer goes. A counter file hands out a page at a
/// time, so a short read is not its end.
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

/// Interfaces with a device behind them. Bridges, bonds and VLANs carry the same bytes once more
/// and must not count beside them.
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

/// Where no interface has a device (in a container), all count but loopback.
pub(crate) fn is_counted(physical: &[String], name: &[u8]) -> bool {
    if physical.is_empty() {
        return name != b"lo";
    }
    physical.iter().any(|known| known.as_bytes() == name)
}

fn page_bytes() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}
