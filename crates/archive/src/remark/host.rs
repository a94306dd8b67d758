//! What the machine did, and how much of it is known.

macro_rules! host {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Processor time went to other guests of the hypervisor.
TimeStolen { stolen_pct: f64 } => "the hypervisor took {stolen_pct:.0} % of the processors";
/// Other programs were at work.
Crowded { others_pct: f64 } =>
    "other programs than the database and the driver took {others_pct:.0} % of the processors: as much may be missing from the figures; measure again when they rest";
/// Other programs used the device.
DeviceShared { read_mb_per_s: f64, written_mb_per_s: f64, others_pct: f64 } =>
    "other programs than the database and the driver read {read_mb_per_s:.1} MB/s from the device and wrote {written_mb_per_s:.1} MB/s to it, {others_pct:.0} % of all that it did: the database waited behind them; measure again when they rest";
/// Nobody knows who used the processors.
OwnersUnknown { why: String } => "whose the processor time was is not known: {why}";
/// Nobody knows how much of the device's work was others'.
OthersIoUnknown { why: String } => "what others read and wrote on the device is not known: {why}";
/// Nothing is known of the target's machine.
MachineUnknown { why: String } => "{why}";
/// A sampler on another machine gave out.
RemoteUnknown { address: String, why: String } => "the figures of {address} are unknown: {why}";
/// Where the figures come from, and what that costs in percent of one processor.
SampledRemotely { address: String, cost_pct: Option<f64> } =>
    "CPU and IOPS are those of {address}, sampled through ssh, {cost}", cost = words::remote_cost(*cost_pct);
/// The target's data lie on no device.
NoDevice => "the target has no block device whose reads and writes could be counted";
/// The kernel does not count the device.
DeviceUncounted { device: String } => "/proc/diskstats does not show the target's device {device}";
/// … on another machine.
RemoteDeviceUncounted { address: String, device: String } =>
    "/proc/diskstats of {address} does not show its device {device}";
/// The device under the data could not be found.
DeviceUnknown { why: String } => "{why}";
/// Nobody can tell where a cold read came from.
ReadsUncounted => "whether the reads reached the device cannot be told: its counters are not known";
/// What was meant to be read from the device came from a cache.
ServedFromCache { read_mb: f64, expected_mb: f64 } =>
    "served from cache: meant to reach the device, which read {read_mb:.1} MB of at least {expected_mb:.1} MB";
/// What was meant to be in memory was not.
NotFromMemory { read_mb: f64 } =>
    "not from memory: meant to stay in the cache, but the device read {read_mb:.1} MB";
/// A test that only reads saw writes.
WrittenMeanwhile { written_mb: f64 } =>
    "the device wrote {written_mb:.0} MB though the test only reads: marks that the engine leaves on rows it reads, what did not fit into its memory, a checkpoint of what was loaded before, or other programs";
/// Since when the server runs, by its own clock.
RunsSince { since: String } => "the server runs since {since}";
/// A restart between this point and the one before it.
Restarted { before: String } =>
    "the server was restarted since the point before this one, when it ran since {before}";

    } };
}
