//! Tables lifted into memory by columns.

macro_rules! columnar {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Lifting failed at what is no drive.
ColumnarFailed { error: String } => "{error}";
/// Lifting has one database.
ClusterNotLifted => "one database is lifted as a whole; the nodes of a cluster are several";
/// No target of the run can be lifted from.
NothingToLift => "no target of the run has tables of its own that could be lifted";
/// How tables were lifted, of which moment their rows are, and the memory that it took.
Lifted { streams: u32, moment: String, peak_bytes: Option<u64>, memory_bytes: u64 } =>
    "streams: {streams}; {moment}; memory at most {peak} while lifting, {memory} for the tables and for queries; a copy: later changes of the source are not in it",
    peak = words::bytes_or_unknown(*peak_bytes), memory = stats::words::bytes(*memory_bytes);
/// The level of compression, and what it means.
LevelMeans { level: String, meaning: String } => "level {level}: {meaning}";
/// The tables' size on the source's disk, held against the memory for their columns.
OnDisk { disk_bytes: u64, memory_share: f64 } =>
    "on disk they have {disk}, {memory_share:.3} of the memory for this side", disk = stats::words::bytes(*disk_bytes);
/// The source does not tell the size of a table.
DiskUntold => "their size on disk is not told";
/// Sizes in memory were counted in two ways that contradict each other: table by table, and in all.
SizesContradict { tables_bytes: u64, engine_bytes: u64 } =>
    "{tables} were counted for the tables one by one, but the engine has {engine} allocated for all",
    tables = stats::words::bytes(*tables_bytes), engine = stats::words::bytes(*engine_bytes);
/// … by the engine, and by the growth of the process.
GrowthContradicts { engine_bytes: u64, process_bytes: u64 } =>
    "the engine says that it has {engine} allocated, but the process has grown by {process}",
    engine = stats::words::bytes(*engine_bytes), process = stats::words::bytes(*process_bytes);
/// Sizes in memory are left out, and why.
SizesUntold { why: Box<Remark> } => "no sizes in memory are told: {why}";
/// How columns are kept: codec, and the columns that have it.
Codecs { codecs: BTreeMap<String, Vec<String>> } => "codecs read back from the engine: {list}", list = words::codecs(codecs);
/// Source and copy were compared.
CopyCompared { checksum: String, took_s: f64 } =>
    "rows, checksum {checksum} and sums are the same in source and copy; comparing took {took_s:.3} s";
/// What became of a column that is not kept as it is.
ColumnChanged { column: String, how: String } => "{column}: {how}";
/// What the source says of a table.
TableTold { what: String } => "{what}";
/// Statistics are older than the rows.
StatisticsOutdated =>
    "the source's statistics are older than its rows, so its size on disk is not known; have it take them anew (ANALYZE TABLE)";
/// The level has no effect at all.
LevelNotInForce { level: String, why: String } => "level {level} is not in force: {why}";
/// The level has no effect on a table.
LevelNotTaken { level: String, why: String } => "level {level} was asked for, but {why}";
/// A table that was lifted is not in the store.
CopyMissing => "the copy is not there";
/// … or not any more, by its name.
CopyOfTableMissing { table: String } => "{table} is not in the copy";
/// A copy has other rows than came.
CopyWrong { rows: u64, checksum: String, rows_came: u64, checksum_came: String } =>
    "the copy does not hold what came: {rows} rows with checksum {checksum} instead of {rows_came} with {checksum_came}";
/// Counts and sums of both sides' own differ.
TotalsDiffer { table: String, number: u64, source: Option<String>, copy: Option<String> } =>
    "source and copy of {table} differ: number {number} of their rows, counts and sums is {there} there and {here} here",
    there = words::or_nothing(source), here = words::or_nothing(copy);
/// A copy that follows its source did not.
NotFollowed { table: String, rows: u64, checksum: String, rows_source: u64, checksum_source: String } =>
    "the copy did not follow: of {table} it has {rows} changed rows with checksum {checksum}, and its source {rows_source} with {checksum_source}";
/// … when the source was put back.
NotFollowedBack { what: Box<Remark> } => "put back: {what}";
/// What is said of one table of several.
OfTable { table: String, what: Box<Remark> } => "{table}: {what}";
/// Changes at a source without a copy.
ChangedAlone => "one transaction at the source, and no copy that is kept fresh";
/// Changes that a copy follows.
ChangedAndFollowed =>
    "from the begin of the transaction at the source until the change was seen in the copy: the rows between the lowest and the highest key that changed were read again and took the place of the older ones in one transaction";
/// What the lag of a copy is.
FromCommit => "from the commit at the source; rows are those that were read again";
/// A sample was not read to its end.
SampleCut { pieces: u64 } =>
    "reading ended after {pieces} pieces, by the time or by the 256 MB that a sample may have; the interval is wider for it";
/// A sample has few rows.
SampleSmall { rows: u64, rows_together: u64 } =>
    "the sample has {rows} rows, fewer than the {rows_together} that are packed together; the whole may take less for each row";

    } };
}
