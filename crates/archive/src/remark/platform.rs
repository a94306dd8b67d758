//! The platform, I/Os below a database, backups, observations, studies, and the archive itself.

macro_rules! platform {
    ($($before:tt)*) => { catalogue! { $($before)*

// The machine, and the limits of its measurement.

/// CPU time went to other guests of the hypervisor.
TimeStolen { stolen_pct: f64 } => "the hypervisor took {stolen_pct:.0} % of the CPU time (steal)";
/// The processors ran at another frequency at the end than at the start.
FrequencyMoved { from_mhz: f64, to_mhz: f64 } =>
    "the CPU frequency moved from {from_mhz:.0} to {to_mhz:.0} MHz during the measurement: fix it, or measure longer";
/// The processors were throttled.
Throttled { times: u64, hottest_c: Option<f64> } =>
    "the CPUs were throttled {times} times during the measurement, for heat{hottest}", hottest = words::heat(*hottest_c);
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
WrittenDuringReads { written_mb: f64 } =>
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

// I/Os below the database.

/// An I/O failed, or a block did not hold what it should.
IoFault { fault: String } => "{fault}";
/// Written data could not be flushed to the device at the end.
NotWrittenBack { error: String } => "{error}";
/// The I/O engine could not start or continue.
StorageFailed { error: String } => "{error}";
/// No I/O was done.
NoIo => "no I/O was done in the measured time";
/// A run was cut short.
RunStopped => "the run was stopped early";
/// I/Os are done by blocking threads.
BlockingThreads { why: String } => "blocking threads instead of io_uring: {why}";
/// I/Os that were not started in time.
IosNotBegun { ios: u64, oldest_s: f64 } =>
    "{ios} I/Os were due but not started at the end, the oldest for {oldest_s:.3} s; the response times do not include them";
/// A run ended before its warm-up did, or in the first interval of one without.
EndedInWarmup { elapsed_s: f64 } =>
    "the run ended after {elapsed_s:.3} s, before its warm-up or first interval did: its figures are of all of it";
/// More than the requested rate: what became due in the warm-up was done after it.
AboveRate { done_per_s: f64, requested_per_s: f64 } =>
    "{times:.2} times the requested rate of {requested_per_s:.1}/s, because a backlog of the warm-up was done in the measured \
     time; set a longer warmup=",
    times = done_per_s / requested_per_s;
/// Others had a large share of the device; `unit` is requests or MB.
DeviceCrowded { unit: String, own: f64, all: f64 } =>
    "others had {pct:.0} % of the device's {unit} in the measured time ({all:.0} {unit}, of which {own:.0} were this test's): \
     its figures are those of a shared device",
    pct = (all - own) / all * 100.0;
/// I/Os that the device knows nothing of.
NotAtDevice { operations: String, ios: u64, requests: f64 } =>
    "{ios} {operations} of the test were {requests:.0} requests at the device: most were holes of the file, or stayed in the page \
     cache, and their times are not those of a device";
/// State of the journal that an earlier execution left.
JournalRecovered { sd: String, proven: u64, corrupted: u64, unread: u64, pending: PendingWrites } =>
    "journal of SD {sd} recovered: {proven} blocks verified, {corrupted} corrupted{rest}", rest = words::recovered(*unread, pending);
/// Too few rounds to say whether they are steady; `role` says whether this run decides for itself (alone), for all of a
/// matrix, or whether others do.
TooFewRounds { run: String, role: RoundsRole, rounds: u64, rounds_min: u64 } =>
    "{text}", text = words::rounds((run, *role), (*rounds, *rounds_min), "", None);
/// Steadiness of the last rounds.
RoundsJudged { run: String, role: RoundsRole, rounds: u64, unit: String, steady: bool, window: RoundsWindow } =>
    "{text}", text = words::rounds((run, *role), (*rounds, window.rounds), unit, Some((*steady, window)));
/// The value of each round.
RoundValues { run: Option<String>, unit: String, values: Vec<f64> } =>
    "{of}rounds, {unit}: {list}", of = words::of_run(run), list = words::round_values(values);
/// A search was stopped in this measurement.
SearchBrokenOff => "the search was stopped in this measurement";
/// Too few I/Os for a percentile, whatever the rate.
TooFewIos { percentile: f64, ios_min: u64, lowest_per_s: f64, reached_per_s: f64 } =>
    "p{percentile} cannot be judged: it needs {ios_min} I/Os ({lowest_per_s:.1}/s) in the measured time, and at most \
     {reached_per_s:.1}/s were reached; set a longer elapsed=";
/// Too few I/Os for a percentile at a rate.
TooFewIosAt { percentile: f64, rate_per_s: f64, ios: u64, ios_min: u64 } =>
    "p{percentile} cannot be judged at {rate_per_s:.1}/s: {ios} I/Os were done and {ios_min} are needed; set a longer elapsed=";
/// The driver's own machine delayed I/Os.
MachineLate { objective: String, rate_per_s: f64, late: u64, ios: u64, times: u64 } =>
    "{objective} cannot be judged at {rate_per_s:.1}/s: this machine was itself more than 1 ms late, which delayed {late} of \
     {ios} I/Os, {times} times in a row; measure when nothing else runs on it";
/// Measurements at either end of the bracket of a search.
BracketMeasured { percentile: f64, ends: Vec<BracketEnd> } => "p{percentile}: {list}", list = words::bracket_ends(ends);
/// A rule of a parameter file left out runs of its list.
LeftOutByRule { rule: String } => "{rule}";

/// The data are on another machine.
DataElsewhere => "its data are on another machine, where dbdyno cannot write a file";
/// The target does not report where its data are.
DataPlaceUnknown { why: String } => "{why}";
/// No directory for a file on the data's device.
NoFolderOnDevice { folder: String } =>
    "no file can be placed on the device of {folder}: the parent directory is on another device";
/// The data are in no directory.
NoFolderAbove => "the target's data directory has no parent directory";
/// No file can be written there with direct I/O.
NoDirectFile { folder: String, error: String } =>
    "no file can be written past the page cache next to the target's data in {folder}: {error}";

// Backups, their restores, and the proofs of both.

/// The engine has no backup methods here, and why.
NoBackup { why: String } => "{why}";
/// A method that the engine does not have, with those that it has.
BackupMethodUnknown { method: String, methods: String } => "there is no backup method {method}; the methods here are {methods}";
/// Something is missing that a method needs, and how to get it.
BackupMethodLacks { method: String, why: String } => "{why}";
/// The directory for repositories is inside the data that are backed up.
RepositoryInsideData { repository: String, data: String } =>
    "the directory {repository} for the backup lies inside the data {data}, so that a loss of the data would be a loss of the backup; \
     choose another with repository";
/// The backup and its restored copy do not fit, known before any of it is written.
BackupNoRoom { method: String, repository: String, backup_bytes: u64, archive_bytes: u64, restored_bytes: u64, need_bytes: u64,
    free_bytes: u64 } =>
    "{method} needs up to {need} in {repository} (backup {backup}, archived log {archive}, restored copy {restored}), and only {free} are \
     free; free some space, or choose another directory with repository",
    need = stats::words::bytes(*need_bytes), backup = stats::words::bytes(*backup_bytes), archive = stats::words::bytes(*archive_bytes),
    restored = stats::words::bytes(*restored_bytes), free = stats::words::bytes(*free_bytes);
/// How a backup is made.
BackupMade { method: String, how: String, repository: String } => "{method}: {how}; repository in {repository}";
/// Directories of backups whose runs were killed, and which are gone.
BackupLeftRemoved { directories: Vec<String> } => "removed directories that killed runs had left: {list}", list = directories.join(", ");
/// The backup failed.
BackupFailed { error: String } => "the backup failed: {error}";
/// The restore failed.
RestoreFailed { error: String } => "the restore failed, so the backup is worth nothing: {error}";
/// Files of the repository are not those that the backup wrote.
BackupDamaged { what: String } => "the repository does not hold what the backup wrote: {what}";
/// The tool's own verification found the backup wrong.
BackupNotVerified { what: String } => "the engine's own verification of the backup failed: {what}";
/// A restored table differs from the table that was backed up.
RestoredDiffers { table: String, rows: u64, checksum: String, rows_restored: u64, checksum_restored: String } =>
    "the restored table {table} has {restored} rows with checksum {checksum_restored}, the table backed up had {backed_up} with {checksum}",
    restored = stats::words::count(*rows_restored), backed_up = stats::words::count(*rows);
/// A table is in only one of the two databases.
RestoredTables { only_source: Vec<String>, only_restored: Vec<String> } =>
    "the tables differ: only in the source {source}, only in the restored database {restored}",
    source = words::names(only_source), restored = words::names(only_restored);
/// The restored database breaks conditions of consistency.
RestoredUnsound { conditions: Vec<u32> } =>
    "the restored order-entry database violates {list}", list = words::conditions(conditions);
/// Acknowledged transactions are missing in the restored database, or others are there.
RestoredLost { what: Box<Remark> } => "restored database: {what}";
/// Impact of a backup on users: their rate and their 95th percentile before it and during it, each with a 95 % interval.
BackupUnderLoad { users: u32, offered_per_s: f64, alone_per_s: f64, alone_low_per_s: f64, alone_high_per_s: f64, during_per_s: f64,
    during_low_per_s: f64, during_high_per_s: f64, alone_us_p95: f64, alone_low_us_p95: f64, alone_high_us_p95: f64,
    during_us_p95: f64, during_low_us_p95: f64, during_high_us_p95: f64 } =>
    "{users} users were offered {offered_per_s} transactions/s: alone {alone_per_s:.1} ({alone_low_per_s:.1}–{alone_high_per_s:.1}) \
     transactions/s, p95 {alone_us_p95:.0} ({alone_low_us_p95:.0}–{alone_high_us_p95:.0}) µs; during the backup {during_per_s:.1} \
     ({during_low_per_s:.1}–{during_high_per_s:.1}) transactions/s, p95 {during_us_p95:.0} \
     ({during_low_us_p95:.0}–{during_high_us_p95:.0}) µs; 95 % intervals from the transactions of this backup alone";
/// The method cannot be restored to a point in time.
BackupNoPointInTime { method: String } =>
    "{method} keeps no archive of the log, so its backups cannot be restored to a point in time; choose a method that does, such as \
     pgbackrest-lz4 on PostgreSQL";
/// The method cannot be held to a rate.
BackupNoRate { method: String } =>
    "{method} cannot be held to a rate (max_mb_per_s); choose a method that can, such as basebackup-tar on PostgreSQL";
/// A backup that was stored nowhere.
BackupDiscarded {} =>
    "no backup: what was read was discarded, to show the time without that of the medium; there is nothing to restore or to prove";
/// A backup was restored to a point in time, and nothing that was done after it is there.
RestoredToPoint { point: String, before: u64, after: u64 } =>
    "restored to the point {point}: all {kept} acknowledged between the backup and the point are there, and none of the \
     {later} acknowledged after it",
    kept = stats::words::counted(*before, "transaction"), later = stats::words::count(*after);
/// All proofs held for a backup made under load, whose source has changed since.
RestoreProvenUnderLoad { files: u64, conditions: u64, before: u64, during: u64, took_s: f64 } =>
    "restored and proven: checksums of {of_files}, the engine's own verification, {of_conditions} of consistency, all {kept} \
     acknowledged before the backup began, and nothing but what was acknowledged until it ended ({later} during it); the \
     proofs took {took_s:.3} s",
    of_files = stats::words::counted(*files, "file"), of_conditions = stats::words::counted(*conditions, "condition"), kept = stats::words::counted(*before, "transaction"),
    later = stats::words::count(*during);
/// Less than half of the data was read from the device.
BackupFromCache { read_mb: f64, logical_mb: f64 } =>
    "the device read {read_mb:.0} MB of {logical_mb:.0} MB, and the rest was in the page cache: the rate says nothing about the device";
/// All proofs of a restored backup held.
RestoreProven { files: u64, tables: u64, rows: u64, conditions: u64, acknowledged: u64, took_s: f64 } =>
    "restored and proven: checksums of {of_files}, the engine's own verification, digests of {of_rows} in {of_tables}, {of_conditions} \
     of consistency and {of_acknowledged}; the proofs took {took_s:.3} s",
    of_files = stats::words::counted(*files, "file"), of_rows = stats::words::counted(*rows, "row"), of_tables = stats::words::counted(*tables, "table"),
    of_conditions = stats::words::counted(*conditions, "condition"), of_acknowledged = stats::words::counted(*acknowledged, "acknowledged transaction");

// A running database, observed without a load.

/// How sessions of the observed database were sampled, and what that cost server and observer, in percent of a core.
ObservedSampling { samples_per_s: f64, source: String, cost_pct: f64 } =>
    "observed without a load: sessions were sampled {samples_per_s:.1} times per second from {source}, at a cost of {cost_pct:.2} % of a core; \
     what is per second or per transaction are differences of the server's own counters";
/// The average of active sessions is the server's own account, not the samples'.
ObservedByAccount { account: String, sampled: f64 } =>
    "average active sessions come from the server's own statement time ({account}); sampling alone found {sampled:.2}; the breakdown by \
     wait comes from the samples";
/// The average of active sessions is the kernel's account: exact CPU time, and waits for a CPU before a statement starts.
ObservedByKernel { sampled: f64 } =>
    "average active sessions are the time that sessions were on a CPU or waited for one, by the kernel's account, and the sampled time of \
     other waits; sampling alone found {sampled:.2}";
/// The server's own account and the kernel's differ, and the average of active sessions is between them.
ObservedBetween { low: f64, high: f64 } =>
    "average active sessions were between {low:.2} and {high:.2}: the server's own account leaves out sessions that wait for a CPU to \
     start a statement, and the kernel's includes sessions that are still on or waiting for a CPU after the client has received the result; if \
     the clients ran on other machines, it was {high:.2}";
/// Sessions of other users are hidden, so that no average of active sessions is known.
ObservedOwnUserOnly { grant: String } =>
    "this user sees only its own sessions, so active sessions, waits and blockers of others are unknown: {grant}";
/// Counters went back while they were observed.
ObservedReset { times: u64, left_out_s: f64, what: String } =>
    "the server's statistics were reset {times} times while it was observed ({what}); what was counted in {left_out_s:.1} s around that is left out of rates and sums";
/// The server's counts of statements are not of the whole observation, or leave something out.
ObservedStatements { how: String } => "top statements: {how}";
/// The server ended the observer's session and let it in again.
ObservedRestart { times: u64, unseen_s: f64 } =>
    "the server restarted, or ended the observer's session, {times} times; {unseen_s:.1} s of the observation were not seen";
/// The server answered so slowly that it was sampled less often.
ObservedSlow { samples: u64, answer_ms: f64, unseen_s: f64 } =>
    "the server answered slowly ({answer_ms:.0} ms on average), so it was sampled only {samples} times; answers that were held up leave {unseen_s:.1} s unseen";
/// Several servers cannot be observed as one.
ObservedCluster => "observing needs a single server, not the nodes of a cluster; observe each of them";
/// No session was active.
ObservedIdle => "no session was active when the server was sampled";
/// Queries of the observer failed, and were repeated at the next sample.
ObservedFailed { times: u64, why: String } => "{times} questions of the observer failed: {why}";

// Studies: what is unsound in a published protocol that is repeated as it stands, what the design of a screening cannot tell apart, and what alternatives must not be read without.

/// Published protocol: each value is measured once.
MeasuredOnce => "each value is measured once: its noise is unknown, and no interval can be given";
/// Published protocol: one side is measured as a whole before the other.
SidesInSequence { first: String, second: String } =>
    "{first} is measured as a whole before {second}: whatever else changes in between is in the difference";
/// Published protocol: levels are measured in a fixed, rising order.
OrderFixed { levels: String } =>
    "{levels} are measured in a fixed, rising order: a drift, and what one leaves in memory or on disk for the next, looks like an effect";
/// Published protocol: what the source does not state, and what is used instead.
ProtocolUnknown { what: String, taken: String } => "the document does not give {what}; here: {taken}";
/// A doubt that belongs to a published figure, as its reference has it.
PublishedDoubt { doubt: String } => "{doubt}";
/// Screening: the effect of a setting cannot be distinguished from these interactions of two others.
EffectAliased { factor: String, with: Vec<String> } =>
    "the effect of {factor} cannot be distinguished from {list}: if two settings act on each other, the other effect is in it",
    list = words::interactions(with);
/// Screening: a part of every interaction of two settings is in the effect of every other one.
EffectsPartlyAliased { share: f64 } =>
    "{pct:.0} % of every interaction of two settings is in the effect of every other setting", pct = share * 100.0;
/// Screening: effects are independent, but interactions of two settings cannot be distinguished from each other.
InteractionsAliased { resolution: u32 } =>
    "resolution {resolution}: no effect of a setting is confounded with an interaction of two others; these cannot be distinguished from each other, and none is estimated";
/// Alternative: commits are acknowledged before they are durable.
CommitsCanBeLost => "commits are not flushed before they are acknowledged: a crash of the server or the machine loses some";
/// Alternative: commits wait for each other.
CommitsWait { what: String } => "{what}: a commit waits for others, to be flushed with them, and takes longer when it is alone";
/// Alternative: more differs than its name says.
AlsoDiffers { what: String } => "{what}";

// The archive itself: its rows, and values that it cannot store.

/// The digest of a point differs.
PointAltered => "the archive row was changed after it was measured (digest differs)";
/// The digest of a run's record differs.
RunAltered => "the archive's record of the run was changed after it was written (digest differs)";
/// Points of a complete run are missing.
PointsGone { gone: u64, planned: u32 } =>
    "{gone} of the {planned} points of this complete run are missing from the archive";
/// A distribution is missing.
HistogramGone { kind: String } => "the {kind} histogram is missing from the archive";
/// A distribution cannot be decoded.
HistogramUnreadable { kind: String, error: String } => "{kind} times: {error}";
/// A column holds an invalid value.
ColumnUnreadable { column: String, error: String } => "the archive's column `{column}` cannot be read: {error}";
/// A bottleneck names an unknown resource.
ResourceUnknown { word: String } => "bottleneck_resource: unknown resource \"{word}\"";
/// A distribution of a kind of operation cannot be read.
OperationTimesUnreadable { observer: String, operation: String, phase: String, error: String } =>
    "{observer} {operation} {phase} times: {error}";
/// A figure was not a number.
FigureNotANumber { figure: String } => "{figure} was not a number and is unknown";
/// The declared seconds were not a number.
SecondsNotANumber => "the declared seconds were not a number and are unknown";
/// Samples had values that were not numbers.
SamplesNotANumber { samples: u64 } => "{samples} samples had values that were not numbers";
/// Timed events had a time that was not a number.
TimedEventsNotANumber { events: u64 } => "{events} timed events without a time were left out";
/// A background event had a value that was not a number.
BackgroundNotANumber => "a background event had a value that was not a number";
/// A mean time was not a number.
MeanNotANumber => "a mean time of operations was not a number and is unknown";
/// Devices had values that were not numbers.
DevicesNotANumber { devices: u64 } => "{devices} devices had values that were not numbers";
/// The engine's own account of its I/O had values that were not numbers.
EngineIoNotANumber => "the engine's own account of its I/O had a value that was not a number";
/// Interfaces had a time that was not a number.
InterfacesNotANumber { interfaces: u64 } =>
    "the time of {interfaces} network interfaces was not a number and is unknown";
/// Latencies beyond the end of the histogram.
LatenciesClipped { latencies: u64 } => "{latencies} latencies were longer than an hour and count as one hour";
/// The time series of a point are too long for the archive.
SeriesThinned { one_of: u64 } => "the time series is too long for the archive: one sample of {one_of} is stored";
/// A remark that this version does not know, as its sentence.
Text { text: String } => "{text}";

    } };
}
