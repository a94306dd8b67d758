//! What the tests of all crates share: skipping with a reason, running a part of a test in another process, values that
//! are created once per program, hostile input and the memory that it takes.
//!
//! libtest cannot skip a test at run time: a test that returns has passed. Therefore a skipped test writes one
//! line to the process's standard error, past libtest's capture, and the runner (`src/main.rs`) counts these lines.

mod fuzz;
mod memory;
mod shared;

use std::io::Write;
use std::process::Command;

pub use fuzz::{Source, each_seed};
pub use memory::{Counting, peak_bytes};
pub use shared::{Shared, at_end};

/// Whether the C library's syncs reach a device: they may have been made to do nothing, as by `repeat-tests.sh --sync-us 0`.
/// What is asked takes no sync.
pub fn syncs_work() -> bool {
    let zero = std::fs::File::open("/dev/zero");
    zero.and_then(|zero| zero.sync_data()).is_err()
}

/// Writes everything on this machine to its devices, whatever became of the C library's other syncs.
pub fn sync_all() {
    // SAFETY: it takes nothing and always succeeds.
    unsafe { libc::sync() };
}

/// Writes a file's data to its device, by the kernel itself.
///
/// # Panics
/// When the device fails.
pub fn sync_data(file: &std::fs::File) {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open for the whole call.
    let status = unsafe { libc::syscall(libc::SYS_fdatasync, file.as_raw_fd()) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

/// How the line of a skipped test begins. The test's name, a colon and the reason follow.
pub const SKIPPED: &str = "SKIPPED ";

/// Ends the test that it stands in, which is reported as skipped for this reason (a format string with arguments).
///
/// For what the machine lacks: a right, a device, a program. Never for what went wrong.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        $crate::report_skipped($crate::test_name!(), &format!($($reason)+));
        return;
    }};
}

/// Ends the test that calls this, however deep, because a program that it needs is not there. For the runner the test is
/// skipped; plain `cargo test` shows it as failed with this reason, which says how to get the program.
///
/// # Panics
/// Always.
pub fn lacking(what: &str) -> ! {
    let thread = std::thread::current();
    // libtest calls the thread of a test by its name.
    report_skipped(thread.name().unwrap_or_default(), what);
    panic!("{what}");
}

/// The name of the test that this stands in, as libtest prints it.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        $crate::test_of(std::any::type_name_of_val(&here))
    }};
}

/// A command that runs the test that this stands in, and no other, in a process of its own. The test finds out by a
/// variable of the environment, which the caller adds, that it is that process.
#[macro_export]
macro_rules! again {
    () => {
        $crate::command_for($crate::test_name!())
    };
}

/// The name of a test from the path of a function within it.
#[doc(hidden)]
pub fn test_of(path: &'static str) -> &'static str {
    let path = path.strip_suffix("::here").unwrap_or(path);
    let path = path.trim_end_matches("::{{closure}}");
    path.split_once("::").map_or(path, |(_crate, test)| test)
}

#[doc(hidden)]
pub fn report_skipped(test: &str, reason: &str) {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    // In one piece: other tests write there too. libtest captures the print macros, not this.
    let line = format!("{SKIPPED}{test}: {reason}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

#[doc(hidden)]
pub fn command_for(test: &str) -> Command {
    let this = std::env::current_exe().expect("a running test has an executable");
    let mut command = Command::new(this);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command
}
