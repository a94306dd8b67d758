//! Size of the whole from that of a sample, with its interval.
//!
//! The functions are pure. The allowances were set on the shapes of data that docs/COLUMNAR.md names, and checked on
//! others.

use column_store::GROUP_ROWS;
use stats::Interval;

pub const CONFIDENCE: f64 = 0.95;
/// Default difference between a group of pieces from everywhere and one of neighbours.
const MODEL_SHARE: f64 = 0.05;
/// Additional difference in a store with large allocation units, whose fill depends on the last rows.
const COARSE_SHARE: f64 = 0.06;
/// Smallest allocation unit that counts as large.
const COARSE_BYTES: f64 = 65_536.0;
/// Difference between two copies of the same table.
const AGAIN_SHARE: f64 = 0.01;
/// Upper limit of the credible gain from similar neighbours or from more rows.
const GAIN_MOST: f64 = 0.8;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Bytes of the sample at the level, perhaps packed several times over.
    pub bytes: f64,
    pub rows: f64,
    pub is_whole: bool,
    /// Size of the whole as a multiple of the sample.
    pub scale: f64,
    /// Smallest allocation unit at the level, in bytes.
    pub grain_bytes: f64,
    /// Half-width of the sampling interval, as a share of the estimate.
    pub sampling_share: f64,
    /// Share that packing neighbours together saves, compared with rows from everywhere.
    pub neighbours_share: f64,
    /// Share that packing the pieces together saves, compared with separate packing.
    pub together_share: f64,
    /// Relative difference per row between thirds of the sample, if packing depends on the rows that meet.
    pub luck_share: f64,
    pub pieces: f64,
}

/// Predicted size of the whole.
///
/// The sample is packed as groups of pieces from all over the table, the whole as groups of neighbours. The savings
/// among neighbours are measured one scale below, inside the pieces; the estimate credits half of them, the interval
/// anything from none to all. A sample that does not fill a group is too large, by the savings of bringing still more
/// pieces together. Both are biases and are added linearly. Random errors (the choice of the pieces, the luck of a
/// general compressor, the allocation units, the model) are added as variances, in shares of the sample's raw size.
pub fn predict(evidence: &Evidence) -> Interval {
    if evidence.is_whole {
        let half = evidence.grain_bytes + AGAIN_SHARE * evidence.bytes;
        // Anything that exists takes at least one unit.
        let most = evidence.bytes - evidence.grain_bytes.min(evidence.bytes);
        return interval(evidence.bytes, half.min(most), half);
    }
    // The last unit is half empty on average, once, in the whole as in the sample.
    let last = (evidence.grain_bytes / 2.0).min(evidence.bytes / 2.0);
    let plain = (evidence.bytes - last) * evidence.scale + last;
    let neighbours = evidence.neighbours_share.clamp(0.0, GAIN_MOST);
    let estimate = plain * (1.0 - neighbours / 2.0);
    // Sample and whole are known to one allocation unit each.
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

/// Share that filling a group would still save: each doubling of the rows saves as much as the one before.
fn still_to_save(evidence: &Evidence) -> f64 {
    let missing = GROUP_ROWS as f64 / evidence.rows.max(1.0);
    if missing <= 1.25 {
        return 0.0;
    }
    if evidence.pieces < 2.0 {
        return GAIN_MOST;
    }
    let remaining = 1.0 - evidence.together_share.clamp(0.0, GAIN_MOST);
    let remaining = remaining.powf(missing.ln() / evidence.pieces.ln());
    (1.0 - remaining).min(GAIN_MOST)
}

fn interval(estimate: f64, below: f64, above: f64) -> Interval {
    Interval {
        estimate,
        low: (estimate - below).max(0.0),
        high: estimate + above,
        confidence: CONFIDENCE,
    }
}

/// Sum over tables. The sides are added linearly, because the same bias is likely in all tables and does not average
/// out.
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
        // Bringing 15 pieces together saved 30 %, so 15 times as many save as much again.
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
