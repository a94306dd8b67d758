//! Values of the kernel's counters at one moment.

use archive::Traffic;

/// Processor time of the whole host, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// User mode with nice; includes the time of guests.
    pub user: u64,
    pub system: u64,
    /// Hard and soft interrupts; included in `system`.
    pub interrupts: u64,
    pub idle: u64,
    pub iowait: u64,
    /// Ready to run while the hypervisor ran another machine.
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

pub const DEVICES_MAX: usize = 8;

/// The counters of some devices, in the order requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Disks {
    each: [Option<DiskCounters>; DEVICES_MAX],
    /// True for devices whose requests are added up; the others are below or above them and handle the same requests.
    is_summed: [bool; DEVICES_MAX],
}

impl Disks {
    /// Counters of these devices, each with true if it is added up; those after the first [`DEVICES_MAX`] are left
    /// out.
    pub fn of(devices: impl IntoIterator<Item = (Option<DiskCounters>, bool)>) -> Self {
        let mut disks = Self::default();
        let slots = disks.each.iter_mut().zip(&mut disks.is_summed);
        for ((each, is_summed), device) in slots.zip(devices) {
            (*each, *is_summed) = device;
        }
        disks
    }

    pub fn one(counters: DiskCounters) -> Self {
        Self::of([(Some(counters), true)])
    }

    pub fn get(&self, index: usize) -> Option<&DiskCounters> {
        self.each.get(index)?.as_ref()
    }

    pub(crate) fn summed(&self) -> impl Iterator<Item = Option<&DiskCounters>> {
        let slots = self.each.iter().zip(&self.is_summed);
        slots.filter_map(|(each, is_summed)| is_summed.then_some(each.as_ref()))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    pub bytes: u64,
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
    /// Memory that programs can still allocate without swapping.
    pub available: u64,
}

/// Page faults that needed a device, and swap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PagingCounters {
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

/// All counters at one moment. Counters that could not be read are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
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
    pub process_rss_bytes: Option<u64>,
}
