//! The events of this process, numbered; readers wait here.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use archive::stream::StreamEvent;

use crate::metrics::Metrics;

/// Most events that are stored for later readers: more than four hours at one a second …
const EVENTS_MAX: usize = 1 << 14;
const BYTES_MAX: usize = 32 << 20;

/// An event in its sent form: its number and its JSON.
pub type Numbered = (u64, Arc<str>);

#[derive(Debug, Default)]
pub struct Hub {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Numbered>,
    bytes: usize,
    /// Number of the last event; the first one has 1.
    last: u64,
    is_over: bool,
    file: Option<File>,
    file_problem: Option<String>,
    metrics: Metrics,
    viewers_dropped: u64,
}

impl Hub {
    /// An empty hub, which writes each event to `file`, if there is one.
    pub fn new(file: Option<File>) -> Self {
        let hub = Self::default();
        hub.lock().file = file;
        hub
    }

    /// Adds an event; costs the caller no more than its JSON.
    pub fn publish(&self, event: &StreamEvent) {
        let Ok(json) = serde_json::to_string(event) else {
            return;
        };
        let mut state = self.lock();
        state.metrics.take(event);
        state.write(&json);
        state.keep(json.into());
        drop(state);
        self.changed.notify_all();
    }

    /// Ends the events, so that all readers return.
    pub fn close(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Waits up to `longest` for stored events with numbers above `after`; empty if none came. `None` after the end.
    pub fn wait(&self, after: u64, longest: Duration) -> Option<Vec<Numbered>> {
        let state = self.lock();
        let waits = |state: &mut State| state.last <= after && !state.is_over;
        let waited = self.changed.wait_timeout_while(state, longest, waits);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let oldest = state.events.front().map_or(0, |(number, _)| *number);
        let from = (after + 1).saturating_sub(oldest) as usize;
        let newer: Vec<_> = state.events.iter().skip(from).cloned().collect();
        (!newer.is_empty() || !state.is_over).then_some(newer)
    }

    pub fn last(&self) -> u64 {
        self.lock().last
    }

    pub fn metrics(&self) -> String {
        let state = self.lock();
        state.metrics.text(state.viewers_dropped)
    }

    pub fn drop_viewer(&self) {
        self.lock().viewers_dropped += 1;
    }

    pub fn viewers_dropped(&self) -> u64 {
        self.lock().viewers_dropped
    }

    pub fn file_problem(&self) -> Option<String> {
        self.lock().file_problem.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&mut self, json: Arc<str>) {
        self.last += 1;
        self.bytes += json.len();
        self.events.push_back((self.last, json));
        while self.events.len() > EVENTS_MAX || self.bytes > BYTES_MAX {
            let Some((_, oldest)) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.len();
        }
    }

    /// A file that cannot be written any more is given up; the run is worth more.
    fn write(&mut self, json: &str) {
        let Some(file) = &mut self.file else {
            return;
        };
        if let Err(error) = file.write_all(format!("{json}\n").as_bytes()) {
            self.file_problem = Some(error.to_string());
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> StreamEvent {
        StreamEvent::Remark { text: text.into() }
    }

    #[test]
    fn whoever_comes_back_misses_nothing() {
        let hub = Hub::new(None);
        (0..5).for_each(|n| hub.publish(&said(&n.to_string())));
        let numbers = |after| -> Vec<u64> {
            let events = hub.wait(after, Duration::ZERO).unwrap();
            events.into_iter().map(|(number, _)| number).collect()
        };
        assert_eq!(numbers(0), [1, 2, 3, 4, 5]);
        assert_eq!(numbers(3), [4, 5]);
        assert_eq!(numbers(5), [0; 0]);
        hub.close();
        assert_eq!(hub.wait(5, Duration::MAX), None);
        assert_eq!(hub.wait(4, Duration::MAX).unwrap().len(), 1);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_go_first() {
        let hub = Hub::new(None);
        (0..EVENTS_MAX + 7).for_each(|_| hub.publish(&said("x")));
        let stored = hub.wait(0, Duration::ZERO).unwrap();
        assert_eq!((stored.len(), stored[0].0), (EVENTS_MAX, 8));
    }
}
