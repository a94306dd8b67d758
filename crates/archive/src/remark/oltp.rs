//! Order entry, alone and with queries.

macro_rules! oltp {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

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
DeliveriesSkipped { skipped: u64, looked_at: u64 } =>
    "deliveries found nothing to deliver in {skipped} of {looked_at} districts: new orders come too slowly for them";
/// How the database was reset to its state after the load.
Renewed { engine: String, how: String } => "{engine}: {how}";
/// Order entry failed outside a measurement.
OltpFailed { error: String } => "{error}";
/// Order entry needs a single database.
ClusterNotChecked => "order entry needs a single database, not the nodes of a cluster";
/// Order entry does not support the engine.
OltpWithoutEngine { error: String } => "{error}";
/// Queries ran during the users' work.
QueriesBeside { users: u32, least_s: f64 } =>
    "queries ran throughout (users: {users}); the window ended with the pass that was running after {least_s} s";
/// Order entry ran during the queries.
OrderEntryBeside { users: u32 } => "order entry ran throughout (users: {users})";
/// Queries on the tables of order entry, and how their rows were proven to be of one moment.
AskedInSnapshots { queries: u64, checks: u64 } =>
    "each of {queries} queries ran in a snapshot of its own, in which totals before and after it were the same; after each pass a \
     snapshot held all totals that the consistency conditions tie together ({checks} checks, not in the query times)";
/// Answers on tables that did not change during the queries.
AnswersAlikeQuiet => "nobody changed the tables: answers were compared with each other";
/// The copy is at a level whose rows cannot be changed.
CopyCannotFollow { level: String } =>
    "a copy at level {level} is stored in files, which cannot follow order entry; choose none, query-low or query-high";
/// Cost of following order entry.
CopyFollowed { cycles: u64, every_s: f64, took_ms_p50: f64, took_ms_max: f64, rows: u64, read_mb: f64 } =>
    "the copy followed the users in {cycles} cycles, each {every_s} s after the begin of the one before or as soon as that was over; \
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

    } };
}
