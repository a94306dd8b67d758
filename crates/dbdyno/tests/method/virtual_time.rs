//! The invariants on drives of the driver in virtual time: a correct one satisfies them all, and each fault planted in the target, in the
//! driver or in its records violates those that contradict it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use archive::{Component, Histograms, Point, PointKey, Run};
use engine::Counters;
use host::HostUse;
use load::clock::Slices;
use load::mock::Mock;
use load::{
    Arrivals, BlockingClient, Clients, Clock, Done, Drive, End, Failure, Outcome, RampUp, Request,
    Schedule, Think,
};
use stats::Histogram;
use verdict::method::{Clocks, Finding, Invariant, Measured, Parameters, Role, find};

static GO_ON: AtomicBool = AtomicBool::new(false);

const PARAMETERS: Parameters = Parameters {
    users: 16,
    think_ms: 10.0,
    seconds: 1.0,
    repetitions: 8,
};
/// Time of a statement, and overhead of a transaction.
const STATEMENT_US: u64 = 200;
const BESIDE_US: u64 = 100;
const SESSIONS: u32 = 4;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Nothing,
    /// The target acknowledges one of ten transactions and forgets it.
    Drops,
    /// The target executes one of ten twice.
    Repeats,
    /// The target slows down by a third from the first half of a run to the second.
    Drifts,
    /// The target skips the second hundred statements.
    Skips,
    /// The target answers before the delay is over.
    Hurries,
    /// The driver pauses half as long as requested.
    ShortPauses,
    /// The driver ignores a longer pause.
    SamePauses,
    /// The driver leaves out arrivals.
    FewArrivals,
    /// The driver drives more users than it reports at high numbers.
    MoreUsers,
    /// The recorder loses every second operation.
    Forgets,
    /// The recorder uses the wrong unit for service times.
    Unit,
    /// The recorder counts failed operations as successful.
    CountsFailures,
    /// The recorder counts the operations that end in the counted part of a slice, after all sessions have begun with it.
    CountsEnds,
}

#[derive(Default)]
struct Database {
    changed: AtomicU64,
}

struct Committing {
    inner: Box<dyn BlockingClient>,
    database: Arc<Database>,
    fault: Fault,
}

impl BlockingClient for Committing {
    fn operate(&mut self, request: Request) -> Result<Done, Failure> {
        let is_tenth = request.index % 10 == 3;
        let done = match self.inner.operate(request) {
            Err(_) if self.fault == Fault::CountsFailures => return Ok(Done::default()),
            done => done?,
        };
        let times = match self.fault {
            Fault::Drops if is_tenth => 0,
            Fault::Repeats if is_tenth => 2,
            _ => 1,
        };
        self.database.changed.fetch_add(times, Relaxed);
        Ok(done)
    }
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn statements(n: u32) -> Duration {
    us(BESIDE_US + u64::from(n) * STATEMENT_US)
}

/// Sessions, time of an operation, and schedule of a role.
fn load(role: Role, fault: Fault) -> (u32, Duration, Schedule) {
    let think = |times: f64| {
        let times = match fault {
            Fault::ShortPauses => times / 2.0,
            Fault::SamePauses => 1.0,
            _ => times,
        };
        Schedule::Closed {
            think: Think::Exponential {
                mean: Duration::from_secs_f64(PARAMETERS.think_ms / 1e3 * times),
            },
        }
    };
    let closed = Schedule::Closed { think: Think::None };
    let few = match fault {
        Fault::FewArrivals => 0.8,
        _ => 1.0,
    };
    let open = Schedule::Open {
        rate_per_s: PARAMETERS.rate_per_s() * few,
        arrivals: Arrivals::Poisson,
    };
    let (users, one) = (PARAMETERS.users, statements(1));
    let second = match fault {
        Fault::Drifts => one * 4 / 3,
        _ => one,
    };
    let twice = match fault {
        Fault::Skips => Parameters::STATEMENTS,
        _ => 2 * Parameters::STATEMENTS,
    };
    let delay = |ms: f64| one + Duration::from_secs_f64(ms / 1e3);
    let [short_ms, long_ms] = Parameters::DELAYS_MS;
    let long_ms = match fault {
        Fault::Hurries => long_ms * 0.8,
        _ => long_ms,
    };
    match role {
        Role::Idle | Role::One | Role::Count => (1, one, closed),
        Role::First => (SESSIONS, one, closed),
        Role::Second => (SESSIONS, second, closed),
        Role::Users if fault == Fault::MoreUsers => (users * 3 / 2, one, think(1.0)),
        Role::Users => (users, one, think(1.0)),
        Role::LongThink => (users, one, think(2.0)),
        Role::HalfUsers => (users / 2, one, think(1.0)),
        Role::Open => (users, one, open),
        Role::Many => (1, statements(Parameters::STATEMENTS), closed),
        Role::TwiceAsMany => (1, statements(twice), closed),
        Role::ShortDelay => (SESSIONS, delay(short_ms), closed),
        Role::LongDelay => (SESSIONS, delay(long_ms), closed),
        Role::Commit => (SESSIONS, statements(5), closed),
    }
}

fn drive((role, seed): (Role, u64), fault: Fault, database: &Arc<Database>) -> Outcome {
    let (jobs, latency, schedule) = load(role, fault);
    let (clock, _) = Clock::new_virtual();
    let mut mock = Mock::new().latency(latency).on(&clock);
    if role == Role::Commit {
        mock = mock.error_every(20);
    }
    let sessions = mock.sessions(jobs as usize).into_iter();
    let clients = sessions.map(|inner| -> Box<dyn BlockingClient> {
        match role {
            Role::Commit => Box::new(Committing {
                inner,
                database: Arc::clone(database),
                fault,
            }),
            _ => inner,
        }
    });
    let ramp_up = match role {
        Role::Commit | Role::Open => RampUp::None,
        _ => RampUp::Time(Duration::from_millis(50)),
    };
    let how = Drive {
        schedule,
        ramp_up,
        seed,
        clock,
        ..Drive::of_jobs(
            End::Time(Duration::from_secs_f64(PARAMETERS.seconds)),
            &GO_ON,
        )
    };
    let outcome = load::drive(Clients::Blocking(clients.collect()), &how);
    assert_eq!(outcome.fatal, None);
    outcome
}

fn point(outcome: &Outcome, (role, repetition): (Role, u32), fault: Fault) -> Point {
    let key = PointKey {
        repetition,
        step: role.step(),
        ..PointKey::of(format!("S-{}", role.script()), load(role, Fault::Nothing).0)
    };
    let mut point = Point::blank(key, String::new(), Component::Database);
    point.work.seconds = Some(PARAMETERS.seconds);
    point.figures = lab::point::figures_of(
        outcome,
        Duration::ZERO,
        outcome.operations(),
        &HostUse::default(),
        true,
        Counters::default(),
    );
    let all = outcome.total();
    point.histograms = match fault {
        Fault::Forgets => {
            let (service, response) = (halved(&all.service), halved(&all.response));
            Histograms::of(&service, &response)
        }
        Fault::Unit => Histograms::of(&scaled(&all.service, 1000.0), &all.response),
        _ => Histograms::of(&all.service, &all.response),
    };
    point
}

fn halved(all: &Histogram) -> Histogram {
    let mut half = Histogram::new();
    let buckets = all.buckets_us();
    buckets.for_each(|(us, count)| half.record_many_ns((us * 1e3) as u64, count / 2));
    half
}

fn scaled(all: &Histogram, factor: f64) -> Histogram {
    let mut scaled = Histogram::new();
    let buckets = all.buckets_us();
    buckets.for_each(|(us, count)| scaled.record_many_ns((us * factor * 1e3) as u64, count));
    scaled
}

fn seed(role: Role, repetition: u32) -> u64 {
    u64::from(repetition) << 32 | u64::from(role.step())
}

/// The fault-free drives of a role, which are deterministic.
fn right(role: Role) -> &'static [Outcome] {
    static RIGHT: [OnceLock<Vec<Outcome>>; Role::ALL.len()] =
        [const { OnceLock::new() }; Role::ALL.len()];
    RIGHT[role as usize].get_or_init(|| {
        let repetitions = 1..=PARAMETERS.repetitions;
        let drives = repetitions.map(|repetition| {
            let seed = seed(role, repetition);
            drive((role, seed), Fault::Nothing, &Arc::default())
        });
        drives.collect()
    })
}

fn findings(fault: Fault) -> Vec<Finding> {
    let database = Arc::new(Database::default());
    let (mut run, mut mock) = (Run::planned("method"), Run::planned("mock"));
    let mut slices = Run::planned("slices");
    for repetition in 1..=PARAMETERS.repetitions {
        for role in Role::ALL {
            let is_as_ever = load(role, fault) == load(role, Fault::Nothing);
            let mut point = if is_as_ever && role != Role::Commit {
                let outcome = &right(role)[repetition as usize - 1];
                point(outcome, (role, repetition), fault)
            } else {
                let outcome = drive((role, seed(role, repetition)), fault, &database);
                point(&outcome, (role, repetition), fault)
            };
            if role == Role::Count {
                let changed = database.changed.load(Relaxed) as f64;
                point.figures.rows = Some(changed + Parameters::ROWS_BESIDE);
            }
            run.points.push(point);
        }
        mock.points.push(known(repetition, fault));
        slices.points.push(in_slices(repetition, fault));
    }
    find(&Measured {
        parameters: PARAMETERS,
        run: &run,
        mock: &mock,
        slices: &slices,
        clocks: Ok(Clocks {
            driver_s: 60.0,
            server_s: 60.0,
            uncertainty_s: 1e-4,
        }),
    })
}

/// A statement of known duration.
fn known(repetition: u32, fault: Fault) -> Point {
    let (clock, _) = Clock::new_virtual();
    let sessions = Mock::new()
        .latency(us(Parameters::MOCK_US as u64))
        .on(&clock)
        .sessions(1);
    let how = Drive {
        clock,
        ..Drive::of_jobs(End::Operations { per_job: 500 }, &GO_ON)
    };
    let outcome = load::drive(Clients::Blocking(sessions), &how);
    point(&outcome, (Role::Idle, repetition), fault)
}

/// A statement of known duration, in slices that alternate with itself.
fn in_slices(repetition: u32, fault: Fault) -> Point {
    let (base, _) = Clock::new_virtual();
    let (slice, length) = (Parameters::SLICE, us(Parameters::SLICES_US));
    let slices = Slices {
        slice,
        settle: slice / 10,
        seed: u64::from(repetition),
    };
    let drive = |clock: Clock| {
        let mock = Mock::new().latency(length).on(&base);
        let how = Drive {
            clock,
            ..Drive::of_jobs(End::Time(12 * slice), &GO_ON)
        };
        let sessions = mock.sessions(Parameters::SLICES_JOBS as usize);
        load::drive(Clients::Blocking(sessions), &how)
    };
    let [a, b] = Clock::alternating(slices, &base);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| drive(b));
        drive(a)
    });
    let mut point = point(&outcome, (Role::Idle, repetition), fault);
    point.key.jobs = Parameters::SLICES_JOBS;
    if fault == Fault::CountsEnds {
        // All of them end in the part that counts.
        let ended = Parameters::SLICES_JOBS * (slice.as_nanos() / length.as_nanos()) as u32;
        point.figures.operations_per_s = Some(f64::from(ended) / slices.counted().as_secs_f64());
    }
    point
}

fn broken(fault: Fault) -> Vec<Invariant> {
    let findings = findings(fault);
    let broken = findings.iter().filter(|it| it.outcome.is_broken());
    broken.map(|it| it.invariant).collect()
}

#[test]
fn a_correct_driver_satisfies_every_invariant() {
    for finding in findings(Fault::Nothing) {
        let holds = matches!(finding.outcome, verdict::method::Outcome::Holds(_));
        assert!(holds, "{finding:?}");
    }
}

#[test]
fn faults_of_the_target_are_found() {
    assert_eq!(broken(Fault::Drops), [Invariant::Committed]);
    assert_eq!(broken(Fault::Repeats), [Invariant::Committed]);
    assert_eq!(broken(Fault::Skips), [Invariant::Statements]);
    assert_eq!(broken(Fault::Hurries), [Invariant::Delay]);
    let drift = [Invariant::HalvesRate, Invariant::HalvesMedian];
    assert_eq!(broken(Fault::Drifts), drift);
}

#[test]
fn faults_of_the_driver_are_found() {
    assert_eq!(broken(Fault::ShortPauses), [Invariant::ResponseTime]);
    assert_eq!(broken(Fault::SamePauses), [Invariant::ThinkTime]);
    assert_eq!(broken(Fault::FewArrivals), [Invariant::OfferedRate]);
    let users = [
        Invariant::ThinkTime,
        Invariant::ResponseTime,
        Invariant::Users,
    ];
    assert_eq!(broken(Fault::MoreUsers), users);
}

#[test]
fn faults_of_the_books_are_found() {
    assert_eq!(
        broken(Fault::Forgets),
        [Invariant::Counts, Invariant::Times]
    );
    let unit = [
        Invariant::Delay,
        Invariant::Waits,
        Invariant::Times,
        Invariant::Floor,
        Invariant::Slices,
    ];
    assert_eq!(broken(Fault::Unit), unit);
    assert_eq!(broken(Fault::CountsFailures), [Invariant::Committed]);
    assert_eq!(broken(Fault::CountsEnds), [Invariant::Slices]);
}
