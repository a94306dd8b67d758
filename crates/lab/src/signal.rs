//! Ctrl-C: the first stops the run after its points are safe, the second ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
/// Exit status of a process that its user interrupted.
pub const EXIT_INTERRUPTED: i32 = 130;
const AT_ONCE: &str = "dbdyno: interrupted at once; every finished point is kept in the archive, go on with: dbdyno run --resume last\n";

/// The flag that every wait and every job looks at.
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

extern "C" fn on_signal(_signal: libc::c_int) {
    if STOP.swap(true, Ordering::SeqCst) {
        // A second signal: the engine may be deep in a statement. Nothing is lost, because finished
        // points are committed; _exit is safe in a handler, exit would not be.
        // SAFETY: write touches only the constant; a failed one has nobody to tell.
        unsafe {
            libc::write(libc::STDERR_FILENO, AT_ONCE.as_ptr().cast(), AT_ONCE.len());
        }
        // SAFETY: _exit is async-signal-safe and does not return.
        unsafe { libc::_exit(EXIT_INTERRUPTED) }
    }
}

/// Installs the handler for SIGINT and SIGTERM, and lets a write beyond the limit on the size of files
/// fail like one on a full disk, where it would end the process.
pub fn install() {
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only touches an atomic and calls an async-signal-safe function.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
