//! A thread that looks at what a target's sessions wait for, as often as its own cost allows.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use load::Clock;
use load::clock::ns;
use target::{ServerCounts, Tally, Target, Watch};

/// It never looks more often than this.
const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// However dear a look is, it looks this often …
const INTERVAL_MAX: Duration = Duration::from_secs(1);
/// … and where looks add up what the server samples, at least this often: nothing is lost between them.
const INTERVAL_OF_SAMPLES_MAX: Duration = Duration::from_secs(5);
/// Part of one core that it may cost, driver and server together.
pub const COST_MAX: f64 = 0.01;
/// The cost is told in steps of so much …
const COST_STEP_PCT: f64 = 0.5;
/// … and a tenth of a step more is the same.
const COST_SLACK: f64 = 0.1;
/// Weight of the newest look in the mean cost that the interval follows.
const NEWEST: f64 = 0.2;
/// Looks before the start, so that the first in the window are neither cold nor dear.
const WARM_UP_LOOKS: usize = 3;
/// A server that was just started cold answers the first look in seconds where its disk is busy; what nobody saw would
/// be taken for time between driver and server. So the start waits for it, but no longer than this.
const WARM_UP_MAX: Duration = Duration::from_secs(30);
/// A look whose answer takes longer was held up: nobody saw what the sessions did meanwhile, and waiting cost nothing.
const HELD_UP: Duration = Duration::from_millis(500);

/// What was seen and counted in the measured window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watched {
    /// Seconds that sessions, and the server's processes, spent in each event.
    pub seconds: Tally,
    /// What the server counted itself.
    pub counts: ServerCounts,
    /// Where the waits were looked up; empty when they were not.
    pub source: String,
    /// How often, by this watch or by the server itself.
    pub looks: u64,
    /// From the start of the window to the last look.
    pub elapsed: Duration,
    /// Time in which looks were held up, so that nothing is known of the sessions.
    pub unseen: Duration,
    /// Processor time of driver and server for looking, or the time of the answers where the server's is
    /// not told and they were not held up.
    pub cost: Duration,
    /// Why something of this is missing.
    pub problem: Option<String>,
}

impl Watched {
    /// Looks per second.
    pub fn rate_per_s(&self) -> f64 {
        self.looks as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Cost in percent of one core.
    pub fn cost_pct(&self) -> f64 {
        100.0 * self.cost.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// How the timed events are known, for people.
    pub fn note(&self) -> Option<String> {
        let problem = self
            .problem
            .as_ref()
            .map(|why| format!("what the server's sessions waited for is not fully known: {why}"));
        if problem.is_some() || self.source.is_empty() {
            return problem;
        }
        if self.looks == 0 {
            return Some(format!(
                "too short for timed events to be sampled from {}",
                self.source
            ));
        }
        // Rounded up, so that the points of a sweep say the same.
        let cost_pct = (self.cost_pct() / COST_STEP_PCT - COST_SLACK).ceil() * COST_STEP_PCT;
        Some(format!(
            "timed events were sampled {:.0} times a second from {}, which cost at most {cost_pct:.1} % \
             of a core",
            self.rate_per_s(),
            self.source,
        ))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    WarmingUp,
    Ready,
    Watching,
    Over,
}

/// Says the thread what to do.
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

    fn ring(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        self.clock.notify(&self.changed);
    }

    /// The first looks are over, or will never be.
    fn ring_ready(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if *phase == Phase::WarmingUp {
            *phase = Phase::Ready;
            drop(phase);
            self.clock.notify(&self.changed);
        }
    }

    /// Waits until the phase is another one than `phase`, at most so long; gives the phase.
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

/// The thread, from before the start of a point to its end.
#[derive(Debug)]
pub struct Watcher {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<Watched>>,
    /// Why there is no thread although the engine could be watched.
    problem: Option<String>,
}

impl Watcher {
    /// Connects to every node, and has looked once it returns; what counts begins with [`Watcher::begin`].
    /// `None` where the engine runs inside this process. That a server cannot be watched is told, and does not keep it from being
    /// measured.
    pub fn open(nodes: &[Arc<dyn Target>]) -> Option<Self> {
        let mut watches = Vec::new();
        for node in nodes {
            match node.watch() {
                Ok(None) => return None,
                Ok(Some(watch)) => watches.push(watch),
                Err(error) => return Some(Self::without(error.message)),
            }
        }
        Some(Self::over(watches, Clock::Monotonic))
    }

    fn over(watches: Vec<Box<dyn Watch>>, clock: Clock) -> Self {
        let bell = Arc::new(Bell::new(Phase::WarmingUp, clock));
        let builder = std::thread::Builder::new().name("watcher".into());
        let ring = Arc::clone(&bell);
        match builder.spawn(move || watch_until_over(watches, &ring)) {
            Ok(thread) => {
                bell.wait_while(Phase::WarmingUp, Some(WARM_UP_MAX));
                Self {
                    bell,
                    thread: Some(thread),
                    problem: None,
                }
            }
            Err(error) => Self::without(format!("no thread can be had ({error})")),
        }
    }

    fn without(problem: String) -> Self {
        Self {
            bell: Arc::new(Bell::new(Phase::Over, Clock::Monotonic)),
            thread: None,
            problem: Some(problem),
        }
    }

    /// The measured window begins; costs the caller a microsecond.
    pub fn begin(&self) {
        self.bell.ring(Phase::Watching);
    }

    /// The window is over: what was seen.
    pub fn finish(mut self) -> Watched {
        self.bell.ring(Phase::Over);
        let problem = self.problem.take();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(watched)) => watched,
            Some(Err(_)) => Watched {
                problem: Some("the watching thread broke down".into()),
                ..Watched::default()
            },
            None => Watched {
                problem,
                ..Watched::default()
            },
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.bell.ring(Phase::Over);
        if let Some(thread) = self.thread.take() {
            // It has printed why it panicked; the point is given up anyway.
            let _ = thread.join();
        }
    }
}

fn watch_until_over(mut watches: Vec<Box<dyn Watch>>, bell: &Bell) -> Watched {
    let mut watched = Watched::default();
    if let Err(error) = watch(&mut watches, bell, &mut watched) {
        watched.problem = Some(error.message);
        bell.ring_ready();
    }
    watched
}

fn watch(watches: &mut [Box<dyn Watch>], bell: &Bell, watched: &mut Watched) -> target::Result<()> {
    let mut look = Tally::default();
    let mut price_s = 0.0;
    for _ in 0..WARM_UP_LOOKS {
        look.clear();
        price_s = look_at_all(watches, &mut look, &bell.clock)?.sum_s();
    }
    bell.ring_ready();
    if bell.wait_while(Phase::Ready, None) == Phase::Over {
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
        is_over = bell.wait_while(Phase::Watching, Some(pause)) == Phase::Over;
        look.clear();
        let asked_ns = clock.now_ns();
        let mut now_ns = asked_ns;
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
        // A look stands for the time since the one before, but not for that in which it was held up.
        let answer_ns = now_ns - asked_ns;
        let unseen_ns = if answer_ns > ns(HELD_UP) {
            answer_ns
        } else {
            0
        };
        let seen = Duration::from_nanos(now_ns - last_ns - unseen_ns);
        watched.seconds.add_times(&look, seen.as_secs_f64());
        watched.unseen += Duration::from_nanos(unseen_ns);
        last_ns = now_ns;
        watched.looks += 1;
        watched.elapsed = Duration::from_nanos(now_ns - begin_ns);
    }
    // What samples by itself costs something between the looks as well.
    if let Some((after, before)) = server_cpu_ns(watches).zip(server_before) {
        cost.server_ns = after.saturating_sub(before);
    }
    watched.cost = Duration::from_secs_f64(cost.sum_s());
    if let Some(first) = watches.first() {
        watched.source = first.source();
        watched.looks = first.samples().unwrap_or(watched.looks);
    }
    watched.counts = count_all(watches)?.since(&before);
    Ok(())
}

/// Time until the next look, which follows the price of one.
fn pause(watches: &[Box<dyn Watch>], price_s: f64) -> Duration {
    let longest = match watches.iter().all(|watch| watch.samples().is_some()) {
        true => INTERVAL_OF_SAMPLES_MAX,
        false => INTERVAL_MAX,
    };
    Duration::from_secs_f64(price_s / COST_MAX).clamp(INTERVAL_MIN, longest)
}

/// Processor time of looks.
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

/// Looks at every node.
fn look_at_all(
    watches: &mut [Box<dyn Watch>],
    tally: &mut Tally,
    clock: &Clock,
) -> target::Result<Cost> {
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

/// Whether every node could tell what was left.
fn look_a_last_time(watches: &mut [Box<dyn Watch>], tally: &mut Tally) -> target::Result<bool> {
    for watch in watches {
        if !watch.last_look(tally)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Processor time of all nodes for being watched; `None` where one of them does not tell.
fn server_cpu_ns(watches: &[Box<dyn Watch>]) -> Option<u64> {
    watches.iter().map(|watch| watch.server_cpu_ns()).sum()
}

/// The counters of all nodes together.
fn count_all(watches: &mut [Box<dyn Watch>]) -> target::Result<ServerCounts> {
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
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use target::{Counted, WaitClass};

    /// A server whose looks cost what they say.
    struct Dear {
        spent_ns: Arc<AtomicU64>,
        price_ns: u64,
    }

    impl Watch for Dear {
        fn source(&self) -> String {
            "a table".into()
        }

        fn look(&mut self, tally: &mut Tally) -> target::Result<()> {
            self.spent_ns.fetch_add(self.price_ns, Ordering::Relaxed);
            tally.session(WaitClass::Lock, "row", 2.0);
            Ok(())
        }

        fn count(&mut self) -> target::Result<ServerCounts> {
            let count = Counted::count(Some(self.spent_ns.load(Ordering::Relaxed)));
            Ok(ServerCounts {
                background: vec![("log", "log syncs", count)],
                ..ServerCounts::default()
            })
        }

        fn server_cpu_ns(&self) -> Option<u64> {
            Some(self.spent_ns.load(Ordering::Relaxed))
        }
    }

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn watched(price_ns: u64, time: Duration) -> Watched {
        let dear = Dear {
            spent_ns: Arc::default(),
            price_ns,
        };
        watched_by(|_| Box::new(dear), time)
    }

    /// Watches for so long in virtual time.
    fn watched_by(watch: impl FnOnce(Clock) -> Box<dyn Watch>, lasting: Duration) -> Watched {
        let (clock, time) = Clock::new_virtual();
        let bell = Arc::new(Bell::new(Phase::Watching, clock.clone()));
        let ring = Arc::clone(&bell);
        time.at(lasting, move || ring.ring(Phase::Over));
        watch_until_over(vec![watch(clock)], &bell)
    }

    fn sleep(clock: &Clock, time: Duration) {
        clock.sleep_until(clock.now_ns() + ns(time), || false);
    }

    /// A server that is stopped for 20 s while it is looked at, and tells nothing of its processors; else it answers in
    /// 100 µs.
    struct Stopped {
        clock: Clock,
        looks: usize,
    }

    impl Watch for Stopped {
        fn source(&self) -> String {
            "a table".into()
        }

        fn look(&mut self, tally: &mut Tally) -> target::Result<()> {
            self.looks += 1;
            sleep(
                &self.clock,
                match self.looks {
                    n if n == WARM_UP_LOOKS + 100 => Duration::from_secs(20),
                    _ => Duration::from_micros(100),
                },
            );
            tally.session(WaitClass::LogSync, "log", 1.0);
            Ok(())
        }

        fn count(&mut self) -> target::Result<ServerCounts> {
            Ok(ServerCounts::default())
        }

        fn server_cpu_ns(&self) -> Option<u64> {
            None
        }
    }

    /// What nobody saw is not taken for what was seen afterwards, and a look that was held up cost no processor: a
    /// window of 8 s, of which the server answers for the first one and a bit.
    #[test]
    fn a_look_that_is_held_up_stands_for_nothing() {
        let stopped = |clock| Box::new(Stopped { clock, looks: 0 }) as Box<dyn Watch>;
        let seen = watched_by(stopped, Duration::from_secs(8));
        assert_eq!(seen.unseen, Duration::from_secs(20));
        let log_s: f64 = seen.seconds.sessions.values().sum();
        // The hundredth look is asked for after 99 of 100 µs and a pause of 10 ms before each.
        assert!((log_s - 1.0099).abs() < 1e-6, "{seen:?}");
        assert_eq!((seen.looks, seen.cost), (100, Duration::from_micros(9_900)));
    }

    #[test]
    fn a_dear_look_is_taken_seldom() {
        let cheap = watched(1_000, ms(905));
        let dear = watched(2_000_000, ms(905));
        // Every 10 ms, and where one takes 2 ms of a processor every 200: then it costs 1 % of it.
        assert_eq!((cheap.looks, dear.looks), (90, 4));
        assert_eq!(dear.cost, ms(8));
        assert!(dear.note().unwrap().contains("a table"));
        let none = Watched {
            source: "a table".into(),
            ..Watched::default()
        };
        assert!(none.note().unwrap().starts_with("too short"));
    }

    #[test]
    fn what_counts_begins_behind_the_first_looks() {
        /// A server whose first look takes 300 ms.
        struct Slow(Clock, Arc<AtomicU64>);

        impl Watch for Slow {
            fn source(&self) -> String {
                "a table".into()
            }

            fn look(&mut self, tally: &mut Tally) -> target::Result<()> {
                if self.1.fetch_add(1, Ordering::Relaxed) == 0 {
                    sleep(&self.0, ms(300));
                }
                tally.session(WaitClass::Lock, "row", 1.0);
                Ok(())
            }

            fn count(&mut self) -> target::Result<ServerCounts> {
                Ok(ServerCounts::default())
            }

            fn server_cpu_ns(&self) -> Option<u64> {
                Some(0)
            }
        }

        let looks = Arc::new(AtomicU64::new(0));
        let slow = Slow(Clock::Monotonic, Arc::clone(&looks));
        let watcher = Watcher::over(vec![Box::new(slow)], Clock::Monotonic);
        assert_eq!(looks.load(Ordering::Relaxed), WARM_UP_LOOKS as u64);
        watcher.begin();
        while looks.load(Ordering::Relaxed) == WARM_UP_LOOKS as u64 {
            std::thread::sleep(ms(1));
        }
        let watched = watcher.finish();
        assert!(watched.looks >= 1, "{watched:?}");
    }

    #[test]
    fn a_server_that_samples_itself_need_not_be_looked_at_to_the_end() {
        /// A server that has taken a hundred samples, and spends on them whether anybody looks or not.
        struct Sampling(Clock, u64);

        impl Watch for Sampling {
            fn source(&self) -> String {
                "its samples".into()
            }

            fn look(&mut self, tally: &mut Tally) -> target::Result<()> {
                // Too dear for a look within the window.
                sleep(&self.0, ms(100));
                tally.session(WaitClass::Lock, "row", 2.0);
                Ok(())
            }

            fn last_look(&mut self, tally: &mut Tally) -> target::Result<bool> {
                tally.session(WaitClass::Lock, "row", 2.0);
                Ok(true)
            }

            fn samples(&self) -> Option<u64> {
                Some(100)
            }

            fn count(&mut self) -> target::Result<ServerCounts> {
                Ok(ServerCounts::default())
            }

            fn server_cpu_ns(&self) -> Option<u64> {
                Some((self.0.now_ns() - self.1) / 10)
            }
        }

        let sampling = |clock: Clock| {
            let begin_ns = clock.now_ns();
            Box::new(Sampling(clock, begin_ns)) as Box<dyn Watch>
        };
        let seen = watched_by(sampling, ms(600));
        assert_eq!((seen.looks, seen.source.as_str()), (100, "its samples"));
        let seconds = seen.seconds.sessions[&(WaitClass::Lock, "row".to_owned())];
        let expected = 2.0 * seen.elapsed.as_secs_f64();
        assert!((seconds - expected).abs() < 1e-6, "{seen:?}");
        // The first looks take half of it.
        assert_eq!((seen.elapsed, seen.cost), (ms(300), ms(30)));
    }

    #[test]
    fn a_look_stands_for_the_time_since_the_one_before() {
        let seen = watched(1_000, ms(305));
        assert_eq!(seen.elapsed, ms(300));
        let seconds = seen.seconds.sessions[&(WaitClass::Lock, "row".to_owned())];
        assert!(
            (seconds - 2.0 * seen.elapsed.as_secs_f64()).abs() < 1e-6,
            "{seen:?}"
        );
        assert_eq!(seen.counts.background[0].2.count, Some(1_000 * seen.looks));
    }
}
