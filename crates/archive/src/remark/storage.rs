//! I/Os below the database.

macro_rules! storage {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// An I/O failed, or a block did not hold what it should.
IoFault { fault: String } => "{fault}";
/// What was written could not be brought to the device at the end.
NotWrittenBack { error: String } => "{error}";
/// The engine of storage could not begin or go on.
StorageFailed { error: String } => "{error}";
/// Nothing was done.
NoIo => "no I/O was done in the time that counts";
/// A run was cut short.
RunStopped => "the run was stopped before its time";
/// I/Os are done by threads that wait.
BlockingThreads { why: String } => "blocking threads instead of io_uring: {why}";
/// I/Os that were not begun in time.
IosNotBegun { ios: u64, oldest_s: f64 } =>
    "{ios} I/Os were due and not begun at the end, the oldest since {oldest_s:.3} s; no response time counts them";
/// What an earlier execution left in its journal.
JournalRecovered { sd: String, proven: u64, corrupted: u64, unread: u64, pending: PendingWrites } =>
    "journal of SD {sd} recovered: {proven} blocks verified, {corrupted} corrupted{rest}", rest = words::recovered(*unread, pending);
/// Too few rounds to say whether they are steady; `role` says whether this run decides for itself (alone), for all of a
/// matrix, or whether others do.
TooFewRounds { run: String, role: RoundsRole, rounds: u64, rounds_min: u64 } =>
    "{text}", text = words::rounds((run, *role), (*rounds, *rounds_min), "", None);
/// Whether the last rounds are steady.
RoundsJudged { run: String, role: RoundsRole, rounds: u64, unit: String, steady: bool, window: RoundsWindow } =>
    "{text}", text = words::rounds((run, *role), (*rounds, window.rounds), unit, Some((*steady, window)));
/// The value of each round.
RoundValues { run: Option<String>, unit: String, values: Vec<f64> } =>
    "{of}rounds, {unit}: {list}", of = words::of_run(run), list = words::round_values(values);
/// A search was stopped in this measurement.
SearchBrokenOff => "the search was broken off in this measurement";
/// Too few I/Os for a percentile, whatever the rate.
TooFewIos { percentile: f64, ios_min: u64, lowest_per_s: f64, reached_per_s: f64 } =>
    "p{percentile} cannot be decided: it takes {ios_min} I/Os or {lowest_per_s:.1}/s in the time that counts, and the most that was reached is {reached_per_s:.1}/s; give a longer elapsed=";
/// Too few I/Os for a percentile at a rate.
TooFewIosAt { percentile: f64, rate_per_s: f64, ios: u64, ios_min: u64 } =>
    "p{percentile} cannot be decided at {rate_per_s:.1}/s: {ios} I/Os were done and {ios_min} are needed; give a longer elapsed=";
/// The machine of the driver was late itself.
MachineLate { objective: String, rate_per_s: f64, late: u64, ios: u64, times: u64 } =>
    "{objective} cannot be decided at {rate_per_s:.1}/s: this machine itself was more than a millisecond late, and {late} of {ios} I/Os waited for it, {times} times in a row; measure when nothing else runs on it";
/// What was seen at either end of the bracket of a search.
BracketSeen { percentile: f64, ends: Vec<BracketEnd> } => "p{percentile}: {list}", list = words::bracket_ends(ends);
/// A rule of a parameter file left out runs of its list.
LeftOutByRule { rule: String } => "{rule}";

/// The data are on another machine.
DataElsewhere => "its data lie on another machine, where no file can be written";
/// The target does not tell where its data lie.
DataPlaceUnknown { why: String } => "{why}";
/// No folder of ours on the data's device.
NoFolderOnDevice { folder: String } =>
    "there is no place for a file on the device of {folder}: the folder above it lies on another one";
/// The data lie in no folder.
NoFolderAbove => "the place of the target's data has no folder above it";
/// Nothing can be written directly there.
NoDirectFile { folder: String, error: String } =>
    "no file can be written past the page cache beside the target's data in {folder} ({error})";

    } };
}
