//! Counters of the server's load.

use std::collections::HashMap;

use archive::load_row;

use super::super::flavour::ReplicaStatus;
use super::asking::{Asking, OWN};
use engine::risen::{number, text};
use engine::{LoadCount, LoadCounts, Result};

/// Columns of the status of a replica: its source, whether its two threads run, and the delay.
const SOURCE: usize = 1;
const RUNS: [usize; 2] = [10, 11];
const DELAY: usize = 32;

/// Name, unit, figure, the status variables that are added, and their divisor.
type Count = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
    f64,
);

const COUNTS: [Count; 19] = [
    ("commits", "", "", &["com_commit"], 1.0),
    (load_row::ROLLBACKS, "", "", &["com_rollback"], 1.0),
    (load_row::STATEMENTS, "", "", &["questions"], 1.0),
    (load_row::ROWS_READ, "rows", "", &["innodb_rows_read"], 1.0),
    (
        load_row::ROWS_INSERTED,
        "rows",
        "",
        &["innodb_rows_inserted"],
        1.0,
    ),
    (
        load_row::ROWS_UPDATED,
        "rows",
        "",
        &["innodb_rows_updated"],
        1.0,
    ),
    (
        load_row::ROWS_DELETED,
        "rows",
        "",
        &["innodb_rows_deleted"],
        1.0,
    ),
    (load_row::ROWS_SENT, "rows", "", &["rows_sent"], 1.0),
    (
        load_row::LOGICAL_READS,
        "pages",
        "buffer_gets_per_s",
        &["innodb_buffer_pool_read_requests"],
        1.0,
    ),
    (
        load_row::PHYSICAL_READS,
        "pages",
        "",
        &["innodb_pages_read"],
        1.0,
    ),
    (
        load_row::LOG,
        "MB",
        "redo_mb_per_s",
        &["innodb_lsn_current"],
        1e6,
    ),
    ("log written", "MB", "", &["innodb_os_log_written"], 1e6),
    (
        "binary log written",
        "MB",
        "",
        &["binlog_bytes_written"],
        1e6,
    ),
    (
        "temporary tables on disk",
        "tables",
        "",
        &["created_tmp_disk_tables"],
        1.0,
    ),
    (
        "sorts that spilled",
        "passes",
        "",
        &["sort_merge_passes"],
        1.0,
    ),
    ("deadlocks", "", "", &["innodb_deadlocks"], 1.0),
    (
        "waits for row locks",
        "",
        "",
        &["innodb_row_lock_waits"],
        1.0,
    ),
    ("sent to clients", "MB", "", &["bytes_sent"], 1e6),
    ("logons", "", "", &["connections"], 1.0),
];

/// Others in the place of those that a server does not have. Rows by requests to the storage engines, where InnoDB reports none, as on
/// MariaDB from 10.6 on: a range asks for a row more than it has.
const INSTEAD: [(&str, &[&str]); 5] = [
    (load_row::LOG, &["innodb_redo_log_current_lsn"]),
    (
        load_row::ROWS_READ,
        &[
            "handler_read_first",
            "handler_read_key",
            "handler_read_last",
            "handler_read_next",
            "handler_read_prev",
            "handler_read_rnd",
            "handler_read_rnd_next",
        ],
    ),
    (load_row::ROWS_INSERTED, &["handler_write"]),
    (load_row::ROWS_UPDATED, &["handler_update"]),
    (load_row::ROWS_DELETED, &["handler_delete"]),
];
/// Reads of the observer's own session from the server's own tables.
const OWN_READS: &str = "own reads";

pub(super) fn read(asking: &mut Asking, is_replica: bool) -> Result<LoadCounts> {
    let instead = INSTEAD.iter().flat_map(|(_, names)| *names);
    let names = COUNTS
        .iter()
        .flat_map(|(.., names, _)| *names)
        .chain(instead);
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    let schema = asking.flavour.status_schema;
    let sql = format!(
        // The own reads come first: what it takes to read them is then among the others each time, and nothing falls.
        "SELECT '{OWN_READS}', SUM(VARIABLE_VALUE) FROM {schema}.session_status AS {OWN} WHERE VARIABLE_NAME LIKE 'HANDLER\\_READ\\_%' \
         UNION ALL SELECT LOWER(VARIABLE_NAME), IF(VARIABLE_NAME = 'UPTIME', \
         DATE_FORMAT(UTC_TIMESTAMP() - INTERVAL VARIABLE_VALUE SECOND, '%Y-%m-%d %H:%i:%s'), VARIABLE_VALUE) \
         FROM {schema}.global_status AS {OWN} WHERE LOWER(VARIABLE_NAME) IN ('uptime', {})",
        names.join(", ")
    );
    let mut rows = match asking.flavour.more_status {
        Some(sql) => asking.rows("GLOBAL_STATUS", sql)?,
        None => Vec::new(),
    };
    rows.extend(asking.rows("GLOBAL_STATUS", &sql)?);
    // The question itself is among those that were counted.
    let own = asking.asked as f64;
    let status: HashMap<String, String> = rows
        .into_iter()
        .map(|row| (text(row.first()).to_lowercase(), text(row.get(1))))
        .collect();
    let sum = |names: &[&str]| -> Option<f64> {
        names
            .iter()
            .map(|name| status.get(*name)?.parse::<f64>().ok())
            .sum()
    };
    let instead = |name: &str| -> Option<f64> {
        let (_, of) = INSTEAD.iter().find(|(other, _)| *other == name)?;
        let all = sum(of)?;
        Some(match name {
            load_row::ROWS_READ => all - sum(&[OWN_READS]).unwrap_or(0.0),
            _ => all,
        })
    };
    let counts = COUNTS.iter().map(|(name, unit, figure, of, unit_of)| {
        let count = sum(of).or_else(|| instead(name)).map(|n| n / unit_of);
        LoadCount {
            name,
            unit,
            figure,
            count: if *of == ["questions"] {
                count.map(|n| n - own)
            } else {
                count
            },
        }
    });
    let lag_s = if is_replica {
        replica(asking).ok().and_then(|all| lag_s(&all))
    } else {
        None
    };
    Ok(LoadCounts {
        transactions: sum(&["com_commit", "com_rollback"]),
        counts: counts.collect(),
        era: status.get("uptime").cloned().unwrap_or_default(),
        lag_s,
    })
}

/// A connection of a replica to a source, of which it may have several.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Replicated {
    /// "" for the one without a name.
    pub name: String,
    pub source: String,
    pub state: String,
    /// How far it is behind; `None` where it does not run.
    pub delay_s: Option<f64>,
}

/// All connections of a replica; none where the server is no replica.
pub(super) fn replica(asking: &mut Asking) -> Result<Vec<Replicated>> {
    let ReplicaStatus { sql, name, before } = asking.flavour.replica;
    let rows = asking.rows("the status of the replica", sql)?;
    let connection = |row: &Vec<Option<String>>| {
        let cell = |at: usize| text(row.get(before + at));
        let [receives, applies] = RUNS.map(cell);
        Replicated {
            name: text(row.get(name)),
            source: cell(SOURCE),
            state: format!("receives: {receives}, applies: {applies}"),
            delay_s: number(row.get(before + DELAY)),
        }
    };
    Ok(rows.iter().map(connection).collect())
}

/// The delay of the slowest connection; unknown as long as that of one is, because it does not run.
fn lag_s(all: &[Replicated]) -> Option<f64> {
    let delays: Option<Vec<f64>> = all.iter().map(|one| one.delay_s).collect();
    delays?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_connection_is_the_lag_and_a_broken_one_leaves_none() {
        let of = |delays: &[Option<f64>]| {
            let all = delays.iter().map(|delay_s| Replicated {
                delay_s: *delay_s,
                ..Replicated::default()
            });
            lag_s(&all.collect::<Vec<_>>())
        };
        assert_eq!(of(&[Some(1.0), Some(5.0), Some(0.0)]), Some(5.0));
        assert_eq!(of(&[Some(1.0), None]), None);
        assert_eq!(of(&[]), None);
    }
}
