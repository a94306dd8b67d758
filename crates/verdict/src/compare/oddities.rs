//! Properties of a study's pairs apart from their ratio: an order that matters, a drift of the ratio or the machine,
//! an outlier.

use serde::Serialize;
use stats::Warning;
use stats::rank::{RankTest, mann_whitney, signed_rank, trend};
use stats::ratio::unpaired;
use stats::summary::median;

use super::Pair;

/// Number of kinds of oddities.
const KINDS: f64 = 5.0;
/// Confidence of an interval of which only the middle is used.
const MIDDLE: f64 = 0.5;
/// Distance of an outlier from the median, in medians of all such distances. At few pairs, an isolated one exceeds it
/// in 1 % of studies even if noise has the heavy tails of Student's t with 3 degrees.
const FAR: f64 = 25.0;
/// … of n pairs n^(1/3) times this, because the farthest of many is farther out.
const FAR_OF_MANY: f64 = 8.0;
/// Smallest number of pairs in which one can be an outlier.
const PAIRS_MIN: usize = 6;

/// Something odd about the pairs of a metric. The verdict holds all the same, unless it says otherwise, because the order in each
/// pair was drawn; but the study measured something else as well.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Oddity {
    /// The order within a pair matters equally for both sides: a block, or slice, affects the next one.
    Order {
        second_to_first: f64,
        /// Probability of such a difference by chance.
        p: f64,
    },
    /// A affects B differently than B affects A: half of the difference is in the ratio.
    CarryOver {
        /// Both sides if A was first, divided by both if B was.
        a_first_to_b_first: f64,
        p: f64,
    },
    /// The ratio of the later pairs differs from that of the earlier ones.
    Moved {
        early: f64,
        late: f64,
        p: f64,
    },
    /// Both sides rose or fell together from pair to pair.
    Drifted {
        late_to_early: f64,
        p: f64,
    },
    Outlier {
        pair: u32,
        ratio: f64,
        others: f64,
    },
}

impl Oddity {
    pub fn code(&self) -> &'static str {
        match self {
            Oddity::Order { .. } => "order",
            Oddity::CarryOver { .. } => "carry_over",
            Oddity::Moved { .. } => "moved",
            Oddity::Drifted { .. } => "drifted",
            Oddity::Outlier { .. } => "outlier",
        }
    }
}

/// Oddities of pairs, with false alarms in at most `false_alarm` / 5 of studies for each kind.
///
/// Method: for a pair d = ln(b/a) and s = ln(ab)/2. In blocks, pairs with A first have d = δ + second/first, those
/// with B first δ − second/first, and their s differ by half of A's effect on B minus B's effect on A; both are
/// tested by Mann and Whitney's exact test. In slices each pair has both orders, and their difference is tested by
/// Wilcoxon's signed ranks. The d of the two halves of the study are compared by Mann and Whitney's test, and s in
/// order is tested by Kendall's. An outlier is farther from the median of d than max(25, 8·n^⅓) ·
/// (0.01·5/`false_alarm`)^⅓ medians of these distances (simulated for heavy tails, t with 3 degrees; the tail falls
/// with the third power), and twice as far as any other: two of them are not one failed pair. Source: the tests of
/// period and carry-over in cross-over trials, Hills & Armitage 1979. Limits: five pairs of each group at 1 %, eight
/// pairs in slices. A slow drift is reported by the test of s more often than independent noise, as intended.
pub fn oddities(pairs: &[Pair], false_alarm: f64) -> Vec<Oddity> {
    let each = false_alarm / KINDS;
    let logs: Vec<f64> = pairs.iter().map(|pair| pair.ratio().ln()).collect();
    let levels: Vec<f64> = pairs.iter().map(level).collect();
    let mut found: Vec<Oddity> = if pairs.iter().all(|pair| pair.by_order.is_some()) {
        of_slices(pairs, each)
    } else {
        of_blocks(pairs, &logs, &levels, each)
    };
    let halves = |values: &[f64]| -> Option<(f64, f64)> {
        let (early, late) = values.split_at(values.len() / 2);
        Some((median(early)?.exp(), median(late)?.exp()))
    };
    let p_of = |test: Result<RankTest, Warning>| test.ok().map(|test| test.p).filter(|p| *p < each);
    let (early, late) = logs.split_at(logs.len() / 2);
    if let (Some(p), Some((early, late))) = (p_of(mann_whitney(early, late)), halves(&logs)) {
        found.push(Oddity::Moved { early, late, p });
    }
    if let (Some(p), Some((early, late))) = (p_of(trend(&levels)), halves(&levels)) {
        let late_to_early = late / early;
        found.push(Oddity::Drifted { late_to_early, p });
    }
    found.extend(outlier(pairs, &logs, each));
    found
}

fn level(pair: &Pair) -> f64 {
    f64::midpoint(pair.figures[0].ln(), pair.figures[1].ln())
}

fn of_blocks(pairs: &[Pair], logs: &[f64], levels: &[f64], each: f64) -> Vec<Oddity> {
    if pairs.iter().any(|pair| pair.by_order.is_some()) {
        return Vec::new();
    }
    // Ratio of values with A first to those with B first, and its probability by chance.
    let difference = |values: &[f64]| -> Option<(f64, f64)> {
        let of = |is_a_first: bool| -> Vec<f64> {
            (pairs.iter().zip(values))
                .filter(|(pair, _)| pair.is_a_first == is_a_first)
                .map(|(_, value)| *value)
                .collect()
        };
        let (a_first, b_first) = (of(true), of(false));
        let p = mann_whitney(&a_first, &b_first).ok()?.p;
        let exp = |side: &[f64]| side.iter().map(|v| v.exp()).collect::<Vec<_>>();
        let ratio = unpaired(&exp(&b_first), &exp(&a_first), MIDDLE).ok()?;
        (p < each).then_some((ratio.interval.estimate, p))
    };
    differing(difference(logs), difference(levels))
}

fn of_slices(pairs: &[Pair], each: f64) -> Vec<Oddity> {
    let difference = |of: fn(&super::ByOrder) -> [f64; 2]| -> Option<(f64, f64)> {
        let orders = pairs.iter().filter_map(|pair| pair.by_order.as_ref());
        let logs: Vec<f64> = orders
            .map(of)
            .map(|[a_first, b_first]| a_first.ln() - b_first.ln())
            .collect();
        let p = signed_rank(&logs).ok()?.p;
        (p < each).then_some((median(&logs)?.exp(), p))
    };
    differing(
        difference(|order| order.ratio),
        difference(|order| order.level),
    )
}

fn differing(ratios: Option<(f64, f64)>, levels: Option<(f64, f64)>) -> Vec<Oddity> {
    let order = ratios.map(|(twice, p)| Oddity::Order {
        second_to_first: twice.sqrt(),
        p,
    });
    let carry_over = levels.map(|(ratio, p)| Oddity::CarryOver {
        // The value is half of the effect on both sides, so each side's own is twice as much in logarithms.
        a_first_to_b_first: ratio,
        p,
    });
    order.into_iter().chain(carry_over).collect()
}

fn outlier(pairs: &[Pair], logs: &[f64], each: f64) -> Option<Oddity> {
    let middle = median(logs).filter(|_| logs.len() >= PAIRS_MIN)?;
    let distances: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let usual = median(&distances)?;
    let far = FAR.max(FAR_OF_MANY * (logs.len() as f64).cbrt()) * (0.01 / each).cbrt();
    let mut by_distance: Vec<(&Pair, f64)> = pairs.iter().zip(distances).collect();
    by_distance.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let ((pair, distance), (_, next)) = (by_distance[0], by_distance[1]);
    let is_alone = usual > 0.0 && distance > far * usual && distance > 2.0 * next;
    is_alone.then(|| Oddity::Outlier {
        pair: pair.number,
        ratio: pair.ratio(),
        others: middle.exp(),
    })
}

#[cfg(test)]
mod tests;
