//! One look at the sessions.

use super::super::watch::activity::{self, BACKGROUND, IDLE_KINDS, SESSION, Seen, WORKER};
use super::super::watch::class;
use super::super::wire::Prepared;
use super::asking::{APPLICATION, Asking};
use crate::process;
use crate::risen::{number, text};
use crate::statement_text::without_values;
use crate::{Look, Result, SessionSeen, Tally};

/// Statements have numbers from this version on.
const VERSION_OF_NUMBERS: u32 = 14;
/// Parallel workers name their leader from this version on.
const VERSION_OF_LEADERS: u32 = 13;
/// Cells of a row that tell what a process does.
const OF_PROCESS: usize = 6;
/// Characters of a statement that are asked for.
const TEXT_MAX: usize = 1000;

/// The function below the view, because the view joins names of databases and users to every session.
fn sql(major: u32, texts: bool) -> String {
    let leader = match major {
        VERSION_OF_LEADERS.. => "coalesce(leader_pid, pid)",
        _ => "pid",
    };
    let statement = match (texts, major) {
        (true, _) => format!("left(query, {TEXT_MAX})"),
        (false, VERSION_OF_NUMBERS..) => "query_id::text".to_owned(),
        (false, _) => "NULL".to_owned(),
    };
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
         CASE WHEN wait_event_type = 'Lock' THEN array_to_string(pg_blocking_pids(pid), ',') END, {statement} \
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

pub(super) fn prepare(asking: &mut Asking, major: u32, texts: bool) -> Result<Prepared> {
    asking.asked += 1;
    let mut look = asking.connection.prepare(&sql(major, texts))?;
    // An unknown type is asked for as text.
    look.columns.fill(0);
    Ok(look)
}

pub(super) fn look(asking: &mut Asking, look: &Prepared, texts: bool) -> Result<Look> {
    asking.asked += 1;
    let rows = asking.connection.texts_of(look, "the sessions", &[])?;
    let mut tally = Tally::default();
    let (mut processes, mut sessions) = (Vec::new(), Vec::new());
    for mut row in rows {
        let more = row.split_off(OF_PROCESS.min(row.len()));
        let Some(mut process) = Seen::of(row) else {
            continue;
        };
        // A wait that is over is shown until its process gets a processor.
        let is_here = asking.process.is_some() && process.wait.is_some();
        if is_here && process::is_asleep(process.pid) == Some(false) {
            process.wait = None;
        }
        if process.kind == SESSION {
            sessions.push(session(&process, &more, texts));
        }
        processes.push(process);
    }
    activity::add(processes.iter(), &mut tally);
    Ok(Look { tally, sessions })
}

fn session(process: &Seen, more: &[Option<String>], texts: bool) -> SessionSeen {
    let state = match process.is_at_work {
        true => class::of(process.wait.as_ref()).1,
        false => text(more.get(1)),
    };
    let statement = more.get(4).cloned().flatten().filter(|s| !s.is_empty());
    let blockers = text(more.get(3));
    SessionSeen {
        id: process.pid.into(),
        who: text(more.first()),
        is_at_work: process.is_at_work,
        state,
        statement: statement.map(|statement| match texts {
            true => without_values(&statement, false),
            false => format!("statement {statement}"),
        }),
        transaction_s: number(more.get(2)).map(|s| s.max(0.0)),
        blocked_by: (blockers.split(','))
            .filter_map(|pid| pid.parse().ok())
            .collect(),
    }
}
