//! What the pairs of a study show beside their ratio: an order that matters, and a ratio that moved.

use stats::rank::mann_whitney;
use stats::ratio::unpaired;

/// Chance of each oddity where there is none.
const FALSE_ALARM: f64 = 0.01;
/// Confidence of an interval that is not shown: only its middle is.
const CONFIDENCE: f64 = 0.5;

/// Something odd about the pairs of a metric. The verdict holds all the same, because the order in each pair was drawn;
/// but the study measured something else as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Oddity {
    /// It matters which block of a pair came first, whichever side that was: a block leaves something to the next one.
    Order {
        /// Figure of the second block by that of the first, both sides alike.
        second_to_first: f64,
        /// Chance of such a difference without any.
        p: f64,
    },
    /// The ratio of the later pairs is another one than that of the earlier.
    Moved {
        /// Ratio B/A of the first half of the pairs, by their median.
        early: f64,
        /// Of the second half.
        late: f64,
        /// Chance of such a difference without any.
        p: f64,
    },
}

/// The oddities of pairs, whose halves are not a number where they are missing. `order` tells of each pair in two letters
/// which side was measured first.
///
/// Method: of d = ln(b/a), pairs with A first are δ + s, those with B first δ − s, s = ln(second/first). Both groups are held
/// against each other by Mann and Whitney's exact test, and so are the two halves in time; p below 1 % is told. Source: the
/// test of carry-over in cross-over trials, Hills & Armitage 1979. Limits: five pairs of each group at least.
pub fn oddities(a: &[f64], b: &[f64], order: &str) -> Vec<Oddity> {
    let first = order.as_bytes().chunks(2).map(|pair| pair[0]);
    let pairs: Vec<(f64, u8)> = a
        .iter()
        .zip(b)
        .zip(first)
        .map(|((a, b), first)| ((b / a).ln(), first))
        .filter(|(d, _)| d.is_finite())
        .collect();
    let of = |side: u8| -> Vec<f64> {
        let own = pairs.iter().filter(|(_, first)| *first == side);
        own.map(|(d, _)| *d).collect()
    };
    let (a_first, b_first) = (of(b'a'), of(b'b'));
    let mut found = Vec::new();
    if let Some(p) = rare(&b_first, &a_first) {
        let exp = |side: &[f64]| side.iter().map(|d| d.exp()).collect::<Vec<_>>();
        if let Ok(twice) = unpaired(&exp(&b_first), &exp(&a_first), CONFIDENCE) {
            let second_to_first = twice.interval.estimate.sqrt();
            found.push(Oddity::Order { second_to_first, p });
        }
    }
    let all: Vec<f64> = pairs.iter().map(|(d, _)| *d).collect();
    let (early, late) = all.split_at(all.len() / 2);
    let medians = stats::summary::median(early).zip(stats::summary::median(late));
    if let (Some(p), Some((early, late))) = (rare(early, late), medians) {
        let (early, late) = (early.exp(), late.exp());
        found.push(Oddity::Moved { early, late, p });
    }
    found
}

/// The p of a difference between two groups, if it is that rare.
fn rare(a: &[f64], b: &[f64]) -> Option<f64> {
    let p = mann_whitney(a, b).ok()?.p;
    (p < FALSE_ALARM).then_some(p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::random::Random;

    const ORDER: &str = "abbaabbaababbaabbaba";

    /// Ten pairs: B by A, the second block by the first, and the noise of a figure.
    fn pairs(ratio: impl Fn(usize) -> f64, second: f64, noise: f64, seed: u64) -> [Vec<f64>; 2] {
        let mut random = Random::new(seed);
        let mut sides = [Vec::new(), Vec::new()];
        for (at, pair) in ORDER.as_bytes().chunks(2).enumerate() {
            let mut figure = |factor: f64| 100.0 * factor * (noise * random.normal()).exp();
            let [mut a, mut b] = [figure(1.0), figure(ratio(at))];
            *(if pair[0] == b'a' { &mut b } else { &mut a }) *= second;
            sides[0].push(a);
            sides[1].push(b);
        }
        sides
    }

    #[test]
    fn a_block_that_gains_from_the_one_before_is_told_from_the_effect() {
        let [a, b] = pairs(|_| 1.02, 1.10, 0.01, 1);
        let found = oddities(&a, &b, ORDER);
        let [Oddity::Order { second_to_first, p }] = found[..] else {
            panic!("{found:?}")
        };
        assert!(
            (second_to_first - 1.10).abs() < 0.02 && p < 0.01,
            "{found:?}"
        );
    }

    #[test]
    fn a_ratio_that_moves_is_told() {
        let [a, b] = pairs(|at| if at < 5 { 1.0 } else { 1.2 }, 1.0, 0.01, 2);
        let found = oddities(&a, &b, ORDER);
        let [Oddity::Moved { early, late, .. }] = found[..] else {
            panic!("{found:?}")
        };
        assert!((early - 1.0).abs() < 0.03 && (late - 1.2).abs() < 0.03);
    }

    #[test]
    fn nothing_is_told_of_plain_noise_and_of_few_pairs() {
        let alarms: usize = (0..1_000)
            .map(|seed| {
                let [a, b] = pairs(|_| 1.05, 1.0, 0.03, seed);
                oddities(&a, &b, ORDER).len()
            })
            .sum();
        // Two tests at 1 % at most each; exact tests of five against five reach 0.8 %.
        assert!(alarms <= 30, "{alarms} of 1000");
        let [a, b] = pairs(|_| 1.0, 2.0, 0.01, 3);
        assert!(oddities(&a[..6], &b[..6], ORDER).is_empty());
        let missing = vec![f64::NAN; 10];
        assert!(oddities(&missing, &b, ORDER).is_empty() && oddities(&[], &[], "").is_empty());
    }
}
