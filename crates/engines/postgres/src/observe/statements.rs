//! Statements by `pg_stat_statements`, where it is installed.

use std::collections::HashMap;

use archive::{About, Cell, Observed};

use super::asking::{APPLICATION, Asking};
use engine::risen::{
    self, Rise, Risen, all_were_reset, foreign_rows, number, remarks, risen, some_were_reset, text,
};
use engine::statement_text::{Dialect, without_values};
use engine::{Result, Wanted};

const SOURCE: &str = "pg_stat_statements";
/// Versions of the extension, 1.8 as 1008, which are not the server's after an upgrade: from these on it numbers statements, tells
/// times of execution and the log, tells of resets, and since when it counts each statement.
const VERSION_OF_NUMBERS: u32 = 1002;
const VERSION_OF_EXECUTION: u32 = 1008;
const VERSION_OF_RESETS: u32 = 1009;
const VERSION_OF_SINCE: u32 = 1011;
/// Updates the extension to the version of the server's files.
const UPDATE: &str = "ALTER EXTENSION pg_stat_statements UPDATE";
const OWN: &str = "/* dbdyno";

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

/// The extension in the database that is logged on to.
#[derive(Debug, Clone)]
struct Extension {
    schema: String,
    version: u32,
    /// The version of the server's files, where that is another one.
    newer: Option<String>,
}

struct Counted {
    /// Calls, milliseconds, rows, pages hit, read and temporary, log in bytes.
    counts: risen::Counts<7>,
    /// Since when each was counted, by the server's clock, where it tells that.
    since_s: HashMap<String, f64>,
    moment: Moment,
}

#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    /// By the server's clock, in seconds.
    at_s: f64,
    /// When all counts were reset last, and how often statements were forgotten since; from a version on.
    reset_s: Option<f64>,
    forgotten: Option<f64>,
}

/// Counters of each statement when the observation began, or why there are none.
pub(super) struct Statements(std::result::Result<(Extension, Counted), String>);

impl Default for Statements {
    fn default() -> Self {
        Self(Err("it was not read".into()))
    }
}

impl Statements {
    pub(super) fn read(asking: &mut Asking) -> Self {
        let found = find(asking).unwrap_or_else(|error| Err(error.message));
        Self(found.and_then(|extension| {
            let counted = extension.read(asking);
            let counted = counted.map_err(|error| error.message)?;
            Ok((extension, counted))
        }))
    }

    /// Increases since, the longest first. `seen` are texts by number.
    pub(super) fn risen(
        &self,
        asking: &mut Asking,
        wanted: Wanted,
        seen: &HashMap<String, String>,
    ) -> Observed {
        let unknown = |why: &str| Observed::unknown(About::Statements, SOURCE, why.into());
        let (extension, before) = match &self.0 {
            Ok(before) => before,
            Err(why) => return unknown(why),
        };
        let now = match extension.read(asking) {
            Ok(now) => now,
            Err(error) => return unknown(&error.message),
        };
        let (risen, how) = rise(before, now, wanted.lines);
        let texts = extension.texts(asking, &risen, wanted.texts);
        let (texts, untold) = match texts {
            Ok(texts) => (texts, None),
            Err(error) => (
                numbered(asking, &risen, seen),
                Some(format!(
                    "texts are those that sessions were seen with: {}",
                    error.message
                )),
            ),
        };
        let mut table = Observed::new(About::Statements, SOURCE, &COLUMNS);
        table.rows = foreign_rows(&risen, &texts, wanted.lines, row);
        table.remark = remarks([how, some_were_reset(risen.reset), untold, extension.old()]);
        table
    }
}

/// Increase between two moments, and the fate of the counters in between.
fn rise(before: &Counted, now: Counted, lines: usize) -> (Risen<7>, Option<String>) {
    let (begin, end) = (before.moment, now.moment);
    let elapsed_s = end.at_s - begin.at_s;
    let told_s = end.reset_s.filter(|reset_s| *reset_s > begin.at_s);
    let is_untold = end.reset_s.is_none() && all_were_reset(&before.counts, &now.counts);
    let nothing = risen::Counts::new();
    if told_s.is_some() || is_untold {
        let covered_s = told_s.map_or(f64::NAN, |reset_s| end.at_s - reset_s);
        let how = match told_s {
            Some(_) => format!(
                "all counts were reset {covered_s:.1} s before the end: the rows have what came since, and active sessions are those \
                 of that time"
            ),
            None => format!(
                "all counts were reset meanwhile: the rows have what came since, and active sessions are unknown, because nobody \
                 knows since when; {UPDATE} shows it where the server is PostgreSQL 14 or later"
            ),
        };
        return (
            risen(&nothing, now.counts, |_, _| covered_s, lines),
            Some(how),
        );
    }
    let covers_s = |key: &str, was_reset: bool| {
        let since_s = now
            .since_s
            .get(key)
            .filter(|since_s| **since_s > begin.at_s);
        match (was_reset, since_s) {
            (false, _) => elapsed_s,
            (true, Some(since_s)) => end.at_s - since_s,
            (true, None) => f64::NAN,
        }
    };
    let forgotten = end.forgotten.zip(begin.forgotten);
    let forgotten = forgotten.map_or(0.0, |(now, before)| now - before);
    let how = (forgotten > 0.0).then(|| {
        format!(
            "statements were forgotten {forgotten} times to make room for others, so that some are missing or have too few calls: \
             raise pg_stat_statements.max"
        )
    });
    (risen(&before.counts, now.counts, covers_s, lines), how)
}

fn row(statement: &str, rise: &Rise<7>) -> Vec<Cell> {
    let [calls, ms, rows, hit, read, temporary, log] = rise.counts;
    vec![
        statement.into(),
        (ms / 1e3).into(),
        (rise.time_per_s / 1e3).into(),
        calls.into(),
        (ms / calls).into(),
        rows.into(),
        (hit + read).into(),
        read.into(),
        temporary.into(),
        (log / 1e6).into(),
    ]
}

/// The extension, or why there is none.
fn find(asking: &mut Asking) -> Result<std::result::Result<Extension, String>> {
    let sql = format!(
        "SELECT /* {APPLICATION} */ quote_ident(n.nspname), e.extversion, nullif(a.default_version, e.extversion) \
         FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
         LEFT JOIN pg_available_extensions a ON a.name = e.extname WHERE e.extname = '{SOURCE}'"
    );
    let rows = asking.rows("pg_extension", &sql)?;
    let Some(row) = rows.first() else {
        return Ok(Err(format!(
            "the extension {SOURCE} is not in this database: add it to shared_preload_libraries, restart the server, and \
             CREATE EXTENSION {SOURCE}"
        )));
    };
    let told = text(row.get(1));
    let mut numbers = told
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0).min(999));
    let extension = Extension {
        schema: text(row.first()),
        version: numbers.next().unwrap_or(0) * 1000 + numbers.next().unwrap_or(0),
        newer: row.get(2).cloned().flatten(),
    };
    Ok(match extension.version {
        VERSION_OF_NUMBERS.. => Ok(extension),
        _ => Err(format!(
            "version {told} of {SOURCE} numbers no statements: {UPDATE}"
        )),
    })
}

impl Extension {
    /// Columns that an update would add; `None` where it adds none.
    fn old(&self) -> Option<String> {
        let (major, minor) = (self.version / 1000, self.version % 1000);
        let newer = self.newer.as_ref()?;
        Some(format!(
            "the extension is of version {major}.{minor}, the server's files of {newer}: {UPDATE}"
        ))
    }

    fn read(&self, asking: &mut Asking) -> Result<Counted> {
        let Self {
            schema, version, ..
        } = self;
        let (time, log) = match *version {
            VERSION_OF_EXECUTION.. => ("total_exec_time", "sum(wal_bytes)"),
            _ => ("total_time", "NULL"),
        };
        let since = match *version {
            VERSION_OF_SINCE.. => "extract(epoch FROM max(stats_since))",
            _ => "NULL",
        };
        let sql = format!(
            "SELECT /* {APPLICATION} */ concat_ws(' ', queryid, dbid, userid), sum(calls)::text, sum({time})::text, sum(rows)::text, \
             sum(shared_blks_hit)::text, sum(shared_blks_read)::text, sum(temp_blks_read + temp_blks_written)::text, \
             {log}::text, {since}::text FROM {schema}.{SOURCE}(false) WHERE queryid IS NOT NULL GROUP BY 1"
        );
        let rows = asking.rows(SOURCE, &sql)?;
        let moment = self.moment(asking)?;
        let since_s = rows
            .iter()
            .filter_map(|row| Some((text(row.first()), number(row.get(8))?)));
        let since_s = since_s.collect();
        let counts = rows.into_iter().map(|row| {
            let counts = std::array::from_fn(|at| number(row.get(at + 1)).unwrap_or(f64::NAN));
            (text(row.first()), counts)
        });
        Ok(Counted {
            counts: counts.collect(),
            since_s,
            moment,
        })
    }

    fn moment(&self, asking: &mut Asking) -> Result<Moment> {
        let Self {
            schema, version, ..
        } = self;
        let told = match *version {
            VERSION_OF_RESETS.. => {
                format!(
                    "extract(epoch FROM stats_reset)::text, dealloc::text FROM {schema}.{SOURCE}_info"
                )
            }
            _ => "NULL, NULL".to_owned(),
        };
        let sql = format!(
            "SELECT /* {APPLICATION} */ extract(epoch FROM clock_timestamp())::text, {told}"
        );
        let rows = asking.rows("pg_stat_statements_info", &sql)?;
        let cell = |at: usize| number(rows.first().and_then(|row| row.get(at)));
        Ok(Moment {
            at_s: cell(0).unwrap_or_default(),
            reset_s: cell(1),
            forgotten: cell(2),
        })
    }

    /// Text of each, and whether it is an observer's own. Texts that are not wanted stay on the server.
    fn texts(
        &self,
        asking: &mut Asking,
        of: &Risen<7>,
        wanted: bool,
    ) -> Result<HashMap<String, (String, bool)>> {
        let numbers: Vec<&str> = of.longest.iter().map(|(key, _)| number_of(key)).collect();
        if numbers.is_empty() {
            return Ok(HashMap::new());
        }
        let shown = if wanted {
            asking.text()
        } else {
            format!("CASE WHEN query LIKE '%{OWN}%' THEN '{OWN}' END")
        };
        let sql = |shown: &str| {
            format!(
                "SELECT /* {APPLICATION} */ concat_ws(' ', queryid, dbid, userid), {shown} \
                 FROM {}.{SOURCE}(true) WHERE queryid IN ({})",
                self.schema,
                numbers.join(", ")
            )
        };
        const WHAT: &str = "texts of pg_stat_statements";
        let rows = match asking.rows(WHAT, &sql(&shown)) {
            // Texts are asked for in another way from then on.
            Err(_) if wanted && asking.text() != shown => {
                let shown = asking.text();
                asking.rows(WHAT, &sql(&shown))?
            }
            told => told?,
        };
        let texts = rows.into_iter().map(|row| {
            let (key, told) = (text(row.first()), text(row.get(1)));
            let shown = match told.as_str() {
                "" => format!("statement {}", number_of(&key)),
                told => without_values(told, Dialect::Postgres),
            };
            (key, (shown, told.contains(OWN)))
        });
        Ok(texts.collect())
    }
}

/// The number of the statement that a key begins with.
fn number_of(key: &str) -> &str {
    key.split_once(' ').map_or(key, |(number, _)| number)
}

/// Texts of statements as they were seen, or else their numbers; and whether they are this observer's own.
fn numbered(
    asking: &mut Asking,
    of: &Risen<7>,
    seen: &HashMap<String, String>,
) -> HashMap<String, (String, bool)> {
    let own = asking.own_numbers();
    let named = of.longest.iter().map(|(key, _)| {
        let number = number_of(key);
        let text = seen.get(number).cloned();
        let text = text.unwrap_or_else(|| format!("statement {number}"));
        (key.clone(), (text, own.contains(number)))
    });
    named.collect()
}
