//! Ctrl-C: the first stops what is under way after its points are safe, the second ends the process at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
/// What a second signal says; null: [`AT_ONCE`].
static SAID: AtomicPtr<String> = AtomicPtr::new(std::ptr::null_mut());
/// Exit status of a process that its user interrupted.
pub const EXIT_INTERRUPTED: i32 = 130;
const AT_ONCE: &str = "dbdyno: interrupted at once\n";
/// How a run or study is resumed, by its verb and name; flags are known to the command alone.
static ADVICE: OnceLock<fn(&str, &str) -> String> = OnceLock::new();

/// Has a second signal say how to resume what it interrupts. The first call counts.
pub fn advise(advice: fn(&str, &str) -> String) {
    ADVICE.get_or_init(|| advice);
}

/// The flag that every wait and every job looks at.
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// From now on a second signal says that the run or study can be resumed.
pub(crate) fn can_be_resumed(verb: &str, label: &str) {
    let advice = ADVICE
        .get()
        .map_or(String::new(), |advice| format!("; {}", advice(verb, label)));
    let said = Box::new(format!(
        "dbdyno: interrupted at once; every finished point is kept in the archive{advice}\n"
    ));
    // Never freed: the handler may be reading the one before.
    SAID.store(Box::into_raw(said), Ordering::SeqCst);
}

extern "C" fn on_signal(_signal: libc::c_int) {
    if STOP.swap(true, Ordering::SeqCst) {
        // SAFETY: it is null, or came from a box that is never freed nor changed.
        let said = unsafe { SAID.load(Ordering::SeqCst).as_ref() };
        let said = said.map_or(AT_ONCE, String::as_str);
        // A second signal: the engine may be deep in a statement. Nothing is lost, because finished
        // points are committed; _exit is safe in a handler, exit would not be.
        // SAFETY: write touches only a text that stays; a failed one has nobody to tell.
        unsafe {
            libc::write(libc::STDERR_FILENO, said.as_ptr().cast(), said.len());
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
        // SAFETY: the handler only touches atomics and calls async-signal-safe functions.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
