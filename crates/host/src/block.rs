//! Distributions of the times of a block device's requests: whole, in the queue and in the device, for each operation
//! and class of sizes.
//!
//! A small program in the kernel (BPF, assembled here, without a tool chain) counts completed requests. That needs
//! the right to load one (root, or CAP_BPF and CAP_PERFMON) and a kernel that describes its own types (Linux 5.17 or
//! newer with BTF). Requests are those that the kernel sends to the device: merged and split, they are not the reads
//! and writes of a program. Devices that are built of others (dm, md) have none: watch the devices below.

mod assembly;
mod btf;
mod buckets;
mod kernel;
mod program;
mod requests;
mod times;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use kernel::{PerCpuArray, Program};
use program::{CLASSES, OPERATIONS, Offsets, SIZES, TIMES, VALUES};

pub use crate::counters::DEVICES_MAX;
pub(crate) use requests::WindowRequests;
pub use requests::{RequestLog, RequestMark};
pub use times::{DeviceTimes, Operation, Phase, Times};

const NUMBERS_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    #[error(
        "timing block-device requests needs the right to load an eBPF program; run as root, or with CAP_BPF and CAP_PERFMON"
    )]
    NotAllowed,
    /// The kernel is too old, or was built without a description of its types.
    #[error("block-device requests cannot be timed on this kernel: {0}")]
    Kernel(String),
    #[error("{0}")]
    Device(String),
    #[error("block-device requests cannot be timed: {doing} failed ({reason})")]
    System {
        doing: &'static str,
        reason: io::Error,
    },
}

#[derive(Debug)]
pub struct BlockWatch {
    devices: Vec<String>,
    map: PerCpuArray,
    program: Program,
    /// The program runs as long as this is open.
    _attached: OwnedFd,
}

impl BlockWatch {
    /// Starts counting the requests of devices by their kernel names, such as `vda`. Fails without the right, on an
    /// unsuitable kernel, or for a device that does not exist.
    pub fn open(devices: &[&str]) -> Result<Self, BlockError> {
        if devices.is_empty() || devices.len() > DEVICES_MAX {
            return Err(BlockError::Device(format!(
                "one to {DEVICES_MAX} block devices can be watched at a time, not {}",
                devices.len()
            )));
        }
        let numbers: Result<Vec<_>, _> = devices.iter().map(|name| numbers_of(name)).collect();
        let numbers = numbers?;
        let offsets = offsets()?;
        let entries = devices.len() * OPERATIONS * CLASSES;
        let map = PerCpuArray::new(entries, TIMES * VALUES).map_err(refused("making a map"))?;
        let text = program::program(&offsets, &numbers, map.number()).ok_or_else(|| {
            BlockError::Kernel("its request structures are larger than the program may copy".into())
        })?;
        let program = Program::load(&text).map_err(|(error, said)| {
            if said.is_empty() {
                refused("loading the program")(error)
            } else {
                BlockError::Kernel(format!("it rejected the program: {said}"))
            }
        })?;
        let attached = program
            .attach(c"block_rq_complete")
            .map_err(refused("attaching the program"))?;
        Ok(Self {
            devices: devices.iter().map(|&name| name.to_owned()).collect(),
            map,
            program,
            _attached: attached,
        })
    }

    /// The counts so far of each device; subtract two readings for the requests between them.
    pub fn read(&self) -> Result<Vec<DeviceTimes>, BlockError> {
        let mut buffer = Vec::new();
        let mut of_device = |(slot, name): (usize, &String)| {
            let mut times = DeviceTimes::empty(name);
            for (index, values) in times.entries_mut().enumerate() {
                let entry = (slot * OPERATIONS * CLASSES + index) as u32;
                let added = self.map.add_up(entry, values, &mut buffer);
                added.map_err(refused("reading the counts"))?;
            }
            Ok(times)
        };
        self.devices
            .iter()
            .enumerate()
            .map(&mut of_device)
            .collect()
    }

    /// Runs of the program during `during`, and their mean time in ns.
    pub fn cost_ns(&self, during: impl FnOnce()) -> Result<(u64, f64), BlockError> {
        let counting = kernel::count_runs().map_err(refused("counting the runs"))?;
        let runs = || self.program.runs().map_err(refused("reading the runs"));
        let (runs_before, ns_before) = runs()?;
        during();
        let (runs, ns) = runs()?;
        drop(counting);
        let runs = runs - runs_before;
        Ok((runs, (ns - ns_before) as f64 / runs.max(1) as f64))
    }
}

fn refused(doing: &'static str) -> impl Fn(io::Error) -> BlockError {
    move |reason| match reason.kind() {
        io::ErrorKind::PermissionDenied => BlockError::NotAllowed,
        _ => BlockError::System { doing, reason },
    }
}

fn offsets() -> Result<Offsets, BlockError> {
    let members = [
        ("request", "start_time_ns"),
        ("request", "io_start_time_ns"),
        ("request", "cmd_flags"),
        ("request", "part"),
        ("block_device", "bd_dev"),
    ];
    let found = btf::offsets(Path::new("/sys/kernel/btf/vmlinux"), members);
    let [start_ns, issue_ns, flags, part, device] = found.map_err(BlockError::Kernel)?;
    Ok(Offsets {
        start_ns,
        issue_ns,
        flags,
        part,
        device,
    })
}

/// The numbers of a device and of its partitions, in the kernel's encoding.
fn numbers_of(name: &str) -> Result<Vec<u32>, BlockError> {
    let unknown =
        || BlockError::Device(format!("there is no block device \"{name}\" in /sys/block"));
    if name.contains('/') {
        return Err(unknown());
    }
    let folder = Path::new("/sys/block").join(name);
    // The paths of an NVMe multipath exist without a number.
    let unnumbered = || {
        if folder.exists() {
            BlockError::Device(format!(
                "the kernel shows no number of the block device \"{name}\""
            ))
        } else {
            unknown()
        }
    };
    let mut numbers = vec![number(&folder).ok_or_else(unnumbered)?];
    for entry in std::fs::read_dir(&folder).map_err(|_| unknown())?.flatten() {
        if entry.path().join("partition").exists() && numbers.len() < NUMBERS_MAX {
            numbers.extend(number(&entry.path()));
        }
    }
    Ok(numbers)
}

fn number(folder: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    Some(major << 20 | minor)
}
