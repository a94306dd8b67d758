//! Component tests and scripts: what they proved, and what stands in their way.

macro_rules! library {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// A labelled extra: contention on an engine that scales no further. It explains the engine and joins no curve.
ContentionExtra { why: String } => "contention extra: {why}";
/// The test has this one point on the target.
OnePoint { why: String } => "one point: {why}";
/// Jobs share the engine's threads.
PoolShared { threads: u32 } => "the engine's pool of {threads} threads is shared by all jobs";
/// What was measured is the engine's own language or executor.
EngineSpecific => "not comparable across engines: it measures this engine's executor";
/// Times of one kind of transaction of a script, as exact as 3 %.
TransactionTimes { name: String, completed: u64, per_s: f64, service_p50_ms: Option<f64>, service_p99_ms: Option<f64> } =>
    "transaction \"{name}\": {completed} completed, {per_s:.1}/s, service time p50 {p50} ms, p99 {p99} ms (to 3 %)",
    p50 = words::milliseconds(*service_p50_ms), p99 = words::milliseconds(*service_p99_ms);
/// A statement failed before or behind the drive; what the engine said.
StatementFailed { error: String } => "{error}";
/// A table of the library was changed by others.
TableChanged { table: String } =>
    "table {table} is not what was loaded: its rows were changed behind dbdyno's back; it will be loaded anew";
/// Loaded rows are missing or wrong.
LoadedRowsWrong { rows: u64 } => "the table does not hold the {rows} rows that were loaded";
/// Committed rows are missing or wrong.
InsertedRowsWrong { rows: u64 } => "the table does not hold the {rows} rows whose insertion was committed";
/// Committed blocks are missing.
BlocksWrong { found: u64, committed: u64 } => "the table holds {found} blocks, but {committed} were committed";
/// A block has other bytes.
BlockWrong { block: u64 } => "block {block} does not hold what was written";
/// A new index finds other rows.
IndexedRowsWrong { key: u64 } => "the rows of key {key} found by the new index are not those loaded";
/// A new index cannot be dropped; what the engine said.
IndexMissing { error: String } => "the index is not there: {error}";
/// Updates are missing, or too many.
UpdatesWrong { found: u64, committed: u64, measured: u64 } =>
    "the table holds {found} updates, but {committed} were committed and {measured} measured";
/// A table is not compressed though it should be.
NotCompressed => "the table was to be compressed but is stored uncompressed";
/// A table is compressed though it should not be.
Compressed { codecs: Vec<String> } => "the table was to be uncompressed but is stored with {list}", list = codecs.join(", ");

/// The target cannot do what the test needs, by its own account.
EngineLacks { feature: String, why: String } => "{why}";
/// Nothing can be written to the target, by its own account.
ReadOnly { why: String } => "{why}";
/// The library has no SQL for the engine.
NoStatement { engine: String } => "the library holds no statement of this test for {engine}";
/// A script has no SQL for the engine.
ScriptWithoutSql { engine: String, transaction: String } =>
    "the script has no SQL for {engine} in a statement of transaction \"{transaction}\"";

    } };
}
