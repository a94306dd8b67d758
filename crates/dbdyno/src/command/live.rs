//! `dbdyno live`: a run of the archive, as if it were measured now.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::live::{Hub, Server, replay};
use anyhow::Result;
use archive::Run;

use crate::arguments::LiveArguments;
use crate::exit::Status;
use crate::say::say;

/// Ctrl-C is noticed within this time.
const SLICE: Duration = Duration::from_millis(100);

pub fn live(arguments: &LiveArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let run = super::load_run(&arguments.run, archive)?;
    lab::signal::install();
    let hub = Arc::new(Hub::new(None));
    let server = Server::start(Arc::clone(&hub), arguments.at)?;
    say(&format!("live page: {}", server.link()));
    if replayed(&run, arguments.speed, &hub) && !arguments.once {
        say(&format!(
            "run {} was replayed; Ctrl-C ends the page",
            run.label
        ));
        pause(|| false);
    }
    Ok(Status::Fine)
}

/// Tells the events of a run at the time of each; false when somebody ended that.
fn replayed(run: &Run, speed: f64, hub: &Hub) -> bool {
    let begun = Instant::now();
    for (at_s, event) in replay::events(run) {
        let due = Duration::from_secs_f64(at_s / speed);
        if !pause(|| begun.elapsed() >= due) {
            return false;
        }
        hub.publish(&event);
    }
    true
}

/// Waits until something is so; false after Ctrl-C.
fn pause(is_so: impl Fn() -> bool) -> bool {
    while !is_so() {
        if lab::signal::stop_flag().load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(SLICE);
    }
    true
}
