//! Forecast of a comparison before the run: the chance of every verdict, and the repetitions that it takes.

use crate::distribution::normal_quantile;
use crate::random::Random;
use crate::ratio;
use crate::verdict::{Band, Design, Direction, Verdict, judge};
use crate::warning::Warning;

pub const REPETITIONS_MAX: usize = 1_000;
/// Chance of a verdict for which repetitions are advised.
pub const POWER: f64 = 0.8;
/// Comparisons that a forecast simulates: its standard error is 1.1 percentage points at most.
const TRIALS: u32 = 2_000;
/// The same for more than a hundred repetitions, where each costs up to a million differences: ± 3.5.
const TRIALS_OF_MANY: u32 = 200;
/// Repetitions up to which advice is checked by simulation; beyond, the formula is good to a few percent.
const SIMULATED_MAX: usize = 40;
/// Ranks are worth this much of the precision of means under normal noise: 3/π (Hodges & Lehmann 1963).
const EFFICIENCY: f64 = 0.955;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    pub design: Design,
    pub band: Band,
    pub confidence: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chances {
    pub above: f64,
    pub below: f64,
    pub equivalent: f64,
    pub inconclusive: f64,
}

/// Repetitions (a side) or pairs that are needed beyond those at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Further {
    More(usize),
    /// Even [`REPETITIONS_MAX`] would not decide it: the ratio lies at the edge of the band, or the noise
    /// is too large.
    Undecidable,
}

/// Chances of the four outcomes for `n` pairs, or `n` repetitions a side, when the true ratio is `ratio`.
///
/// Method: 2000 simulated comparisons (200 for n > 100) with normal noise on the logarithmic scale, decided by the very
/// interval that will be used. `sd_log` is the spread of the pairs' ratios, or of one side's values.
/// Limits: n ≤ [`REPETITIONS_MAX`]; heavy-tailed noise of the same spread decides more often at six
/// pairs and up to 5 points less often at ten, but not more falsely. Golden: six pairs with a spread of 1 % find a true effect of 5 % at a band of 2 %
/// in about 99 % of cases; five pairs are always inconclusive.
pub fn chances(
    plan: &Plan,
    n: usize,
    sd_log: f64,
    ratio: f64,
    seed: u64,
) -> Result<Chances, Warning> {
    checked(plan, sd_log, ratio)?;
    if n > REPETITIONS_MAX {
        return Err(Warning::too_many(n, REPETITIONS_MAX));
    }
    let trials = if n <= 100 { TRIALS } else { TRIALS_OF_MANY };
    let mut counts = [0_u32; 4];
    match depth(plan, n) {
        Some(depth) => {
            let mut random = Random::new(seed);
            for _ in 0..trials {
                let verdict = outcome(plan, n, depth, sd_log, ratio.ln(), &mut random);
                counts[verdict as usize] += 1;
            }
        }
        None => counts[Verdict::Inconclusive as usize] = trials,
    }
    let share = |verdict: Verdict| f64::from(counts[verdict as usize]) / f64::from(trials);
    Ok(Chances {
        above: share(Verdict::Better),
        below: share(Verdict::Worse),
        equivalent: share(Verdict::Equivalent),
        inconclusive: share(Verdict::Inconclusive),
    })
}

fn depth(plan: &Plan, n: usize) -> Option<ratio::Depth> {
    let tail = (1.0 - plan.confidence) / 2.0;
    match plan.design {
        Design::PairedInstances | Design::Sequential { trusted: false } => None,
        Design::Paired => ratio::signed_rank_depth(n, tail),
        Design::Interleaved | Design::Sequential { .. } => ratio::mann_whitney_depth(n, n, tail),
    }
}

fn outcome(
    plan: &Plan,
    n: usize,
    depth: ratio::Depth,
    sd: f64,
    shift: f64,
    random: &mut Random,
) -> Verdict {
    let mut side =
        |shift: f64| -> Vec<f64> { (0..n).map(|_| shift + sd * random.normal()).collect() };
    let b = side(shift);
    let found = match plan.design {
        Design::Paired | Design::PairedInstances => ratio::walsh_between(&b, depth),
        Design::Interleaved | Design::Sequential { .. } => {
            ratio::shift_between(&side(0.0), &b, depth)
        }
    };
    found.map_or(Verdict::Inconclusive, |found| {
        judge(&found.map(f64::exp), plan.band, Direction::HigherIsBetter)
    })
}

/// Pairs, or repetitions a side, that find the right verdict with a chance of [`POWER`] when the true ratio
/// is `ratio` (1: that they find the two equivalent). `None` when more than [`REPETITIONS_MAX`].
///
/// Formula: with Δ the distance of |ln ratio| from the edge of the band (for a ratio beyond it, of the noise, if that is
/// larger), n = k·s²(z_{1−α/2} + z_{power})²/(0.955·Δ²),
/// k = 1 for pairs and 2 for sides, plus z²_{1−α/2}/(2k) for small n (Guenther 1981); for a ratio within the band both
/// ends must hold, so z_{1−(1−power)/2} at its middle. Up to 40 the answer is then checked by [`chances`] and
/// corrected. Limits: normal noise of known spread. A spread from few repetitions is itself unsure:
/// give [`spread_upper`]. Golden: 5 % at a band of 2 % with a spread of 2 % takes 7 pairs.
pub fn repetitions(plan: &Plan, sd_log: f64, ratio: f64) -> Result<Option<usize>, Warning> {
    checked(plan, sd_log, ratio)?;
    if !plan.design.decides() {
        return Ok(None);
    }
    let Some(estimate) = by_formula(plan, sd_log, ratio) else {
        return Ok(None);
    };
    if estimate > SIMULATED_MAX {
        return Ok(Some(estimate));
    }
    let enough = |n: usize| -> Result<bool, Warning> {
        let chances = chances(plan, n, sd_log, ratio, 0)?;
        Ok(1.0 - chances.inconclusive >= POWER)
    };
    let mut n = estimate;
    while n > fewest(plan) && enough(n - 1)? {
        n -= 1;
    }
    while n < 2 * SIMULATED_MAX && !enough(n)? {
        n += 1;
    }
    Ok(Some(n))
}

fn by_formula(plan: &Plan, sd_log: f64, ratio: f64) -> Option<usize> {
    let (edge, effect) = (plan.band.equivalence.ln_1p(), ratio.ln().abs());
    let distance = if effect > edge {
        effect - plan.band.effect().ln_1p()
    } else {
        edge - effect
    };
    if distance <= 0.0 {
        return None;
    }
    // Within the band either end may spoil it; only the nearer one counts when they differ.
    let power = if effect < edge / 4.0 {
        f64::midpoint(1.0, POWER)
    } else {
        POWER
    };
    let sides = sides(plan);
    let z = normal_quantile(f64::midpoint(1.0, plan.confidence));
    let relative = sd_log * (z + normal_quantile(power)) / distance;
    let n = sides * relative * relative / EFFICIENCY + z * z / (2.0 * sides);
    let is_possible = n.is_finite() && n <= REPETITIONS_MAX as f64;
    is_possible.then(|| (n.ceil() as usize).max(fewest(plan)))
}

/// The least effect, as a share, that `n` pairs, or `n` repetitions a side, find with a chance of [`POWER`]; `None` when they
/// are too few for any verdict.
///
/// Formula: that of [`repetitions`] solved for the effect: e^(Δ + ln(1 + e₀)) − 1 with Δ = s·(z_{1−α/2} + z_{power}) /
/// √(0.955·(n − z²_{1−α/2}/(2k))/k), e₀ the edge of the band or the noise. Limits: those of [`repetitions`]. Golden: ten
/// pairs with a spread of 2 % find 4.1 % beyond a band of 2 %.
pub fn least_effect(plan: &Plan, sd_log: f64, n: usize) -> Option<f64> {
    checked(plan, sd_log, 1.0).ok()?;
    if !plan.design.decides() || n < fewest(plan) {
        return None;
    }
    let sides = sides(plan);
    let z = normal_quantile(f64::midpoint(1.0, plan.confidence));
    let counted = (n as f64 - z * z / (2.0 * sides)) * EFFICIENCY / sides;
    let distance = sd_log * (z + normal_quantile(POWER)) / counted.sqrt();
    let effect = (distance + plan.band.effect().ln_1p()).exp_m1();
    (counted > 0.0 && effect.is_finite()).then_some(effect)
}

fn sides(plan: &Plan) -> f64 {
    match plan.design {
        Design::Paired | Design::PairedInstances => 1.0,
        Design::Interleaved | Design::Sequential { .. } => 2.0,
    }
}

/// How many more repetitions an inconclusive comparison needs, if the ratio that was found is the true one.
///
/// Formula: as [`repetitions`], without the check by simulation. Limits: the ratio and spread that were found are
/// unsure themselves; take it as an order of magnitude, and start a new study rather than adding repetitions until
/// the verdict pleases: an analysis after each one raises the rate of false verdicts.
pub(crate) fn further(plan: &Plan, n: usize, sd_log: f64, ratio: f64) -> Further {
    match by_formula(plan, sd_log, ratio) {
        // It was inconclusive with `n`, so at least one more is needed, whatever the formula says.
        Some(need) => Further::More(need.saturating_sub(n).max(1)),
        None => Further::Undecidable,
    }
}

/// Upper bound of the spread of the logarithms when `n` values showed `sd_log`; the true spread exceeds it with a
/// chance of 20 %. A plan with it holds in four of five cases.
///
/// Formula: sd·√((n − 1)/χ²_{0.2; n−1}), χ² by Wilson & Hilferty 1931. Source: Browne 1995. Limits: two values
/// at least; normal noise. Golden: for ten values it is 1.29·sd.
pub fn spread_upper(sd_log: f64, n: usize) -> Result<f64, Warning> {
    if n < 2 {
        return Err(Warning::TooFew { have: n, need: 2 });
    }
    let freedom = (n - 1) as f64;
    let part = 2.0 / (9.0 * freedom);
    let chi_square = freedom * (1.0 - part + normal_quantile(1.0 - POWER) * part.sqrt()).powi(3);
    // With one degree of freedom the approximation is coarse but stays above 0.
    Ok(sd_log * (freedom / chi_square.max(0.01)).sqrt())
}

fn fewest(plan: &Plan) -> usize {
    match plan.design {
        Design::Paired | Design::PairedInstances => ratio::fewest_pairs(plan.confidence),
        Design::Interleaved | Design::Sequential { .. } => ratio::fewest_a_side(plan.confidence),
    }
}

fn checked(plan: &Plan, sd_log: f64, ratio: f64) -> Result<(), Warning> {
    crate::interval::share("confidence", plan.confidence)?;
    plan.band.checked()?;
    if !(sd_log.is_finite() && sd_log >= 0.0 && ratio.is_finite()) {
        return Err(Warning::NotFinite { dropped: 1 });
    }
    if ratio <= 0.0 {
        return Err(Warning::NotPositive { count: 1 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: Plan = Plan {
        design: Design::Paired,
        band: Band::of(0.02),
        confidence: 0.95,
    };
    const SIDES: Plan = Plan {
        design: Design::Interleaved,
        ..PAIRS
    };

    #[test]
    fn golden_chances() {
        let six = chances(&PAIRS, 6, 0.01, 1.05, 1).unwrap();
        assert!(six.above > 0.97 && six.below == 0.0, "{six:?}");
        let sum = six.above + six.below + six.equivalent + six.inconclusive;
        assert!((sum - 1.0).abs() < 1e-12);
        assert_eq!(chances(&PAIRS, 5, 0.01, 1.05, 1).unwrap().inconclusive, 1.0);
        assert_eq!(chances(&SIDES, 4, 0.0, 1.0, 1).unwrap().equivalent, 1.0);
    }

    #[test]
    fn golden_repetitions() {
        assert_eq!(repetitions(&PAIRS, 0.02, 1.05), Ok(Some(7)));
        assert_eq!(repetitions(&PAIRS, 0.0, 1.05), Ok(Some(6)));
        assert_eq!(repetitions(&PAIRS, 0.02, 1.02), Ok(None));
        assert_eq!(repetitions(&PAIRS, 5.0, 1.05), Ok(None));
    }

    #[test]
    fn what_is_advised_suffices() {
        for plan in [PAIRS, SIDES] {
            for (sd, ratio) in [
                (0.01, 1.05),
                (0.03, 0.95),
                (0.05, 1.10),
                (0.06, 1.05),
                (0.01, 1.0),
                (0.02, 1.0),
            ] {
                let n = repetitions(&plan, sd, ratio).unwrap().unwrap();
                let decided = 1.0 - chances(&plan, n, sd, ratio, 99).unwrap().inconclusive;
                // Two standard errors of two simulations below the promise.
                assert!(
                    decided > POWER - 0.03,
                    "{plan:?} {sd} {ratio}: {n} give {decided}"
                );
                let half = 1.0 - chances(&plan, n / 2, sd, ratio, 99).unwrap().inconclusive;
                assert!(half < POWER, "{plan:?} {sd} {ratio}: half of {n} would do");
            }
        }
    }

    #[test]
    fn what_is_said_to_be_found_is() {
        let ten = least_effect(&PAIRS, 0.02, 10).unwrap();
        assert!((ten - 0.0408).abs() < 0.0005, "{ten}");
        assert_eq!(
            (least_effect(&PAIRS, 0.02, 5), least_effect(&SIDES, 0.02, 3)),
            (None, None)
        );
        for plan in [PAIRS, SIDES] {
            for (sd, n) in [(0.01, 8), (0.02, 10), (0.05, 12), (0.03, 30)] {
                let effect = least_effect(&plan, sd, n).unwrap();
                let found = chances(&plan, n, sd, 1.0 + effect, 7).unwrap().above;
                assert!(
                    (found - POWER).abs() < 0.08,
                    "{plan:?} {sd} {n}: {effect} in {found}"
                );
            }
        }
    }

    #[test]
    fn golden_spread() {
        // χ²₀.₂ with 9 degrees is 5.380, so √(9/5.380) = 1.293.
        assert!((spread_upper(1.0, 10).unwrap() - 1.293).abs() < 0.002);
        assert!(spread_upper(1.0, 2).unwrap() > 3.0 && spread_upper(1.0, 1).is_err());
    }

    #[test]
    fn odd_plans_are_refused() {
        assert!(chances(&PAIRS, 6, f64::NAN, 1.0, 1).is_err());
        assert!(chances(&PAIRS, 6, 0.1, 0.0, 1).is_err());
        assert!(
            repetitions(
                &Plan {
                    band: Band::of(2.0),
                    ..PAIRS
                },
                0.1,
                1.0
            )
            .is_err()
        );
        assert!(chances(&PAIRS, 1001, 0.1, 1.0, 1).is_err());
    }
}
