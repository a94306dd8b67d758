//! Tables loaded into the column store.

macro_rules! columnar {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Populating the column store failed outside a measurement.
ColumnarFailed { error: String } => "{error}";
/// Populating the column store needs a single database.
ClusterNotLifted => "the column store is populated from a single database, not from the nodes of a cluster";
/// No target of the run has tables for the column store.
NothingToLift => "no target of the run has tables of its own to load into the column store";
/// How tables were loaded into the column store, the moment their rows are from, and the memory used.
Lifted { streams: u32, moment: String, peak_bytes: Option<u64>, memory_bytes: u64 } =>
    "streams: {streams}; {moment}; peak memory {peak} while populating, {memory} for the tables and for queries; later changes \
     of the source are not in the copy",
    peak = words::bytes_or_unknown(*peak_bytes), memory = stats::words::bytes(*memory_bytes);
/// The level of compression, and what it means.
LevelMeans { level: String, meaning: String } => "level {level}: {meaning}";
/// The tables' size on the source's disk, compared with the memory for their columns.
OnDisk { disk_bytes: u64, memory_share: f64 } =>
    "their size on disk is {disk}, {memory_share:.3} of the memory for the column store", disk = stats::words::bytes(*disk_bytes);
/// The source does not report the size of a table.
DiskUntold => "their size on disk is unknown";
/// Sizes in memory were counted in two ways that contradict each other: table by table, and in all.
SizesContradict { tables_bytes: u64, engine_bytes: u64 } =>
    "the sizes of the tables add up to {tables}, but the engine has allocated {engine} in total",
    tables = stats::words::bytes(*tables_bytes), engine = stats::words::bytes(*engine_bytes);
/// … by the engine, and by the growth of the process.
GrowthContradicts { engine_bytes: u64, process_bytes: u64 } =>
    "the engine reports {engine} allocated, but the process has grown by {process}",
    engine = stats::words::bytes(*engine_bytes), process = stats::words::bytes(*process_bytes);
/// Sizes in memory are unknown, and why.
SizesUntold { why: Box<Remark> } => "sizes in memory are unknown: {why}";
/// How columns are encoded: codecs, each with its columns.
Codecs { codecs: BTreeMap<String, Vec<String>> } => "codecs read back from the engine: {list}", list = words::codecs(codecs);
/// Source and copy were compared.
CopyCompared { checksum: String, took_s: f64 } =>
    "source and copy have the same rows, checksum ({checksum}) and sums; the comparison took {took_s:.3} s";
/// Storage of a column that is not stored unchanged.
ColumnChanged { column: String, how: String } => "{column}: {how}";
/// A fact that the source reports about a table.
TableTold { what: String } => "{what}";
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
