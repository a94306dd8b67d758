//! Component tests and scripts: what they proved, and what stands in their way.

macro_rules! library {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

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

    } };
}
