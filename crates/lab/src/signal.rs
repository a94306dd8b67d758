//! Ctrl-C: the first signal stops the run once its points are safe, the second ends the process at once.
//!
//! The run may be waiting for a server that does not answer, or for a long statement. Some seconds after the first
//! signal all sessions are therefore cancelled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

static STOP: AtomicBool = AtomicBool::new(false);
/// Text that a second signal prints; null: [`AT_ONCE`].
static RESUMPTION: Mutex<String> = Mutex::new(String::new());
/// Exit status of a process that its user interrupted.
pub const EXIT_INTERRUPTED: i32 = 130;
/// Time that operations in progress have after the first signal.
const GRACE: Duration = Duration::from_secs(5);
/// Sessions that were opened meanwhile are broken off as well, at this interval.
const AGAIN: Duration = Duration::from_secs(1);
static BROKEN_OFF: AtomicBool = AtomicBool::new(false);
/// How a run or study is resumed, by its verb and name; flags are known to the command alone.
static ADVICE: OnceLock<fn(&str, &str) -> String> = OnceLock::new();

/// Lets a second signal print how to resume the interrupted run. Only the first call counts.
pub fn advise(advice: fn(&str, &str) -> String) {
    ADVICE.get_or_init(|| advice);
}

/// Flag that every wait and every job checks.
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Sessions were cancelled, so later failures have this cause.
pub fn has_broken_off() -> bool {
    BROKEN_OFF.load(Ordering::SeqCst)
}

/// From now on a second signal prints that the run or study can be resumed.
pub(crate) fn can_be_resumed(verb: &str, label: &str) {
    let advice = ADVICE
        .get()
        .map_or(String::new(), |advice| format!("; {}", advice(verb, label)));
    *RESUMPTION.lock().unwrap_or_else(PoisonError::into_inner) =
        format!("; every finished point is kept in the archive{advice}");
}

/// Catches SIGINT, SIGTERM, SIGQUIT and the end of a terminal (SIGHUP, unless `nohup` has it ignored), and lets a write beyond
/// the limit on the size of files fail like one on a full disk, where it would end the process.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: ignoring a signal installs no code.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let (give, given) = mpsc::channel();
        let spawned = thread::Builder::new()
            .name("signals".into())
            .spawn(move || given.into_iter().for_each(wait));
        // A signal that no thread waits for ends the process, as without dbdyno's own handling.
        if spawned.is_ok() {
            let end_of_terminal = Some(SIGHUP).filter(|signal| !is_ignored(*signal));
            let signals = [SIGINT, SIGTERM, SIGQUIT]
                .into_iter()
                .chain(end_of_terminal);
            let _ = Signals::new(signals).map(|signals| give.send(signals));
        }
    });
}

fn wait(mut signals: Signals) {
    let mut signals = signals.forever();
    signals.next();
    STOP.store(true, Ordering::SeqCst);
    // Without it a second signal still works.
    let _ = thread::Builder::new()
        .name("break-off".into())
        .spawn(break_off);
    signals.next();
    // The engine may be deep in a statement. Nothing is lost, because finished points are committed.
    let resumption = RESUMPTION.lock().unwrap_or_else(PoisonError::into_inner);
    let said = format!("dbdyno: interrupted at once{resumption}\n");
    // By the system call, because another thread may hold the lock of standard error.
    let _ = rustix::io::write(std::io::stderr(), said.as_bytes());
    signal_hook::low_level::exit(EXIT_INTERRUPTED);
}

fn break_off() {
    thread::sleep(GRACE);
    loop {
        BROKEN_OFF.store(true, Ordering::SeqCst);
        tracing::info!("interrupted: breaking off all sessions");
        engine::break_off_all();
        thread::sleep(AGAIN);
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: the structure is plain numbers, which the call fills; nothing is installed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}
