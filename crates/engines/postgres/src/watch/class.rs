//! The classes of PostgreSQL's wait events (its documentation, "The Cumulative Statistics System", tables
//! of wait events). Versions write some names differently, so that capitals do not count.

use engine::WaitClass;

/// Class and shown name of what a process waits for; none means that it is at work.
pub(crate) fn of(wait: Option<&(String, String)>) -> (WaitClass, String) {
    let Some((kind, event)) = wait else {
        return (WaitClass::Cpu, "DB CPU".to_owned());
    };
    let name = event.to_ascii_lowercase();
    let class = match kind.as_str() {
        "IO" => of_io(&name),
        // Waits for the session that writes the log for all that commit with it.
        "LWLock" if name.starts_with("walwrite") => WaitClass::LogSync,
        "LWLock" | "BufferPin" => WaitClass::Latch,
        "Lock" => WaitClass::Lock,
        "Client" => WaitClass::Client,
        // Waits for a page that another session is reading.
        "IPC" if name == "bufferio" => WaitClass::DataRead,
        "IPC" if name.ends_with("groupupdate") => WaitClass::Latch,
        _ => WaitClass::Other,
    };
    (class, format!("{kind}: {event}"))
}

/// True if it is a wait of a statement that has parallel workers, for them or for what they make together.
/// Queues of messages are not among them: who reads the counts of `pg_wait_sampling` waits there as well.
pub(super) fn is_for_workers((kind, event): &(String, String)) -> bool {
    let name = event.to_ascii_lowercase();
    let of_statements = ["executegather", "parallel", "bgworker", "hash", "btreepage"];
    kind == "IPC" && of_statements.iter().any(|start| name.starts_with(start))
}

fn of_io(name: &str) -> WaitClass {
    if name.starts_with("wal") {
        WaitClass::LogSync
    } else if name.contains("read") || name.contains("prefetch") || name.starts_with("aio") {
        WaitClass::DataRead
    } else {
        WaitClass::DataWrite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_classes_that_a_dba_expects() {
        for (kind, event, class) in [
            ("IO", "DataFileRead", WaitClass::DataRead),
            ("IO", "AioIoCompletion", WaitClass::DataRead),
            ("IPC", "BufferIO", WaitClass::DataRead),
            ("IPC", "BufferIo", WaitClass::DataRead),
            ("IO", "DataFileExtend", WaitClass::DataWrite),
            ("IO", "BufFileWrite", WaitClass::DataWrite),
            ("IO", "WALSync", WaitClass::LogSync),
            ("IO", "WalSync", WaitClass::LogSync),
            ("LWLock", "WALWrite", WaitClass::LogSync),
            ("LWLock", "WALInsert", WaitClass::Latch),
            ("Lock", "transactionid", WaitClass::Lock),
            ("Lock", "tuple", WaitClass::Lock),
            ("Client", "ClientWrite", WaitClass::Client),
            ("Timeout", "PgSleep", WaitClass::Other),
            ("IPC", "XactGroupUpdate", WaitClass::Latch),
        ] {
            assert_eq!(of(Some(&(kind.into(), event.into()))).0, class, "{event}");
        }
        assert_eq!(of(None).0, WaitClass::Cpu);
    }
}
