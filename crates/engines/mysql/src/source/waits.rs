//! For whose lock a reader of a source waits.

use std::sync::PoisonError;

use super::super::client::Client;
use super::super::session::connect;
use super::MySqlSource;
use engine::Result;

/// The session of a reader that waits for a lock, with what the server calls it.
const WAITING: &str = "SELECT id, state FROM information_schema.processlist WHERE state LIKE 'Waiting for%lock%' AND id IN ";
/// Holders of the lock by two views, each of which exists on some servers only, or is switched off.
const HOLDERS: [&str; 2] = [
    "SELECT h.object_name, p.id, p.user, p.command FROM performance_schema.metadata_locks w \
     JOIN performance_schema.metadata_locks h ON h.object_type = w.object_type AND h.object_schema = w.object_schema \
     AND h.object_name = w.object_name AND h.lock_status = 'GRANTED' AND h.owner_thread_id <> w.owner_thread_id \
     JOIN performance_schema.threads wt ON wt.thread_id = w.owner_thread_id \
     JOIN performance_schema.threads ht ON ht.thread_id = h.owner_thread_id \
     JOIN information_schema.processlist p ON p.id = ht.processlist_id \
     WHERE w.lock_status = 'PENDING' AND wt.processlist_id = ",
    "SELECT h.table_name, p.id, p.user, p.command FROM information_schema.metadata_lock_info h \
     JOIN information_schema.processlist p ON p.id = h.thread_id \
     WHERE h.lock_mode IN ('MDL_EXCLUSIVE', 'MDL_SHARED_NO_READ_WRITE') AND h.table_schema = database() AND p.id <> ",
];
/// Sessions of others, one of which may be the holder.
const OTHERS: &str = "SELECT group_concat(concat(id, ' (user ', user, ', ', command, ')') ORDER BY time DESC SEPARATOR ', ') \
     FROM information_schema.processlist WHERE id <> connection_id() AND command <> 'Daemon' AND user <> 'system user' \
     AND db = database() AND id NOT IN ";

impl MySqlSource {
    /// Enters the session of a reader.
    pub(super) fn watch(&self, reader: &mut Client) -> Result<()> {
        let session = reader.read("SELECT connection_id()")?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.extend(session.into_iter().flatten().flatten());
        Ok(())
    }

    /// In a sentence, where one of them waits; nothing where the server does not say.
    pub(super) fn blockers(&self) -> Option<String> {
        let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let readers = format!("({})", readers.join(", "));
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_none() {
            *watcher = connect(&self.access).ok();
        }
        let watcher = watcher.as_mut()?;
        let mut first = |sql: &str| {
            let row = watcher.read(sql).ok()?.into_iter().next()?;
            let cells = row.into_iter().map(Option::unwrap_or_default);
            Some(cells.collect::<Vec<String>>())
        };
        let [session, state] =
            <[String; 2]>::try_from(first(&format!("{WAITING}{readers}"))?).ok()?;
        let holder = HOLDERS
            .iter()
            .find_map(|sql| first(&format!("{sql}{session} LIMIT 1")));
        if let Some(Ok([table, holder, user, command])) = holder.map(<[String; 4]>::try_from) {
            return Some(format!(
                "{table} is locked by session {holder} (user {user}, {command})"
            ));
        }
        let others = first(&format!("{OTHERS}{readers}")).unwrap_or_default();
        let others = others.first().filter(|others| !others.is_empty());
        Some(match others {
            Some(others) => format!(
                "{state}; the server does not say who holds it; other sessions in the database: {others}"
            ),
            None => format!("{state}; the server does not say who holds it (SHOW PROCESSLIST)"),
        })
    }
}
