//! The analytical queries.

macro_rules! olap {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// The analytical workload failed outside a measurement.
OlapFailed { error: String } => "{error}";
/// The analytical workload does not support the engine.
OlapWithoutEngine { error: String } => "{error}";
/// A fault of a query or its answer.
QueryWrong { what: String } => "{what}";
/// … with a query of several.
QueryOfSeveralWrong { query: u32, what: String } => "Q{query}: {what}";
/// … with a query before the refresh, after which answers cannot be compared.
QueryWrongBefore { query: u32, what: String } => "Q{query} before the refresh: {what}";
/// The refresh stream during the queries failed.
RefreshStreamFailed { error: String } => "refresh stream: {error}";
/// The changes of a refresh could not be undone.
NotPutBack { error: String } => "{error}";
/// The engine used another degree of parallelism than requested because it cannot set one.
ThreadsLacking { asked: Vec<u32>, why: String } => "threads requested: {list}; {why}", list = words::list(asked);
/// … because it has a maximum.
ThreadsAtMost { asked: Vec<u32>, threads_max: u32 } =>
    "threads requested: {list}; the engine uses at most {threads_max}", list = words::list(asked);
/// The execution plan of a query is unknown.
PlanUntold { why: String } => "its plan is unknown: {why}";
/// The number of workers of a query is unknown.
WorkersUntold { why: String } => "the number of its workers is unknown: {why}";
/// A query ran without parallel workers.
Serial => "serial: it got no parallel worker";
/// Where the count of workers comes from.
WorkersCountedApart => "its workers were counted in an additional execution that was not measured";
/// How the answers of a query were checked: against known ones.
AnswersCompared { with: String } => "every answer was compared with {with}";
/// … against each other.
AnswersAlike =>
    "the right answer is unknown for this scale and these parameters; answers were compared with each other";
/// … not at all.
AnswersChanging => "answers were not compared because refreshes changed the orders meanwhile";
/// Several query streams ran, with or without a refresh stream.
StreamsOrdered { refreshed: bool } =>
    "each stream runs its queries in the order of the specification; {rest}", rest = words::streams(*refreshed);
/// Several query streams ran whole passes.
StreamsInPasses =>
    "each stream runs its queries in the order of the specification, in whole passes; every answer was compared";
/// Queries ran in rounds.
QueriesInRounds { rounds: u32 } =>
    "all queries were run in their order, {rounds} times; every answer was compared, and counters were read between executions";
/// RF1.
NewSales => "inserts new orders with their line items in one transaction";
/// RF2.
OldSales =>
    "deletes as many old orders with their line items in one transaction; afterwards the changes of both functions were undone, \
     and counts and sums compared";
/// Orders that are updated.
ChangedSales => "updates orders and line items in one transaction";
/// A resumed run had to repeat the inserts of a refresh.
RefreshedAnew => "the run was interrupted before; new orders were inserted again, which was not measured";
/// Invalid parts of a mean.
PartsInvalid { invalid: Vec<String>, asked: u64 } =>
    "{count} of {asked} points are invalid, so the others are not the whole workload: {list}",
    count = invalid.len() as u64, list = invalid.join(", ");
/// Missing parts of a mean.
PartsMissing { measured: u64, asked: u64 } => "only {measured} of {asked} points were measured";
/// A part of a mean has no time.
PartWithoutTime => "a point has no time";
/// A part of the composite has no figure.
PartWithoutFigure => "power or throughput has no figure";
/// Parts of power.
GeometricMean { queries: u64, refreshed: bool, mean_s: f64 } =>
    "geometric mean of {queries} queries{rest}: {mean_s:.6} s; times are not rounded to tenths of a second",
    rest = words::refreshes(*refreshed);
/// Parts of the composite.
RootOfProduct => "the square root of power times throughput";
/// A database of another scale is another test.
OtherScale { engine: String, scale: f64, other_scale: f64 } =>
    "not comparable with {engine}: this database has scale {scale}, that one {other_scale}";
/// How long a load took.
OlapLoaded { sessions: u64, rows_s: f64, behind_s: f64 } =>
    "{by} generated and loaded the rows in {rows_s:.3} s; keys, statistics and counts took {behind_s:.3} s",
    by = words::sessions(*sessions);
/// A step that loads names no scale.
NoScale => "the step names no scale";
/// A column-store copy is not refreshed.
ReplicaNotRefreshed => "a column-store copy cannot be refreshed; query it in a step without refresh";
/// Queries need a single database.
ClusterNotAsked => "queries need a single database, not the nodes of a cluster";

    } };
}
