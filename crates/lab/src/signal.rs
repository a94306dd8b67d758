//! Ctrl-C: the first stops what is under way after its points are safe, the second ends the process at once.
//!
//! What is under way may be waiting for a server that does not answer, or for a long statement: some seconds after the
//! first signal all sessions are broken off, so that it works whatever they do.

use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);
/// What a second signal says; null: [`AT_ONCE`].
static SAID: AtomicPtr<String> = AtomicPtr::new(std::ptr::null_mut());
/// Exit status of a process that its user interrupted.
pub const EXIT_INTERRUPTED: i32 = 130;
/// How long operations in hand may go on after the first signal.
const GRACE: Duration = Duration::from_secs(5);
/// After what time sessions that were opened meanwhile are broken off as well.
const AGAIN: Duration = Duration::from_secs(1);
/// Whether sessions were broken off.
static BROKEN_OFF: AtomicBool = AtomicBool::new(false);
/// Where the handler wakes the thread that breaks sessions off; negative: there is none.
static WAKE: AtomicI32 = AtomicI32::new(-1);
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

/// Whether sessions were broken off because of it: what fails then does so for that reason.
pub fn has_broken_off() -> bool {
    BROKEN_OFF.load(Ordering::SeqCst)
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
    let wake = WAKE.load(Ordering::SeqCst);
    if wake >= 0 {
        let one = 1u64.to_ne_bytes();
        // SAFETY: write is async-signal-safe and touches eight bytes that stay; the descriptor is never closed.
        unsafe { libc::write(wake, one.as_ptr().cast(), one.len()) };
    }
}

/// Begins the thread that breaks off all sessions after the first signal. Without it a second one still works.
fn stand_by() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: the call takes two integers and gives a descriptor, or a negative number.
        let wake = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if wake < 0 {
            return;
        }
        // SAFETY: the descriptor is new and nobody else's; the handler, which writes to it, needs it as long as the
        // process lives, and the thread that owns it never ends.
        let mut woken = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(wake) });
        let spawned = std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                while woken.read_exact(&mut [0; 8]).is_err() {}
                std::thread::sleep(GRACE);
                loop {
                    BROKEN_OFF.store(true, Ordering::SeqCst);
                    tracing::info!("interrupted: breaking off all sessions");
                    engine::break_off_all();
                    std::thread::sleep(AGAIN);
                }
            });
        if spawned.is_ok() {
            WAKE.store(wake, Ordering::SeqCst);
        }
    });
}

/// Installs the handler for SIGINT, SIGTERM, SIGQUIT and the end of a terminal (SIGHUP, unless `nohup` has it ignored), and lets a write beyond the limit on the size of files
/// fail like one on a full disk, where it would end the process.
pub fn install() {
    stand_by();
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGQUIT, libc::SIGHUP] {
        // SAFETY: the structure is plain numbers, which the first call fills; the handler only touches atomics and calls
        // async-signal-safe functions.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            if signal == libc::SIGHUP && action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action.sa_sigaction = on_signal as *const () as usize;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
