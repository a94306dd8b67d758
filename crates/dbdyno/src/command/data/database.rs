//! Common parts of the workloads with a database of their own: opening it, and the progress of loading.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use engine::{Reach, Target, TargetError, TargetUrl};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use workload::loading::Event;

use crate::arguments::SecretText;
use crate::console::{printable, say, takes_colour};
use crate::exit::{Status, invalid};

/// The target of a URL, and the name of its engine.
pub(in crate::command) fn open(text: &SecretText) -> Result<(Arc<dyn Target>, String)> {
    let url = text.url()?;
    let engine = engines::find(&url)?;
    if !lasts(&url)? {
        return invalid(format!(
            "the database {url} would be lost when this command ends; name a file or a directory to keep it in"
        ));
    }
    let target = engine.open(&url)?;
    match target.read_only() {
        None => Ok((target, url.engine().to_owned())),
        Some(why) => Err(TargetError::unreachable(format!("{url}: {why}")).into()),
    }
}

/// True for a database that outlives its process.
pub(in crate::command) fn lasts(url: &TargetUrl) -> Result<bool> {
    Ok(engines::find(url)?.reach() == Reach::Network || engines::file(url).is_some())
}

/// A bar for this many items; hidden without a terminal.
pub(super) fn bar(length: u32, things: &str) -> ProgressBar {
    let draw = if takes_colour(&std::io::stderr()) {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(u64::from(length)), draw);
    let style = ProgressStyle::with_template(&format!(
        "{{elapsed_precise}} {{bar:24}} {{pos}}/{{len}} {things} · {{wide_msg}}"
    ));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Shows the progress of a load: on the bar of a terminal, or as lines.
pub(super) fn show(bar: &ProgressBar, event: Event<'_>, things: &str) {
    let line = match event {
        Event::Note(note) => return warn(bar, note),
        Event::Parts { done, of, rows } => {
            bar.set_length(u64::from(of));
            bar.set_position(u64::from(done));
            format!("{done} of {of} {things}, {rows} rows")
        }
        Event::Step(name) => name.to_owned(),
    };
    tell(bar, line);
}

pub(super) fn sound(is_sound: bool) -> Status {
    if is_sound {
        Status::Fine
    } else {
        Status::CheckFailed
    }
}

/// Prints a line above the bar, or alone without a bar.
pub(super) fn tell(bar: &ProgressBar, line: String) {
    if bar.is_hidden() {
        say(&line)
    } else {
        bar.set_message(printable(&line).into_owned())
    }
}

fn warn(bar: &ProgressBar, note: &str) {
    bar.suspend(|| say(&format!("dbdyno: warning: {note}")));
}
