//! The machine, and the limits of its measurement.

macro_rules! host {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// CPU time went to other guests of the hypervisor.
TimeStolen { stolen_pct: f64 } => "the hypervisor took {stolen_pct:.0} % of the CPU time (steal)";
/// The processors ran at another frequency at the end than at the start.
FrequencyMoved { from_mhz: f64, to_mhz: f64 } =>
    "the frequency of the processors moved from {from_mhz:.0} to {to_mhz:.0} MHz during the measurement: fix it, or measure longer";
/// The processors were throttled.
Throttled { times: u64, hottest_c: Option<f64> } =>
    "the processors were throttled {times} times during the measurement, for heat{hottest}", hottest = words::heat(*hottest_c);
/// Reading the clock takes long.
SlowClock { source: String, read_ns: f64 } =>
    "reading the clock ({source}) takes {read_ns:.0} ns, which each operation pays at least twice: let the kernel use the \
     processor's own (tsc) if it can";
/// Other programs used the CPUs.
Crowded { others_pct: f64 } =>
    "programs other than the database and the driver used {others_pct:.0} % of the CPUs: the results may be too low by as much; \
     measure again when these programs are idle";
/// Other programs used the device.
DeviceShared { read_mb_per_s: f64, written_mb_per_s: f64, others_pct: f64 } =>
    "programs other than the database and the driver read {read_mb_per_s:.1} MB/s from the device and wrote \
     {written_mb_per_s:.1} MB/s to it, {others_pct:.0} % of its traffic: the database had to wait for them; measure again when \
     these programs are idle";
/// It is unknown which programs used the CPUs.
OwnersUnknown { why: String } => "CPU time could not be attributed: {why}";
/// It is unknown how much of the device's I/O came from other programs.
OthersIoUnknown { why: String } => "I/O of other programs is unknown: {why}";
/// Nothing is known about the target's machine.
MachineUnknown { why: String } => "{why}";
/// The sampler on another machine failed.
RemoteUnknown { address: String, why: String } => "the figures of {address} are unknown: {why}";
/// Where the figures come from, and what that costs in percent of one CPU.
SampledRemotely { address: String, cost_pct: Option<f64> } =>
    "CPU and IOPS are those of {address}, sampled through ssh, {cost}", cost = words::remote_cost(*cost_pct);
/// The target's data are not on a block device.
NoDevice => "the target has no block device, so its device reads and writes cannot be counted";
/// The kernel does not count the device.
DeviceUncounted { device: String } => "/proc/diskstats does not list the target's device {device}";
/// … on another machine.
RemoteDeviceUncounted { address: String, device: String } =>
    "/proc/diskstats of {address} does not list its device {device}";
/// A device of the target went away while the point was measured.
DeviceGone { device: String } =>
    "device {device} was there when the point began and is not any more: what it did is unknown";
/// The device under the data could not be found.
DeviceUnknown { why: String } => "{why}";
/// It is unknown whether cold reads came from the device.
ReadsUncounted => "whether the reads reached the device is unknown: its counters are not available";
/// Reads that should have reached the device came from a cache.
ServedFromCache { read_mb: f64, expected_mb: f64 } =>
    "served from cache: the reads should reach the device, but it read {read_mb:.1} MB instead of at least {expected_mb:.1} MB";
/// Data that should have been in memory were not.
NotFromMemory { read_mb: f64 } =>
    "not from memory: the data should be in the cache, but the device read {read_mb:.1} MB";
/// The device wrote during a test that only reads.
WrittenMeanwhile { written_mb: f64 } =>
    "the device wrote {written_mb:.0} MB although the test only reads; possible causes: hint bits that the engine sets on rows \
     it reads, temporary data that did not fit into its memory, a checkpoint of rows loaded before, or other programs";
/// Start of the server, by its own clock.
RunsSince { since: String } => "the server has been running since {since}";
/// A resumed run whose data were in a throw-away server, or in tables of one side alone.
LoadedAfterInterruption =>
    "the run was interrupted and what it had loaded was gone, so the data were loaded again before this point";
/// A restart between this point and the one before it.
Restarted { before: String } =>
    "the server was restarted since the point before this one, when it ran since {before}";

    } };
}
