//! Counters of the server's load, all databases together.

use archive::load_row;

use super::asking::{APPLICATION, Asking};
use engine::risen::{number, text};
use engine::{LoadCount, LoadCounts, Result};

/// Names, units, the figures that they are, and how the server sums them up; bytes become MB.
const COUNTS: [(&str, &str, &str, &str); 17] = [
    ("commits", "", "", "sum(xact_commit)"),
    (load_row::ROLLBACKS, "", "", "sum(xact_rollback)"),
    // Each of them takes a number, and so does a savepoint.
    (
        load_row::WRITING,
        "",
        "",
        "SELECT txid_snapshot_xmax(txid_current_snapshot())",
    ),
    (load_row::ROWS_SCANNED, "rows", "", "sum(tup_returned)"),
    (load_row::ROWS_FETCHED, "rows", "", "sum(tup_fetched)"),
    (load_row::ROWS_INSERTED, "rows", "", "sum(tup_inserted)"),
    (load_row::ROWS_UPDATED, "rows", "", "sum(tup_updated)"),
    (load_row::ROWS_DELETED, "rows", "", "sum(tup_deleted)"),
    (
        load_row::LOGICAL_READS,
        "pages",
        "buffer_gets_per_s",
        "sum(blks_hit) + sum(blks_read)",
    ),
    (
        load_row::PHYSICAL_READS_OR_CACHED,
        "pages",
        "",
        "sum(blks_read)",
    ),
    (
        load_row::LOG,
        "MB",
        "redo_mb_per_s",
        "CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') \
         ELSE pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') END / 1e6",
    ),
    (
        load_row::PAGE_IMAGES,
        "pages",
        "",
        "SELECT wal_fpi FROM pg_stat_wal",
    ),
    ("temporary files", "MB", "", "sum(temp_bytes) / 1e6"),
    ("temporary files", "files", "", "sum(temp_files)"),
    ("deadlocks", "", "", "sum(deadlocks)"),
    ("statements cancelled by replay", "", "", "sum(conflicts)"),
    (ACTIVE_TIME, "s", "", "sum(active_time) / 1000"),
];

/// Per second, the active sessions by the server's own clock, which no look has to meet. A session enters it when a statement has
/// ended.
const ACTIVE_TIME: &str = "time in statements, when they have ended";
/// Before this version nobody counted that time, nor the whole pages in the log.
const VERSION_OF_ACTIVE_TIME: u32 = 14;

/// How far a standby is behind, or the slowest standby of a primary. A standby that has replayed everything is not behind.
const LAG: &str = "CASE WHEN pg_is_in_recovery() \
     THEN CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 \
     ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END \
     ELSE (SELECT max(extract(epoch FROM replay_lag)) FROM pg_stat_replication) END";

pub(super) fn read(asking: &mut Asking, major: u32) -> Result<LoadCounts> {
    let counts = COUNTS.map(|(name, .., sql)| match name {
        ACTIVE_TIME | load_row::PAGE_IMAGES if major < VERSION_OF_ACTIVE_TIME => "NULL".to_owned(),
        _ => format!("({sql})::text"),
    });
    let sql = format!(
        "SELECT /* {APPLICATION} */ {}, concat(max(stats_reset), ' ', pg_postmaster_start_time()), ({LAG})::text \
         FROM pg_stat_database",
        counts.join(", ")
    );
    // Earlier statements have been counted.
    let own = asking.asked as f64;
    let row = asking
        .rows("pg_stat_database", &sql)?
        .into_iter()
        .next()
        .unwrap_or_default();
    let counts = COUNTS.iter().enumerate();
    let counts = counts.map(|(at, (name, unit, figure, _))| {
        let count = number(row.get(at));
        LoadCount {
            name,
            unit,
            figure,
            count: if at == 0 {
                count.map(|n| n - own)
            } else {
                count
            },
        }
    });
    let counts: Vec<LoadCount> = counts.collect();
    Ok(LoadCounts {
        transactions: counts[0].count.zip(counts[1].count).map(|(c, r)| c + r),
        counts,
        era: text(row.get(COUNTS.len())),
        lag_s: number(row.get(COUNTS.len() + 1)).map(|s| s.max(0.0)),
    })
}
