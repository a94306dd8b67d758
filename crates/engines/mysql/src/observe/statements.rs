//! Statements by `performance_schema`, where it is on.

use std::collections::HashMap;

use archive::{About, Cell, Observed};

use super::asking::{Asking, OWN};
use super::views::refuse_off;
use engine::risen::{
    self, Rise, Risen, all_were_reset, foreign_rows, number, remarks, risen, some_were_reset, text,
};
use engine::statement_text::{Dialect, without_values};
use engine::{Result, Wanted};

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

/// The key of the statements for whose digests there is no room.
const NO_DIGEST: &str = "";

/// Counts by schema and digest at one moment.
struct Counted {
    counts: risen::Counts<6>,
    /// By the server's clock, in seconds.
    at_s: f64,
    /// Since when any of them is counted: all of them are counted anew after a TRUNCATE.
    since_s: f64,
}

/// Counters of each statement when the observation began, or why there are none.
pub(super) struct Statements(std::result::Result<Counted, String>);

impl Default for Statements {
    fn default() -> Self {
        Self(Err("it was not read".into()))
    }
}

impl Statements {
    pub(super) fn read(asking: &mut Asking) -> Self {
        Self(refuse_off(asking).and_then(|()| counts(asking).map_err(|error| error.message)))
    }

    pub(super) fn risen(&self, asking: &mut Asking, wanted: Wanted) -> Observed {
        let unknown = |why: String| Observed::unknown(About::Statements, SOURCE, why);
        let before = match &self.0 {
            Ok(before) => before,
            Err(why) => return unknown(why.clone()),
        };
        let risen = longest(asking, before, wanted);
        risen.unwrap_or_else(|error| unknown(error.message))
    }
}

fn longest(asking: &mut Asking, before: &Counted, wanted: Wanted) -> Result<Observed> {
    let mut table = Observed::new(About::Statements, SOURCE, &COLUMNS);
    let now = counts(asking)?;
    let is_full = now.counts.get(NO_DIGEST) != before.counts.get(NO_DIGEST);
    let full = is_full.then(|| {
        "there is no room for further digests, so that other statements have a line together: raise performance_schema_digests_size".into()
    });
    let (risen, how) = rise(before, now, wanted.lines);
    let texts = texts(asking, &risen, wanted.texts)?;
    table.rows = foreign_rows(&risen, &texts, wanted.lines, row);
    table.remark = remarks([how, some_were_reset(risen.reset), full]);
    Ok(table)
}

/// Increase between two moments, and the fate of the counters in between.
fn rise(before: &Counted, now: Counted, lines: usize) -> (Risen<6>, Option<String>) {
    let elapsed_s = now.at_s - before.at_s;
    // A time of whole seconds is the begin of the second in which it was.
    if now.since_s < before.at_s.floor() || !all_were_reset(&before.counts, &now.counts) {
        let covers_s = |_: &str, was_reset: bool| if was_reset { f64::NAN } else { elapsed_s };
        return (risen(&before.counts, now.counts, covers_s, lines), None);
    }
    let is_whole = now.since_s.fract() == 0.0;
    let since_s = now.since_s + if is_whole { 0.5 } else { 0.0 };
    let covered_s = (now.at_s - since_s).clamp(0.0, elapsed_s);
    let how = format!(
        "all counts were reset {covered_s:.1} s before the end{}: the rows have what came since, and active sessions are those of that time",
        if is_whole {
            ", within half a second"
        } else {
            ""
        }
    );
    let risen = risen(&risen::Counts::new(), now.counts, |_, _| covered_s, lines);
    (risen, Some(how))
}

fn row(statement: &str, rise: &Rise<6>) -> Vec<Cell> {
    let [calls, time_s, rows, examined, locks_s, temporary] = rise.counts;
    vec![
        statement.into(),
        time_s.into(),
        rise.time_per_s.into(),
        calls.into(),
        (time_s * 1e3 / calls).into(),
        rows.into(),
        examined.into(),
        locks_s.into(),
        temporary.into(),
    ]
}

fn counts(asking: &mut Asking) -> Result<Counted> {
    let sql = format!(
        "SELECT CONCAT_WS(' ', DIGEST, SCHEMA_NAME), COUNT_STAR, SUM_TIMER_WAIT / 1e12, SUM_ROWS_SENT + SUM_ROWS_AFFECTED, \
         SUM_ROWS_EXAMINED, SUM_LOCK_TIME / 1e12, SUM_CREATED_TMP_DISK_TABLES, UNIX_TIMESTAMP(FIRST_SEEN), UNIX_TIMESTAMP(NOW(6)) \
         FROM {SOURCE} AS {OWN}"
    );
    let rows = asking.rows(SOURCE, &sql)?;
    let at_s = number(rows.first().and_then(|row| row.get(8)));
    let since_s = rows.iter().filter_map(|row| number(row.get(7)));
    Ok(Counted {
        at_s: at_s.unwrap_or_default(),
        since_s: since_s.filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min),
        counts: (rows.iter())
            .map(|row| {
                let counts = std::array::from_fn(|at| number(row.get(at + 1)).unwrap_or(0.0));
                (text(row.first()), counts)
            })
            .collect(),
    })
}

/// Text of each, and whether it is an observer's own. Texts that are not wanted stay on the server.
fn texts(
    asking: &mut Asking,
    of: &Risen<6>,
    wanted: bool,
) -> Result<HashMap<String, (String, bool)>> {
    let digests = of
        .longest
        .iter()
        .filter_map(|(key, _)| key.split(' ').next());
    let digests: Vec<String> = digests.map(|digest| format!("'{digest}'")).collect();
    if digests.is_empty() {
        return Ok(HashMap::new());
    }
    let shown = if wanted {
        "LEFT(DIGEST_TEXT, 1000)"
    } else {
        "CONCAT('statement ', LEFT(DIGEST, 12))"
    };
    let sql = format!(
        "SELECT CONCAT_WS(' ', DIGEST, SCHEMA_NAME), {shown}, DIGEST_TEXT LIKE '%{OWN}%' FROM {SOURCE} AS {OWN} \
         WHERE DIGEST IN ({})",
        digests.join(", ")
    );
    let rows = asking.rows(SOURCE, &sql)?.into_iter().map(|row| {
        let is_own = text(row.get(2)) == "1";
        let shown = if wanted {
            without_values(&text(row.get(1)), Dialect::MySql)
        } else {
            text(row.get(1))
        };
        (text(row.first()), (shown, is_own))
    });
    Ok(rows.collect())
}
