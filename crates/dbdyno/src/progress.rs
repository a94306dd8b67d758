//! Progress on the terminal: elapsed and remaining time, the current point and its rate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use archive::stream::{PointHead, PointResult, StreamEvent};
use archive::{Arranged, Point, PointKey, Remark, RightsMissing};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::Observer;
use load::Progress;
use report::number;

use crate::console::{printable, say, takes_escapes, terminal_columns};
use crate::event_outputs::Watched;

/// Narrower terminals have no room for a bar.
const BAR_FROM_COLUMNS: usize = 72;
const REFRESH: Duration = Duration::from_millis(250);

/// Display of a run: a bar on a terminal, or a line per point.
pub struct Screen {
    bar: ProgressBar,
    on_terminal: bool,
    current: Arc<Mutex<Option<Current>>>,
    over: Arc<AtomicBool>,
    ticker: Option<JoinHandle<()>>,
    warned_of_clock: bool,
    entered: bool,
    seed: Option<u64>,
    may_stop: bool,
    watched: Watched,
    label: Option<String>,
    /// True if neither the run nor its points are printed besides the bar.
    is_brief: bool,
}

struct Current {
    target: String,
    text: String,
    progress: Arc<Progress>,
    begun: Instant,
}

impl Screen {
    pub fn new() -> Self {
        let on_terminal = takes_escapes(&std::io::stderr()) && !crate::log::is_shown();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style(terminal_columns()));
        Self {
            bar,
            on_terminal,
            current: Arc::default(),
            over: Arc::default(),
            ticker: None,
            warned_of_clock: false,
            entered: false,
            seed: None,
            may_stop: false,
            watched: Watched::default(),
            label: None,
            is_brief: false,
        }
    }

    /// A screen whose events also go to watchers.
    pub fn watched(watched: Watched) -> Self {
        Self {
            watched,
            ..Self::new()
        }
    }

    pub fn run_ends<T>(&self, result: &anyhow::Result<T>) {
        self.watched.tell(|| StreamEvent::RunEnds {
            run: self.label.clone(),
            complete: result.is_ok(),
            problem: result.as_ref().err().map(crate::exit::sentence),
        });
    }

    /// Tells watchers, and prints above the bar.
    fn remark(&self, text: &str) {
        self.watched
            .tell(|| StreamEvent::Remark { text: text.into() });
        self.bar.suspend(|| say(text));
    }

    /// A screen for a run whose points are no results: a bar on a terminal, nothing elsewhere.
    pub fn of_points_unsaid() -> Self {
        Self {
            is_brief: true,
            ..Self::new()
        }
    }

    /// Stores the seed for the line at the run's start.
    pub fn drawn_with(&mut self, seed: u64) {
        self.seed = Some(seed);
    }

    /// Allows the run to stop before all its points are measured.
    pub fn may_stop(&mut self, may_stop: bool) {
        self.may_stop = may_stop;
    }

    /// A function that prints lines above the progress.
    pub fn teller(&self) -> impl Fn(&str) + use<> {
        let (bar, watched) = (self.bar.clone(), self.watched.clone());
        move |text| {
            watched.tell(|| StreamEvent::Remark { text: text.into() });
            bar.suspend(|| text.lines().for_each(say));
        }
    }

    /// True if the archive contains the run, so that it can be resumed.
    pub fn entered(&self) -> bool {
        self.entered
    }

    /// A warning for the first point during which the wall clock stepped.
    fn clock_warning(&mut self, point: &Point) -> Option<String> {
        let is_step = |note: &&Remark| matches!(note, Remark::ClockStepped { .. });
        let note = point.notes.iter().find(is_step)?;
        let is_first = !std::mem::replace(&mut self.warned_of_clock, true);
        is_first.then(|| format!("dbdyno: warning: {} {note}", point.key.test))
    }

    pub fn close(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(ticker) = self.ticker.take() {
            // A ticker that panicked has nothing more to show.
            let _ = ticker.join();
        }
        self.bar.finish_and_clear();
    }

    fn start_ticker(&mut self) {
        let (bar, current) = (self.bar.clone(), Arc::clone(&self.current));
        let over = Arc::clone(&self.over);
        self.ticker = Some(std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let current = current.lock().unwrap_or_else(PoisonError::into_inner);
                let message = current.as_ref().map_or_else(String::new, Current::message);
                drop(current);
                bar.set_message(printable(&message).into_owned());
                bar.tick();
                std::thread::sleep(REFRESH);
            }
        }));
    }
}

/// A note about a name that belongs to another run or study.
pub fn renamed(requested: &str, name: &str) -> String {
    format!("dbdyno: note: the name {requested} is taken; this one is {name}")
}

/// Done and all, time left, and the current point, with a bar where there is room.
fn style(columns: Option<usize>) -> ProgressStyle {
    let bar = columns.map_or("", |columns| {
        if columns < BAR_FROM_COLUMNS {
            ""
        } else {
            "{bar:12} "
        }
    });
    ProgressStyle::with_template(&format!("{bar}{{pos}}/{{len}}{{left}} · {{wide_msg}}"))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "left",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let left = left(state.pos(), state.len(), state.elapsed());
                // A lost line of progress does no harm.
                let _ = left.map(|left| write!(out, " · {} left", short(left)));
            },
        )
}

/// "40 s", "12 min", "2 h 5 min".
fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Remaining time at the current pace; unknown before the first point.
fn left(done: u64, all: Option<u64>, elapsed: Duration) -> Option<Duration> {
    let left = all?.checked_sub(done)?;
    (done > 0).then(|| elapsed.mul_f64(left as f64 / done as f64))
}

impl Current {
    fn message(&self) -> String {
        let operations = self.progress.operations();
        if operations == 0 {
            return format!("prepare {}", self.text);
        }
        // The rate counts from the first observed operation, because preparation comes first.
        let elapsed_s = self.begun.elapsed().as_secs_f64().max(1e-3);
        let rate = operations as f64 / elapsed_s;
        format!("{}/s · {}", number::figure(rate), self.text)
    }
}

impl Observer for Screen {
    fn gave_out(&mut self, target: &str, message: &str) {
        self.remark(&format!(
            "dbdyno: warning: {message}; going on without {target}"
        ));
    }

    fn begins(&mut self, label: &str, planned: usize, todo: usize) {
        self.entered = true;
        self.label = Some(label.to_owned());
        self.watched.tell(|| StreamEvent::RunBegins {
            run: label.to_owned(),
            at: host::clock::rfc3339(SystemTime::now()),
            planned,
            todo,
        });
        let seed = self.seed.map(|seed| format!(", seed {seed}"));
        if !self.is_brief {
            say(&format!(
                "run {label}: {}{todo} of {planned} points to measure{}",
                if self.may_stop { "at most " } else { "" },
                seed.unwrap_or_default()
            ));
        }
        self.bar.set_length(todo as u64);
        if self.on_terminal {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.start_ticker();
        }
    }

    fn is_renamed(&mut self, requested: &str, name: &str) {
        self.remark(&renamed(requested, name));
    }

    fn is_arranged(&mut self, arranged: &Arranged, settings: [&[String]; 2]) {
        let mut text = report::arrangement(arranged, settings);
        if arranged.in_slices.is_some() {
            text.push_str(" Slices: --interleave 100ms.");
        }
        self.remark(&text);
    }

    fn snapshots(&self) -> Option<lab::Snapshots> {
        self.watched.snapshots()
    }

    fn lacks_rights(&mut self, target: &str, missing: &RightsMissing) {
        self.remark(&format!("dbdyno: warning: {target}: {missing}"));
    }

    fn has_weak_login(&mut self, target: &str, what: &str) {
        self.remark(&format!("dbdyno: warning: {target}: {what}"));
    }

    fn point_begins(
        &mut self,
        key: &PointKey,
        title: &str,
        target: &str,
        progress: &Arc<Progress>,
    ) {
        self.watched.tell(|| {
            StreamEvent::PointBegins(PointHead {
                key: key.clone(),
                title: title.to_owned(),
                target_name: target.to_owned(),
            })
        });
        let parallelism = report::parallelism(key);
        let text = format!("{target} {title}, {parallelism}");
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Current {
            target: target.to_owned(),
            text,
            progress: Arc::clone(progress),
            begun: Instant::now(),
        });
    }

    fn point_ends(&mut self, point: &Point) {
        self.bar.inc(1);
        (self.watched).tell(|| StreamEvent::PointEnds(Box::new(PointResult::of(point))));
        if self.is_brief {
            return;
        }
        let line = {
            let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            let target = current.as_ref().map_or("", |c| c.target.as_str());
            report::point_line(target, point)
        };
        // The line on a terminal shows the point while it is measured.
        if !self.on_terminal {
            say(&line);
        }
        if let Some(warning) = self.clock_warning(point) {
            self.bar.suspend(|| say(&warning));
        }
    }
}

#[cfg(test)]
mod tests {
    use archive::Component;

    use super::*;

    #[test]
    fn a_run_warns_once_of_a_clock_that_steps() {
        let mut screen = Screen::new();
        let key = PointKey {
            threads: 0,
            ..PointKey::of("T611", 1)
        };
        let mut point = Point::blank(key, "T611".into(), Component::Database);
        assert_eq!(screen.clock_warning(&point), None);
        point.notes = vec![Remark::ClockStepped { step_s: -3600.0 }];
        let warning = screen.clock_warning(&point).unwrap();
        let said = "dbdyno: warning: T611 the wall clock stepped by -3600.0 s";
        assert!(warning.starts_with(said), "{warning}");
        assert_eq!(screen.clock_warning(&point), None);
    }

    #[test]
    fn the_remaining_time_is_shown_from_the_first_point_on() {
        let minute = Duration::from_secs(60);
        for (done, all, expected) in [
            (0, Some(4), None),
            (1, Some(4), Some(3 * minute)),
            (4, Some(4), Some(Duration::ZERO)),
            (1, None, None),
        ] {
            assert_eq!(left(done, all, minute), expected);
        }
    }
}
