//! Backups, their restores, and the proofs of both.

macro_rules! backup {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// The engine has no backup methods here, and why.
NoBackup { why: String } => "{why}";
/// A method that the engine does not have, with those that it has.
BackupMethodUnknown { method: String, methods: String } => "there is no backup method {method}; the methods here are {methods}";
/// Something is missing that a method needs, and how to get it.
BackupMethodLacks { method: String, why: String } => "{why}";
/// The directory for repositories is inside the data that are backed up.
RepositoryInsideData { repository: String, data: String } =>
    "the directory {repository} for the backup lies inside the data {data}, so that a loss of the data would be a loss of the backup; \
     choose another with repository";
/// The backup and its restored copy do not fit, known before any of it is written.
BackupNoRoom { method: String, repository: String, backup_bytes: u64, archive_bytes: u64, restored_bytes: u64, need_bytes: u64,
    free_bytes: u64 } =>
    "{method} needs up to {need} in {repository} (backup {backup}, archived log {archive}, restored copy {restored}), and only {free} are \
     free; free some space, or choose another directory with repository",
    need = stats::words::bytes(*need_bytes), backup = stats::words::bytes(*backup_bytes), archive = stats::words::bytes(*archive_bytes),
    restored = stats::words::bytes(*restored_bytes), free = stats::words::bytes(*free_bytes);
/// How a backup is made.
BackupMade { method: String, how: String, repository: String } => "{method}: {how}; repository in {repository}";
/// Directories of backups whose runs were killed, and which are gone.
BackupLeftRemoved { directories: Vec<String> } => "removed what runs that were killed left behind: {list}", list = directories.join(", ");
/// The backup failed.
BackupFailed { error: String } => "the backup failed: {error}";
/// The restore failed.
RestoreFailed { error: String } => "the restore failed, so the backup is worth nothing: {error}";
/// Files of the repository are not those that the backup wrote.
BackupDamaged { what: String } => "the repository does not hold what the backup wrote: {what}";
/// The tool's own verification found the backup wrong.
BackupNotVerified { what: String } => "the engine's own verification of the backup failed: {what}";
/// A restored table differs from the table that was backed up.
RestoredDiffers { table: String, rows: u64, checksum: String, rows_restored: u64, checksum_restored: String } =>
    "the restored table {table} has {restored} rows with checksum {checksum_restored}, the table backed up had {backed_up} with {checksum}",
    restored = stats::words::count(*rows_restored), backed_up = stats::words::count(*rows);
/// A table is in only one of the two databases.
RestoredTables { only_source: Vec<String>, only_restored: Vec<String> } =>
    "the tables differ: only in the source {source}, only in the restored database {restored}",
    source = words::names(only_source), restored = words::names(only_restored);
/// The restored database breaks conditions of consistency.
RestoredUnsound { conditions: Vec<u32> } =>
    "the restored order-entry database violates {list}", list = words::conditions(conditions);
/// Acknowledged transactions are missing in the restored database, or others are there.
RestoredLost { what: Box<Remark> } => "restored database: {what}";
/// Impact of a backup on users: their rate and their 95th percentile before it and during it, each with a 95 % interval.
BackupBeside { users: u32, offered_per_s: f64, alone_per_s: f64, alone_low_per_s: f64, alone_high_per_s: f64, beside_per_s: f64,
    beside_low_per_s: f64, beside_high_per_s: f64, alone_us_p95: f64, alone_low_us_p95: f64, alone_high_us_p95: f64,
    beside_us_p95: f64, beside_low_us_p95: f64, beside_high_us_p95: f64 } =>
    "{users} users were offered {offered_per_s} transactions/s: alone {alone_per_s:.1} ({alone_low_per_s:.1}–{alone_high_per_s:.1}) \
     transactions/s, p95 {alone_us_p95:.0} ({alone_low_us_p95:.0}–{alone_high_us_p95:.0}) µs; beside the backup {beside_per_s:.1} \
     ({beside_low_per_s:.1}–{beside_high_per_s:.1}) transactions/s, p95 {beside_us_p95:.0} \
     ({beside_low_us_p95:.0}–{beside_high_us_p95:.0}) µs; 95 % intervals from the transactions of this backup alone";
/// The method cannot be restored to a point in time.
BackupNoPointInTime { method: String } =>
    "{method} keeps no archive of the log, so its backups cannot be restored to a point in time; choose a method that does, such as \
     pgbackrest-lz4 on PostgreSQL";
/// The method cannot be held to a rate.
BackupNoRate { method: String } =>
    "{method} cannot be held to a rate (max_mb_per_s); choose a method that can, such as basebackup-tar on PostgreSQL";
/// A backup that was stored nowhere.
BackupDiscarded {} =>
    "no backup: what was read was discarded, to show the time without that of the medium; there is nothing to restore or to prove";
/// A backup was restored to a point in time, and nothing that was done after it is there.
RestoredToPoint { point: String, before: u64, after: u64 } =>
    "restored to the point {point}: all {kept} acknowledged between the backup and the point are there, and none of the \
     {later} acknowledged after it",
    kept = stats::words::counted(*before, "transaction"), later = stats::words::count(*after);
/// All proofs held for a backup made under load, whose source has changed since.
RestoreProvenBeside { files: u64, conditions: u64, before: u64, beside: u64, took_s: f64 } =>
    "restored and proven: checksums of {of_files}, the engine's own verification, {of_conditions} of consistency, all {kept} \
     acknowledged before the backup began, and nothing but what was acknowledged until it ended ({meanwhile} beside it); the \
     proofs took {took_s:.3} s",
    of_files = stats::words::counted(*files, "file"), of_conditions = stats::words::counted(*conditions, "condition"), kept = stats::words::counted(*before, "transaction"),
    meanwhile = stats::words::count(*beside);
/// Less than half of the data was read from the device.
BackupFromCache { read_mb: f64, logical_mb: f64 } =>
    "the device read {read_mb:.0} MB of {logical_mb:.0} MB, and the rest was in the page cache: the rate says nothing about the device";
/// All proofs of a restored backup held.
RestoreProven { files: u64, tables: u64, rows: u64, conditions: u64, acknowledged: u64, took_s: f64 } =>
    "restored and proven: checksums of {of_files}, the engine's own verification, digests of {of_rows} in {of_tables}, {of_conditions} \
     of consistency and {of_acknowledged}; the proofs took {took_s:.3} s",
    of_files = stats::words::counted(*files, "file"), of_rows = stats::words::counted(*rows, "row"), of_tables = stats::words::counted(*tables, "table"),
    of_conditions = stats::words::counted(*conditions, "condition"), of_acknowledged = stats::words::counted(*acknowledged, "acknowledged transaction");

    } };
}
