//! A thread that samples the waits of a target's sessions, as often as its own cost allows.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use archive::{Figures, IoOperation, Purpose, Remark};
use engine::{Counted, ServerCounts, Tally, Target, Transport, WaitClass, Watch};
use load::Clock;
use load::clock::ns;

const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// Longest interval, however expensive a sample is …
const INTERVAL_MAX: Duration = Duration::from_secs(1);
/// … and the longest if samples are sums of the server's own samples, of which none is lost.
const INTERVAL_OF_SAMPLES_MAX: Duration = Duration::from_secs(5);
/// Allowed cost as a part of one core, of driver and server together.
pub const COST_MAX: f64 = 0.01;
/// The cost is reported in these steps …
const COST_STEP_PCT: f64 = 0.5;
/// … and an excess of a tenth of a step is rounded down.
const COST_SLACK: f64 = 0.1;
/// Weight of the latest sample in the mean cost that the interval follows.
const NEWEST: f64 = 0.2;
/// Samples before the start, so that the first in the window are neither cold nor expensive.
const WARM_UP_SAMPLES: usize = 3;
/// A freshly started server may take seconds for the first sample if its disk is busy, and the missing samples would
/// count as time between driver and server. So the start waits for it, up to this time.
const WARM_UP_MAX: Duration = Duration::from_secs(30);
/// Limit of the wait for the last sample and the counters after the window.
const LAST_LOOK_MAX: Duration = Duration::from_secs(30);
/// A sample that takes longer was blocked: the sessions are unknown meanwhile, and waiting cost nothing.
const HELD_UP: Duration = Duration::from_millis(500);

/// Largest number of round trips that are timed before the window, and again after it; the shortest counts, so that a
/// preempted one does not lengthen the way …
const PINGS_MAX: usize = 20;
/// … but no more than these once they have taken this long.
const PINGS_MIN: usize = 3;
const PINGING_MAX: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub transport: Transport,
    /// Shortest round trip of an empty statement while the jobs were idle.
    pub round_trip: Duration,
}

/// Samples and counters of the measured window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionSamples {
    /// Seconds that sessions, and the server's processes, spent in each event.
    pub seconds: Tally,
    /// Connection; of several nodes the longest. `None` if not measured.
    pub link: Option<Link>,
    pub counts: ServerCounts,
    pub source: String,
    /// Number of samples, by this thread or by the server itself.
    pub samples: u64,
    pub elapsed: Duration,
    /// Time in which samples were blocked, so that the sessions are unknown.
    pub unseen: Duration,
    /// Processor time of driver and server for sampling, or the duration of unblocked answers if the server's is
    /// unknown.
    pub cost: Duration,
    pub problem: Option<String>,
}

impl SessionSamples {
    pub fn rate_per_s(&self) -> f64 {
        self.samples as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    pub fn cost_pct(&self) -> f64 {
        100.0 * self.cost.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Sets the figures of the engine's own counters; `elapsed_s` must be set.
    pub fn write_into(&self, figures: &mut Figures) {
        let Some(elapsed_s) = figures.elapsed_s.filter(|s| *s > 0.0) else {
            return;
        };
        let rate = |n: Option<u64>, unit: f64| n.map(|n| n as f64 / unit / elapsed_s);
        let rates = |io: &Counted| (rate(io.count, 1.0), rate(io.bytes, 1e6));
        let of_data = |operation| rates(&self.counts.of_files(Purpose::Data, operation));
        (figures.engine_read_iops, figures.engine_read_mb_per_s) = of_data(IoOperation::Read);
        (figures.engine_write_iops, figures.engine_write_mb_per_s) = of_data(IoOperation::Write);
    }

    pub fn note(&self) -> Option<Remark> {
        let problem = self
            .problem
            .as_ref()
            .map(|why| Remark::EventsUnknown { why: why.clone() });
        if problem.is_some() || self.source.is_empty() {
            return problem;
        }
        let source = self.source.clone();
        if self.samples == 0 {
            return Some(Remark::EventsTooShort { source });
        }
        // The cost is rounded up, so that the points of a sweep say the same.
        let cost_pct_max = (self.cost_pct() / COST_STEP_PCT - COST_SLACK).ceil() * COST_STEP_PCT;
        Some(Remark::EventsSampled {
            samples_per_s: self.rate_per_s(),
            source,
            cost_pct_max,
        })
    }
}

/// Phases in order; some may be skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    WarmingUp,
    Ready,
    Watching,
    Over,
    /// The server's counters have been read.
    Counted,
}

/// Signal of the current phase to the thread.
#[derive(Debug)]
struct Bell {
    phase: Mutex<Phase>,
    changed: Condvar,
    clock: Clock,
}

impl Bell {
    fn new(phase: Phase, clock: Clock) -> Self {
        Self {
            phase: Mutex::new(phase),
            changed: Condvar::new(),
            clock,
        }
    }

    /// Enters this phase, unless a later one has begun.
    fn ring(&self, phase: Phase) {
        let mut now = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *now = phase.max(*now);
        drop(now);
        self.clock.notify(&self.changed);
    }

    /// Waits until the phase differs from `phase`, up to `longest`, and returns it.
    fn wait_while(&self, phase: Phase, longest: Option<Duration>) -> Phase {
        let until_ns = longest.map_or(u64::MAX, |longest| {
            self.clock.now_ns().saturating_add(ns(longest))
        });
        let mut now = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        while *now == phase && self.clock.now_ns() < until_ns {
            now = self
                .clock
                .wait_for_change(&self.phase, now, &self.changed, until_ns);
        }
        *now
    }
}

/// Waits of sessions, for the observer of the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct WaitsSeen(Arc<Mutex<WaitTotals>>);

#[derive(Debug, Default)]
struct WaitTotals {
    /// Seconds in each class since the last call, and the time that they cover.
    seconds: HashMap<WaitClass, f64>,
    covered: Duration,
    /// Transactions per second in the last interval of an observation.
    rate_per_s: Option<f64>,
}

impl WaitsSeen {
    fn lock(&self) -> MutexGuard<'_, WaitTotals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, look: &Tally, stands_for: Duration) {
        let mut seen = self.lock();
        for ((class, _), weight) in &look.sessions {
            *seen.seconds.entry(*class).or_default() += weight * stands_for.as_secs_f64();
        }
        seen.covered += stands_for;
    }

    pub(crate) fn set_rate(&self, per_s: Option<f64>) {
        self.lock().rate_per_s = per_s;
    }

    pub(crate) fn rate_per_s(&self) -> Option<f64> {
        self.lock().rate_per_s
    }

    pub(crate) fn forget(&self) {
        *self.lock() = WaitTotals::default();
    }

    /// Mean number of sessions in each class, which are then reset.
    pub fn take(&self) -> Vec<(WaitClass, f64)> {
        let mut seen = self.lock();
        let seconds = std::mem::take(&mut seen.seconds);
        let covered_s = std::mem::take(&mut seen.covered).as_secs_f64();
        let means = seconds.into_iter().filter(|_| covered_s > 0.0);
        let mut means: Vec<_> = means.map(|(class, s)| (class, s / covered_s)).collect();
        means.sort_by_key(|(class, _)| *class);
        means
    }
}

/// The thread, from before the start of a point to its end.
#[derive(Debug)]
pub struct SessionSampler {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<SessionSamples>>,
    /// Reason why there is no thread although the engine could be sampled.
    problem: Option<String>,
}

impl SessionSampler {
    /// Connects to every node and samples once before it returns; the window begins with [`SessionSampler::begin`].
    /// `None` if the engine runs inside this process. A server that cannot be sampled is reported, and still
    /// measured.
    pub fn open(nodes: &[Arc<dyn Target>]) -> Option<Self> {
        Self::seen_by(nodes, None)
    }

    /// Like `open`, and reports every sample in the window to `seen`.
    pub(crate) fn seen_by(nodes: &[Arc<dyn Target>], seen: Option<WaitsSeen>) -> Option<Self> {
        let mut watches = Vec::new();
        for node in nodes {
            match node.watch() {
                Ok(None) => return None,
                Ok(Some(watch)) => watches.push(watch),
                Err(error) => return Some(Self::without(error.message)),
            }
        }
        Some(Self::over(watches, Clock::Monotonic, seen))
    }

    fn over(watches: Vec<Box<dyn Watch>>, clock: Clock, seen: Option<WaitsSeen>) -> Self {
        let bell = Arc::new(Bell::new(Phase::WarmingUp, clock));
        let builder = std::thread::Builder::new().name("watcher".into());
        let ring = Arc::clone(&bell);
        match builder.spawn(move || watch_until_over(watches, &ring, seen.as_ref())) {
            Ok(thread) => {
                bell.wait_while(Phase::WarmingUp, Some(WARM_UP_MAX));
                Self {
                    bell,
                    thread: Some(thread),
                    problem: None,
                }
            }
            Err(error) => Self::without(format!("no thread can be started ({error})")),
        }
    }

    fn without(problem: String) -> Self {
        Self {
            bell: Arc::new(Bell::new(Phase::Counted, Clock::Monotonic)),
            thread: None,
            problem: Some(problem),
        }
    }

    /// Begins the measured window; costs the caller a microsecond.
    pub fn begin(&self) {
        self.bell.ring(Phase::Watching);
    }

    /// Ends the window, and returns once sampling has stopped and the server's counters are read.
    pub fn end(&self) {
        self.bell.ring(Phase::Over);
        self.bell.wait_while(Phase::Over, Some(LAST_LOOK_MAX));
    }

    pub fn finish(mut self) -> SessionSamples {
        self.bell.ring(Phase::Over);
        let problem = self.problem.take();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(watched)) => watched,
            Some(Err(_)) => SessionSamples {
                problem: Some("the sampling thread panicked".into()),
                ..SessionSamples::default()
            },
            None => SessionSamples {
                problem,
                ..SessionSamples::default()
            },
        }
    }
}

impl Drop for SessionSampler {
    fn drop(&mut self) {
        self.bell.ring(Phase::Over);
        if let Some(thread) = self.thread.take() {
            // The panic was already printed, and the point is given up anyway.
            let _ = thread.join();
        }
    }
}

fn watch_until_over(
    mut watches: Vec<Box<dyn Watch>>,
    bell: &Bell,
    seen: Option<&WaitsSeen>,
) -> SessionSamples {
    let mut watched = SessionSamples::default();
    if let Err(error) = watch(&mut watches, bell, &mut watched, seen) {
        watched.problem = Some(error.message);
    }
    bell.ring(Phase::Counted);
    watched
}

fn watch(
    watches: &mut [Box<dyn Watch>],
    bell: &Bell,
    watched: &mut SessionSamples,
    waits: Option<&WaitsSeen>,
) -> engine::Result<()> {
    let mut look = Tally::default();
    let mut price_s = 0.0;
    for _ in 0..WARM_UP_SAMPLES {
        look.clear();
        price_s = look_at_all(watches, &mut look, &bell.clock)?.sum_s();
    }
    watched.link = link(watches, &bell.clock)?;
    bell.ring(Phase::Ready);
    if bell.wait_while(Phase::Ready, None) >= Phase::Over {
        return Ok(());
    }
    let clock = &bell.clock;
    let begin_ns = clock.now_ns();
    for watch in watches.iter_mut() {
        watch.begin()?;
    }
    let before = count_all(watches)?;
    let server_before = server_cpu_ns(watches);
    let mut cost = Cost::default();
    let mut last_ns = begin_ns;
    let mut is_over = false;
    while !is_over {
        let pause = pause(watches, price_s);
        is_over = bell.wait_while(Phase::Watching, Some(pause)) >= Phase::Over;
        look.clear();
        let sent_ns = clock.now_ns();
        let mut now_ns = sent_ns;
        if is_over {
            if !look_a_last_time(watches, &mut look)? {
                break;
            }
        } else {
            let of_look = look_at_all(watches, &mut look, clock)?;
            price_s += NEWEST * (of_look.sum_s() - price_s);
            cost.add(&of_look);
            now_ns = clock.now_ns();
        }
        // A sample represents the time since the previous one, without the time in which it was blocked.
        let answer_ns = now_ns - sent_ns;
        let unseen_ns = if answer_ns > ns(HELD_UP) {
            answer_ns
        } else {
            0
        };
        let seen = Duration::from_nanos(now_ns - last_ns - unseen_ns);
        watched.seconds.add_times(&look, seen.as_secs_f64());
        if let Some(waits) = waits {
            waits.add(&look, seen);
        }
        watched.unseen += Duration::from_nanos(unseen_ns);
        last_ns = now_ns;
        watched.samples += 1;
        watched.elapsed = Duration::from_nanos(now_ns - begin_ns);
    }
    // A server that samples by itself has costs between the samples as well.
    if let Some((after, before)) = server_cpu_ns(watches).zip(server_before) {
        cost.server_ns = after.saturating_sub(before);
    }
    watched.cost = Duration::from_secs_f64(cost.sum_s());
    if let Some(first) = watches.first() {
        watched.source = first.source();
        watched.samples = first.samples().unwrap_or(watched.samples);
    }
    watched.counts = count_all(watches)?.since(&before);
    bell.ring(Phase::Counted);
    watched.link = shorter(watched.link, link(watches, &bell.clock)?);
    Ok(())
}

fn link(watches: &mut [Box<dyn Watch>], clock: &Clock) -> engine::Result<Option<Link>> {
    let mut longest: Option<Link> = None;
    for watch in watches {
        let link = Link {
            transport: watch.transport(),
            round_trip: round_trip(watch.as_mut(), clock)?,
        };
        longest = Some(longest.map_or(link, |other| Link {
            transport: match other.transport {
                Transport::Network => Transport::Network,
                Transport::Local => link.transport,
            },
            round_trip: link.round_trip.max(other.round_trip),
        }));
    }
    Ok(longest)
}

fn round_trip(watch: &mut dyn Watch, clock: &Clock) -> engine::Result<Duration> {
    let begin_ns = clock.now_ns();
    let mut shortest_ns = u64::MAX;
    for count in 1..=PINGS_MAX {
        let sent_ns = clock.now_ns();
        watch.ping()?;
        let now_ns = clock.now_ns();
        shortest_ns = shortest_ns.min(now_ns - sent_ns);
        if count >= PINGS_MIN && now_ns - begin_ns >= ns(PINGING_MAX) {
            break;
        }
    }
    Ok(Duration::from_nanos(shortest_ns))
}

fn shorter(before: Option<Link>, after: Option<Link>) -> Option<Link> {
    let (before, after) = before.zip(after)?;
    Some(Link {
        round_trip: before.round_trip.min(after.round_trip),
        ..before
    })
}

/// Time until the next sample, which follows its cost.
fn pause(watches: &[Box<dyn Watch>], price_s: f64) -> Duration {
    let longest = if watches.iter().all(|watch| watch.samples().is_some()) {
        INTERVAL_OF_SAMPLES_MAX
    } else {
        INTERVAL_MAX
    };
    Duration::from_secs_f64(price_s / COST_MAX).clamp(INTERVAL_MIN, longest)
}

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    driver_ns: u64,
    server_ns: u64,
}

impl Cost {
    fn sum_s(&self) -> f64 {
        (self.driver_ns + self.server_ns) as f64 / 1e9
    }

    fn add(&mut self, other: &Self) {
        self.driver_ns += other.driver_ns;
        self.server_ns += other.server_ns;
    }
}

fn look_at_all(
    watches: &mut [Box<dyn Watch>],
    tally: &mut Tally,
    clock: &Clock,
) -> engine::Result<Cost> {
    let own_before = clock.thread_cpu();
    let mut server_ns = 0;
    for watch in watches {
        let before = watch.server_cpu_ns();
        let begin_ns = clock.now_ns();
        watch.look(tally)?;
        let answer_ns =
            Some(clock.now_ns() - begin_ns).filter(|answer_ns| *answer_ns <= ns(HELD_UP));
        let spent = watch.server_cpu_ns().zip(before);
        server_ns += match spent {
            Some((after, before)) => after.saturating_sub(before),
            None => answer_ns.unwrap_or_default(),
        };
    }
    Ok(Cost {
        driver_ns: ns(clock.thread_cpu().saturating_sub(own_before)),
        server_ns,
    })
}

/// Takes the last sample; true if every node returned its remaining samples.
fn look_a_last_time(watches: &mut [Box<dyn Watch>], tally: &mut Tally) -> engine::Result<bool> {
    for watch in watches {
        if !watch.last_look(tally)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Processor time of all nodes for being sampled; `None` if one does not report it.
fn server_cpu_ns(watches: &[Box<dyn Watch>]) -> Option<u64> {
    watches.iter().map(|watch| watch.server_cpu_ns()).sum()
}

fn count_all(watches: &mut [Box<dyn Watch>]) -> engine::Result<ServerCounts> {
    let mut counts = watches.iter_mut().map(|watch| watch.count());
    let Some(first) = counts.next() else {
        return Ok(ServerCounts::default());
    };
    let mut sum = first?;
    for other in counts {
        sum.add(&other?);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests;
