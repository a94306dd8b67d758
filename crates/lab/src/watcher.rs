//! A thread that looks at what a target's sessions wait for, as often as its own cost allows.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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
}

impl Bell {
    fn ring(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        self.changed.notify_all();
    }

    /// The first looks are over, or will never be.
    fn ring_ready(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if *phase == Phase::WarmingUp {
            *phase = Phase::Ready;
            self.changed.notify_all();
        }
    }

    /// Waits until the phase is another one than `phase`, at most so long; gives the phase.
    fn wait_while(&self, phase: Phase, longest: Option<Duration>) -> Phase {
        let guard = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |now: &mut Phase| *now == phase;
        match longest {
            None => {
                *(self.changed.wait_while(guard, is_same)).unwrap_or_else(PoisonError::into_inner)
            }
            Some(longest) => {
                let waited = self.changed.wait_timeout_while(guard, longest, is_same);
                *waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
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
        Some(Self::over(watches))
    }

    fn over(watches: Vec<Box<dyn Watch>>) -> Self {
        let bell = Arc::new(Bell {
            phase: Mutex::new(Phase::WarmingUp),
            changed: Condvar::new(),
        });
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
            bell: Arc::new(Bell {
                phase: Mutex::new(Phase::Over),
                changed: Condvar::new(),
            }),
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
        price_s = look_at_all(watches, &mut look)?.sum_s();
    }
    bell.ring_ready();
    if bell.wait_while(Phase::Ready, None) == Phase::Over {
        return Ok(());
    }
    let begin = Instant::now();
    for watch in watches.iter_mut() {
        watch.begin()?;
    }
    let before = count_all(watches)?;
    let server_before = server_cpu_ns(watches);
    let mut cost = Cost::default();
    let mut last = begin;
    let mut is_over = false;
    while !is_over {
        let pause = pause(watches, price_s);
        is_over = bell.wait_while(Phase::Watching, Some(pause)) == Phase::Over;
        look.clear();
        let asked = Instant::now();
        let mut now = asked;
        if is_over {
            if !look_a_last_time(watches, &mut look)? {
                break;
            }
        } else {
            let of_look = look_at_all(watches, &mut look)?;
            price_s += NEWEST * (of_look.sum_s() - price_s);
            cost.add(&of_look);
            now = Instant::now();
        }
        // A look stands for the time since the one before, but not for that in which it was held up.
        let unseen = Some(now - asked).filter(|held_up| *held_up > HELD_UP);
        let seen = now - last - unseen.unwrap_or_default();
        watched.seconds.add_times(&look, seen.as_secs_f64());
        watched.unseen += unseen.unwrap_or_default();
        last = now;
        watched.looks += 1;
        watched.elapsed = now - begin;
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
fn look_at_all(watches: &mut [Box<dyn Watch>], tally: &mut Tally) -> target::Result<Cost> {
    let own_before = host::thread_cpu_ns();
    let mut server_ns = 0;
    for watch in watches {
        let before = watch.server_cpu_ns();
        let begin = Instant::now();
        watch.look(tally)?;
        let answer = Some(begin.elapsed()).filter(|answer| *answer <= HELD_UP);
        let answer_ns = answer.unwrap_or_default().as_nanos() as u64;
        let spent = watch.server_cpu_ns().zip(before);
        server_ns += spent.map_or(answer_ns, |(after, before)| after.saturating_sub(before));
    }
    Ok(Cost {
        driver_ns: host::thread_cpu_ns().saturating_sub(own_before),
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

    fn watched(price_ns: u64, time: Duration) -> Watched {
        let dear = Dear {
            spent_ns: Arc::default(),
            price_ns,
        };
        watched_by(Box::new(dear), time)
    }

    fn watched_by(watch: Box<dyn Watch>, time: Duration) -> Watched {
        let bell = Bell {
            phase: Mutex::new(Phase::Watching),
            changed: Condvar::new(),
        };
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| watch_until_over(vec![watch], &bell));
            std::thread::sleep(time);
            bell.ring(Phase::Over);
            thread.join().unwrap()
        })
    }

    /// A server that is stopped for 600 ms while it is looked at, and tells nothing of its processors.
    struct Stopped {
        looks: u32,
    }

    impl Watch for Stopped {
        fn source(&self) -> String {
            "a table".into()
        }

        fn look(&mut self, tally: &mut Tally) -> target::Result<()> {
            self.looks += 1;
            if self.looks == WARM_UP_LOOKS as u32 + 2 {
                std::thread::sleep(Duration::from_millis(600));
            }
            tally.session(WaitClass::LogSync, "log", 1.0);
            Ok(())
        }

        fn count(&mut self) -> target::Result<ServerCounts> {
            Ok(ServerCounts::default())
        }
    }

    /// What nobody saw is not taken for what was seen afterwards, and a look that was held up cost no processor.
    #[test]
    fn a_look_that_is_held_up_stands_for_nothing() {
        let seen = watched_by(Box::new(Stopped { looks: 0 }), Duration::from_millis(900));
        assert!(seen.unseen >= Duration::from_millis(600), "{seen:?}");
        let log_s: f64 = seen.seconds.sessions.values().sum();
        assert!(
            log_s <= (seen.elapsed - seen.unseen).as_secs_f64() + 1e-6,
            "{seen:?}"
        );
        assert!(seen.cost <= seen.elapsed - seen.unseen, "{seen:?}");
    }

    #[test]
    fn a_dear_look_is_taken_seldom() {
        let cheap = watched(1_000, Duration::from_millis(600));
        let dear = watched(2_000_000, Duration::from_millis(900));
        assert!(
            cheap.looks > 3 * dear.looks,
            "{} and {}",
            cheap.looks,
            dear.looks
        );
        assert!(dear.looks >= 1 && dear.cost_pct() < 2.5, "{dear:?}");
        assert!(dear.note().unwrap().contains("a table"));
        let none = Watched {
            source: "a table".into(),
            ..Watched::default()
        };
        assert!(none.note().unwrap().starts_with("too short"));
    }

    #[test]
    fn what_counts_begins_behind_the_first_looks() {
        /// A server whose first look takes long, and tells when it is over.
        struct Slow(Arc<AtomicU64>);

        impl Watch for Slow {
            fn source(&self) -> String {
                "a table".into()
            }

            fn look(&mut self, tally: &mut Tally) -> target::Result<()> {
                if self.0.load(Ordering::Relaxed) == 0 {
                    std::thread::sleep(Duration::from_millis(300));
                }
                self.0.fetch_add(1, Ordering::Relaxed);
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
        let watcher = Watcher::over(vec![Box::new(Slow(Arc::clone(&looks)))]);
        assert_eq!(looks.load(Ordering::Relaxed), WARM_UP_LOOKS as u64);
        watcher.begin();
        std::thread::sleep(Duration::from_millis(200));
        let watched = watcher.finish();
        assert!(watched.looks >= 1, "{watched:?}");
    }

    #[test]
    fn a_server_that_samples_itself_need_not_be_looked_at_to_the_end() {
        /// A server that has taken a hundred samples, and spends on them whether anybody looks or not.
        struct Sampling(Instant);

        impl Watch for Sampling {
            fn source(&self) -> String {
                "its samples".into()
            }

            fn look(&mut self, tally: &mut Tally) -> target::Result<()> {
                // Too dear for a look within the window.
                let begin_ns = host::thread_cpu_ns();
                while host::thread_cpu_ns() - begin_ns < 10_000_000 {}
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
                Some(self.0.elapsed().as_nanos() as u64 / 10)
            }
        }

        let sampling = Box::new(Sampling(Instant::now()));
        let seen = watched_by(sampling, Duration::from_millis(600));
        assert_eq!((seen.looks, seen.source.as_str()), (100, "its samples"));
        let seconds = seen.seconds.sessions[&(WaitClass::Lock, "row".to_owned())];
        let expected = 2.0 * seen.elapsed.as_secs_f64();
        assert!((seconds - expected).abs() < 1e-6, "{seen:?}");
        assert!(seen.cost_pct() > 9.0, "{seen:?}");
    }

    #[test]
    fn a_look_stands_for_the_time_since_the_one_before() {
        let seen = watched(1_000, Duration::from_millis(300));
        let seconds = seen.seconds.sessions[&(WaitClass::Lock, "row".to_owned())];
        assert!(
            (seconds - 2.0 * seen.elapsed.as_secs_f64()).abs() < 1e-6,
            "{seen:?}"
        );
        assert_eq!(seen.counts.background[0].2.count, Some(1_000 * seen.looks));
    }
}
