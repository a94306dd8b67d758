//! The thread that starts servers, and outlives them.
//!
//! The kernel sends the parent-death signal when the *thread* that started a process ends, not when
//! its process does. A server started by a job's thread would die with the job.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

type Work = Box<dyn FnOnce() + Send>;

static LAUNCHER: Mutex<Option<Sender<Work>>> = Mutex::new(None);

/// Does `work` on the thread that lives as long as this process.
pub(super) fn on_launcher<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let gone = || io::Error::other("the thread that starts servers has ended");
    let (answer, answered) = channel();
    let work: Work = Box::new(move || {
        // Nobody to tell means that the asker is gone, and with it what was asked for.
        let _ = answer.send(work());
    });
    let mut launcher = LAUNCHER.lock().unwrap_or_else(|e| e.into_inner());
    let sender = match launcher.take() {
        Some(sender) => sender,
        None => start()?,
    };
    let sent = sender.send(work);
    *launcher = Some(sender);
    drop(launcher);
    sent.map_err(|_| gone())?;
    answered.recv().map_err(|_| gone())
}

fn start() -> io::Result<Sender<Work>> {
    let (sender, work) = channel::<Work>();
    std::thread::Builder::new()
        .name("server-launcher".into())
        .spawn(move || work.into_iter().for_each(|work| work()))?;
    Ok(sender)
}
