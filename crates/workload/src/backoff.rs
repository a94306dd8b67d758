//! Pauses before a transaction that met a conflict is retried.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Longest pause before the first retry; it doubles with each further one.
const FIRST: Duration = Duration::from_micros(200);
const LONGEST: Duration = Duration::from_millis(20);

/// Random pauses of one client, between zero and twice the limit of the retry before. Clients that met in a conflict
/// would meet again if they retried at the same moment. The pauses decide no input, so they need no seed.
#[derive(Debug)]
pub struct Backoff(u64);

impl Backoff {
    pub fn new() -> Self {
        Self(RandomState::new().hash_one(()))
    }

    /// Pause before a retry, counted from 1.
    #[cold]
    pub fn pause(&mut self, retry: u32) -> Duration {
        let doubled = 1_u32
            .checked_shl(retry.saturating_sub(1))
            .unwrap_or(u32::MAX);
        let longest = FIRST.saturating_mul(doubled.max(1)).min(LONGEST);
        longest.mul_f64(self.share())
    }

    /// Random number from 0 to 1 (SplitMix64).
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_differ() {
        let mut backoff = Backoff(1);
        for (retry, longest_us) in [
            (1, 200),
            (2, 400),
            (4, 1600),
            (8, 20_000),
            (33, 20_000),
            (1000, 20_000),
        ] {
            let pauses: Vec<Duration> = (0..1000).map(|_| backoff.pause(retry)).collect();
            let longest = Duration::from_micros(longest_us);
            assert!(pauses.iter().all(|pause| *pause <= longest), "{retry}");
            let mean = pauses.iter().sum::<Duration>() / 1000;
            assert!(
                mean > longest * 4 / 10 && mean < longest * 6 / 10,
                "{retry}: {mean:?}"
            );
        }
        assert_ne!(Backoff::new().pause(9), Backoff::new().pause(9));
    }
}
