//! Order entry, alone and beside queries.

macro_rules! oltp {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Constants that belong to a result.
OltpConstants { last_names_loaded: u64, last_names: u64, customers: u64, items: u64 } =>
    "constants of the non-uniform choices: last names {last_names_loaded} when loaded and {last_names} now, customers {customers}, items {items}";
/// Users ask again as soon as they are answered.
NoThinkTime => "no think time: warehouses are only a size";
/// More users than the specification lets work on so many warehouses.
TooManyUsers { users: u32, users_specified: u32, users_of_a_warehouse: u32 } =>
    "{users} users work where the specification has {users_specified}, {users_of_a_warehouse} at a warehouse";
/// Connections that were replaced.
ConnectionsGivenUp { connections: u64 } =>
    "{connections} connections were given up in the middle of an operation that took too long";
/// The log of acknowledged transactions agrees with the tables.
AllAcknowledgedThere => "everything that was acknowledged is in the tables";
/// The log of acknowledged transactions, kept in a file, does not agree with the tables.
AcknowledgedLost { orders: Box<Reconciled>, payments: Box<Reconciled>, deliveries: Box<Reconciled>, places: Vec<String>, log: Option<String> } =>
    "{counts}{kept}", counts = words::reconciled([orders, payments, deliveries], places), kept = words::kept_at(log);
/// The database was checked once more before a level, because another process measured before.
CheckedForOtherProcess =>
    "the run was gone on with here, by another process than before; the database was checked again";
/// … because the server was restarted.
CheckedForRestart => "the server was restarted before this level; the database was checked again";
/// The plan asked for no check.
NotChecked => "the database was not checked";
/// The engine has one writer at a time, by its own account.
UsersWait { why: String } => "users wait for each other: {why}";
/// Transactions of one kind failed.
TransactionsFailed { errors: u64 } => "{errors} transactions failed";
/// An input is not distributed as the specification says.
InputAudit { input: String, value: f64, low: f64, high: f64 } =>
    "input audit: {input} is {value:.2}, not {low} to {high}";
/// A condition of consistency is broken, 0 for the count of rows; its first places.
ConditionBroken { condition: u32, count: u64, title: String, places: Vec<String> } =>
    "{name} is broken in {count} places: {title}: {first}", name = words::condition(*condition), first = places.join("; ");
/// A condition of consistency was not looked at.
ConditionPutOff { condition: u32, why: String } => "{name} was put off: {why}", name = words::condition(*condition);
/// The check behind the users found what is broken, or failed.
UnsoundAfterwards { broken: Vec<Broken>, errors: Vec<String> } =>
    "the database was not sound afterwards: {list}", list = words::unsound(broken, errors);
/// The check before the users found what is broken.
UnsoundBefore => "the database was not sound before users worked; load it anew";
/// The rule of a ramp ended it: operations failed.
RampFailed { users: u32, errors_pct: f64, limit_pct: f64 } =>
    "the ramp ended at {at}: {errors_pct:.2} % of the operations failed at {at}, more than {limit_pct} %", at = words::users(*users);
/// The rule of a ramp ended it: responses took too long, at two steps in a row.
RampTooSlow { users: u32, limit_ms: f64, response_ms: f64 } =>
    "the ramp ended at {at}: the response time was above its limit of {limit_ms} ms at two steps in a row, at {at} {response_ms:.1} ms",
    at = words::users(*users);
/// The rule of a ramp ended it: throughput rose no more.
RampFlat { users: u32, users_since: u32, completed_per_s: f64 } =>
    "the ramp ended at {at}: throughput has not risen by more than 1 % since {since}, at {at} {completed_per_s:.1}/s",
    at = words::users(*users), since = words::users(*users_since);
/// Unmeasured users worked until throughput was steady.
WarmedUp { took_s: f64 } => "throughput was steady after {took_s:.0} s of warm-up";
/// Unmeasured users worked as long as allowed.
NotWarmedUp { took_s: f64 } =>
    "throughput was not steady after {took_s:.0} s of warm-up, the most that was allowed";
/// How the database came to be as it is after its load.
Renewed { engine: String, how: String } => "{engine}: {how}";
/// Order entry failed at what is no drive.
OltpFailed { error: String } => "{error}";
/// Order entry has one database.
ClusterNotChecked => "one database is checked as a whole; the nodes of a cluster are several";
/// Order entry has no tables for the engine.
OltpWithoutEngine { error: String } => "{error}";
/// Queries went on beside the users.
QueriesBeside { users: u32, least_s: f64 } =>
    "queries went on all the time (users: {users}): the window ended with the pass that was under way when {least_s} s had passed";
/// Users worked beside the queries.
OrderEntryBeside { users: u32 } => "order entry went on all the time (users: {users})";
/// The server counts for everybody.
CountedTogether => "timed events, buffer gets and redo are of both loads together";
/// Neither of two workloads gave a point.
NothingMeasured => "nothing was measured";
/// No target of the run can be lifted from, or worked on.
NoTables => "no target of the run has tables of its own";

    } };
}
