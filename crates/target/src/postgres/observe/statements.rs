//! What `pg_stat_statements` counts, where it is there.

use std::collections::HashMap;

use archive::{About, Observed, ObservedCell};

use super::asking::{APPLICATION, Asking};
use crate::risen::{foreign_rows, number, risen, text};
use crate::{Result, Wanted};

const SOURCE: &str = "pg_stat_statements";
/// Its columns changed their names in this version.
const VERSION_OF_EXECUTION: u32 = 13;

/// What the table shows of each.
const COLUMNS: [(&str, &str); 10] = [
    ("statement", ""),
    ("time", "s"),
    ("active sessions", "sessions"),
    ("calls", ""),
    ("mean", "ms"),
    ("rows", "rows"),
    ("logical reads", "pages"),
    ("physical reads", "pages"),
    ("temporary", "pages"),
    ("log", "MB"),
];

/// Counts of one statement: calls, milliseconds, rows, pages hit, read and temporary, log in bytes.
type Counts = [f64; 7];

/// What was counted of each statement at one moment.
#[derive(Default)]
pub(super) struct Statements {
    /// Schema of the extension, or why there is nothing.
    schema: Option<std::result::Result<String, String>>,
    counts: HashMap<String, Counts>,
    /// When they were read, by the server's clock, in seconds.
    at_s: f64,
}

impl Statements {
    pub(super) fn read(asking: &mut Asking, major: u32) -> Self {
        let schema = find(asking).unwrap_or_else(|error| Err(error.message));
        let counted = schema
            .clone()
            .and_then(|schema| counts(asking, &schema, major).map_err(|error| error.message));
        match counted {
            Ok((counts, at_s)) => Self {
                schema: Some(schema),
                counts,
                at_s,
            },
            Err(why) => Self {
                schema: Some(Err(why)),
                ..Self::default()
            },
        }
    }

    /// What rose since, the longest first.
    pub(super) fn risen(&self, asking: &mut Asking, major: u32, wanted: Wanted) -> Observed {
        let unknown = |why: String| Observed::unknown(About::Statements, SOURCE, why);
        let schema = match &self.schema {
            Some(Ok(schema)) => schema,
            Some(Err(why)) => return unknown(why.clone()),
            None => return unknown("it was not read".into()),
        };
        let risen = self.longest(asking, schema, major, wanted);
        risen.unwrap_or_else(|error| unknown(error.message))
    }

    fn longest(
        &self,
        asking: &mut Asking,
        schema: &str,
        major: u32,
        wanted: Wanted,
    ) -> Result<Observed> {
        let (now, at_s) = counts(asking, schema, major)?;
        let elapsed_s = (at_s - self.at_s).max(1e-3);
        let risen = risen(&self.counts, now, wanted.lines);
        let texts = texts(asking, schema, &risen.0, wanted.texts)?;
        let mut table = Observed::new(About::Statements, SOURCE, &COLUMNS);
        table.rows = foreign_rows(&risen, &texts, wanted.lines, |text, rise| {
            row(text, rise, elapsed_s)
        });
        Ok(table)
    }
}

fn row(statement: &str, rise: &Counts, elapsed_s: f64) -> Vec<ObservedCell> {
    let [calls, ms, rows, hit, read, temporary, log] = *rise;
    vec![
        statement.into(),
        (ms / 1e3).into(),
        (ms / 1e3 / elapsed_s).into(),
        calls.into(),
        (ms / calls).into(),
        rows.into(),
        (hit + read).into(),
        read.into(),
        temporary.into(),
        (log / 1e6).into(),
    ]
}

/// The schema of the extension.
fn find(asking: &mut Asking) -> Result<std::result::Result<String, String>> {
    let sql = format!(
        "SELECT /* {APPLICATION} */ quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = '{SOURCE}'"
    );
    let found = asking.rows(&sql)?.into_iter().flatten().flatten().next();
    Ok(found.ok_or_else(|| {
        format!(
            "the extension {SOURCE} is not in this database: add it to shared_preload_libraries, restart the server, and \
             CREATE EXTENSION {SOURCE}"
        )
    }))
}

fn counts(asking: &mut Asking, schema: &str, major: u32) -> Result<(HashMap<String, Counts>, f64)> {
    let (time, log) = match major {
        VERSION_OF_EXECUTION.. => ("total_exec_time", "wal_bytes"),
        _ => ("total_time", "0"),
    };
    let sql = format!(
        "SELECT /* {APPLICATION} */ concat_ws(' ', queryid, dbid, userid), sum(calls)::text, sum({time})::text, sum(rows)::text, \
         sum(shared_blks_hit)::text, sum(shared_blks_read)::text, sum(temp_blks_read + temp_blks_written)::text, \
         sum({log})::text, extract(epoch FROM clock_timestamp())::text \
         FROM {schema}.{SOURCE}(false) WHERE queryid IS NOT NULL GROUP BY 1"
    );
    let rows = asking.rows(&sql)?;
    let at_s = rows.first().and_then(|row| number(row.get(8)));
    let counts = rows.into_iter().map(|row| {
        let counts = std::array::from_fn(|at| number(row.get(at + 1)).unwrap_or(0.0));
        (text(row.first()), counts)
    });
    Ok((counts.collect(), at_s.unwrap_or_default()))
}

/// Text of each, and whether it is an observer's own. Texts that are not wanted stay on the server.
fn texts(
    asking: &mut Asking,
    schema: &str,
    of: &[(String, Counts)],
    wanted: bool,
) -> Result<HashMap<String, (String, bool)>> {
    let numbers = of.iter().filter_map(|(key, _)| key.split(' ').next());
    let numbers: Vec<&str> = numbers.collect();
    if numbers.is_empty() {
        return Ok(HashMap::new());
    }
    let shown = match wanted {
        true => "left(regexp_replace(min(query), '\\s+', ' ', 'g'), 300)",
        false => "'statement ' || min(queryid)",
    };
    let sql = format!(
        "SELECT /* {APPLICATION} */ concat_ws(' ', queryid, dbid, userid), {shown}, \
         (min(query) LIKE '%/* dbdyno%')::text \
         FROM {schema}.{SOURCE}(true) WHERE queryid IN ({}) GROUP BY 1",
        numbers.join(", ")
    );
    let rows = asking.rows(&sql)?.into_iter().map(|row| {
        let is_own = text(row.get(2)) == "true";
        (text(row.first()), (text(row.get(1)), is_own))
    });
    Ok(rows.collect())
}
