//! What the driver did, and what became of the work that it was to do.

macro_rules! driver {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Operations failed; the message of the first failure.
OperationsFailed { errors: u64, first: String } => "{errors} operations failed: {first}";
/// Nothing was done.
NothingCompleted => "not one operation was completed";
/// A stall: for so long nothing was completed.
StoodStill { still_s: f64, elapsed_s: f64 } =>
    "no operation was completed for at least {still_s:.1} s of {elapsed_s:.1}: the database, or what it waited for, stood still";
/// So much of the jobs' time was the driver's own; `allowed` where the plan lets it pass.
DriverTooSlow { own_pct: f64, allowed: bool } =>
    "the driver was the bottleneck: {own_pct:.0} % of the jobs' time was its own{rest}", rest = words::allowed(*allowed);
/// One of the driver's threads had hardly any rest.
DriverThreadBusy { threads: u64, busiest_pct: f64, allowed: bool } =>
    "the driver was the bottleneck: the busiest of its {threads} threads was on a processor {busiest_pct:.0} % of the time; set driver_threads to more, or take the clients to another machine{rest}",
    rest = words::allowed(*allowed);
/// Operations that the driver itself began late.
LateStarts { late: u64, operations: u64, allowed: bool } =>
    "the driver began {late} of {operations} operations more than 1 ms late{rest}", rest = words::allowed(*allowed);
/// The plan has limits of validity of its own.
LimitsChanged { limits: Vec<LimitChanged> } =>
    "the plan changes limits of validity: {list}", list = words::limits(limits);
/// The jobs' time that was neither the target's nor a pause.
DriverTime { driver_pct: f64 } => "{driver_pct:.0} % of the jobs' time was the driver's own or a wait for a processor";
/// Begin and end weigh too much in a point of this length.
Short { elapsed_s: f64 } =>
    "short: {elapsed_ms:.0} ms; take a larger size for a figure that lasts", elapsed_ms = elapsed_s * 1e3;
/// Transactions that were begun anew.
TriedAgain { retries: u64 } => "{retries} transactions were tried again after a conflict";
/// Operations were asked for at a rate that the target did not reach.
RateNotReached { offered_per_s: f64, done_per_s: f64, waiting: u64, asked: u64 } =>
    "the rate was not reached: {offered_per_s:.1} operations/s were offered and {done_per_s:.1}/s done; {waiting} of {asked} still waited to be begun at the end";
/// Somebody set the wall clock meanwhile.
ClockStepped { step_s: f64 } =>
    "the wall clock stepped by {step_s:+.1} s; figures come from the monotonic clock and are not affected";
/// The highest rate that holds an objective, as a search found it.
RateFound { rate_per_s: f64, arrivals: String, objective: String, missed_per_s: Option<f64>, settled: bool, holds_above: bool } =>
    "{rate_per_s:.1} {arrivals}/s hold {objective}, {rest}", rest = words::bracket(*missed_per_s, *settled, *holds_above);
/// A search found no rate that holds the objective.
NoRateFound { objective: String, lowest_per_s: f64 } =>
    "no rate was found that holds {objective}: not even {lowest_per_s:.1}/s did";
/// The rates that a search tried.
RatesTried { rates: Vec<RateTried> } => "rates tried: {list}", list = words::rates(rates);
/// Nobody knows for certain where the sessions' time went.
EventsUnknown { why: String } => "what the server's sessions waited for is not fully known: {why}";
/// No look at the sessions fell into the point.
EventsTooShort { source: String } => "too short for timed events to be sampled from {source}";
/// How often sessions were looked at, and what that cost at most, in percent of a core.
EventsSampled { looks_per_s: f64, source: String, cost_pct_max: f64 } =>
    "timed events were sampled {looks_per_s:.0} times a second from {source}, which cost at most {cost_pct_max:.1} % of a core";
/// The throughput was not steady. Said beside a figure; exports have `steady`.
Scattered => "not steady: the throughput scattered";
/// The throughput had a trend. Said beside a figure; exports have `steady`.
RoseOrFell => "not steady: the throughput rose or fell";
/// What is said of one node of a cluster, from 1.
OfNode { node: u32, what: Box<Remark> } => "node {node}: {what}";

    } };
}
