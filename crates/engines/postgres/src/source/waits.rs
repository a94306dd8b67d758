//! For whose lock a reader of a source waits.

use std::sync::PoisonError;

use super::super::connection::Connection;
use super::super::overrides::OF_SESSIONS;
use super::PostgresSource;
use engine::{Result, Value};

/// Blockers of processes and the locks that these wait for. A prepared transaction has no process.
const BLOCKERS: &str = "SELECT coalesce((SELECT l.relation::regclass::text FROM pg_locks l \
       WHERE l.pid = w.pid AND NOT l.granted AND l.relation IS NOT NULL LIMIT 1), 'an object'), \
     p.pid::text, b.usename, b.state, b.application_name \
     FROM unnest($1::text::int[]) AS w(pid) CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS p(pid) \
     LEFT JOIN pg_stat_activity b ON b.pid = p.pid ORDER BY p.pid LIMIT 1";

impl PostgresSource {
    /// Enters the process of a reader.
    pub(super) fn watch(&self, reader: &mut Connection) -> Result<()> {
        let process = reader.texts("SELECT pg_backend_pid()::text", &[])?;
        let process = process.into_iter().flatten().flatten().next();
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.extend(process.and_then(|number| number.parse::<i32>().ok()));
        Ok(())
    }

    /// In a sentence, where one of them waits; nothing where the server does not say.
    pub(super) fn blockers(&self) -> Option<String> {
        let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let readers = readers.iter().map(i32::to_string).collect::<Vec<_>>();
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_none() {
            *watcher = Connection::open(&self.endpoint, OF_SESSIONS).ok();
        }
        let readers = format!("{{{}}}", readers.join(","));
        let found = watcher.as_mut()?.texts(BLOCKERS, &[Value::Text(&readers)]);
        let Ok(rows) = found else {
            *watcher = None;
            return None;
        };
        let mut cells = rows.into_iter().next()?.into_iter();
        let mut cell = || cells.next().flatten().filter(|text| !text.is_empty());
        let (table, process) = (cell()?, cell()?);
        let about = [
            cell().map(|user| format!("user {user}")),
            cell(),
            cell().map(|program| format!("program {program}")),
        ];
        let about: Vec<String> = about.into_iter().flatten().collect();
        let holder = match (process.as_str(), about.as_slice()) {
            ("0", _) => "a prepared transaction (pg_prepared_xacts)".to_owned(),
            (process, []) => format!("session {process}"),
            (process, about) => format!("session {process} ({})", about.join(", ")),
        };
        Some(format!("{table} is locked by {holder}"))
    }
}
