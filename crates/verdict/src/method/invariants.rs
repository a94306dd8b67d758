//! The invariants: each as an expected and an observed figure of the points of one repetition.

use archive::Point;

use super::judge::Pair;
use super::roles::{Parameters, Role};

pub(super) struct Round<'a> {
    pub points: Vec<&'a Point>,
    pub parameters: &'a Parameters,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lack {
    Absent(Role),
    Invalid(String),
}

pub(super) type Found = Result<Pair, Lack>;

fn pair(expected: f64, seen: f64) -> Found {
    Ok(Pair { expected, seen })
}

/// Figures of a point, in seconds.
pub(super) struct Load {
    rate_per_s: f64,
    jobs: f64,
    response_s: f64,
    median_s: f64,
    service_s: f64,
}

/// The first reason why a point is invalid.
fn refuse_invalid(point: &Point) -> Result<(), Lack> {
    let reason = point.reasons.first();
    reason.map_or(Ok(()), |reason| Err(Lack::Invalid(reason.to_string())))
}

impl Load {
    fn of_valid(point: &Point) -> Result<Self, Lack> {
        refuse_invalid(point)?;
        Self::of(point).ok_or_else(|| Lack::Invalid("a figure is missing".into()))
    }

    fn of(point: &Point) -> Option<Self> {
        let (service, response) = (&point.histograms.service, &point.histograms.response);
        Some(Self {
            rate_per_s: point.figures.operations_per_s?,
            jobs: f64::from(point.key.jobs),
            response_s: response.mean_us() / 1e6,
            median_s: response.percentile_us(50.0) / 1e6,
            service_s: service.mean_us() / 1e6,
        })
    }

    /// Sessions without think time, and the number that rate and service time place in the target.
    fn sessions(&self) -> Pair {
        Pair {
            expected: self.jobs,
            seen: self.rate_per_s * self.service_s,
        }
    }
}

impl Round<'_> {
    fn point(&self, role: Role) -> Result<&Point, Lack> {
        let point = self.points.iter().find(|p| p.key.step == role.step());
        point.copied().ok_or(Lack::Absent(role))
    }

    fn load(&self, role: Role) -> Result<Load, Lack> {
        Load::of_valid(self.point(role)?)
    }

    fn think_s(&self) -> f64 {
        self.parameters.think_ms / 1e3
    }
}

pub(super) fn think_time(round: &Round<'_>) -> Found {
    let (short, long) = (round.load(Role::Users)?, round.load(Role::LongThink)?);
    pair(
        (2.0 * round.think_s() + long.response_s) / (round.think_s() + short.response_s),
        short.rate_per_s / long.rate_per_s,
    )
}

pub(super) fn response_time(round: &Round<'_>) -> Found {
    let users = round.load(Role::Users)?;
    pair(
        users.jobs,
        users.rate_per_s * (users.response_s + round.think_s()),
    )
}

/// The users have think time, so that a processor that wakes up faster under load does not look like more than twice
/// the rate.
pub(super) fn users(round: &Round<'_>) -> Found {
    let (all, half) = (round.load(Role::Users)?, round.load(Role::HalfUsers)?);
    pair(
        2.0 * (1.0 + half.response_s / round.think_s()),
        all.rate_per_s / half.rate_per_s,
    )
}

pub(super) fn offered_rate(round: &Round<'_>) -> Found {
    let open = round.load(Role::Open)?;
    pair(round.parameters.rate_per_s(), open.rate_per_s)
}

pub(super) fn halves_rate(round: &Round<'_>) -> Found {
    let (first, second) = (round.load(Role::First)?, round.load(Role::Second)?);
    pair(first.rate_per_s, second.rate_per_s)
}

pub(super) fn halves_median(round: &Round<'_>) -> Found {
    let (first, second) = (round.load(Role::First)?, round.load(Role::Second)?);
    pair(first.median_s * 1e6, second.median_s * 1e6)
}

/// T(n) = c + n·s: one statement and n of them give c and s, and these the transaction of 2n.
pub(super) fn statements(round: &Round<'_>) -> Found {
    let ms = |role| Ok(round.load(role)?.service_s * 1e3);
    let (one, many, twice) = (ms(Role::One)?, ms(Role::Many)?, ms(Role::TwiceAsMany)?);
    let n = f64::from(Parameters::STATEMENTS);
    pair(many + (many - one) * n / (n - 1.0), twice)
}

/// The difference of two delays excludes the lateness of the server's timer, which is in both.
pub(super) fn delay(round: &Round<'_>) -> Found {
    let ms = |role| Ok(round.load(role)?.service_s * 1e3);
    let [short, long] = Parameters::DELAYS_MS;
    pair(long - short, ms(Role::LongDelay)? - ms(Role::ShortDelay)?)
}

/// The statements always take the same time, so they run in phase with counters.
pub(super) fn waits(round: &Round<'_>) -> Found {
    let delay = round.load(Role::ShortDelay)?;
    Ok(delay.sessions())
}

pub(super) fn slices(point: &Point) -> Found {
    Ok(Load::of_valid(point)?.sessions())
}

/// Transactions that the driver counted, and the rows that were added to `before`, whatever else is wrong with the
/// points.
pub(super) fn committed(round: &Round<'_>, before: &mut f64) -> Found {
    let (commit, count) = (round.point(Role::Commit)?, round.point(Role::Count)?);
    let rows = count.figures.rows.unwrap_or_default() - Parameters::ROWS_BESIDE;
    let came = rows - std::mem::replace(before, rows);
    Ok(Pair {
        expected: commit.figures.operations.unwrap_or_default(),
        // A check that found a wrong sum is an operation that failed.
        seen: if count.reasons.is_empty() {
            came
        } else {
            f64::NAN
        },
    })
}

/// Operations against the counts of their histogram, of every point without a failed operation.
pub(super) fn counts(point: &Point) -> Option<Pair> {
    let service = counted(point)?;
    Some(Pair {
        expected: point.figures.operations?,
        seen: service as f64,
    })
}

/// Σ service times by the sessions, in seconds, against the sum by the histogram, unless that is empty.
pub(super) fn times(point: &Point) -> Option<Pair> {
    let count = counted(point).filter(|count| *count > 0)? as f64;
    Some(Pair {
        expected: point.figures.in_flight_mean? * point.figures.elapsed_s?,
        seen: point.histograms.service.mean_us() / 1e6 * count,
    })
}

fn counted(point: &Point) -> Option<u64> {
    let has_failures = point.figures.errors.is_none_or(|errors| errors > 0.0);
    (!has_failures).then(|| point.histograms.service.count())
}

/// Median service time of a statement of `mock:`, in microseconds.
pub(super) fn floor(point: &Point) -> Found {
    refuse_invalid(point)?;
    pair(
        Parameters::MOCK_US,
        point.histograms.service.percentile_us(50.0),
    )
}
