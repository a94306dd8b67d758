//! A run of the archive on the live page, with its events at their times.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::live::{Address, Hub, Server, replay as recorded};
use anyhow::Result;
use archive::Run;

use crate::console::say;
use crate::exit::Status;

/// Longest delay until Ctrl-C is noticed.
const SLICE: Duration = Duration::from_millis(100);

pub(super) fn replay(run: &Run, speed: f64, at: Address) -> Result<Status> {
    lab::signal::install();
    let hub = Arc::new(Hub::new(None));
    let server = Server::start(Arc::clone(&hub), at)?;
    say(&format!("live page: {}", server.link()));
    if replayed(run, speed, &hub) {
        say(&format!(
            "run {} was replayed; Ctrl-C ends the page",
            run.label
        ));
        pause(|| false);
    }
    Ok(Status::Fine)
}

/// Sends the events of a run at their times; false if the user ended the replay.
fn replayed(run: &Run, speed: f64, hub: &Hub) -> bool {
    let begun = Instant::now();
    for (at_s, event) in recorded::events(run) {
        let due = Duration::from_secs_f64(at_s / speed);
        if !pause(|| begun.elapsed() >= due) {
            return false;
        }
        hub.publish(&event);
    }
    true
}

/// Waits for a condition; false after Ctrl-C.
fn pause(is_so: impl Fn() -> bool) -> bool {
    while !is_so() {
        if lab::signal::stop_flag().load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(SLICE);
    }
    true
}
