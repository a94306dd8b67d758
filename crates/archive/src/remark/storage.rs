//! I/Os below the database.

macro_rules! storage {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

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
BracketSeen { percentile: f64, ends: Vec<BracketEnd> } => "p{percentile}: {list}", list = words::bracket_ends(ends);
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

    } };
}
