//! A way to a server that ends in the middle of an answer, as a server does that is killed while it sends.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{ErrorKind, Replies, Request, Session};

/// A socket beside the server's own; what comes through it is carried on.
pub struct Way {
    end: Arc<AtomicBool>,
}

impl Way {
    /// Makes a way from a new socket to that of a server.
    pub fn new(from: &Path, to: PathBuf) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let listener = UnixListener::bind(from).unwrap();
        let cut = Arc::clone(&end);
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let far = UnixStream::connect(&to).unwrap();
                let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                let cut = Arc::clone(&cut);
                std::thread::spawn(move || carry(near, far, &AtomicBool::new(false)));
                std::thread::spawn(move || carry(far_too, near_too, &cut));
            }
        });
        Self { end }
    }

    /// An answer of which a part comes together with the end is an end, at the first look: it is not told twice
    /// to who waits for what is new.
    pub fn must_be_told_at_once(&self, mut session: Box<dyn Session>) {
        let long = session.prepare("SELECT repeat('x', 4000)").unwrap();
        let mut replies = Replies::default();
        replies.awaits(None);
        let waits_for_nothing = session.nonblocking().unwrap();
        waits_for_nothing
            .queue(Request::Execute(long, &[]))
            .unwrap();
        self.end.store(true, Ordering::Release);
        waits_for_nothing.send().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let told = waits_for_nothing.receive(&mut replies);
        assert_eq!(told.unwrap_err().kind, ErrorKind::Unreachable);
    }
}

/// Carries what comes until the end, or half of what comes when the way is to be cut off.
fn carry(mut from: UnixStream, mut to: UnixStream, end: &AtomicBool) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(some @ 1..) = from.read(&mut bytes) {
        let ends = end.load(Ordering::Acquire);
        let carried = if ends { some / 2 } else { some };
        if to.write_all(&bytes[..carried]).is_err() || ends {
            break;
        }
    }
    // Either may be closed already.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
