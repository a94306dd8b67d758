//! From what a sample takes to what the whole takes, with the interval for it.
//!
//! Pure: nothing here reads anything. The allowances were set on the shapes of data that docs/COLUMNAR.md names,
//! and checked on others.

use stats::Interval;
use target::lifted::GROUP_ROWS;

pub const CONFIDENCE: f64 = 0.95;
/// What a group of pieces from everywhere differs by from one that lies together, when nothing else tells.
const MODEL_SHARE: f64 = 0.05;
/// What a store differs by besides that allocates large pieces: how full they become depends on what comes last.
const COARSE_SHARE: f64 = 0.06;
/// Pieces from this size on are large.
const COARSE_BYTES: f64 = 65_536.0;
/// What two lifts of the same whole table differ by.
const AGAIN_SHARE: f64 = 0.01;
/// Most that the gain from neighbours that are alike, or from more rows together, is believed to be.
const GAIN_MOST: f64 = 0.8;

/// What is known of a sample of a table at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Bytes that the sample takes, packed at the level, perhaps several times over.
    pub bytes: f64,
    pub rows: f64,
    /// Whether the sample is the whole table.
    pub is_whole: bool,
    /// How many times that the whole is.
    pub scale: f64,
    /// Bytes of the finest piece of memory at the level.
    pub grain_bytes: f64,
    /// Half of the interval that the differences between the pieces give, as a share of the estimate.
    pub sampling_share: f64,
    /// Share that is saved when neighbours are packed together instead of rows from everywhere.
    pub neighbours_share: f64,
    /// Share that is saved when the pieces are packed together instead of each for itself.
    pub together_share: f64,
    /// By how much thirds of the sample differ from it for each row, when packing depends on what happens to lie together.
    pub luck_share: f64,
    pub pieces: f64,
}

/// What the whole takes.
///
/// The sample is packed as groups of pieces from all over the table, the whole as groups of neighbours. What
/// neighbours save is measured one scale below, inside the pieces; the estimate believes half of it, the interval
/// everything from nothing to all. A sample that does not fill a group shows too much, by as much as bringing
/// together still more pieces would save. Either is a bias and is added as it is; what scatters (the choice of
/// the pieces, what a general compressor happens to find, the grain of the memory, the model) is added as variances are,
/// in shares of what the sample shows as it is.
pub fn predict(evidence: &Evidence) -> Interval {
    if evidence.is_whole {
        let half = evidence.grain_bytes + AGAIN_SHARE * evidence.bytes;
        // What is there at all takes a piece.
        let most = evidence.bytes - evidence.grain_bytes.min(evidence.bytes);
        return interval(evidence.bytes, half.min(most), half);
    }
    // The last piece of memory is half empty on average, in the whole as in the sample, and once.
    let last = (evidence.grain_bytes / 2.0).min(evidence.bytes / 2.0);
    let plain = (evidence.bytes - last) * evidence.scale + last;
    let neighbours = evidence.neighbours_share.clamp(0.0, GAIN_MOST);
    let estimate = plain * (1.0 - neighbours / 2.0);
    // What is multiplied is known to a piece of memory, and so is the whole.
    let is_coarse = evidence.grain_bytes >= COARSE_BYTES;
    let scatter = [
        plain * evidence.sampling_share,
        plain * MODEL_SHARE,
        plain * evidence.luck_share,
        plain * if is_coarse { COARSE_SHARE } else { 0.0 },
        evidence.grain_bytes * evidence.scale.max(1.0),
    ];
    let scatter = scatter.iter().map(|part| part * part).sum::<f64>().sqrt();
    let bias = plain * neighbours / 2.0;
    let small = estimate * still_to_save(evidence);
    interval(estimate, bias + small + scatter, bias + scatter)
}

/// Share that filling a group would still save: every doubling of the rows saves what it has saved before.
fn still_to_save(evidence: &Evidence) -> f64 {
    let missing = GROUP_ROWS as f64 / evidence.rows.max(1.0);
    if missing <= 1.25 {
        return 0.0;
    }
    if evidence.pieces < 2.0 {
        return GAIN_MOST;
    }
    let kept = 1.0 - evidence.together_share.clamp(0.0, GAIN_MOST);
    let kept = kept.powf(missing.ln() / evidence.pieces.ln());
    (1.0 - kept).min(GAIN_MOST)
}

fn interval(estimate: f64, below: f64, above: f64) -> Interval {
    Interval {
        estimate,
        low: (estimate - below).max(0.0),
        high: estimate + above,
        confidence: CONFIDENCE,
    }
}

/// The sum over tables. The sides are added as they are: what biases one table is likely to bias the others, so
/// that nothing is won by their number.
pub fn sum(intervals: &[Interval]) -> Interval {
    let estimate: f64 = intervals.iter().map(|i| i.estimate).sum();
    let below: f64 = intervals.iter().map(|i| i.estimate - i.low).sum();
    let above: f64 = intervals.iter().map(|i| i.high - i.estimate).sum();
    interval(estimate, below, above)
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Evidence = Evidence {
        bytes: 1e6,
        rows: GROUP_ROWS as f64,
        is_whole: false,
        scale: 50.0,
        grain_bytes: 0.0,
        sampling_share: 0.0,
        neighbours_share: 0.0,
        together_share: 0.3,
        luck_share: 0.0,
        pieces: 15.0,
    };

    #[test]
    fn a_full_group_is_multiplied_and_given_the_model_s_allowance() {
        let found = predict(&FULL);
        assert_eq!(found.estimate, 50e6);
        assert!((found.high - 52.5e6).abs() < 1.0 && (found.low - 47.5e6).abs() < 1.0);
    }

    #[test]
    fn scatter_adds_as_variances_do_and_bias_as_it_is() {
        let scattered = Evidence {
            sampling_share: 0.12,
            ..FULL
        };
        let found = predict(&scattered);
        assert!((found.high / found.estimate - 1.13).abs() < 1e-9);
        let alike = Evidence {
            neighbours_share: 0.2,
            ..FULL
        };
        let found = predict(&alike);
        assert!((found.estimate - 45e6).abs() < 1.0);
        assert!(found.covers(40e6) && found.covers(50e6) && !found.covers(53e6));
    }

    #[test]
    fn a_sample_that_fills_no_group_may_take_less_than_it_shows() {
        let half = Evidence {
            rows: GROUP_ROWS as f64 / 15.0,
            ..FULL
        };
        let found = predict(&half);
        // Bringing 15 pieces together saved 30 %, so making them 15 times as many saves as much again.
        let low = 50e6 * (0.7 - MODEL_SHARE);
        assert!((found.low - low).abs() < 1.0, "{found:?}");
        assert!(found.high < 53e6);
        let one = Evidence {
            pieces: 1.0,
            ..half
        };
        assert!(predict(&one).low < 11e6);
    }

    #[test]
    fn the_half_empty_last_piece_of_memory_counts_once() {
        let coarse = Evidence {
            grain_bytes: 0.2e6,
            ..FULL
        };
        let found = predict(&coarse);
        assert!(
            (found.estimate - (0.9e6 * 50.0 + 0.1e6)).abs() < 1.0,
            "{found:?}"
        );
        assert!(found.covers(50e6), "{found:?}");
    }

    #[test]
    fn the_whole_is_known_to_a_grain() {
        let whole = Evidence {
            is_whole: true,
            scale: 1.0,
            grain_bytes: 4096.0,
            neighbours_share: 0.5,
            ..FULL
        };
        let found = predict(&whole);
        assert_eq!(found.estimate, 1e6);
        assert!(found.high <= 1e6 * 1.02 && found.low >= 1e6 * 0.98);
    }

    #[test]
    fn sums_add_both_sides() {
        let found = sum(&[interval(10.0, 1.0, 2.0), interval(20.0, 3.0, 4.0)]);
        assert_eq!((found.low, found.estimate, found.high), (26.0, 30.0, 36.0));
        assert_eq!(sum(&[]).estimate, 0.0);
    }
}
