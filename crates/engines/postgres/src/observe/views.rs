//! Views of the server, its replicas, tables and indexes, and their gaps.

use std::collections::HashMap;

use archive::{About, Cell, Observed, Unseen};

use super::super::guard::Facts;
use super::asking::{APPLICATION, Asking};
use engine::Result;
use engine::risen::{SIZE, add_sizes, hottest, number, text};

pub(super) fn server(asking: &mut Asking) -> Result<Observed> {
    let sql = format!(
        "SELECT /* {APPLICATION} */ 'role', CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END \
         UNION ALL SELECT 'version', version() \
         UNION ALL SELECT 'running since', to_char(pg_postmaster_start_time(), 'YYYY-MM-DD HH24:MI:SS') || ' UTC' \
         UNION ALL SELECT 'observed from database', current_database()::text \
         UNION ALL SELECT 'sessions of clients', count(*) FILTER (WHERE backend_type = 'client backend' \
         AND application_name IS DISTINCT FROM '{APPLICATION}') || ' of at most ' || current_setting('max_connections') \
         FROM pg_stat_get_activity(NULL) \
         UNION ALL SELECT 'standbys', count(*)::text FROM pg_stat_replication \
         UNION ALL SELECT 'statistics reset last', coalesce(to_char(max(stats_reset), 'YYYY-MM-DD HH24:MI:SS') || ' UTC', 'never') \
         FROM pg_stat_database"
    );
    let mut table = Observed::new(About::Server, "the server", &[("fact", ""), ("value", "")]);
    table.rows = (asking.rows("facts of the server", &sql)?.iter())
        .map(|row| vec![text(row.first()).into(), text(row.get(1)).into()])
        .collect();
    Ok(table)
}

/// Each standby of a primary, or the standby itself.
pub(super) fn replication(asking: &mut Asking) -> Result<Observed> {
    let columns = [
        ("replica", ""),
        ("state", ""),
        ("behind", "MB"),
        ("behind", "s"),
    ];
    let mut table = Observed::new(About::Replication, "pg_stat_replication", &columns);
    let sql = format!(
        "SELECT /* {APPLICATION} */ coalesce(nullif(application_name, ''), pid::text), concat_ws(', ', state, sync_state), \
         (pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, replay_lsn) \
         / 1e6)::text, extract(epoch FROM replay_lag)::text FROM pg_stat_replication \
         UNION ALL SELECT 'this server', 'standby', (pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) / 1e6)::text, \
         CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN '0' \
         ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::text END WHERE pg_is_in_recovery()"
    );
    let rows = asking.rows("pg_stat_replication", &sql)?;
    let row = |row: &Vec<Option<String>>| -> Vec<Cell> {
        let texts = [0, 1].map(|at| text(row.get(at)).into());
        let numbers = [2, 3].map(|at| number(row.get(at)).into());
        texts.into_iter().chain(numbers).collect()
    };
    table.rows = rows.iter().map(row).collect();
    Ok(table)
}

/// Counts of one table: rows read by scans and through indexes, inserted, updated, deleted, and scans.
type Counts = [f64; 6];

/// Counters of the observed database's tables at one moment.
#[derive(Clone, Default)]
pub(super) struct TableCounts(HashMap<String, (String, Counts)>);

impl TableCounts {
    pub(super) fn read(asking: &mut Asking) -> Result<Self> {
        let sql = format!(
            "SELECT /* {APPLICATION} */ relid::text, quote_ident(schemaname) || '.' || quote_ident(relname), \
             seq_tup_read::text, idx_tup_fetch::text, n_tup_ins::text, n_tup_upd::text, n_tup_del::text, seq_scan::text \
             FROM pg_stat_user_tables"
        );
        let rows = asking.rows("pg_stat_user_tables", &sql)?.into_iter();
        let rows = rows.map(|row| {
            let counts = std::array::from_fn(|at| number(row.get(at + 2)).unwrap_or(0.0));
            (text(row.first()), (text(row.get(1)), counts))
        });
        Ok(Self(rows.collect()))
    }

    /// The tables with most rows read and changed since.
    pub(super) fn risen(&self, asking: &mut Asking, lines: usize) -> Result<Observed> {
        let columns = [
            ("table", ""),
            ("read by scans", "rows"),
            ("fetched through indexes", "rows"),
            ("inserted", "rows"),
            ("updated", "rows"),
            ("deleted", "rows"),
            ("scans of the whole table", ""),
            SIZE,
        ];
        let tables = Self::read(asking)?.0.into_iter().map(|(id, (name, now))| {
            let before = self.0.get(&id);
            let before = before.map_or(Counts::default(), |(_, counts)| *counts);
            (name, before, now)
        });
        let mut table = Observed::new(About::Tables, "pg_stat_user_tables", &columns);
        (table.rows, table.remark) = hottest(tables, |counts| counts[..5].iter().sum(), lines);
        add_sizes(&mut table.rows, &sizes(asking).unwrap_or_default());
        Ok(table)
    }
}

/// Sizes in MB by name, with indexes and long values, as of the last VACUUM or ANALYZE: whoever asks for more takes a lock.
fn sizes(asking: &mut Asking) -> Result<HashMap<String, f64>> {
    let sql = format!(
        "SELECT /* {APPLICATION} */ quote_ident(s.schemaname) || '.' || quote_ident(s.relname), \
         ((c.relpages + coalesce(l.relpages, 0) + coalesce((SELECT sum(i.relpages) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid \
         WHERE x.indrelid = c.oid), 0)) * current_setting('block_size')::float8 / 1e6)::text \
         FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid LEFT JOIN pg_class l ON l.oid = c.reltoastrelid WHERE c.relpages > 0"
    );
    let rows = asking.rows("pg_class", &sql)?.into_iter();
    Ok(rows
        .filter_map(|row| Some((text(row.first()), number(row.get(1))?)))
        .collect())
}

/// The largest indexes that no query has used since the statistics begin; those that keep values unique are of use without.
pub(super) fn unused_indexes(asking: &mut Asking, lines: usize) -> Result<Observed> {
    let sql = format!(
        "SELECT /* {APPLICATION} */ quote_ident(s.schemaname) || '.' || quote_ident(s.indexrelname), \
         quote_ident(s.relname), (c.relpages::float8 * current_setting('block_size')::float8 / 1e6)::text \
         FROM pg_stat_user_indexes s JOIN pg_index i USING (indexrelid) JOIN pg_class c ON c.oid = s.indexrelid \
         WHERE s.idx_scan = 0 AND NOT i.indisunique AND NOT i.indisexclusion ORDER BY c.relpages DESC, 1 LIMIT {lines}"
    );
    let columns = [("index", ""), ("table", ""), ("size", "MB")];
    let mut table = Observed::new(About::Indexes, "pg_stat_user_indexes", &columns);
    table.rows = (asking.rows("pg_stat_user_indexes", &sql)?.iter())
        .map(|row| {
            let texts = [0, 1].map(|at| text(row.get(at)).into());
            texts
                .into_iter()
                .chain([number(row.get(2)).into()])
                .collect()
        })
        .collect();
    Ok(table)
}

pub(super) fn unseen(
    asking: &mut Asking,
    facts: &Facts,
    statements: Option<String>,
) -> Result<Observed> {
    let columns = [("not seen", ""), ("what shows it", "")];
    let mut table = Observed::new(About::Unseen, "rights and settings", &columns);
    let mut tell = |what: &str, how: String| table.rows.push(vec![what.into(), how.into()]);
    if let Some(rights) = &facts.rights_missing {
        if rights.unseen.contains(&Unseen::ServerProcesses) {
            let what = "sessions of other users, waits of the server's own processes, lag of replicas, texts of others' statements";
            tell(what, rights.grant.clone());
        }
        if rights.unseen.contains(&Unseen::DataDirectory) {
            tell(
                "the server's directories, and so its devices",
                rights.grant.clone(),
            );
        }
    }
    if let Some(why) = statements {
        tell("counts of statements; those shown are from samples", why);
    }
    let sql = format!(
        "SELECT /* {APPLICATION} */ name FROM pg_settings WHERE setting = 'off' \
         AND name IN ('track_io_timing', 'track_wal_io_timing', 'track_counts', 'track_activities') ORDER BY name"
    );
    for setting in asking
        .rows("pg_settings", &sql)?
        .into_iter()
        .flatten()
        .flatten()
    {
        let what = match setting.as_str() {
            "track_io_timing" => "times of reads and writes",
            "track_wal_io_timing" => "times of log writes and syncs",
            "track_counts" => "counts of rows, pages and transactions",
            _ => "what sessions do",
        };
        tell(what, format!("{setting} = on"));
    }
    Ok(table)
}
