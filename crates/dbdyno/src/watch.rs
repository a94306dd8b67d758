//! Who watches a run: a page, a scraper, a file, somebody at the terminal.

use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, Result};
use archive::stream::StreamEvent;
use clap::Args;
use live::{Address, Hub, Server};

use crate::say::say;
use crate::terminal::Terminal;
use crate::view;

/// Where a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On a page, which is served there.
    Page(Address),
    /// In the terminal.
    Terminal,
}

impl FromStr for Place {
    type Err = String;

    /// An address, or `tui`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tui" => Ok(Self::Terminal),
            address => (address.parse().map(Self::Page))
                .map_err(|expected| format!("{expected}; or tui for a view in the terminal")),
        }
    }
}

/// The flags with which a run can be watched.
#[derive(Debug, Clone, Default, Args)]
pub struct WatchArguments {
    #[allow(rustdoc::broken_intra_doc_links)] // Brackets of the help, no link.
    /// Serve a page that shows the run while it is measured, and /metrics for scrapers: [IP:]PORT (default:
    /// 127.0.0.1:7411); or `tui`: show it in the terminal (docs/LIVE.md)
    #[arg(long, value_name = "ADDR|tui", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:7411")]
    pub live: Option<Place>,
    /// Write what happens during the run to a file, one JSON object per line (docs/LIVE.md)
    #[arg(long, value_name = "FILE.jsonl")]
    pub events: Option<PathBuf>,
}

/// A run that is watched; nobody is told where neither flag was given.
#[derive(Clone, Default)]
pub struct Watched(Option<Arc<Watching>>);

struct Watching {
    hub: Arc<Hub>,
    events: Option<PathBuf>,
    /// Dropped first: it closes the hub.
    _server: Option<Server>,
}

impl WatchArguments {
    /// Opens the file and serves the page, before anything is touched.
    ///
    /// # Errors
    /// When the file cannot be created, or the address not be listened on.
    pub fn open(&self) -> Result<Watched> {
        let (page, has_view) = match self.live {
            Some(Place::Page(at)) => (Some(at), false),
            Some(Place::Terminal) => (None, Terminal::is_there()),
            None => (None, false),
        };
        if self.live == Some(Place::Terminal) && !has_view {
            say(
                "dbdyno: warning: --live=tui needs a terminal in the foreground; progress is printed as lines",
            );
        }
        if page.is_none() && !has_view && self.events.is_none() {
            return Ok(Watched(None));
        }
        let file = self.events.as_ref().map(|path| {
            File::create(path).with_context(|| format!("cannot write --events {}", path.display()))
        });
        let hub = Arc::new(Hub::new(file.transpose()?));
        let server = page.map(|at| Server::start(Arc::clone(&hub), at));
        let server = server.transpose()?;
        if let Some(server) = &server {
            say(&format!("live page: {}", server.link()));
        }
        if has_view {
            view::begin(Arc::clone(&hub));
        }
        Ok(Watched(Some(Arc::new(Watching {
            hub,
            events: self.events.clone(),
            _server: server,
        }))))
    }
}

impl Watched {
    /// Tells an event to whoever watches.
    pub fn tell(&self, event: impl FnOnce() -> StreamEvent) {
        if let Some(watching) = &self.0 {
            let event = event();
            watching.hub.publish(&event);
            // Whatever was asked before a run has been answered.
            if matches!(event, StreamEvent::RunBegins { .. }) {
                view::show();
            }
        }
    }

    /// Takes the snapshots of a run; `None` where nobody watches.
    pub fn snapshots(&self) -> Option<lab::Snapshots> {
        let hub = Arc::clone(&self.0.as_ref()?.hub);
        Some(Arc::new(move |snapshot| {
            hub.publish(&StreamEvent::Snapshot(Box::new(snapshot)));
        }))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        view::end();
        if let (Some(why), Some(path)) = (self.hub.file_problem(), &self.events) {
            let path = path.display();
            say(&format!(
                "dbdyno: warning: not all events are in {path}: {why}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_shown_on_a_page_or_in_the_terminal() {
        assert_eq!("tui".parse(), Ok(Place::Terminal));
        let at = Address("127.0.0.1:7411".parse().unwrap());
        assert_eq!("7411".parse(), Ok(Place::Page(at)));
        let error = "tty".parse::<Place>().unwrap_err();
        assert!(
            error.contains("IP:PORT") && error.contains("or tui"),
            "{error}"
        );
    }
}
