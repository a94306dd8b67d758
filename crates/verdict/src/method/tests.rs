//! Every invariant with figures that obey it, and with figures that do not.

use std::collections::BTreeMap;

use archive::{Component, Histograms, Missing, Point, PointKey, Remark, Run};
use stats::Histogram;
use stats::random::Random;

use super::judge::{Bound, ERROR, Pair, agrees, equals};
use super::*;

const PARAMETERS: Parameters = Parameters {
    users: 16,
    think_ms: 10.0,
    seconds: 2.0,
    repetitions: 8,
};

/// A target of known speed, and the errors of its measurement.
#[derive(Clone)]
struct World {
    statement_s: f64,
    /// Standard deviation of the logarithm of everything that depends on the machine's speed.
    noise: f64,
    seed: u64,
    /// Factor of the reported rate, by role.
    rate_factor: BTreeMap<u32, f64>,
    response_factor: BTreeMap<u32, f64>,
    /// Part of the recorded operations that is in the histograms.
    recorded: f64,
    /// Part of the acknowledged transactions that is in the database.
    kept: f64,
    /// Length of a statement of nominally [`Parameters::MOCK_US`].
    mock_us: f64,
    /// Factor of the reported rate in slices.
    slices_factor: f64,
}

impl World {
    fn right() -> Self {
        Self {
            statement_s: 100e-6,
            noise: 0.02,
            seed: 1,
            rate_factor: BTreeMap::new(),
            response_factor: BTreeMap::new(),
            recorded: 1.0,
            kept: 1.0,
            mock_us: 200.4,
            slices_factor: 1.0,
        }
    }

    /// Sessions of a role, time of an operation, and time from one to the next.
    fn of(&self, role: Role) -> (u32, f64, f64) {
        let (users, think_s) = (PARAMETERS.users, PARAMETERS.think_ms / 1e3);
        let statements = |n: u32| self.statement_s * f64::from(n);
        let closed = |jobs, s: f64| (jobs, s, s * 1.01);
        let one = self.statement_s;
        match role {
            Role::Idle | Role::One => closed(1, one),
            Role::First | Role::Second => closed(4, one),
            Role::Users => (users, one, one + think_s),
            Role::LongThink => (users, one, one + 2.0 * think_s),
            Role::HalfUsers => (users / 2, one, one + think_s),
            Role::Open => (users, one, f64::from(users) / PARAMETERS.rate_per_s()),
            Role::Many => closed(1, statements(Parameters::STATEMENTS)),
            Role::TwiceAsMany => closed(1, statements(2 * Parameters::STATEMENTS)),
            Role::ShortDelay => closed(4, one + Parameters::DELAYS_MS[0] / 1e3),
            Role::LongDelay => closed(4, one + Parameters::DELAYS_MS[1] / 1e3),
            Role::Commit => closed(4, statements(3)),
            Role::Count => closed(1, one),
        }
    }

    fn run(&self) -> Run {
        let mut run = Run::planned("method");
        let mut random = Random::new(self.seed);
        let mut rows = 0.0;
        for repetition in 1..=PARAMETERS.repetitions {
            for role in Role::ALL {
                let mut point = self.point(role, repetition, &mut random);
                if role == Role::Commit {
                    rows += (point.figures.operations.unwrap() * self.kept).floor();
                }
                if role == Role::Count {
                    point.figures.rows = Some(rows + Parameters::ROWS_BESIDE);
                }
                run.points.push(point);
            }
        }
        run
    }

    fn point(&self, role: Role, repetition: u32, random: &mut Random) -> Point {
        let (jobs, service_s, cycle_s) = self.of(role);
        let factor =
            |by_role: &BTreeMap<u32, f64>| by_role.get(&role.step()).copied().unwrap_or(1.0);
        let speed = (self.noise * random.normal()).exp();
        let service_s = service_s * speed;
        let cycle_s = match role {
            Role::Users | Role::LongThink | Role::HalfUsers | Role::Open => {
                // Random pauses scatter by themselves.
                let n = f64::from(jobs) * PARAMETERS.seconds / cycle_s;
                cycle_s * (1.0 + random.normal() / n.sqrt())
            }
            _ => cycle_s * speed,
        };
        let operations =
            (f64::from(jobs) * PARAMETERS.seconds / cycle_s).round() * factor(&self.rate_factor);
        let mut point = blank(role.step(), repetition, jobs);
        point.work.seconds = Some(PARAMETERS.seconds);
        point.figures.operations = Some(operations.floor());
        point.figures.elapsed_s = Some(PARAMETERS.seconds);
        point.figures.operations_per_s = Some(operations.floor() / PARAMETERS.seconds);
        point.figures.errors = Some(0.0);
        point.figures.driver_cpu_pct = Some(5.0);
        let time_s = service_s * factor(&self.response_factor);
        point.figures.in_flight_mean = Some(operations.floor() * time_s / PARAMETERS.seconds);
        point.histograms = recorded(time_s, (operations * self.recorded) as u64);
        point
    }

    fn mock(&self) -> Run {
        let mut run = Run::planned("mock");
        for repetition in 1..=PARAMETERS.repetitions {
            let mut point = blank(1, repetition, 1);
            point.histograms = recorded(self.mock_us / 1e6, 1000);
            run.points.push(point);
        }
        run
    }

    fn slices(&self) -> Run {
        let mut run = Run::planned("slices");
        let jobs = Parameters::SLICES_JOBS;
        let length_s = Parameters::SLICES_US as f64 / 1e6;
        for repetition in 1..=PARAMETERS.repetitions {
            let mut point = blank(1, repetition, jobs);
            point.figures.operations_per_s = Some(f64::from(jobs) / length_s * self.slices_factor);
            point.histograms = recorded(length_s, 1000);
            run.points.push(point);
        }
        run
    }

    fn find(&self) -> Vec<Finding> {
        find_in(&self.run(), [&self.mock(), &self.slices()])
    }
}

fn find_in(run: &Run, [mock, slices]: [&Run; 2]) -> Vec<Finding> {
    find(&Measured {
        parameters: PARAMETERS,
        run,
        mock,
        slices,
        clocks: Ok(Clocks {
            driver_s: 100.0,
            server_s: 100.01,
            uncertainty_s: 0.001,
        }),
    })
}

fn recorded(time_s: f64, count: u64) -> Histograms {
    let mut histogram = Histogram::new();
    histogram.record_many_ns((time_s * 1e9) as u64, count);
    Histograms::of(&histogram, &histogram)
}

fn blank(step: u32, repetition: u32, jobs: u32) -> Point {
    let key = PointKey {
        repetition,
        step,
        ..PointKey::of("", jobs)
    };
    Point::blank(key, String::new(), Component::Database)
}

fn broken(findings: &[Finding]) -> Vec<Invariant> {
    let broken = findings.iter().filter(|it| it.outcome.is_broken());
    broken.map(|it| it.invariant).collect()
}

fn outcome(findings: &[Finding], invariant: Invariant) -> &Outcome {
    &findings
        .iter()
        .find(|it| it.invariant == invariant)
        .unwrap()
        .outcome
}

#[test]
fn a_right_measurement_keeps_every_invariant() {
    let findings = World::right().find();
    for finding in &findings {
        assert!(matches!(finding.outcome, Outcome::Holds(_)), "{finding:?}");
    }
    let (own_us, own_pct) = own_cost(&World::right().run()).unwrap();
    assert!((own_pct - 5.0).abs() < 1e-9, "{own_pct}");
    assert!((4.5..5.6).contains(&own_us), "{own_us}");
}

/// Each fault breaks exactly the invariants that it contradicts.
#[test]
fn every_fault_is_found() {
    let of_roles = |roles: &[Role], factor: f64| -> BTreeMap<u32, f64> {
        roles.iter().map(|role| (role.step(), factor)).collect()
    };
    let right = World::right();
    let wrong_rate = |roles: &[Role], factor: f64| World {
        rate_factor: of_roles(roles, factor),
        ..right.clone()
    };
    let wrong_time = |roles: &[Role], factor: f64| World {
        response_factor: of_roles(roles, factor),
        ..right.clone()
    };
    let users = [Role::Users, Role::LongThink, Role::HalfUsers];
    let cases: [(&str, World, &[Invariant]); 12] = [
        (
            "pauses that do not follow the parameters",
            wrong_rate(&[Role::LongThink], 1.4),
            &[Invariant::ThinkTime],
        ),
        (
            "rates of users that are half of the truth",
            wrong_rate(&users, 0.5),
            &[Invariant::ResponseTime],
        ),
        (
            "responses of users in another unit",
            wrong_time(&users, 1000.0),
            &[Invariant::ThinkTime, Invariant::ResponseTime],
        ),
        (
            "users counted twice when there are many",
            wrong_rate(&[Role::HalfUsers], 0.7),
            &[Invariant::Users],
        ),
        (
            "arrivals that are left out",
            wrong_rate(&[Role::Open], 0.8),
            &[Invariant::OfferedRate],
        ),
        (
            "a rate that drifts away",
            wrong_rate(&[Role::Second], 0.8),
            &[Invariant::HalvesRate],
        ),
        (
            "times that drift away",
            wrong_time(&[Role::Second], 1.3),
            &[Invariant::HalvesMedian],
        ),
        (
            "statements that are not carried out",
            wrong_time(&[Role::TwiceAsMany], 0.6),
            &[Invariant::Statements],
        ),
        (
            "a delay that does not show",
            wrong_time(&[Role::LongDelay], 0.7),
            &[Invariant::Delay],
        ),
        (
            "a target that drops one of 200 transactions",
            World {
                kept: 0.995,
                ..right.clone()
            },
            &[Invariant::Committed],
        ),
        (
            "a recorder that loses half",
            World {
                recorded: 0.5,
                ..right.clone()
            },
            &[Invariant::Counts, Invariant::Times],
        ),
        (
            "a clock that runs slow",
            World {
                mock_us: 190.0,
                ..right.clone()
            },
            &[Invariant::Floor],
        ),
    ];
    for (what, world, invariants) in cases {
        assert_eq!(broken(&world.find()), invariants, "{what}");
        // The second measurement has the same fault.
        let again = World {
            seed: 2,
            ..world.clone()
        };
        assert_eq!(
            broken(&confirmed(world.find(), again.find())),
            invariants,
            "{what}"
        );
    }
}

/// A point too short for its operations breaks no invariant; one with operations and an empty histogram does.
#[test]
fn empty_points_say_nothing_of_times() {
    let (mut run, mock) = (World::right().run(), World::right().mock());
    let first = &mut run.points[0];
    first.figures.operations = Some(0.0);
    first.figures.in_flight_mean = Some(0.0);
    first.histograms = Histograms::default();
    first.reasons.push(Remark::NothingCompleted);
    assert_eq!(
        broken(&find_in(&run, [&mock, &World::right().slices()])),
        []
    );
    run.points[0].figures.operations = Some(1.0);
    assert_eq!(
        broken(&find_in(&run, [&mock, &World::right().slices()])),
        [Invariant::Counts]
    );
}

#[test]
fn a_clock_that_runs_away_is_found() {
    let (run, mock) = (World::right().run(), World::right().mock());
    let of = |server_s| {
        let clocks = Clocks {
            driver_s: 100.0,
            server_s,
            uncertainty_s: 0.05,
        };
        let measured = Measured {
            parameters: PARAMETERS,
            run: &run,
            mock: &mock,
            slices: &World::right().slices(),
            clocks: Ok(clocks),
        };
        broken(&find(&measured))
    };
    assert_eq!(of(100.14), []);
    assert_eq!(of(100.16), [Invariant::Clock]);
    assert_eq!(of(99.84), [Invariant::Clock]);
}

/// With so much noise no invariant with randomness is judged, and all others still are.
#[test]
fn a_noisy_machine_is_no_broken_invariant() {
    let noisy = World {
        noise: 0.6,
        ..World::right()
    };
    let findings = noisy.find();
    assert_eq!(broken(&findings), []);
    for invariant in [
        Invariant::HalvesRate,
        Invariant::HalvesMedian,
        Invariant::Statements,
    ] {
        let outcome = outcome(&findings, invariant);
        assert!(
            matches!(outcome, Outcome::TooNoisy(_)),
            "{invariant:?} {outcome:?}"
        );
    }
    for invariant in [
        Invariant::Committed,
        Invariant::Counts,
        Invariant::ThinkTime,
    ] {
        let outcome = outcome(&findings, invariant);
        assert!(
            matches!(outcome, Outcome::Holds(_)),
            "{invariant:?} {outcome:?}"
        );
    }
}

/// Features that the target lacks are not offered; points that failed a check judge nothing; a check with a wrong sum
/// is exact.
#[test]
fn what_was_not_measured_is_not_judged() {
    let (mut run, mock) = (World::right().run(), World::right().mock());
    run.points.retain(|p| p.key.step != Role::ShortDelay.step());
    let reason = Remark::ScriptWithoutSql {
        engine: "sqlite".into(),
        transaction: "wait".into(),
    };
    run.missing.push(Missing {
        target: 0,
        test: format!("S-{}", Role::ShortDelay.script()),
        title: String::new(),
        reason: reason.clone(),
    });
    for point in &mut run.points {
        let of_first_four = point.key.repetition <= 4;
        if point.key.step == Role::Open.step() && of_first_four {
            point.reasons.push(Remark::NothingCompleted);
        }
    }
    let findings = find_in(&run, [&mock, &World::right().slices()]);
    assert_eq!(
        *outcome(&findings, Invariant::Delay),
        Outcome::NotOffered(reason.to_string())
    );
    assert_eq!(
        *outcome(&findings, Invariant::OfferedRate),
        Outcome::Invalid {
            valid: 4,
            repetitions: 8,
            reason: Remark::NothingCompleted.to_string(),
        }
    );
    let is_count = |p: &&mut Point| p.key.step == Role::Count.step();
    let last = run.points.iter_mut().rfind(is_count).unwrap();
    last.reasons.push(Remark::NothingCompleted);
    assert_eq!(
        broken(&find_in(&run, [&mock, &World::right().slices()])),
        [Invariant::Committed]
    );
}

#[test]
fn a_invariant_is_broken_when_it_is_so_twice() {
    let right = || World::right().find();
    let wrong = || {
        let halves = BTreeMap::from([(Role::Second.step(), 0.8)]);
        World {
            rate_factor: halves,
            kept: 0.9,
            ..World::right()
        }
        .find()
    };
    assert_eq!(
        broken(&confirmed(wrong(), wrong())),
        [Invariant::HalvesRate, Invariant::Committed]
    );
    for (first, second) in [(wrong(), right()), (right(), wrong())] {
        let found = confirmed(first, second);
        // A transaction that was acknowledged and lost once is lost.
        assert_eq!(broken(&found), [Invariant::Committed]);
        let halves = outcome(&found, Invariant::HalvesRate);
        assert!(matches!(halves, Outcome::BrokenOnce(_)), "{halves:?}");
    }
}

fn pairs(ratios: &[f64]) -> Vec<Pair> {
    let pair = |seen: &f64| Pair {
        expected: 1.0,
        seen: *seen,
    };
    ratios.iter().map(pair).collect()
}

/// t(0.9995, 4) = 8.610; the mean and the standard deviation of the logarithms are 0.029_46 and 0.015_35.
#[test]
fn the_interval_is_the_golden_one() {
    let Outcome::Holds(seen) = agrees(&pairs(&[1.01, 1.02, 1.03, 1.04, 1.05]), Bound::Both) else {
        panic!("0.97 to 1.09 holds 1");
    };
    assert!((seen.seen - 1.029_9).abs() < 1e-4, "{seen:?}");
    assert!((seen.low - 0.970_8).abs() < 2e-4, "{seen:?}");
    assert!((seen.high - 1.092_6).abs() < 2e-4, "{seen:?}");
}

/// Zero is no figure; more than allowed is as wrong as less, unless less is allowed; counts are exact.
#[test]
fn a_bound_holds_on_its_sides() {
    assert!(agrees(&pairs(&[1.0, 0.0, 1.0, 1.0, 1.0]), Bound::Both).is_broken());
    assert!(agrees(&pairs(&[f64::NAN; 5]), Bound::AtMost).is_broken());
    assert!(agrees(&pairs(&[0.5; 5]), Bound::Both).is_broken());
    assert!(!agrees(&pairs(&[0.5; 5]), Bound::AtMost).is_broken());
    assert!(agrees(&pairs(&[1.5; 5]), Bound::AtMost).is_broken());
    assert!(!equals(&pairs(&[1.0; 3])).is_broken());
    assert!(equals(&pairs(&[1.0, 1.0, 1.0 + 1e-9])).is_broken());
}

/// In this simulation a true invariant is called broken in one of a thousand, with any scatter, and less with heavy tails.
/// 10,000 checks of 8 pairs would exceed 24 by chance once in 20,000.
#[test]
fn a_true_invariant_is_rarely_called_broken() {
    for (scatter, tails) in [(0.05, false), (0.3, false), (0.1, true)] {
        let mut random = Random::new(7);
        let mut alarms = 0;
        for _ in 0..10_000 {
            let ratios: Vec<f64> = (0..8)
                .map(|_| {
                    let stretch = if tails && random.below(10) == 0 {
                        5.0
                    } else {
                        1.0
                    };
                    (scatter * stretch * random.normal()).exp()
                })
                .collect();
            alarms += u32::from(agrees(&pairs(&ratios), Bound::Both).is_broken());
        }
        assert!(
            f64::from(alarms) <= 24e3 * ERROR,
            "{scatter} {tails}: {alarms}"
        );
    }
}

/// In this simulation a figure that is half of the truth never passes, whatever the noise.
#[test]
fn what_is_wrong_by_half_never_holds() {
    for scatter in [0.01, 0.1, 0.2, 0.5] {
        let mut random = Random::new(9);
        for _ in 0..1_000 {
            let ratios: Vec<f64> = (0..8)
                .map(|_| 0.5 * (scatter * random.normal()).exp())
                .collect();
            let outcome = agrees(&pairs(&ratios), Bound::Both);
            assert!(!matches!(outcome, Outcome::Holds(_)), "{outcome:?}");
        }
    }
}
