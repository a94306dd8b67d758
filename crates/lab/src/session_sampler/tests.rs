//! Servers with programmed answers.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use engine::{Counted, WaitClass};

struct Dear {
    spent_ns: Arc<AtomicU64>,
    price_ns: u64,
}

impl Watch for Dear {
    fn source(&self) -> String {
        "a table".into()
    }

    fn transport(&self) -> Transport {
        Transport::Local
    }

    fn ping(&mut self) -> engine::Result<()> {
        Ok(())
    }

    fn look(&mut self, tally: &mut Tally) -> engine::Result<()> {
        self.spent_ns.fetch_add(self.price_ns, Ordering::Relaxed);
        tally.session(WaitClass::Lock, "row", 2.0);
        Ok(())
    }

    fn count(&mut self) -> engine::Result<ServerCounts> {
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

fn watched(price_ns: u64, time: Duration) -> SessionSamples {
    let dear = Dear {
        spent_ns: Arc::default(),
        price_ns,
    };
    watched_by(|_| Box::new(dear), time)
}

fn watched_by(watch: impl FnOnce(Clock) -> Box<dyn Watch>, lasting: Duration) -> SessionSamples {
    let (clock, time) = Clock::new_virtual();
    let bell = Arc::new(Bell::new(Phase::Watching, clock.clone()));
    let ring = Arc::clone(&bell);
    time.at(lasting, move || ring.ring(Phase::Over));
    watch_until_over(vec![watch(clock)], &bell, None)
}

fn sleep(clock: &Clock, time: Duration) {
    clock.sleep_until(clock.now_ns() + ns(time), || false);
}

/// A server that is stopped for 20 s during a sample, and does not report its processor time; otherwise it answers in
/// 100 µs.
struct Stopped {
    clock: Clock,
    samples: usize,
}

impl Watch for Stopped {
    fn source(&self) -> String {
        "a table".into()
    }

    fn transport(&self) -> Transport {
        Transport::Local
    }

    fn ping(&mut self) -> engine::Result<()> {
        Ok(())
    }

    fn look(&mut self, tally: &mut Tally) -> engine::Result<()> {
        self.samples += 1;
        sleep(
            &self.clock,
            match self.samples {
                n if n == WARM_UP_SAMPLES + 100 => Duration::from_secs(20),
                _ => Duration::from_micros(100),
            },
        );
        tally.session(WaitClass::LogSync, "log", 1.0);
        Ok(())
    }

    fn count(&mut self) -> engine::Result<ServerCounts> {
        Ok(ServerCounts::default())
    }

    fn server_cpu_ns(&self) -> Option<u64> {
        None
    }
}

/// Unobserved time is not attributed to later samples, and a blocked sample cost no processor time, in a window of 8
/// s of which the server answers for about the first.
#[test]
fn a_look_that_is_held_up_stands_for_nothing() {
    let stopped = |clock| Box::new(Stopped { clock, samples: 0 }) as Box<dyn Watch>;
    let seen = watched_by(stopped, Duration::from_secs(8));
    assert_eq!(seen.unseen, Duration::from_secs(20));
    let log_s: f64 = seen.seconds.sessions.values().sum();
    // The hundredth sample begins after 99 of 100 µs and a pause of 10 ms before each.
    assert!((log_s - 1.0099).abs() < 1e-6, "{seen:?}");
    assert_eq!(
        (seen.samples, seen.cost),
        (100, Duration::from_micros(9_900))
    );
}

#[test]
fn a_dear_look_is_taken_seldom() {
    let cheap = watched(1_000, ms(905));
    let dear = watched(2_000_000, ms(905));
    // Samples are taken every 10 ms, or every 200 ms if one takes 2 ms of a processor: then it costs 1 % of it.
    assert_eq!((cheap.samples, dear.samples), (90, 4));
    assert_eq!(dear.cost, ms(8));
    assert!(dear.note().unwrap().to_string().contains("a table"));
    let none = SessionSamples {
        source: "a table".into(),
        ..SessionSamples::default()
    };
    assert!(matches!(
        none.note(),
        Some(archive::Remark::EventsTooShort { .. })
    ));
}

#[test]
fn what_counts_begins_behind_the_first_samples() {
    /// A server whose first sample takes 300 ms.
    struct Slow(Clock, Arc<AtomicU64>);

    impl Watch for Slow {
        fn source(&self) -> String {
            "a table".into()
        }

        fn transport(&self) -> Transport {
            Transport::Local
        }

        fn ping(&mut self) -> engine::Result<()> {
            Ok(())
        }

        fn look(&mut self, tally: &mut Tally) -> engine::Result<()> {
            if self.1.fetch_add(1, Ordering::Relaxed) == 0 {
                sleep(&self.0, ms(300));
            }
            tally.session(WaitClass::Lock, "row", 1.0);
            Ok(())
        }

        fn count(&mut self) -> engine::Result<ServerCounts> {
            Ok(ServerCounts::default())
        }

        fn server_cpu_ns(&self) -> Option<u64> {
            Some(0)
        }
    }

    let samples = Arc::new(AtomicU64::new(0));
    let slow = Slow(Clock::Monotonic, Arc::clone(&samples));
    let watcher = SessionSampler::over(vec![Box::new(slow)], Clock::Monotonic, None);
    assert_eq!(samples.load(Ordering::Relaxed), WARM_UP_SAMPLES as u64);
    watcher.begin();
    while samples.load(Ordering::Relaxed) == WARM_UP_SAMPLES as u64 {
        std::thread::sleep(ms(1));
    }
    let watched = watcher.finish();
    assert!(watched.samples >= 1, "{watched:?}");
}

#[test]
fn a_server_that_samples_itself_need_not_be_looked_at_to_the_end() {
    /// A server that has taken a hundred samples, and spends time on them even if nobody reads them.
    struct Sampling(Clock, u64);

    impl Watch for Sampling {
        fn source(&self) -> String {
            "its samples".into()
        }

        fn transport(&self) -> Transport {
            Transport::Local
        }

        fn ping(&mut self) -> engine::Result<()> {
            Ok(())
        }

        fn look(&mut self, tally: &mut Tally) -> engine::Result<()> {
            // It is too expensive for a sample within the window.
            sleep(&self.0, ms(100));
            tally.session(WaitClass::Lock, "row", 2.0);
            Ok(())
        }

        fn last_look(&mut self, tally: &mut Tally) -> engine::Result<bool> {
            tally.session(WaitClass::Lock, "row", 2.0);
            Ok(true)
        }

        fn samples(&self) -> Option<u64> {
            Some(100)
        }

        fn count(&mut self) -> engine::Result<ServerCounts> {
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
    assert_eq!((seen.samples, seen.source.as_str()), (100, "its samples"));
    let seconds = seen.seconds.sessions[&(WaitClass::Lock, "row".to_owned())];
    let expected = 2.0 * seen.elapsed.as_secs_f64();
    assert!((seconds - expected).abs() < 1e-6, "{seen:?}");
    // The first samples take half of it.
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
    assert_eq!(
        seen.counts.background[0].2.count,
        Some(1_000 * seen.samples)
    );
}

#[test]
fn what_the_server_counts_behind_the_window_is_no_part_of_it() {
    /// A server that counts how often it is queried.
    struct Queries(Arc<AtomicU64>);

    impl Watch for Queries {
        fn source(&self) -> String {
            "a table".into()
        }

        fn transport(&self) -> Transport {
            Transport::Local
        }

        fn ping(&mut self) -> engine::Result<()> {
            Ok(())
        }

        fn look(&mut self, _tally: &mut Tally) -> engine::Result<()> {
            Ok(())
        }

        fn count(&mut self) -> engine::Result<ServerCounts> {
            let count = Counted::count(Some(self.0.fetch_add(1, Ordering::Relaxed)));
            Ok(ServerCounts {
                background: vec![("log", "log syncs", count)],
                ..ServerCounts::default()
            })
        }

        fn server_cpu_ns(&self) -> Option<u64> {
            Some(0)
        }
    }

    let done = Arc::new(AtomicU64::new(0));
    let queries = Queries(Arc::clone(&done));
    let watcher = SessionSampler::over(vec![Box::new(queries)], Clock::Monotonic, None);
    watcher.begin();
    while done.load(Ordering::Relaxed) == 0 {
        std::thread::sleep(ms(1));
    }
    watcher.end();
    done.fetch_add(1_000, Ordering::Relaxed);
    let watched = watcher.finish();
    assert_eq!(watched.counts.background[0].2.count, Some(1));
}
