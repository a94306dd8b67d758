//! One look at the sessions.

use std::collections::HashMap;

use super::super::watch::activity::{self, BACKGROUND, IDLE_KINDS, ProcessSample, SESSION, WORKER};
use super::super::watch::class;
use super::super::wire::Prepared;
use super::asking::{APPLICATION, Asking, Rows};
use engine::process;
use engine::risen::{number, text};
use engine::statement_text::{Dialect, without_values};
use engine::{Look, Result, SessionSeen, Tally};

/// Statements have numbers from this version on.
const VERSION_OF_NUMBERS: u32 = 14;
/// Parallel workers name their leader from this version on.
const VERSION_OF_LEADERS: u32 = 13;
/// Cells of a row that tell what a process does.
const OF_PROCESS: usize = 6;
/// Cells behind them with the text of the statement, and its number.
const TEXT: usize = 4;
const NUMBER: usize = 5;
/// Different statements whose texts are remembered.
const SEEN_MAX: usize = 4096;

/// The function below the view, because the view joins names of databases and users to every session.
fn sql(major: u32, text: Option<String>) -> String {
    let leader = match major {
        VERSION_OF_LEADERS.. => "coalesce(leader_pid, pid)",
        _ => "pid",
    };
    let number = match major {
        VERSION_OF_NUMBERS.. => "query_id::text",
        _ => "NULL",
    };
    let text = text.unwrap_or_else(|| "NULL".into());
    let list = |words: &[&str]| format!("('{}')", words.join("', '"));
    let is_idle_kind = format!("coalesce(wait_event_type, '') IN {}", list(&IDLE_KINDS));
    let at_work = format!(
        "coalesce(CASE backend_type WHEN '{SESSION}' THEN state IN ('active', 'fastpath function call') \
         WHEN '{WORKER}' THEN true ELSE backend_type IN {} AND NOT {is_idle_kind} END, false)",
        list(&BACKGROUND)
    );
    format!(
        "SELECT /* {APPLICATION} */ pid::text, {leader}::text, backend_type, ({at_work})::text, wait_event_type, wait_event, \
         usesysid::regrole::text || coalesce(nullif(' (' || application_name || ')', ' ()'), ''), state, \
         extract(epoch FROM clock_timestamp() - xact_start)::text, \
         CASE WHEN wait_event_type = 'Lock' THEN array_to_string(pg_blocking_pids(pid), ',') END, {text}, {number} \
         FROM pg_stat_get_activity(NULL) WHERE application_name IS DISTINCT FROM '{APPLICATION}' \
         AND ({at_work} OR (backend_type = '{SESSION}' AND xact_start IS NOT NULL))"
    )
}

/// Processes that serve sessions of others, idle ones among them.
pub(super) fn sessions_sql() -> String {
    format!(
        "SELECT /* {APPLICATION} */ pid::text FROM pg_stat_get_activity(NULL) \
         WHERE backend_type IN ('{SESSION}', '{WORKER}') AND application_name IS DISTINCT FROM '{APPLICATION}'"
    )
}

/// The question for the sessions, which is asked often.
pub(super) struct Question {
    major: u32,
    texts: bool,
    prepared: Prepared,
    /// Texts of statements that were seen, by their numbers.
    pub seen: HashMap<String, String>,
}

impl Question {
    pub(super) fn prepare(asking: &mut Asking, major: u32, texts: bool) -> Result<Self> {
        asking.asked += 1;
        let text = texts.then(|| asking.text());
        let sql = sql(major, text);
        asking.remember(&sql);
        let mut prepared = asking.connection.prepare(&sql)?;
        // An unknown type is asked for as text.
        prepared.columns.fill(0);
        Ok(Self {
            major,
            texts,
            prepared,
            seen: HashMap::new(),
        })
    }

    fn ask(&mut self, asking: &mut Asking) -> Result<Rows> {
        let once = |prepared: &Prepared, asking: &mut Asking| {
            asking.asked += 1;
            let connection = &mut asking.connection;
            connection.texts_of(prepared, "pg_stat_activity", &[])
        };
        match once(&self.prepared, asking) {
            Err(_) if asking.turns_raw()? => {
                self.prepared = Self::prepare(asking, self.major, self.texts)?.prepared;
                once(&self.prepared, asking)
            }
            told => told,
        }
    }
}

pub(super) fn look(asking: &mut Asking, question: &mut Question) -> Result<Look> {
    let rows = question.ask(asking)?;
    let mut tally = Tally::default();
    let (mut processes, mut sessions) = (Vec::new(), Vec::new());
    for mut row in rows {
        let more = row.split_off(OF_PROCESS.min(row.len()));
        let Some(mut process) = ProcessSample::of(row) else {
            continue;
        };
        // A wait that is over is shown until its process gets a processor.
        let is_here = asking.process.is_some() && process.wait.is_some();
        if is_here && process::is_asleep(process.pid) == Some(false) {
            process.wait = None;
        }
        if process.kind == SESSION {
            let session = session(&process, &more);
            if let (Some(number), Some(text), true) =
                (cell(&more, NUMBER), &session.statement, question.texts)
                && question.seen.len() < SEEN_MAX
                && !question.seen.contains_key(number)
            {
                question.seen.insert(number.to_owned(), text.clone());
            }
            sessions.push(session);
        }
        processes.push(process);
    }
    activity::add(processes.iter(), &mut tally);
    Ok(Look { tally, sessions })
}

fn cell(cells: &[Option<String>], at: usize) -> Option<&str> {
    let cell = cells.get(at)?.as_deref();
    cell.filter(|cell| !cell.is_empty())
}

fn session(process: &ProcessSample, more: &[Option<String>]) -> SessionSeen {
    let state = if process.is_at_work {
        class::of(process.wait.as_ref()).1
    } else {
        text(more.get(1))
    };
    let statement = cell(more, TEXT).map(|text| without_values(text, Dialect::Postgres));
    let numbered = || cell(more, NUMBER).map(|number| format!("statement {number}"));
    let blockers = text(more.get(3));
    SessionSeen {
        id: process.pid.into(),
        who: text(more.first()),
        is_at_work: process.is_at_work,
        state,
        statement: statement.or_else(numbered),
        transaction_s: number(more.get(2)).map(|s| s.max(0.0)),
        blocked_by: (blockers.split(','))
            .filter_map(|pid| pid.parse().ok())
            .collect(),
    }
}
