//! The sessions that this process holds open, so that another thread can end what one of them waits for: the answer of a
//! server that hangs, or a statement that takes longer than its user cares to wait.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long all servers together may take to end the statements of sessions that are broken off.
const CANCELS_MAX: Duration = Duration::from_secs(2);

static OPEN: Mutex<BTreeMap<u64, Entry>> = Mutex::new(BTreeMap::new());
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Asks a server to end the statement of a session, within a time.
type Cancel = Arc<dyn Fn(Duration) + Send + Sync>;

struct Entry {
    owner: Owner,
    /// Taken when it is used.
    cancel: Option<Cancel>,
    /// Ends the wait at this end; short, because it is called under the lock.
    cut: Box<dyn Fn() + Send>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    pub fn unique() -> Self {
        Self(NUMBERS.fetch_add(1, Ordering::Relaxed))
    }
}

/// A session in the register. It must be dropped before what it refers to is closed.
pub struct OpenSession(u64);

impl OpenSession {
    /// Over a socket, whose reads and writes end when it is broken off.
    pub fn over(owner: Owner, socket: &impl AsRawFd) -> Self {
        let socket: RawFd = socket.as_raw_fd();
        Self::entered(owner, move || {
            // SAFETY: the descriptor is open, because its session leaves the register before it closes it; the call
            // touches no memory. It fails where the far end has gone, which is what is wanted.
            unsafe { libc::shutdown(socket, libc::SHUT_RDWR) };
        })
    }

    /// Of an engine in this process, with what interrupts its statement.
    pub fn in_process(interrupt: impl Fn() + Send + 'static) -> Self {
        Self::in_process_of(Owner::unique(), interrupt)
    }

    /// The same, with whose session it is.
    pub fn in_process_of(owner: Owner, interrupt: impl Fn() + Send + 'static) -> Self {
        Self::entered(owner, interrupt)
    }

    fn entered(owner: Owner, cut: impl Fn() + Send + 'static) -> Self {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let entry = Entry {
            owner,
            cancel: None,
            cut: Box::new(cut),
        };
        open().insert(number, entry);
        Self(number)
    }

    /// From now on the server is asked first to end the session's statement, which would otherwise go on there.
    pub fn cancelled_by(&self, cancel: impl Fn(Duration) + Send + Sync + 'static) {
        if let Some(entry) = open().get_mut(&self.0) {
            entry.cancel = Some(Arc::new(cancel));
        }
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        open().remove(&self.0);
    }
}

/// Every change of the register is one step, so that it is whole whoever died with it.
fn open() -> MutexGuard<'static, BTreeMap<u64, Entry>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Breaks off all sessions of the process: each fails at what it waits for, within seconds.
pub fn break_off_all() {
    break_off(|_| true);
}

/// Breaks off the sessions of one target.
pub fn break_off_those_of(owner: Owner) {
    break_off(|other| other == owner);
}

fn break_off(is_meant: impl Fn(Owner) -> bool) {
    let meant = |open: &mut BTreeMap<u64, Entry>| -> Vec<Cancel> {
        let entries = open.values_mut().filter(|entry| is_meant(entry.owner));
        entries.filter_map(|entry| entry.cancel.take()).collect()
    };
    let cancels = meant(&mut open());
    let deadline = Instant::now() + CANCELS_MAX;
    for cancel in cancels {
        let left = deadline.saturating_duration_since(Instant::now());
        // A server that takes no request in this time takes none of the others.
        if left.is_zero() {
            break;
        }
        cancel(left);
    }
    for entry in open().values().filter(|entry| is_meant(entry.owner)) {
        (entry.cut)();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// The statement is cancelled once, the socket ends, and the sessions of others go on.
    #[test]
    fn a_target_is_broken_off_alone() {
        let (mut mine, _mine_far) = UnixStream::pair().unwrap();
        let (other, mut other_far) = UnixStream::pair().unwrap();
        let (owner, asked) = (Owner::unique(), Arc::new(AtomicU64::new(0)));
        let session = OpenSession::over(owner, &mine);
        let counted = Arc::clone(&asked);
        session.cancelled_by(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let _other = OpenSession::over(Owner::unique(), &other);
        break_off_those_of(owner);
        break_off_those_of(owner);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(mine.read(&mut [0]).unwrap(), 0);
        other_far.set_nonblocking(true).unwrap();
        assert!(other_far.read(&mut [0]).is_err(), "still open");
        drop(session);
        assert!(!open().values().any(|entry| entry.owner == owner));
    }
}
