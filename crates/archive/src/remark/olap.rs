//! The analytical queries.

macro_rules! olap {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Analytics failed at what is no drive.
OlapFailed { error: String } => "{error}";
/// Analytics have no tables for the engine.
OlapWithoutEngine { error: String } => "{error}";
/// What is wrong with a query or its answer.
QueryWrong { what: String } => "{what}";
/// … with a query of several.
QueryOfSeveralWrong { query: u32, what: String } => "Q{query}: {what}";
/// … with a query before rows were refreshed: later answers cannot be compared.
QueryWrongBefore { query: u32, what: String } => "Q{query} before the refresh, {what}";
/// A stream of refreshes beside queries failed.
RefreshStreamFailed { error: String } => "the stream of refreshes: {error}";
/// What a refresh changed could not be undone.
NotPutBack { error: String } => "{error}";
/// The engine took another degree of parallelism than was asked for, because it lacks one.
ThreadsLacking { asked: Vec<u32>, why: String } => "threads asked for: {list}; {why}", list = words::list(asked);
/// … because it has a most.
ThreadsAtMost { asked: Vec<u32>, threads_max: u32 } =>
    "threads asked for: {list}; the engine takes at most {threads_max}", list = words::list(asked);
/// The plan of a query could not be asked for.
PlanUntold { why: String } => "its plan is not told: {why}";
/// The workers of a query could not be asked for.
WorkersUntold { why: String } => "its workers are not told: {why}";
/// A query ran in its session alone.
Serial => "serial: it got no worker";
/// Where the count of workers comes from.
WorkersCountedApart => "its workers were counted in one more execution, which is not measured";
/// How the answers of a query were checked: against right ones, from there.
AnswersCompared { with: String } => "every answer was compared with {with}";
/// … against each other.
AnswersAlike =>
    "no right answer is known for this scale and these parameters: answers were compared with each other";
/// … not at all.
AnswersChanging => "answers were not compared: orders come and go meanwhile";
/// Several users asked, beside a stream of refreshes or without one.
StreamsOrdered { refreshed: bool } =>
    "each stream asks in the order that the specification has for it; {rest}", rest = words::streams(*refreshed);
/// Several users asked in whole passes.
StreamsInPasses =>
    "each stream asks in the order that the specification has for it, in whole passes; every answer was compared";
/// RF1.
NewSales => "new orders with their line items, in one transaction";
/// RF2.
OldSales =>
    "as many old orders with their line items, in one transaction; what both functions did was undone behind it, and counts and sums compared";
/// Orders that are changed.
ChangedSales => "changed orders and line items, in one transaction";
/// A run went on where the rows had to be refreshed first.
RefreshedAnew => "the run was broken off before: new orders were put in anew, which is not measured";
/// Invalid parts of a mean.
PartsInvalid { invalid: Vec<String>, asked: u64 } =>
    "{count} of {asked} points are invalid, and what the others amount to would be other work: {list}",
    count = invalid.len() as u64, list = invalid.join(", ");
/// Missing parts of a mean.
PartsMissing { measured: u64, asked: u64 } => "{measured} of {asked} points were measured";
/// A part of a mean has no time.
PartWithoutTime => "a point tells no time, which it should";
/// A part of the composite has no figure.
PartWithoutFigure => "power or throughput tells no figure, which it should";
/// What power is made of.
GeometricMean { queries: u64, refreshed: bool, mean_s: f64 } =>
    "geometric mean of {queries} queries{rest}: {mean_s:.6} s; times are not rounded to tenths of a second",
    rest = words::refreshes(*refreshed);
/// What the composite is made of.
RootOfProduct => "the root of power times throughput";
/// A database of another scale is another test.
OtherScale { engine: String, scale: f64, other_scale: f64 } =>
    "not comparable with {engine}: this database is of scale {scale}, that one of {other_scale}";
/// How long a load took.
OlapLoaded { sessions: u64, rows_s: f64, behind_s: f64 } =>
    "{by} generated and loaded the rows in {rows_s:.3} s; keys, statistics and counts took {behind_s:.3} s",
    by = words::sessions(*sessions);
/// A step that loads says no scale.
NoScale => "the step names no scale";
/// Lifted tables are not refreshed.
ReplicaNotRefreshed => "a lifted copy takes no refreshes: ask it in a step without them";
/// Queries have one database.
ClusterNotAsked => "one database is asked as a whole; the nodes of a cluster are several";

    } };
}
