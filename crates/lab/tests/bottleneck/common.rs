//! Jobs on a server, driven and judged as a point is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use archive::{Figures, HeldBack, TimedEvent};
use host::{HostWatch, Sampler, SamplerOptions};
use lab::programs::programs_of;
use lab::sight::Sight;
use lab::watcher::Watcher;
use load::clock::{Usage, UsageMeter};
use load::{Done, Drive, End, Failure, Operator, RampUp, Schedule, Think};
use target::{Session, Target, TargetUrl};

use crate::bystanders::Bystanders;

/// One provocation at a time.
static TURN: Mutex<()> = Mutex::new(());
static GO_ON: AtomicBool = AtomicBool::new(false);

pub fn my_turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn open(url: &str) -> Arc<dyn Target> {
    target::open(&TargetUrl::parse(url).unwrap()).unwrap()
}

/// One operation of a job, numbered.
pub type Work = Box<dyn FnMut(&mut dyn Session, u64) -> target::Result<()> + Send>;

struct Job {
    session: Box<dyn Session>,
    work: Work,
}

impl Operator for Job {
    fn operate(&mut self, index: u64) -> Result<Done, Failure> {
        match (self.work)(self.session.as_mut(), index) {
            Ok(()) => Ok(Done::default()),
            Err(error) => Err(Failure::Fatal(error.message)),
        }
    }
}

/// What was judged, and what it rests on.
#[derive(Debug)]
pub struct Judged {
    pub held_back: HeldBack,
    pub events: Vec<TimedEvent>,
    pub figures: Figures,
    pub note: Option<String>,
    /// Why it is not known whose the processor time was.
    pub owners_reason: Option<String>,
    /// What all other programs of the machine took, in percent of its processors, by their own accounts.
    pub bystanders_pct: f64,
    /// Share of its runnable time that a thread beside the jobs waited for a processor.
    queued_share: f64,
}

impl Judged {
    pub fn resource(&self) -> &str {
        self.bottleneck().0
    }

    pub fn bottleneck(&self) -> (&str, &str) {
        let bottleneck = self.held_back.bottleneck.as_ref().unwrap();
        (&bottleneck.resource, &bottleneck.sentence)
    }

    /// Where others keep the processors so busy that whoever is woken waits for one, the processors may be named;
    /// what the jobs wait for besides must be of this class. On the way between driver and server, in the client
    /// and in the server's work that wait cannot be told apart from what is done there.
    pub fn assert_or_crowded_out(&self, resource: &str, class: &str) {
        if self.queued_share < 0.05 {
            return self.assert(resource);
        }
        println!("crowded: {:.2} of a thread's time", self.queued_share);
        // "none" is said of processors that others keep busy now and then.
        assert!(
            [resource, "cpu", "none"].contains(&self.resource()),
            "{self:#?}"
        );
        let share = |class: &str| -> f64 {
            let of_class = self.events.iter().filter(|e| e.class == class);
            of_class.map(|e| e.share_pct).sum()
        };
        for other in ["lock", "latch", "wait", "data read", "log sync"] {
            assert!(share(other) <= share(class), "{other}: {self:#?}");
        }
    }

    pub fn assert(&self, resource: &str) {
        assert_eq!(
            self.resource(),
            resource,
            "{}\n{:#?}\n{:#?}\n{:?}",
            self.bottleneck().1,
            self.events,
            self.held_back.background_events,
            self.note
        );
        assert!((self.events.iter().map(|e| e.share_pct).sum::<f64>() - 100.0).abs() < 1.0);
    }
}

/// Drives so many jobs for a while.
pub fn drive(
    target: &Arc<dyn Target>,
    jobs: u32,
    seconds: f64,
    think_ms: u64,
    mut work: impl FnMut(&mut dyn Session, u32) -> target::Result<Work>,
) -> Judged {
    let device = target
        .data_path()
        .and_then(|path| host::device_of(path).ok());
    let sampler = Sampler::start(SamplerOptions {
        device: device.clone(),
        ..SamplerOptions::default()
    })
    .unwrap();
    let watch = HostWatch::here(sampler, device.clone().ok_or("it has none".into()));
    let programs = programs_of([target]);
    let operators = (0..jobs)
        .map(|job| {
            let mut session = target.open_session().unwrap();
            let work = work(session.as_mut(), job).unwrap();
            Box::new(Job { session, work }) as Box<dyn Operator>
        })
        .collect();
    let watcher = Watcher::open(std::slice::from_ref(target));
    let bystanders = Bystanders::beside(programs.as_ref().map_or(&[], |p| &p.servers));
    let mark = watch.mark(programs.as_ref().map_err(String::as_str));
    if let Some(watcher) = &watcher {
        watcher.begin();
    }
    let think = match think_ms {
        0 => Think::None,
        ms => Think::Constant(Duration::from_millis(ms)),
    };
    let crowding = Crowding::watch();
    let outcome = load::drive(
        operators,
        &Drive {
            schedule: Schedule::Closed { think },
            ramp_up: RampUp::None,
            end: End::Time(Duration::from_secs_f64(seconds)),
            interval: Duration::from_millis(500),
            seed: 1,
            stop: &GO_ON,
            progress: None,
            clock: load::Clock::Monotonic,
        },
    );
    let queued_share = crowding.finish();
    assert_eq!(outcome.fatal, None);
    let used = watch.finish(mark);
    let bystanders_pct = bystanders.finish_pct();
    let seen = Sight::of(&outcome, watcher.map(Watcher::finish));
    let mut figures = Figures {
        elapsed_s: Some(outcome.elapsed.as_secs_f64()),
        driver_cpu_pct: Some(
            100.0 * outcome.driver_cpu().as_secs_f64() / outcome.elapsed.as_secs_f64(),
        ),
        ..Figures::default()
    };
    used.write_into(&mut figures);
    used.write_owners_into(&mut figures);
    seen.write_into(&mut figures);
    let held_back = seen.held_back(&outcome, &figures, (device.as_deref(), &used));
    let judged = Judged {
        events: seen.top(),
        note: seen.note(),
        held_back,
        figures,
        owners_reason: used.owners_reason,
        bystanders_pct,
        queued_share,
    };
    println!(
        "{:?}\n{:?}\nothers {:?} %, by their own accounts {bystanders_pct:.1} %",
        judged.bottleneck(),
        judged.note,
        judged.figures.cpu_by_others_pct,
    );
    judged
}

/// Uses a processor in the client.
pub fn burn(time: Duration) {
    let begin_ns = host::thread_cpu_ns();
    while host::thread_cpu_ns() - begin_ns < time.as_nanos() as u64 {
        std::hint::black_box(7_u64.pow(3));
    }
}

/// A thread that works for a twentieth of the time, to feel how long whoever is woken waits for a processor.
struct Crowding {
    over: Arc<AtomicBool>,
    felt: JoinHandle<Usage>,
}

impl Crowding {
    fn watch() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let felt = std::thread::spawn(move || {
            let meter = UsageMeter::of_this_thread();
            let begin = meter.read();
            while !is_over.load(Ordering::Relaxed) {
                burn(Duration::from_micros(500));
                std::thread::sleep(Duration::from_millis(10));
            }
            meter.read().since(&begin)
        });
        Self { over, felt }
    }

    fn finish(self) -> f64 {
        self.over.store(true, Ordering::Relaxed);
        let felt = self.felt.join().unwrap();
        let queued_s = felt.run_queue.unwrap_or_default().as_secs_f64();
        queued_s / (queued_s + felt.cpu.as_secs_f64())
    }
}
