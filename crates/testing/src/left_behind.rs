//! Processes that the tests of a program left running.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Environment variable that marks all descendants of a test program with its name.
pub const VARIABLE: &str = "DBDYNO_TEST_PROGRAM";
/// A terminated process may take this long on a busy machine.
const TIME_TO_END: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(20);

/// Kills the remaining processes of a program, and returns their command lines. Processes that replaced their environment are not found,
/// such as PostgreSQL's servers.
pub fn kill(value: &str) -> Vec<String> {
    let begin = Instant::now();
    let mut left = running(value);
    while !left.is_empty() && begin.elapsed() < TIME_TO_END {
        std::thread::sleep(LOOK);
        left = running(value);
    }
    for (pid, _) in &left {
        // SAFETY: kill has no preconditions. The number belonged to a process a moment ago, as in any manual `kill`.
        unsafe { libc::kill(*pid, libc::SIGKILL) };
    }
    left.into_iter().map(|(_, command)| command).collect()
}

fn running(value: &str) -> Vec<(libc::pid_t, String)> {
    let ours = format!("{VARIABLE}={value}");
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(process.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            let is_ours = variables.any(|variable| variable == ours.as_bytes());
            is_ours.then(|| (pid, command(&process.path())))
        })
        .collect()
}

fn command(process: &Path) -> String {
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words)
        .replace('\0', " ")
        .trim_end()
        .to_owned()
}
