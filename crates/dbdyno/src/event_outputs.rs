//! Outputs of a run's events: a page, a scraper, a file.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use archive::stream::StreamEvent;
use clap::Args;
use live::{Address, Hub, Server};

use crate::console::say;

#[derive(Debug, Clone, Default, Args)]
pub struct WatchArguments {
    #[allow(rustdoc::broken_intra_doc_links)] // Brackets of the help, no link.
    /// Serve a page that shows the run while it is measured: [IP:]PORT (default: 127.0.0.1:7411)
    ///
    /// It has /metrics for scrapers, too (docs/LIVE.md).
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:7411")]
    pub live: Option<Address>,
    /// Write what happens during the run to a file, one JSON object per line (docs/LIVE.md)
    #[arg(long, value_name = "FILE.jsonl")]
    pub events: Option<PathBuf>,
}

/// Watchers of a run; none without the flags.
#[derive(Clone, Default)]
pub struct Watched(Option<Arc<Watching>>);

struct Watching {
    hub: Arc<Hub>,
    events: Option<PathBuf>,
    /// The server is dropped first, which closes the hub.
    _server: Option<Server>,
}

impl WatchArguments {
    /// Opens the file and serves the page, before the run begins.
    pub fn open(&self) -> Result<Watched> {
        if self.live.is_none() && self.events.is_none() {
            return Ok(Watched(None));
        }
        let file = self.events.as_ref().map(|path| {
            File::create(path).with_context(|| format!("cannot write --events {}", path.display()))
        });
        let hub = Arc::new(Hub::new(file.transpose()?));
        let server = self.live.map(|at| Server::start(Arc::clone(&hub), at));
        let server = server.transpose()?;
        if let Some(server) = &server {
            say(&format!("live page: {}", server.link()));
        }
        Ok(Watched(Some(Arc::new(Watching {
            hub,
            events: self.events.clone(),
            _server: server,
        }))))
    }
}

impl Watched {
    /// Sends an event to the watchers.
    pub fn tell(&self, event: impl FnOnce() -> StreamEvent) {
        if let Some(watching) = &self.0 {
            watching.hub.publish(&event());
        }
    }

    /// Receiver of a run's snapshots; `None` without watchers.
    pub fn snapshots(&self) -> Option<lab::Snapshots> {
        let hub = Arc::clone(&self.0.as_ref()?.hub);
        Some(Arc::new(move |snapshot| {
            hub.publish(&StreamEvent::Snapshot(Box::new(snapshot)));
        }))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let (Some(why), Some(path)) = (self.hub.file_problem(), &self.events) {
            let path = path.display();
            say(&format!(
                "dbdyno: warning: not all events are in {path}: {why}"
            ));
        }
    }
}
