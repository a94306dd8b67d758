//! Oracle's wait classes and events in those of dbdyno.

use engine::WaitClass;

/// The class of an event: Oracle's own, where that says enough.
pub(super) fn of(wait_class: &str, event: &str) -> WaitClass {
    match wait_class {
        "User I/O" | "System I/O" if event.contains("write") => WaitClass::DataWrite,
        "User I/O" | "System I/O" => WaitClass::DataRead,
        "Commit" => WaitClass::LogSync,
        "Application" => WaitClass::Lock,
        "Concurrency" => WaitClass::Latch,
        "Network" => WaitClass::Client,
        // A log that cannot switch, and buffers for redo that are full, keep a commit waiting.
        "Configuration" if event.starts_with("log ") => WaitClass::LogSync,
        _ => WaitClass::Other,
    }
}

/// "LGWR" of "oracle@db1 (LGWR)".
pub(super) fn process(program: &str) -> &str {
    let inner = program.rsplit_once('(').map_or(program, |(_, inner)| inner);
    inner.trim_end_matches(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_mean_what_a_dba_expects() {
        for (wait_class, event, class) in [
            ("User I/O", "db file sequential read", WaitClass::DataRead),
            ("User I/O", "direct path write temp", WaitClass::DataWrite),
            (
                "System I/O",
                "log file parallel write",
                WaitClass::DataWrite,
            ),
            ("Commit", "log file sync", WaitClass::LogSync),
            (
                "Configuration",
                "log file switch (checkpoint incomplete)",
                WaitClass::LogSync,
            ),
            (
                "Application",
                "enq: TX - row lock contention",
                WaitClass::Lock,
            ),
            ("Concurrency", "buffer busy waits", WaitClass::Latch),
            ("Network", "SQL*Net message to client", WaitClass::Client),
            ("Cluster", "gc current block 2-way", WaitClass::Other),
            ("Configuration", "free buffer waits", WaitClass::Other),
        ] {
            assert_eq!(of(wait_class, event), class, "{event}");
        }
        assert_eq!(process("oracle@db1 (LGWR)"), "LGWR");
        assert_eq!(process("sqlplus"), "sqlplus");
    }
}
