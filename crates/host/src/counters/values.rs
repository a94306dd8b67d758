//! What the counters of a machine are.

use archive::Traffic;

/// Processor time of the whole host, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// User mode with nice; time of guests is in it already.
    pub user: u64,
    /// Kernel with hard and soft interrupts.
    pub system: u64,
    /// Hard and soft interrupts, which are in the kernel's time already.
    pub interrupts: u64,
    pub idle: u64,
    /// Nothing to do but wait for I/O.
    pub iowait: u64,
    /// Ready to run while the hypervisor ran somebody else.
    pub steal: u64,
}

/// One block device. A sector is 512 bytes whatever the device's own block size is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskCounters {
    pub reads: u64,
    pub read_sectors: u64,
    /// Sum of the times of all reads; the kernel lets it wrap at 32 bits.
    pub read_ms: u64,
    pub writes: u64,
    pub write_sectors: u64,
    /// Sum of the times of all writes; the kernel lets it wrap at 32 bits.
    pub write_ms: u64,
    /// Time with at least one request; the kernel lets it wrap at 32 bits.
    pub busy_ms: u64,
    /// Time weighted with the number of requests; the kernel lets it wrap at 32 bits.
    pub weighted_ms: u64,
}

/// Devices that are counted at a time.
pub const DEVICES_MAX: usize = 8;

/// The counters of some devices, in the order in which they were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Disks {
    each: [Option<DiskCounters>; DEVICES_MAX],
    /// Those whose requests are added up; the others lie below or above them and do the same ones.
    is_summed: [bool; DEVICES_MAX],
}

impl Disks {
    /// Of these devices, each with whether it is added up; more than [`DEVICES_MAX`] are left out.
    pub fn of(devices: impl IntoIterator<Item = (Option<DiskCounters>, bool)>) -> Self {
        let mut disks = Self::default();
        let places = disks.each.iter_mut().zip(&mut disks.is_summed);
        for ((each, is_summed), device) in places.zip(devices) {
            (*each, *is_summed) = device;
        }
        disks
    }

    pub fn one(counters: DiskCounters) -> Self {
        Self::of([(Some(counters), true)])
    }

    /// The counters of a device, `None` where it is not counted.
    pub fn get(&self, place: usize) -> Option<&DiskCounters> {
        self.each.get(place)?.as_ref()
    }

    /// Those that are added up.
    pub(crate) fn summed(&self) -> impl Iterator<Item = Option<&DiskCounters>> {
        let places = self.each.iter().zip(&self.is_summed);
        places.filter_map(|(each, is_summed)| is_summed.then_some(each.as_ref()))
    }
}

/// All counted network interfaces together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// Bytes received and sent.
    pub bytes: u64,
    /// Errors and drops, received and sent.
    pub errors: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct InterfaceCounters {
    pub name: String,
    pub received: Traffic,
    pub sent: Traffic,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryBytes {
    pub total: u64,
    /// What programs could still have without swapping.
    pub available: u64,
}

/// Page faults that needed a device, and swap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PagingCounters {
    /// Major faults of the whole host.
    pub major_faults: Option<u64>,
    pub swap_in_bytes: Option<u64>,
    pub swap_out_bytes: Option<u64>,
}

/// Time in which some task waited (PSI "some"), in µs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PressureUs {
    pub cpu: Option<u64>,
    pub memory: Option<u64>,
    pub io: Option<u64>,
}

/// All counters at one moment. What could not be read is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// When, on the monotonic clock.
    pub at_ns: u64,
    pub cpu: Option<CpuTicks>,
    pub disks: Disks,
    pub network: Option<NetworkCounters>,
    pub tcp_retransmits: Option<u64>,
    pub tcp_sockets: Option<u64>,
    pub memory: Option<MemoryBytes>,
    pub page_cache_bytes: Option<u64>,
    pub paging: PagingCounters,
    pub pressure_us: PressureUs,
    /// Processor time of this process, from its own clock: `/proc/self/stat` counts only ticks.
    pub process_cpu_ns: Option<u64>,
    /// Resident memory of this process.
    pub process_rss_bytes: Option<u64>,
}
