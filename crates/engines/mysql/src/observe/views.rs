//! Views of the server, its replication, tables and indexes, and their gaps.

use std::collections::HashMap;

use archive::{About, Observed, RightsMissing, Unseen};

use super::asking::{Asking, OWN};
use super::load::replica;
use engine::Result;
use engine::risen::{SIZE, add_sizes, hottest, number, text};

const SERVERS: &str = "('mysql', 'sys', 'information_schema', 'performance_schema')";

pub(super) fn server(asking: &mut Asking, is_replica: bool) -> Result<Observed> {
    let mut table = Observed::new(About::Server, "the server", &[("fact", ""), ("value", "")]);
    let schema = asking.flavour.status_schema;
    let sql = format!(
        "SELECT 'version', VERSION() UNION ALL SELECT 'takes writes', IF(@@global.read_only, 'no (read_only)', 'yes') \
         UNION ALL SELECT 'running since', DATE_FORMAT(UTC_TIMESTAMP() - INTERVAL VARIABLE_VALUE SECOND, '%Y-%m-%d %H:%i:%s UTC') \
         FROM {schema}.global_status AS {OWN} WHERE VARIABLE_NAME = 'UPTIME' \
         UNION ALL SELECT 'sessions', CONCAT(VARIABLE_VALUE, ' of at most ', @@max_connections, ', the observer\\'s two among them') \
         FROM {schema}.global_status AS {OWN} WHERE VARIABLE_NAME = 'THREADS_CONNECTED'"
    );
    let role = if is_replica { "replica" } else { "primary" };
    table.rows.push(vec!["role".into(), role.into()]);
    let rows = asking.rows("facts of the server", &sql)?;
    let facts = rows
        .iter()
        .map(|row| vec![text(row.first()).into(), text(row.get(1)).into()]);
    table.rows.extend(facts);
    Ok(table)
}

/// The replica itself; a source does not tell how far its replicas are.
pub(super) fn replication(asking: &mut Asking, is_replica: bool) -> Result<Observed> {
    let columns = [
        ("connection", ""),
        ("source", ""),
        ("state", ""),
        ("behind", "s"),
    ];
    let mut table = Observed::new(About::Replication, "the status of the replica", &columns);
    if !is_replica {
        table.remark = Some("the server is no replica, or this user may not see that it is one; a source does not tell how far behind its replicas are".into());
        return Ok(table);
    }
    let rows = replica(asking)?.into_iter().map(|one| {
        let [name, source, state] = [one.name, one.source, one.state].map(Into::into);
        vec![name, source, state, one.delay_s.into()]
    });
    table.rows = rows.collect();
    Ok(table)
}

/// Rows fetched, inserted, updated and deleted.
type Counts = [f64; 4];

/// Counters of the tables at one moment, or why there are none.
#[derive(Default)]
pub(super) struct TableCounts(Option<std::result::Result<HashMap<String, Counts>, String>>);

const TABLES: &str = "performance_schema.table_io_waits_summary_by_table";

impl TableCounts {
    pub(super) fn read(asking: &mut Asking) -> Self {
        Self(Some(table_counts(asking)))
    }

    /// The tables with most rows read and changed since.
    pub(super) fn risen(&self, asking: &mut Asking, lines: usize) -> Observed {
        let unknown = |why: String| Observed::unknown(About::Tables, TABLES, why);
        let before = match &self.0 {
            Some(Ok(before)) => before,
            Some(Err(why)) => return unknown(why.clone()),
            None => return unknown("it was not read".into()),
        };
        let now = match table_counts(asking) {
            Ok(now) => now,
            Err(why) => return unknown(why),
        };
        let columns = [
            ("table", ""),
            ("fetched", "rows"),
            ("inserted", "rows"),
            ("updated", "rows"),
            ("deleted", "rows"),
            SIZE,
        ];
        let mut table = Observed::new(About::Tables, TABLES, &columns);
        let tables = now.into_iter().map(|(name, now)| {
            let before = before.get(&name).copied().unwrap_or_default();
            (name, before, now)
        });
        (table.rows, table.remark) = hottest(tables, |counts| counts.iter().sum(), lines);
        add_sizes(&mut table.rows, &sizes(asking).unwrap_or_default());
        table
    }
}

/// Sizes of the tables' files in MB by name, those of partitions added up; of a table in a file with others nothing is known.
fn sizes(asking: &mut Asking) -> Result<HashMap<String, f64>> {
    let files = asking.flavour.table_spaces;
    let sql = format!(
        "SELECT REPLACE(SUBSTRING_INDEX(NAME, '#', 1), '/', '.'), SUM(FILE_SIZE) / 1e6 FROM information_schema.{files} AS {OWN} \
         WHERE NAME LIKE '%/%' GROUP BY 1"
    );
    let rows = asking.rows(files, &sql)?.into_iter();
    Ok(rows
        .filter_map(|row| Some((text(row.first()), number(row.get(1))?)))
        .collect())
}

fn table_counts(asking: &mut Asking) -> std::result::Result<HashMap<String, Counts>, String> {
    refuse_off(asking)?;
    let sql = format!(
        "SELECT CONCAT(OBJECT_SCHEMA, '.', OBJECT_NAME), COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE \
         FROM {TABLES} AS {OWN} WHERE OBJECT_SCHEMA NOT IN {SERVERS}"
    );
    let rows = asking.rows(TABLES, &sql).map_err(|error| error.message)?;
    let counts = rows.into_iter().map(|row| {
        let counts = std::array::from_fn(|at| number(row.get(at + 1)).unwrap_or(0.0));
        (text(row.first()), counts)
    });
    Ok(counts.collect())
}

pub(super) fn refuse_off(asking: &mut Asking) -> std::result::Result<(), String> {
    let sql = "SELECT @@performance_schema AS dbdyno_observe";
    let is_on = asking.rows("@@performance_schema", sql);
    let is_on = is_on.map_err(|error| error.message)?;
    match text(is_on.first().and_then(|row| row.first())).as_str() {
        "1" => Ok(()),
        _ => Err("performance_schema is off: set performance_schema=ON in the server's configuration, and restart it".into()),
    }
}

/// Indexes that no statement has used since the server began, of tables that it has opened since; those that keep values unique are
/// of use without.
pub(super) fn unused_indexes(asking: &mut Asking, lines: usize) -> Result<Observed> {
    const USAGE: &str = "performance_schema.table_io_waits_summary_by_index_usage";
    if let Err(why) = refuse_off(asking) {
        return Ok(Observed::unknown(About::Indexes, USAGE, why));
    }
    let (indexes, tables) = (asking.flavour.indexes, asking.flavour.tables);
    // Type 0: neither the table itself nor one that keeps values unique.
    let sql = format!(
        "SELECT u.INDEX_NAME, CONCAT(u.OBJECT_SCHEMA, '.', u.OBJECT_NAME) FROM {USAGE} AS u \
         JOIN information_schema.{tables} AS {OWN} ON {OWN}.NAME = CONCAT(u.OBJECT_SCHEMA, '/', u.OBJECT_NAME) \
         JOIN information_schema.{indexes} AS i ON i.TABLE_ID = {OWN}.TABLE_ID AND i.NAME = u.INDEX_NAME \
         WHERE u.COUNT_STAR = 0 AND i.TYPE = 0 AND u.OBJECT_SCHEMA NOT IN {SERVERS} ORDER BY 2, 1 LIMIT {lines}"
    );
    let mut table = Observed::new(About::Indexes, USAGE, &[("index", ""), ("table", "")]);
    table.rows = (asking.rows(USAGE, &sql)?.iter())
        .map(|row| [0, 1].map(|at| text(row.get(at)).into()).into())
        .collect();
    Ok(table)
}

pub(super) fn unseen(
    rights: Option<&RightsMissing>,
    statements: Option<String>,
    is_local: bool,
) -> Observed {
    let columns = [("not seen", ""), ("what shows it", "")];
    let mut table = Observed::new(About::Unseen, "rights and settings", &columns);
    let mut tell = |what: &str, how: &str| table.rows.push(vec![what.into(), how.into()]);
    if let Some(rights) = rights {
        if rights.unseen.contains(&Unseen::OthersAtWork) {
            tell(
                "sessions of other users, transactions and lock waits",
                &rights.grant,
            );
        }
        if rights.unseen.contains(&Unseen::DataFileWaits) {
            tell("waits for data files", &rights.grant);
        }
    }
    if let Some(why) = statements {
        tell(
            "counts of statements, tables and indexes; statements shown are from samples",
            &why,
        );
    }
    if !is_local {
        let how = "observe on the server's machine, through its socket";
        tell(
            "which active sessions are on a processor, and which wait for data or latches",
            how,
        );
    }
    table
}
