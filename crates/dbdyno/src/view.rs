//! The view of a run in the terminal: a thread that reads the events, draws them, and takes keys. There is one terminal,
//! and so at most one view.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::live::Hub;
use ::live::view::View;
use ::live::view::keys::{Key, keys};
use archive::stream::StreamEvent;

use crate::say::{hold, release, say};
use crate::terminal::Terminal;

/// How long keys are waited for, before events are looked at again.
const LOOK: Duration = Duration::from_millis(200);
/// Times on the screen are told anew so often.
const SECOND: Duration = Duration::from_secs(1);

static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

struct Current {
    shared: Arc<Shared>,
    /// While it is shown.
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    hub: Arc<Hub>,
    begun: Instant,
    watched: Mutex<Watched>,
    /// The thread goes.
    is_over: AtomicBool,
    /// Whether somebody ended it.
    is_left: AtomicBool,
}

/// What has been seen of the events.
struct Watched {
    view: View,
    last: u64,
}

fn current() -> MutexGuard<'static, Option<Current>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There will be a view of what a hub is told, as soon as it is shown.
pub fn begin(hub: Arc<Hub>) {
    let shared = Shared {
        hub,
        begun: Instant::now(),
        watched: Mutex::new(Watched {
            view: View::default(),
            last: 0,
        }),
        is_over: AtomicBool::new(false),
        is_left: AtomicBool::new(false),
    };
    *current() = Some(Current {
        shared: Arc::new(shared),
        thread: None,
    });
}

/// Fills the terminal with the view, unless somebody ended it.
pub fn show() {
    if let Some(current) = &mut *current() {
        current.show();
    }
}

/// Does something on the terminal without the view, which comes back behind it.
pub fn aside<T>(act: impl FnOnce() -> T) -> T {
    let was_shown = current().as_mut().is_some_and(Current::hide);
    let done = act();
    if was_shown {
        show();
    }
    done
}

/// Ends the view; what waited behind it is written.
pub fn end() {
    if let Some(mut current) = current().take() {
        current.hide();
    }
}

/// Waits until somebody ends the view, by a key or by Ctrl-C.
pub fn wait_until_left() {
    while current()
        .as_ref()
        .is_some_and(|current| current.thread.is_some() && !current.is_left())
    {
        std::thread::sleep(LOOK);
    }
}

/// Whether somebody ended it.
pub fn is_left() -> bool {
    current().as_ref().is_none_or(Current::is_left)
}

impl Current {
    fn is_left(&self) -> bool {
        self.shared.is_left.load(Ordering::SeqCst)
    }

    fn show(&mut self) {
        if self.thread.is_some() || self.is_left() {
            return;
        }
        // The view goes without this thread being asked, so what is said meanwhile waits for that one.
        let terminal = match Terminal::take() {
            Ok(terminal) => terminal,
            Err(error) => return self.give_up(&error.to_string()),
        };
        hold();
        self.shared.is_over.store(false, Ordering::SeqCst);
        let shared = Arc::clone(&self.shared);
        let spawned = std::thread::Builder::new()
            .name("view".into())
            .spawn(move || shared.watch(terminal));
        match spawned {
            Ok(thread) => self.thread = Some(thread),
            Err(error) => {
                release();
                self.give_up(&error.to_string());
            }
        }
    }

    fn give_up(&self, why: &str) {
        self.shared.is_left.store(true, Ordering::SeqCst);
        say(&format!(
            "dbdyno: warning: the view in the terminal cannot be shown: {why}"
        ));
    }

    /// Whether it was shown.
    fn hide(&mut self) -> bool {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let Some(thread) = self.thread.take() else {
            return false;
        };
        // One that panicked has put the terminal back.
        if thread.join().is_err() {
            self.shared.is_left.store(true, Ordering::SeqCst);
        }
        release();
        !self.is_left()
    }
}

impl Shared {
    fn watch(&self, mut terminal: Terminal) {
        let ended = self.watch_until_over(&mut terminal);
        drop(terminal);
        let left = match ended {
            Ok(()) if self.is_over.load(Ordering::SeqCst) => None,
            Ok(()) => {
                Some("dbdyno: the view is closed, and the run goes on; Ctrl-C ends it".to_owned())
            }
            Err(error) => Some(format!("dbdyno: warning: the view is closed: {error}")),
        };
        if let Some(sentence) = left {
            self.is_left.store(true, Ordering::SeqCst);
            // Ctrl-C needs no sentence.
            if !is_interrupted() {
                say(&sentence);
            }
            release();
        }
    }

    /// Until it shall go, or somebody ends it.
    fn watch_until_over(&self, terminal: &mut Terminal) -> std::io::Result<()> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.view.colour(terminal.is_coloured());
        let mut drawn: Option<Instant> = None;
        loop {
            let mut is_new = terminal.is_resized();
            is_new |= watched.take(&self.hub, self.begun);
            if is_new || drawn.is_none_or(|drawn| drawn.elapsed() >= SECOND) {
                let now_s = self.begun.elapsed().as_secs_f64();
                terminal.draw(|screen| watched.view.draw(screen, now_s))?;
                drawn = Some(Instant::now());
            }
            for key in keys(&terminal.typed(LOOK)?) {
                if key == Key::Quit {
                    return Ok(());
                }
                watched.view.press(key);
                drawn = None;
            }
            if self.is_over.load(Ordering::SeqCst) || is_interrupted() {
                return Ok(());
            }
        }
    }
}

impl Watched {
    /// Takes what came; whether something did.
    fn take(&mut self, hub: &Hub, begun: Instant) -> bool {
        let came = hub.wait(self.last, Duration::ZERO).unwrap_or_default();
        let at_s = begun.elapsed().as_secs_f64();
        for (number, json) in &came {
            self.last = *number;
            if let Ok(event) = serde_json::from_str::<StreamEvent>(json) {
                self.view.take(&event, at_s);
            }
        }
        !came.is_empty()
    }
}

fn is_interrupted() -> bool {
    lab::signal::stop_flag().load(Ordering::Relaxed)
}
