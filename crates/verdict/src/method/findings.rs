//! Findings about every invariant from the runs that were measured for it.

use archive::{Point, Run};
use stats::summary::median;

use super::invariants::{self, Found, Lack, Round};
use super::judge::{Bound, Outcome, Pair, REPETITIONS_MIN, Reading, agrees, equals};
use super::roles::{Parameters, Role};
use super::{Finding, Invariant};

/// Largest error of a clock that is being adjusted (adjtimex: 500 parts in a million), plus as much for the other
/// one.
const CLOCK_SLEW: f64 = 0.001;

/// The same time by the clocks of driver and server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clocks {
    pub driver_s: f64,
    pub server_s: f64,
    /// Uncertainty of the readings of the server's clock.
    pub uncertainty_s: f64,
}

pub struct Measured<'a> {
    pub parameters: Parameters,
    /// Every [`Role`] on the target, in every repetition.
    pub run: &'a Run,
    /// A statement of [`Parameters::MOCK_US`] on `mock:`.
    pub mock: &'a Run,
    /// Statements of [`Parameters::SLICES_US`] there by [`Parameters::SLICES_JOBS`], in slices of
    /// [`Parameters::SLICE`].
    pub slices: &'a Run,
    /// The clocks, or the reason why the server's is not read.
    pub clocks: Result<Clocks, String>,
}

pub fn find(measured: &Measured<'_>) -> Vec<Finding> {
    let outcome = |invariant| measured.outcome(invariant);
    let finding = |invariant| Finding {
        invariant,
        outcome: outcome(invariant),
    };
    Invariant::ALL.into_iter().map(finding).collect()
}

/// Findings after a second measurement: an invariant with randomness is broken only if it is broken twice.
pub fn confirmed(first: Vec<Finding>, second: Vec<Finding>) -> Vec<Finding> {
    let both = first.into_iter().zip(second);
    let confirmed = both.map(|(first, second)| {
        let invariant = first.invariant;
        let outcome = match (first.outcome, second.outcome) {
            (broken @ Outcome::Broken(_), _) | (_, broken @ Outcome::Broken(_))
                if invariant.is_exact() =>
            {
                broken
            }
            (Outcome::Broken(_), broken @ Outcome::Broken(_)) => broken,
            (Outcome::Broken(seen), _) | (_, Outcome::Broken(seen)) => Outcome::BrokenOnce(seen),
            (first @ Outcome::Holds(_), _) => first,
            (_, second) => second,
        };
        Finding { invariant, outcome }
    });
    confirmed.collect()
}

/// The driver's own processor time in microseconds per operation, and its share, in percent, of the time from one
/// empty statement to the next; medians over the repetitions.
pub fn own_cost(run: &Run) -> Option<(f64, f64)> {
    let idle = run
        .points
        .iter()
        .filter(|p| p.key.step == Role::Idle.step());
    let costs = idle.filter_map(|point| {
        let figures = &point.figures;
        let cycle_us = 1e6 / figures.operations_per_s.filter(|n| *n > 0.0)?;
        Some((cycle_us, figures.driver_cpu_pct? / 100.0 * cycle_us))
    });
    let (cycles, owns): (Vec<f64>, Vec<f64>) = costs.unzip();
    let own_us = median(&owns)?;
    Some((own_us, own_us / median(&cycles)? * 100.0))
}

impl Measured<'_> {
    fn outcome(&self, invariant: Invariant) -> Outcome {
        match invariant {
            Invariant::ThinkTime => self.by_repetition(Bound::Both, invariants::think_time),
            Invariant::ResponseTime => self.by_repetition(Bound::Both, invariants::response_time),
            Invariant::Users => self.by_repetition(Bound::AtMost, invariants::users),
            Invariant::OfferedRate => self.by_repetition(Bound::Both, invariants::offered_rate),
            Invariant::HalvesRate => self.by_repetition(Bound::Both, invariants::halves_rate),
            Invariant::HalvesMedian => self.by_repetition(Bound::Both, invariants::halves_median),
            Invariant::Statements => self.by_repetition(Bound::Both, invariants::statements),
            Invariant::Delay => self.by_repetition(Bound::Both, invariants::delay),
            Invariant::Waits => self.by_repetition(Bound::Both, invariants::waits),
            Invariant::Committed => self.committed(),
            Invariant::Counts => self.of_every_point(invariants::counts, equals),
            Invariant::Times => {
                self.of_every_point(invariants::times, |pairs| agrees(pairs, Bound::Both))
            }
            Invariant::Floor => {
                let points = self.mock.points.iter();
                self.judged(points.map(invariants::floor).collect(), Bound::Both)
            }
            Invariant::Slices => {
                let points = self.slices.points.iter();
                self.judged(points.map(invariants::slices).collect(), Bound::Both)
            }
            Invariant::Clock => match &self.clocks {
                Ok(clocks) => clocks.outcome(),
                Err(why) => Outcome::NotOffered(why.clone()),
            },
        }
    }

    fn rounds(&self) -> impl Iterator<Item = Round<'_>> {
        (1..=self.parameters.repetitions).map(|repetition| {
            let points = self.run.points.iter();
            Round {
                points: (points.filter(|p| p.key.repetition == repetition)).collect(),
                parameters: &self.parameters,
            }
        })
    }

    fn by_repetition(&self, bound: Bound, invariant: fn(&Round<'_>) -> Found) -> Outcome {
        self.judged(
            self.rounds().map(|round| invariant(&round)).collect(),
            bound,
        )
    }

    fn judged(&self, found: Vec<Found>, bound: Bound) -> Outcome {
        let repetitions = found.len();
        let (mut pairs, mut reason) = (Vec::new(), String::new());
        for found in found {
            match found {
                Ok(pair) => pairs.push(pair),
                Err(Lack::Absent(role)) => return self.not_offered(role),
                Err(Lack::Invalid(why)) if reason.is_empty() => reason = why,
                Err(Lack::Invalid(_)) => {}
            }
        }
        match pairs.len() {
            valid if valid < REPETITIONS_MIN => Outcome::Invalid {
                valid,
                repetitions,
                reason,
            },
            _ => agrees(&pairs, bound),
        }
    }

    fn not_offered(&self, role: Role) -> Outcome {
        let is_its = |test: &str| test.strip_prefix("S-") == Some(role.script());
        let missing = self.run.missing.iter().find(|it| is_its(&it.test));
        Outcome::NotOffered(missing.map_or_else(String::new, |it| it.reason.to_string()))
    }

    fn committed(&self) -> Outcome {
        let mut before = 0.0;
        let pairs = self
            .rounds()
            .map(|round| invariants::committed(&round, &mut before));
        match pairs.collect::<Result<Vec<Pair>, Lack>>() {
            Ok(pairs) => equals(&pairs),
            Err(Lack::Absent(role)) => self.not_offered(role),
            Err(Lack::Invalid(reason)) => Outcome::Invalid {
                valid: 0,
                repetitions: self.parameters.repetitions as usize,
                reason,
            },
        }
    }

    fn of_every_point(
        &self,
        pair: fn(&Point) -> Option<Pair>,
        judge: impl Fn(&[Pair]) -> Outcome,
    ) -> Outcome {
        let points = self.run.points.iter().chain(&self.mock.points);
        let pairs: Vec<Pair> = points.filter_map(pair).collect();
        match pairs.len() {
            valid if valid < REPETITIONS_MIN => Outcome::Invalid {
                valid,
                repetitions: self.run.points.len(),
                reason: String::new(),
            },
            _ => judge(&pairs),
        }
    }
}

impl Clocks {
    fn outcome(&self) -> Outcome {
        let bound_s = self.uncertainty_s + CLOCK_SLEW * self.driver_s;
        let seen = Reading {
            expected: self.driver_s,
            seen: self.server_s,
            low: self.server_s - self.uncertainty_s,
            high: self.server_s + self.uncertainty_s,
        };
        if (self.server_s - self.driver_s).abs() <= bound_s {
            Outcome::Holds(seen)
        } else {
            Outcome::Broken(seen)
        }
    }
}
