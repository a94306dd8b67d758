//! Common parts of all crates' tests: skipping with a reason, running a part of a test in another process, values created once per program,
//! hostile input and its use of memory.
//!
//! libtest cannot skip a test at run time: a test that returns has passed. Therefore a skipped test writes one
//! line to the process's standard error, past libtest's capture, and the runner (`src/main.rs`) counts these lines.

mod fuzz;
mod memory;
mod says;
mod shared;
mod stand_in;

use std::io::Write;
use std::process::Command;

pub use fuzz::{Source, each_seed};
pub use memory::{Counting, peak_bytes};
pub use says::{Says, rows};
pub use shared::{Shared, at_end};
pub use stand_in::{StandIn, oracle_stand_in};

/// True if the C library's syncs reach a device; `repeat-tests.sh --sync-us 0` makes them do nothing. The check itself does not sync.
pub fn syncs_work() -> bool {
    let zero = std::fs::File::open("/dev/zero");
    zero.and_then(|zero| zero.sync_data()).is_err()
}

/// Writes everything on this machine to its devices, even if the C library's other syncs do nothing.
pub fn sync_all() {
    // SAFETY: it takes nothing and always succeeds.
    unsafe { libc::sync() };
}

/// Writes a file's data to its device by a system call of the kernel.
///
/// # Panics
/// When the device fails.
pub fn sync_data(file: &std::fs::File) {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open for the whole call.
    let status = unsafe { libc::syscall(libc::SYS_fdatasync, file.as_raw_fd()) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

/// Beginning of a skipped test's line. The test's name, a colon and the reason follow.
pub const SKIPPED: &str = "SKIPPED ";

/// Ends the calling test, which is reported as skipped for this reason (a format string with arguments).
///
/// It is meant for a missing right, device or program, never for an error.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        $crate::report_skipped($crate::test_name!(), &format!($($reason)+));
        return;
    }};
}

/// Ends the calling test, at any depth, because a required program is missing. The runner counts the test as skipped; plain `cargo test`
/// shows it as failed with this reason, which says how to get the program.
///
/// # Panics
/// Always.
pub fn lacking(what: &str) -> ! {
    let thread = std::thread::current();
    // libtest names the thread of a test after it.
    report_skipped(thread.name().unwrap_or_default(), what);
    panic!("{what}");
}

/// The name of the calling test, as libtest prints it.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        $crate::test_of(std::any::type_name_of_val(&here))
    }};
}

/// A command that runs only the calling test, in a separate process. The test recognises that process by an environment variable, which the
/// caller adds.
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
    // One write keeps the line whole, because other tests write there too. libtest captures the print macros, not this.
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
