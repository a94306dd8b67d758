use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use archive::{EventClass, Figures, HeldBack, Remark, Resource, TimedEvent};
use engine::{Session, Target, Value};
use host::{HostWatch, Stack};
use lab::bottleneck::NAMED_PCT_MIN;
use lab::programs::programs_of;
use lab::session_sampler::SessionSampler;
use lab::wait_profile::WaitProfile;
use load::{BlockingClient, Clients, Done, Drive, End, Failure, Schedule, Think};
use testing::Shared;

use crate::bystanders::{Accounts, Used};
use crate::delays::Delays;
use crate::way::ONE_WAY;

static TURN: Mutex<()> = Mutex::new(());
static GO_ON: AtomicBool = AtomicBool::new(false);
/// Servers that tests share, by their URLs.
static SERVERS: Shared<Arc<dyn Target>> = Shared::new();

/// Exclusive use of the servers and of their delays.
pub struct Turn {
    // The delays are dropped before the lock, so that the next test finds the defaults.
    delays: Delays,
    _lock: MutexGuard<'static, ()>,
}

impl Deref for Turn {
    type Target = Delays;

    fn deref(&self) -> &Delays {
        &self.delays
    }
}

pub fn my_turn() -> Turn {
    let lock = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Turn {
        delays: Delays::usual(),
        _lock: lock,
    }
}

pub fn open(url: &str) -> Arc<dyn Target> {
    engines::open(&engines::parse(url).unwrap()).unwrap()
}

/// This test's turn on a shared server.
pub fn my_turn_on(url: &str) -> (Turn, Arc<dyn Target>) {
    let turn = my_turn();
    (turn, shared(url))
}

/// A shared server within the turn.
pub fn shared(url: &str) -> Arc<dyn Target> {
    SERVERS.get(url, || open(url))
}

/// Number of jobs, or busy programs, that keeps all processors busy.
pub fn more_than_processors() -> u32 {
    let processors = std::thread::available_parallelism().unwrap().get();
    3 * processors as u32
}

pub type Work = Box<dyn FnMut(&mut dyn Session, u64) -> engine::Result<()> + Send>;

struct Job {
    session: Box<dyn Session>,
    work: Work,
}

impl BlockingClient for Job {
    fn operate(&mut self, request: load::Request) -> Result<Done, Failure> {
        let index = request.index;
        match (self.work)(self.session.as_mut(), index) {
            Ok(()) => Ok(Done::default()),
            Err(error) => Err(Failure::Fatal(error.message)),
        }
    }
}

#[derive(Debug)]
pub struct Judged {
    pub held_back: HeldBack,
    pub events: Vec<TimedEvent>,
    pub figures: Figures,
    pub note: Option<Remark>,
    pub owners_reason: Option<String>,
    pub io_reason: Option<String>,
    pub notes: Vec<Remark>,
    pub round_trip: Option<Duration>,
    pub used: Used,
}

impl Judged {
    pub fn resource(&self) -> Resource {
        self.held_back.bottleneck.as_ref().unwrap().resource
    }

    pub fn sentence(&self) -> &str {
        &self.held_back.bottleneck.as_ref().unwrap().sentence
    }

    pub fn assert_says(&self, words: &str) {
        assert!(self.sentence().contains(words), "{words}: {self:#?}");
    }

    pub fn share_pct(&self, class: &str) -> f64 {
        let of_class = self.events.iter().filter(|e| e.class.name() == class);
        of_class.map(|e| e.share_pct).sum()
    }

    pub fn assert(&self, resource: Resource) {
        assert_eq!(
            self.resource(),
            resource,
            "{}\n{:#?}\n{:#?}\n{:?}",
            self.sentence(),
            self.events,
            self.held_back.background_events,
            self.note
        );
        assert!((self.events.iter().map(|e| e.share_pct).sum::<f64>() - 100.0).abs() < 1.0);
    }
}

pub fn drive(
    target: &Arc<dyn Target>,
    jobs: u32,
    seconds: f64,
    think_ms: u64,
    mut work: impl FnMut(&mut dyn Session, u32) -> engine::Result<Work>,
) -> Judged {
    let devices = target.storage_paths().and_then(|paths| {
        let found = Stack::of(&paths).map_err(|error| error.to_string())?;
        Ok(found.0)
    });
    let watch = HostWatch::here(Duration::from_secs(1), devices).unwrap();
    let device = watch.device().map(str::to_owned);
    let programs = programs_of([target]);
    let operators = (0..jobs)
        .map(|job| {
            let mut session = target.open_session().unwrap();
            let work = work(session.as_mut(), job).unwrap();
            Box::new(Job { session, work }) as Box<dyn BlockingClient>
        })
        .collect();
    let watcher = SessionSampler::open(std::slice::from_ref(target));
    let accounts = Accounts::begin(programs.as_ref().map_or(&[], |p| &p.servers));
    let io = programs.as_ref().ok().and_then(|p| watch.io_so_far(p));
    let mark = watch.mark(programs.as_ref().map_err(String::as_str));
    let mark = mark.with_io_before(io);
    if let Some(watcher) = &watcher {
        watcher.begin();
    }
    let think = match think_ms {
        0 => Think::None,
        ms => Think::Constant(Duration::from_millis(ms)),
    };
    let outcome = load::drive(
        Clients::Blocking(operators),
        &Drive {
            schedule: Schedule::Closed { think },
            interval: Duration::from_millis(500),
            ..Drive::of_jobs(End::Time(Duration::from_secs_f64(seconds)), &GO_ON)
        },
    );
    assert_eq!(outcome.fatal, None);
    let used = watch.finish(mark);
    let own_accounts = accounts.finish(outcome.elapsed);
    let watched = watcher.map(SessionSampler::finish);
    let round_trip = watched.as_ref().and_then(|watched| watched.link);
    let round_trip = round_trip.map(|link| link.round_trip);
    let seen = WaitProfile::of(&outcome, watched);
    let driver_cpu = match target.server_process() {
        Some(_) => outcome.threads_cpu(),
        None => outcome.driver_cpu(),
    };
    let mut figures = Figures {
        elapsed_s: Some(outcome.elapsed.as_secs_f64()),
        driver_cpu_pct: Some(100.0 * driver_cpu.as_secs_f64() / outcome.elapsed.as_secs_f64()),
        ..Figures::default()
    };
    used.write_into(&mut figures);
    used.write_owners_into(&mut figures);
    seen.write_into(&mut figures);
    let notes = lab::checks::notes(&outcome, &figures, &lab::plan::Validity::USUAL);
    let held_back = seen.held_back(&outcome, &figures, device.as_deref(), &used);
    let judged = Judged {
        events: seen.top(),
        note: seen.note(),
        held_back,
        figures,
        owners_reason: used.owners_reason,
        io_reason: used.io_by_others_reason,
        notes,
        round_trip,
        used: own_accounts,
    };
    println!(
        "{:?}\n{:?}\n{:?}\n{:?}",
        judged.held_back.bottleneck, judged.events, judged.note, judged.used
    );
    judged
}

/// Jobs that repeat a query.
pub fn repeat(
    target: &Arc<dyn Target>,
    jobs: u32,
    seconds: f64,
    think_ms: u64,
    sql: &str,
) -> Judged {
    drive(target, jobs, seconds, think_ms, |session, _| {
        let query = session.prepare(sql)?;
        Ok(Box::new(move |session, _| {
            session.fetch(query, &[]).map(drop)
        }))
    })
}

/// Jobs that commit a row each time.
pub fn commits(target: &Arc<dyn Target>, jobs: u32) -> Judged {
    let mut session = target.open_session().unwrap();
    let made = "DROP TABLE IF EXISTS log; CREATE TABLE log (job INT, n BIGINT)";
    session.batch(made).unwrap();
    let judged = drive(target, jobs, 1.5, 0, |session, job| {
        let insert = session.prepare("INSERT INTO log VALUES (?, ?)")?;
        let work: Work = Box::new(move |session, index| {
            let values = [Value::Int(i64::from(job)), Value::Int(index as i64)];
            session.begin()?;
            session.execute(insert, &values)?;
            session.commit()
        });
        Ok(work)
    });
    session.batch("DROP TABLE log").unwrap();
    judged
}

/// The rest is work and wake-ups, of any size on this machine, and no network.
pub fn do_not_wait_for_the_log(judged: &Judged) {
    let wrong = [Resource::LogSync, Resource::Device, Resource::Network];
    assert!(!wrong.contains(&judged.resource()), "{judged:#?}");
    assert!(judged.share_pct("log sync") < NAMED_PCT_MIN, "{judged:#?}");
}

/// Pages are read from the device, by the counts of the engine and of the kernel.
pub fn are_reads_of_the_device(judged: &Judged) {
    judged.assert(Resource::Device);
    let figures = &judged.figures;
    assert!(figures.engine_read_iops.unwrap() > 0.0 && figures.read_iops.unwrap() > 0.0);
    assert!(judged.held_back.wait_histograms[0].counts.is_none());
    assert!(!judged.held_back.wait_histograms[0].remark.is_empty());
}

pub fn wait_for_the_network(target: &Arc<dyn Target>) {
    let judged = repeat(target, 2, 1.5, 0, "SELECT 1");
    judged.assert(Resource::Network);
    assert!(judged.round_trip.unwrap() >= 2 * ONE_WAY, "{judged:#?}");
}

pub fn burn(time: Duration) {
    let begin_ns = host::thread_cpu_ns();
    while host::thread_cpu_ns() - begin_ns < time.as_nanos() as u64 {
        std::hint::black_box(7_u64.pow(3));
    }
}

/// A client that works after each statement; that time is the driver's, whatever else is active.
pub fn working_client(target: &Arc<dyn Target>) {
    const WORK: Duration = Duration::from_millis(20);
    let done = Arc::new(AtomicU64::new(0));
    let judged = drive(target, 1, 1.5, 0, |session, _| {
        let one = session.prepare("SELECT 1")?;
        let done = Arc::clone(&done);
        let work: Work = Box::new(move |session, _| {
            session.fetch(one, &[])?;
            burn(WORK);
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        Ok(work)
    });
    let driver_s: f64 = judged
        .events
        .iter()
        .filter(|e| e.class == EventClass::Driver)
        .map(|e| e.time_s)
        .sum();
    // The last operation ends after the window.
    let least = WORK * (done.load(Ordering::Relaxed) as u32 - 1);
    // The server is sampled 40 times a second, and each sample may take its part from the driver.
    let samples = 3.0 / 40.0;
    assert!(
        driver_s + samples >= least.as_secs_f64(),
        "{least:?}: {judged:#?}"
    );
    for class in ["lock", "latch", "log sync", "data read"] {
        assert_eq!(judged.share_pct(class), 0.0, "{class}: {judged:#?}");
    }
}
