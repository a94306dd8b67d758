//! Mean active sessions: by the server's own account of the time in statements if it is trustworthy, else by the
//! samples.

use engine::TimeInStatements;

/// A shorter account is unreliable: a session's last second may not have been entered.
const ELAPSED_S_MIN: f64 = 10.0;
/// Maximum share of the account that may belong to another time.
const UNCLEAR_MAX: f64 = 0.05;
/// An account of less than this share of the samples' result, beyond their standard error, is incomplete.
const SAMPLED_MIN: f64 = 0.95;
/// Standard errors that count as chance. Independently active sessions scatter at most like Poisson's events.
const CHANCE: f64 = 3.0;

/// Active sessions by the account, without the observer's own; `None` if it is not trustworthy. The observer's own time
/// has a certain part and a possible further part.
pub(super) fn by_account(
    time: &TimeInStatements,
    own_s: f64,
    held_up_s: f64,
    sampled: f64,
    samples: u64,
) -> Option<f64> {
    let seconds = (time.seconds - own_s).max(0.0);
    let chance = CHANCE * (sampled / samples.max(1) as f64).sqrt();
    let is_whole = time.elapsed_s >= ELAPSED_S_MIN
        && time.unclear_s + held_up_s <= UNCLEAR_MAX * seconds
        && seconds >= (SAMPLED_MIN * sampled - chance) * time.elapsed_s;
    is_whole.then(|| seconds / time.elapsed_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: f64) -> TimeInStatements {
        TimeInStatements {
            seconds,
            unclear_s: 0.0,
            elapsed_s: 20.0,
            source: "a view",
        }
    }

    /// 41 s in 20 s, of which 1 s was the observer's: two sessions, of which the samples have nine tenths.
    #[test]
    fn golden_the_account_counts_where_it_is_whole() {
        assert_eq!(by_account(&time(41.0), 1.0, 0.5, 1.8, 200), Some(2.0));
        assert_eq!(
            by_account(&time(0.5), 0.5, 0.0, 0.0, 200),
            Some(0.0),
            "no other session was active"
        );
        assert_eq!(
            by_account(&time(1.0), 0.0, 0.0, 8.0, 200),
            None,
            "sessions have entered nothing yet"
        );
        let few_samples = by_account(&time(36.0), 0.0, 0.0, 2.0, 150);
        assert_eq!(
            few_samples,
            Some(1.8),
            "samples may have a tenth more by chance"
        );
        assert_eq!(by_account(&time(36.0), 0.0, 0.0, 2.0, 15_000), None);
        let unclear = TimeInStatements {
            unclear_s: 5.0,
            ..time(41.0)
        };
        assert_eq!(by_account(&unclear, 1.0, 0.0, 1.8, 200), None);
        assert_eq!(
            by_account(&time(41.0), 1.0, 3.0, 1.8, 200),
            None,
            "a server stood still"
        );
        let short = TimeInStatements {
            elapsed_s: 5.0,
            ..time(41.0)
        };
        assert_eq!(by_account(&short, 1.0, 0.0, 1.8, 200), None);
    }
}
