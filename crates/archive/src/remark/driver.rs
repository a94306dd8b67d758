//! The driver, and the work that it had to do.

macro_rules! driver {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Operations failed; how many with each of the first few messages.
OperationsFailed { errors: u64, messages: BTreeMap<String, u64> } =>
    "{errors} operations failed: {list}", list = words::messages(messages);
/// No operation was completed.
NothingCompleted => "no operation was completed";
/// More operations than the sessions can have completed, had each taken the shortest time observed.
RateImpossible { done_per_s: f64, sessions: u64, shortest_ms: f64 } =>
    "{done_per_s:.1} operations/s are more than {sessions} sessions can complete when the shortest takes {shortest_ms:.3} ms: \
     the rate is wrong, which is a bug in dbdyno";
/// A stall: no operation was completed for this long.
StoodStill { still_s: f64, elapsed_s: f64 } =>
    "no operation was completed for at least {still_s:.1} s of {elapsed_s:.1} s: the database, or something it waited for, \
     stalled";
/// Part of the jobs' time that was spent in the driver; `allowed` if the plan allows it.
DriverTooSlow { own_pct: f64, allowed: bool } =>
    "the driver was the bottleneck: {own_pct:.0} % of the jobs' time was spent in the driver itself; run it on \
     another or faster machine{rest}",
    rest = words::allowed(*allowed);
/// One of the driver's threads was hardly ever idle.
DriverThreadBusy { threads: u64, busiest_pct: f64, allowed: bool } =>
    "the driver was the bottleneck: the busiest of its {threads} threads was on a CPU {busiest_pct:.0} % of the time; increase \
     driver_threads, or run the driver on another machine{rest}",
    rest = words::allowed(*allowed);
/// Operations that the driver started late.
LateStarts { late: u64, operations: u64, allowed: bool } =>
    "the driver started {late} of {operations} operations more than 1 ms late{rest}", rest = words::allowed(*allowed);
/// The driver did not run although it should have; `at_least` if only its sampler noticed.
DriverStopped { stopped_s: f64, elapsed_s: f64, at_least: bool } =>
    "the driver was stopped for {least}{stopped_s:.1} s of {elapsed_s:.1} s, by a signal or because others had the processors: \
     what became due meanwhile waited for the driver, and its response times say so",
    least = if *at_least { "at least " } else { "" };
/// The plan changes validity limits.
LimitsChanged { limits: Vec<LimitChanged> } =>
    "the plan changes validity limits: {list}", list = words::limits(limits);
/// Blocking calls on a thread for each job sent statements of less than a millisecond to a server.
ThreadPerJob =>
    "each job sent its statements from a thread of its own; scripts and order entry on a server are sent by an event loop, which \
     takes another time for each, so that rates of statements as short as these do not compare between the two";
/// Part of the jobs' time that was neither spent in the target nor a pause.
DriverTime { driver_pct: f64 } => "{driver_pct:.0} % of the jobs' time was spent in the driver or waiting for a CPU";
/// The point is so short that its start and end weigh too much.
Short { elapsed_s: f64 } =>
    "short: {elapsed_ms:.0} ms; take a larger size for a figure that lasts", elapsed_ms = elapsed_s * 1e3;
/// Transactions that were retried.
TriedAgain { retries: u64 } => "{retries} transactions were retried after a conflict";
/// Operations arrived at a rate that the target did not reach.
RateNotReached { offered_per_s: f64, done_per_s: f64, waiting: u64, asked: u64 } =>
    "the rate was not reached: {offered_per_s:.1} operations/s were offered and {done_per_s:.1}/s completed; {waiting} of \
     {asked} were still waiting to start at the end";
/// The point was measured in slices, in turn with the other side of its study.
InSlices { slice_ms: u32, dropped_ms: u32 } =>
    "measured in slices of {slice_ms} ms in turn with the other side, of which the first {dropped_ms} ms are not counted; what the machine and the server did meanwhile is left out, because they did it for both";
/// Both sides were measured on one database at once, each on tables that were made for it alone.
TablesBeside =>
    "each side had tables of its own in the one database, made for this pair and removed after it";
/// The slices were too short for the operations.
SlicesTooShort { slice_ms: u32, operation_ms: f64, slice_ms_min: u32 } =>
    "slices of {slice_ms} ms are too short for operations of {operation_ms:.1} ms; use at least {slice_ms_min} ms";
/// A pair that is measured in slices was interrupted when one side was archived.
PairTorn { pair: u32 } => "pair {pair} was interrupted when only the other side of it was archived";
/// The wall clock was set during the measurement.
ClockStepped { step_s: f64 } =>
    "the wall clock stepped by {step_s:+.1} s; figures come from the monotonic clock and are not affected";
/// The highest rate that meets an objective, as a search found it.
RateFound { rate_per_s: f64, arrivals: String, objective: String, missed_per_s: Option<f64>, settled: bool, holds_above: bool } =>
    "{rate_per_s:.1} {arrivals}/s meet {objective}, {rest}", rest = words::bracket(*missed_per_s, *settled, *holds_above);
/// A search found no rate that meets the objective.
NoRateFound { objective: String, lowest_per_s: f64 } =>
    "no rate was found that meets {objective}: even {lowest_per_s:.1}/s did not";
/// The rates that a search tried.
RatesTried { rates: Vec<RateTried> } => "rates tried: {list}", list = words::rates(rates);
/// Where the sessions' time went is not known for certain.
EventsUnknown { why: String } => "the wait events of the server's sessions are not fully known: {why}";
/// No sample of the sessions fell into the point.
EventsTooShort { source: String } => "too short to sample timed events from {source}";
/// How often sessions were sampled, and what that cost at most, in percent of a core.
EventsSampled { looks_per_s: f64, source: String, cost_pct_max: f64 } =>
    "timed events were sampled {looks_per_s:.0} times per second from {source}, at a cost of at most {cost_pct_max:.1} % of a \
     core";
/// Throughput was not steady. Shown with a figure; exports have `steady`.
Scattered => "not steady: throughput fluctuated";
/// Throughput had a trend. Shown with a figure; exports have `steady`.
RoseOrFell => "not steady: throughput rose or fell";
/// A remark about one node of a cluster, numbered from 1.
OfNode { node: u32, what: Box<Remark> } => "node {node}: {what}";

    } };
}
