//! What `performance_schema` counts of statements, where it is on.

use std::collections::HashMap;
use std::time::Instant;

use archive::{About, Observed, ObservedCell};

use super::asking::{Asking, OWN};
use crate::risen::{foreign_rows, number, risen, text};
use crate::{Result, Wanted};

const SOURCE: &str = "performance_schema.events_statements_summary_by_digest";

const COLUMNS: [(&str, &str); 9] = [
    ("statement", ""),
    ("time", "s"),
    ("active sessions", "sessions"),
    ("calls", ""),
    ("mean", "ms"),
    ("rows sent or changed", "rows"),
    ("rows examined", "rows"),
    ("waiting for locks", "s"),
    ("temporary tables on disk", "tables"),
];

/// Calls, seconds, rows sent or changed, rows examined, seconds in locks, temporary tables on disk.
type Counts = [f64; 6];

/// What was counted of each statement at one moment.
#[derive(Default)]
pub(super) struct Statements {
    /// Counts by schema and digest, or why there are none.
    counts: Option<std::result::Result<HashMap<String, Counts>, String>>,
    read: Option<Instant>,
}

impl Statements {
    pub(super) fn read(asking: &mut Asking) -> Self {
        Self {
            counts: Some(counts(asking).unwrap_or_else(|error| Err(error.message))),
            read: Some(Instant::now()),
        }
    }

    /// What rose since, the longest first.
    pub(super) fn risen(&self, asking: &mut Asking, wanted: Wanted) -> Observed {
        let unknown = |why: String| Observed::unknown(About::Statements, SOURCE, why);
        let before = match &self.counts {
            Some(Ok(counts)) => counts,
            Some(Err(why)) => return unknown(why.clone()),
            None => return unknown("it was not read".into()),
        };
        let elapsed_s = self.read.map_or(0.0, |read| read.elapsed().as_secs_f64());
        let risen = longest(asking, before, elapsed_s, wanted);
        risen.unwrap_or_else(|error| unknown(error.message))
    }
}

fn longest(
    asking: &mut Asking,
    before: &HashMap<String, Counts>,
    elapsed_s: f64,
    wanted: Wanted,
) -> Result<Observed> {
    let mut table = Observed::new(About::Statements, SOURCE, &COLUMNS);
    let Ok(now) = counts(asking)? else {
        return Ok(table);
    };
    let risen = risen(before, now, wanted.lines);
    let texts = texts(asking, &risen.0, wanted.texts)?;
    table.rows = foreign_rows(&risen, &texts, wanted.lines, |text, rise| {
        row(text, rise, elapsed_s)
    });
    Ok(table)
}

fn row(statement: &str, rise: &Counts, elapsed_s: f64) -> Vec<ObservedCell> {
    let [calls, time_s, rows, examined, locks_s, temporary] = *rise;
    vec![
        statement.into(),
        time_s.into(),
        (time_s / elapsed_s.max(1e-3)).into(),
        calls.into(),
        (time_s * 1e3 / calls).into(),
        rows.into(),
        examined.into(),
        locks_s.into(),
        temporary.into(),
    ]
}

fn counts(asking: &mut Asking) -> Result<std::result::Result<HashMap<String, Counts>, String>> {
    let is_on = asking.rows("SELECT @@performance_schema AS dbdyno_observe")?;
    if text(is_on.first().and_then(|row| row.first())) != "1" {
        return Ok(Err(
            "performance_schema is off: set performance_schema=ON in the server's configuration, and restart it".into(),
        ));
    }
    let sql = format!(
        "SELECT CONCAT_WS(' ', DIGEST, SCHEMA_NAME), COUNT_STAR, SUM_TIMER_WAIT / 1e12, SUM_ROWS_SENT + SUM_ROWS_AFFECTED, \
         SUM_ROWS_EXAMINED, SUM_LOCK_TIME / 1e12, SUM_CREATED_TMP_DISK_TABLES FROM {SOURCE} AS {OWN} WHERE DIGEST IS NOT NULL"
    );
    let rows = asking.rows(&sql)?.into_iter().map(|row| {
        let counts = std::array::from_fn(|at| number(row.get(at + 1)).unwrap_or(0.0));
        (text(row.first()), counts)
    });
    Ok(Ok(rows.collect()))
}

/// Text of each, and whether it is an observer's own. Texts that are not wanted stay on the server.
fn texts(
    asking: &mut Asking,
    of: &[(String, Counts)],
    wanted: bool,
) -> Result<HashMap<String, (String, bool)>> {
    let digests = of.iter().filter_map(|(key, _)| key.split(' ').next());
    let digests: Vec<String> = digests.map(|digest| format!("'{digest}'")).collect();
    if digests.is_empty() {
        return Ok(HashMap::new());
    }
    let shown = match wanted {
        true => "LEFT(DIGEST_TEXT, 300)",
        false => "CONCAT('statement ', LEFT(DIGEST, 12))",
    };
    let sql = format!(
        "SELECT CONCAT_WS(' ', DIGEST, SCHEMA_NAME), {shown}, DIGEST_TEXT LIKE '%{OWN}%' FROM {SOURCE} AS {OWN} \
         WHERE DIGEST IN ({})",
        digests.join(", ")
    );
    let rows = asking.rows(&sql)?.into_iter().map(|row| {
        let is_own = text(row.get(2)) == "1";
        (text(row.first()), (text(row.get(1)), is_own))
    });
    Ok(rows.collect())
}
