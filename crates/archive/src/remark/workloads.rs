//! Workloads: the driver, and what they did, proved or could not do.

macro_rules! workloads {
    () => { platform! {

// The driver, and the work that it had to do.

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
Stalled { still_s: f64, elapsed_s: f64 } =>
    "no operation was completed for at least {still_s:.1} s of {elapsed_s:.1} s: the database, or something it waited for, \
     stalled";
/// Part of the sessions' time that was spent in the driver; `allowed` if the plan allows it.
DriverTooSlow { own_pct: f64, allowed: bool } =>
    "the driver was the bottleneck: {own_pct:.0} % of the sessions' time was spent in the driver itself; run it on \
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
    "the driver was stopped for {least}{stopped_s:.1} s of {elapsed_s:.1} s, by a signal or because others had the CPUs: \
     operations due in that time waited for the driver, which their response times include",
    least = if *at_least { "at least " } else { "" };
/// The plan changes validity limits.
LimitsChanged { limits: Vec<LimitChanged> } =>
    "the plan changes validity limits: {list}", list = words::limits(limits);
/// Blocking calls on a thread for each job sent statements of less than a millisecond to a server.
ThreadPerJob =>
    "each job sent its statements from a separate thread; scripts and order entry on a server are sent by an event loop, which \
     takes another time for each, so do not compare rates of statements as short as these between the two";
/// Part of the sessions' time that was neither spent in the target nor a pause.
DriverTime { driver_pct: f64 } => "{driver_pct:.0} % of the sessions' time was spent in the driver or waiting for a CPU";
/// The point is so short that its start and end weigh too much.
Short { elapsed_s: f64 } =>
    "short: {elapsed_ms:.0} ms; use a larger size for a reliable figure", elapsed_ms = elapsed_s * 1e3;
/// Transactions that were retried.
TriedAgain { retries: u64 } => "{retries} transactions were retried after a conflict";
/// Operations arrived at a rate that the target did not reach.
RateNotReached { offered_per_s: f64, done_per_s: f64, waiting: u64, requested: u64 } =>
    "the rate was not reached: {offered_per_s:.1} operations/s were offered and {done_per_s:.1}/s completed; {waiting} of \
     {requested} were still waiting to start at the end";
/// The point was measured in slices, in turn with the other side of its study.
InSlices { slice_ms: u32, dropped_ms: u32 } =>
    "measured in slices of {slice_ms} ms in turn with the other side, of which the first {dropped_ms} ms are not counted; host and server metrics are omitted because both sides were running";
/// Both sides were measured on one database at once, each on tables that were made for it alone.
TablesSeparate =>
    "each side had separate tables in the one database, made for this pair and removed after it";
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
EventsSampled { samples_per_s: f64, source: String, cost_pct_max: f64 } =>
    "timed events were sampled {samples_per_s:.0} times per second from {source}, at a cost of at most {cost_pct_max:.1} % of a \
     core";
/// Throughput was not steady. Shown with a figure; exports have `steady`.
Scattered => "not steady: throughput fluctuated";
/// Throughput had a trend. Shown with a figure; exports have `steady`.
RoseOrFell => "not steady: throughput rose or fell";
/// A remark about one node of a cluster, numbered from 1.
OfNode { node: u32, what: Box<Remark> } => "node {node}: {what}";

// Component tests and scripts: what they proved, and what stands in their way.

/// An extra point: contention on an engine that does not scale further. It explains the engine and is part of no curve.
ContentionExtra { why: String } => "contention extra: {why}";
/// The test has only this point on the target.
OnePoint { why: String } => "one point: {why}";
/// Jobs share the engine's threads.
PoolShared { threads: u32 } => "all jobs share the engine's pool of {threads} threads";
/// The test measures the engine's own language or executor.
EngineSpecific => "not comparable across engines: it measures this engine's executor";
/// A smaller input was computed than the published one, and what that would take.
SmallerInput { input: u64, input_published: u64, scaled_s: f64 } =>
    "computed for {input} instead of the published {input_published}, which at the same time for each operation would take \
     {scaled_s:.1} s (scaled, not measured)";
/// Times of one kind of transaction of a script.
TransactionTimes { name: String, completed: u64, per_s: f64, service_p50_ms: Option<f64>, service_p99_ms: Option<f64> } =>
    "transaction \"{name}\": {completed} completed, {per_s:.1}/s, service time p50 {p50} ms, p99 {p99} ms",
    p50 = words::three_digits(*service_p50_ms), p99 = words::three_digits(*service_p99_ms);
/// A statement failed before or after the measurement; the engine's message.
StatementFailed { error: String } => "{error}";
/// Another program changed a table of the library.
TableChanged { table: String } =>
    "table {table} is not as it was loaded: another program changed its rows; it will be loaded again";
/// Loaded rows are missing or wrong.
LoadedRowsWrong { rows: u64 } => "the table does not hold the {rows} rows that were loaded";
/// Committed rows are missing or wrong.
InsertedRowsWrong { rows: u64 } => "the table does not hold the {rows} rows whose insertion was committed";
/// Committed blocks are missing.
BlocksWrong { found: u64, committed: u64 } => "the table holds {found} blocks, but {committed} were committed";
/// A block has other bytes.
BlockWrong { block: u64 } => "block {block} does not hold the bytes that were written";
/// A new index finds other rows than were loaded.
IndexedRowsWrong { key: u64 } => "the new index finds other rows for key {key} than were loaded";
/// A new index cannot be dropped; the engine's message.
IndexMissing { error: String } => "the index is missing: {error}";
/// Updates are missing, or too many.
UpdatesWrong { found: u64, committed: u64, measured: u64 } =>
    "the table holds {found} updates, but {committed} were committed and {measured} measured";
/// A table is not compressed though it should be.
NotCompressed => "the table should be compressed but is stored uncompressed";
/// A table is compressed though it should not be.
Compressed { codecs: Vec<String> } => "the table should be uncompressed but is stored with {list}", list = codecs.join(", ");

/// The target lacks a feature that the test needs.
EngineLacks { feature: String, why: String } => "{why}";
/// The target is read-only.
ReadOnly { why: String } => "{why}";
/// The library has no SQL for the engine.
NoStatement { engine: String } => "the library has no SQL of this test for {engine}";
/// A script has no SQL for the engine.
ScriptWithoutSql { engine: String, transaction: String } =>
    "the script has no SQL for {engine} in a statement of transaction \"{transaction}\"";

// Order entry, alone and with queries.

/// NURand constants (C) that belong to a result.
OltpConstants { last_names_loaded: u64, last_names: u64, customers: u64, items: u64 } =>
    "NURand constants: last names {last_names_loaded} at the load and {last_names} now, customers {customers}, items {items}";
/// Users start the next transaction as soon as the last one has ended.
NoThinkTime => "no think time: without it, the number of warehouses sets only the data size, not the load";
/// The window began before users had gone through keying, transaction and think time once.
RampUpTooShort { ramp_up_s: f64, cycle_s: f64, ramp_up_s_min: u32 } =>
    "the ramp-up of {ramp_up_s} s is shorter than a user's cycle of {cycle_s:.1} s (keying, response and think time), so that \
     rate and mix are not those of a steady load; set ramp_up_seconds to at least {ramp_up_s_min}";
/// More users than the specification allows for the number of warehouses.
TooManyUsers { users: u32, users_specified: u32, users_of_a_warehouse: u32 } =>
    "{users} users instead of the {users_specified} of the specification ({users_of_a_warehouse} per warehouse)";
/// It is unknown how much memory a session takes of its server.
SessionMemoryUnknown { why: String } => "the memory of a session is unknown: {why}";
/// Connections that were given up and replaced.
ConnectionsGivenUp { connections: u64 } =>
    "{connections} connections were closed and replaced because an operation took too long";
/// The log of acknowledged transactions agrees with the tables.
AllAcknowledgedThere => "all acknowledged transactions are in the tables";
/// The log of acknowledged transactions, stored in a file, does not agree with the tables.
AcknowledgedLost { orders: Box<Reconciled>, payments: Box<Reconciled>, deliveries: Box<Reconciled>, places: Vec<String>, log: Option<String> } =>
    "{counts}{kept}", counts = words::reconciled([orders, payments, deliveries], places), kept = words::kept_at(log);
/// The database was checked once more before a level, because another process measured before.
CheckedForOtherProcess =>
    "another process resumed the run here; the database was checked again";
/// … because the server was restarted.
CheckedForRestart => "the server was restarted before this level; the database was checked again";
/// The plan requested no check.
NotChecked => "the database was not checked";
/// The engine has one writer at a time.
UsersWait { why: String } => "users wait for each other: {why}";
/// Transactions of one kind failed.
TransactionsFailed { errors: u64 } => "{errors} transactions failed";
/// An input is not distributed as the specification says.
InputAudit { input: String, value: f64, low: f64, high: f64 } =>
    "input audit: {input} is {value:.2} instead of {low} to {high}";
/// Bounds of the inputs that so few draws cannot judge, and the one that lacks the most.
InputsNotJudged { not_judged: u64, bounds: u64, input: String, draws: u64, draws_min: u64 } =>
    "input audit: {not_judged} of {bounds} bounds were not judged, because too few inputs were drawn: {input}, for instance, needs \
     {draws_min} draws, and there were {draws}";
/// A consistency condition is violated (0: the row counts); the first places.
ConditionBroken { condition: u32, count: u64, title: String, places: Vec<String> } =>
    "{name} is violated in {count} places: {title}: {first}", name = words::condition(*condition), first = places.join("; ");
/// The tables do not hold what the driver counted.
CountedNotFound { what: String, counted: u64, found: u64 } =>
    "the driver counted {counted} {what}, but the tables show {found}: acknowledged work is missing, or others changed the database";
/// A consistency condition was not checked.
ConditionPutOff { condition: u32, why: String } => "{name} was skipped: {why}", name = words::condition(*condition);
/// The check after the users found violations, or failed.
UnsoundAfterwards { broken: Vec<Broken>, errors: Vec<String> } =>
    "the consistency check after the users failed: {list}", list = words::unsound(broken, errors);
/// The check before the users found violations.
UnsoundBefore => "the database was inconsistent before the users started; load it again";
/// The ramp ended because operations failed.
RampFailed { users: u32, errors_pct: f64, limit_pct: f64 } =>
    "the ramp ended at {at}: {errors_pct:.2} % of the operations failed, more than {limit_pct} %", at = words::users(*users);
/// The ramp ended because the response time was too long at two steps in a row.
RampTooSlow { users: u32, limit_ms: f64, response_ms: f64 } =>
    "the ramp ended at {at}: the response time exceeded its limit of {limit_ms} ms at two steps in a row (last: \
     {response_ms:.1} ms)",
    at = words::users(*users);
/// The ramp ended because throughput stopped rising.
RampFlat { users: u32, users_since: u32, completed_per_s: f64 } =>
    "the ramp ended at {at}: throughput has not risen by more than 1 % since {since} (last: {completed_per_s:.1}/s)",
    at = words::users(*users), since = words::users(*users_since);
/// The warm-up ended when throughput was steady.
WarmedUp { took_s: f64 } => "throughput was steady after {took_s:.0} s of warm-up";
/// The warm-up ended at its time limit.
NotWarmedUp { took_s: f64 } =>
    "throughput was not shown to be steady within {took_s:.0} s of warm-up, the longest allowed: it may still have been \
     rising or falling while this was measured";
/// The measurements of a search added orders to those that were there.
SearchGrew { orders_before: u64, orders_after: u64 } =>
    "the measurements of the search entered orders: {orders_before} were there at its start and {orders_after} at its end, so that its \
     last rates were measured on more rows than its first ones";
/// The database was brought back to its load between measurements of a search.
SearchRestored { times: u64, growth_max_pct: f64 } =>
    "the database was brought back to its load before measurements of the search that would have begun with over \
     {growth_max_pct:.0} % more orders ({times}×)";
/// The database could not be brought back between measurements of a search.
SearchNotRestored { orders: u64, orders_loaded: u64, why: String } =>
    "measurements of the search began with {orders} orders instead of the {orders_loaded} of the load, and the database was not \
     brought back: {why}";
/// Deliveries found districts without an order to deliver.
DeliveriesSkipped { skipped: u64, districts: u64 } =>
    "deliveries found nothing to deliver in {skipped} of {districts} districts: new orders come too slowly for them";
/// How the database was reset to its state after the load.
Renewed { engine: String, how: String } => "{engine}: {how}";
/// Order entry failed outside a measurement.
OltpFailed { error: String } => "{error}";
/// Order entry needs a single database.
ClusterNotChecked => "order entry needs a single database, not the nodes of a cluster";
/// Order entry does not support the engine.
OltpWithoutEngine { error: String } => "{error}";
/// Queries ran during the users' work.
QueriesConcurrent { users: u32, least_s: f64 } =>
    "queries ran throughout (users: {users}); the window ended with the pass that was running after {least_s} s";
/// Order entry ran during the queries.
OrderEntryConcurrent { users: u32 } => "order entry ran throughout (users: {users})";
/// Queries on the tables of order entry, and how their rows were proven to be of one moment.
QueriesInSnapshots { queries: u64, checks: u64 } =>
    "each of {queries} queries ran in a separate snapshot, in which totals before and after it were the same; after each pass a \
     snapshot held all totals that the consistency conditions tie together ({checks} checks, not in the query times)";
/// Answers on tables that did not change during the queries.
AnswersAlikeQuiet => "nobody changed the tables: answers were compared with each other";
/// The copy is at a level whose rows cannot be changed.
CopyCannotFollow { level: String } =>
    "a copy at level {level} is stored in files, which cannot follow order entry; choose none, query-low or query-high";
/// Cost of following order entry.
CopyFollowed { cycles: u64, every_s: f64, took_ms_p50: f64, took_ms_max: f64, rows: u64, read_mb: f64 } =>
    "the copy followed the users in {cycles} cycles, each {every_s} s after the start of the one before or as soon as that was over; \
     from before the snapshot until it was visible, a cycle took {took_ms_p50:.0} ms (median), at most {took_ms_max:.0} ms; {rows} rows ({read_mb:.1} MB) were read again";
/// Copy and source at the end.
CopyEqualAtEnd { tables: u32 } =>
    "after the last transaction the copy followed once more: each of its {tables} tables then had the rows and the checksum of the source";
/// The server's counters cover both workloads.
CountedTogether => "timed events, buffer gets and redo cover both workloads together";
/// Neither of two workloads yielded a point.
NothingMeasured => "nothing was measured";
/// No target of the run has tables for order entry or for a column store.
NoTables => "no target of the run has tables of its own";

// The analytical queries.

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
ThreadsLacking { requested: Vec<u32>, why: String } => "threads requested: {list}; {why}", list = words::list(requested);
/// … because it has a maximum.
ThreadsAtMost { requested: Vec<u32>, threads_max: u32 } =>
    "threads requested: {list}; the engine uses at most {threads_max}", list = words::list(requested);
/// The execution plan of a query is unknown.
PlanUnknown { why: String } => "its plan is unknown: {why}";
/// The number of workers of a query is unknown.
WorkersUnknown { why: String } => "the number of its workers is unknown: {why}";
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
AnswersChanging => "answers were not compared because refreshes changed the orders during the queries";
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
RefreshRepeated => "the run was interrupted before; new orders were inserted again, which was not measured";
/// Invalid parts of a mean.
PartsInvalid { invalid: Vec<String>, requested: u64 } =>
    "{count} of {requested} points are invalid, so the others are not the whole workload: {list}",
    count = invalid.len() as u64, list = invalid.join(", ");
/// Missing parts of a mean.
PartsMissing { measured: u64, requested: u64 } => "only {measured} of {requested} points were measured";
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
ClusterNotQueried => "queries need a single database, not the nodes of a cluster";

// Tables loaded into the column store.

/// Populating the column store failed outside a measurement.
ColumnarFailed { error: String } => "{error}";
/// Populating the column store needs a single database.
ClusterNotLoaded => "the column store is populated from a single database, not from the nodes of a cluster";
/// No target of the run has tables for the column store.
NothingToLoad => "no target of the run has tables of its own to load into the column store";
/// How tables were loaded into the column store, the moment their rows are from, and the memory used.
ColumnsLoaded { streams: u32, moment: String, peak_bytes: Option<u64>, memory_bytes: u64 } =>
    "streams: {streams}; {moment}; peak memory {peak} while populating, {memory} for the tables and for queries; later changes \
     of the source are not in the copy",
    peak = words::bytes_or_unknown(*peak_bytes), memory = stats::words::bytes(*memory_bytes);
/// The level of compression, and what it means.
LevelMeans { level: String, meaning: String } => "level {level}: {meaning}";
/// The tables' size on the source's disk, compared with the memory for their columns.
OnDisk { disk_bytes: u64, memory_share: f64 } =>
    "their size on disk is {disk}, {memory_share:.3} of the memory for the column store", disk = stats::words::bytes(*disk_bytes);
/// The source does not report the size of a table.
DiskUnknown => "their size on disk is unknown";
/// Sizes in memory were counted in two ways that contradict each other: table by table, and in all.
SizesContradict { tables_bytes: u64, engine_bytes: u64 } =>
    "the sizes of the tables add up to {tables}, but the engine has allocated {engine} in total",
    tables = stats::words::bytes(*tables_bytes), engine = stats::words::bytes(*engine_bytes);
/// … by the engine, and by the growth of the process.
GrowthContradicts { engine_bytes: u64, process_bytes: u64 } =>
    "the engine reports {engine} allocated, but the process has grown by {process}",
    engine = stats::words::bytes(*engine_bytes), process = stats::words::bytes(*process_bytes);
/// Sizes in memory are unknown, and why.
SizesUnknown { why: Box<Remark> } => "sizes in memory are unknown: {why}";
/// How columns are encoded: codecs, each with its columns.
Codecs { codecs: BTreeMap<String, Vec<String>> } => "codecs read back from the engine: {list}", list = words::codecs(codecs);
/// Source and copy were compared.
CopyCompared { checksum: String, took_s: f64 } =>
    "source and copy have the same rows, checksum ({checksum}) and sums; the comparison took {took_s:.3} s";
/// Storage of a column that is not stored unchanged.
ColumnChanged { column: String, how: String } => "{column}: {how}";
/// A fact that the source reports about a table.
TableReported { what: String } => "{what}";
/// Statistics are older than the rows.
StatisticsOutdated =>
    "the source's statistics are older than its rows, so its size on disk is unknown; run ANALYZE TABLE in the source";
/// The level has no effect at all.
LevelNotInForce { level: String, why: String } => "level {level} has no effect: {why}";
/// The level has no effect on a table.
LevelNotTaken { level: String, why: String } => "level {level} was requested, but {why}";
/// A table that was loaded is missing in the column store.
CopyMissing => "the copy is missing";
/// … by its name.
CopyOfTableMissing { table: String } => "{table} is missing in the copy";
/// A copy has other rows than were read from the source.
CopyWrong { rows: u64, checksum: String, rows_came: u64, checksum_came: String } =>
    "the copy differs from the rows read: {rows} rows with checksum {checksum} instead of {rows_came} with {checksum_came}";
/// Counts and sums that source and copy compute themselves differ.
TotalsDiffer { table: String, number: u64, source: Option<String>, copy: Option<String> } =>
    "source and copy of {table} differ: number {number} of their rows, counts and sums is {there} in the source and {here} in \
     the copy",
    there = words::or_nothing(source), here = words::or_nothing(copy);
/// A copy that follows its source did not.
NotFollowed { table: String, rows: u64, checksum: String, rows_source: u64, checksum_source: String } =>
    "the copy did not follow its source: it has {rows} changed rows of {table} with checksum {checksum}, the source has \
     {rows_source} with {checksum_source}";
/// … when the changes of the source were undone.
NotFollowedBack { what: Box<Remark> } => "after undoing the changes: {what}";
/// A remark about one of several tables.
OfTable { table: String, what: Box<Remark> } => "{table}: {what}";
/// Changes at a source without a copy.
ChangedAlone => "one transaction at the source, which no copy follows";
/// Changes that a copy follows.
ChangedAndFollowed =>
    "from the start of the transaction at the source until the change was visible in the copy; the rows between the lowest and \
     the highest changed key were read again and replaced the older ones in one transaction";
/// How the lag of a copy is measured.
FromCommit => "from the commit at the source; the rows are those read again";
/// A sample was not read to its end.
SampleCut { pieces: u64 } =>
    "reading stopped after {pieces} pieces, at the time limit or at 256 MB, so the interval is wider";
/// A sample has few rows.
SampleSmall { rows: u64, rows_together: u64 } =>
    "the sample has {rows} rows, fewer than the {rows_together} that are compressed together; the whole table may need less \
     memory per row";

    } };
}
