//! Classes of sessions' states (documentation of MariaDB, "Thread States").

use engine::WaitClass;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Wait(WaitClass),
    /// It is at work, or waits for something that the state does not tell: a row lock, a page.
    Unclear,
}

/// States in which a session waits until its commit is in the log on the device. "Updating status" is
/// the last one of a statement: MariaDB holds the answer to a commit back after the session has left it.
const OF_COMMIT: &[&str] = &[
    "commit",
    "updating status",
    "waiting for handler commit",
    "waiting for prior transaction to commit",
    "binlog write",
];
const OF_CLIENT: &[&str] = &["sending to client", "writing to net", "reading from net"];

pub(crate) fn of(state: &str) -> Meaning {
    let name = state.to_ascii_lowercase();
    if OF_COMMIT.contains(&name.as_str()) {
        Meaning::Wait(WaitClass::LogSync)
    } else if name == "user lock" || (name.starts_with("waiting for") && name.contains("lock")) {
        Meaning::Wait(WaitClass::Lock)
    } else if name == "user sleep" || name.starts_with("waiting") {
        Meaning::Wait(WaitClass::Other)
    } else if OF_CLIENT.contains(&name.as_str()) {
        Meaning::Wait(WaitClass::Client)
    } else {
        Meaning::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_mean_what_a_dba_expects() {
        for (state, class) in [
            ("Commit", WaitClass::LogSync),
            ("Updating status", WaitClass::LogSync),
            ("waiting for handler commit", WaitClass::LogSync),
            ("Waiting for table metadata lock", WaitClass::Lock),
            ("User lock", WaitClass::Lock),
            ("User sleep", WaitClass::Other),
            ("Writing to net", WaitClass::Client),
        ] {
            assert_eq!(of(state), Meaning::Wait(class), "{state}");
        }
        for state in ["", "Updating", "Sending data", "Statistics"] {
            assert_eq!(of(state), Meaning::Unclear, "{state}");
        }
    }
}
