//! Users at work, unmeasured, until the target is steady.
//!
//! A server that has just been started, loaded or restored is slow at first and then for some time too fast: its
//! caches are cold, and what is changed has not yet to be written. A ramp-up of fixed length measures one or the
//! other. Rounds of work therefore precede the first level of a ramp, until throughput is steady or a cap is reached.

use std::time::{Duration, Instant};

use ::load::Progress;
use stats::steady::Steady;

use super::level::Level;
use super::{Measured, Place};
use crate::measure::STEADY_LIMIT;

/// Length of a round at most.
const ROUND_MAX: Duration = Duration::from_secs(5);
/// Intervals of a round; the verdict rests on those of two rounds.
const INTERVALS: u32 = 10;
/// Other inputs than those that are measured: the very rows that are measured must not be warmer than others.
const SEED: u64 = 0x5741_524D;

/// Lets the users of a level work until throughput is steady, for `cap` at most, and says how that went.
///
/// # Errors
/// What became of the level instead.
pub(super) fn warm_up(
    place: &Place,
    cap: Duration,
    progress: &Progress,
) -> Result<String, Measured> {
    let users = Place {
        journal: None,
        ..*place
    };
    let level = Level::open_with_seed(&users, place.seed() ^ SEED);
    let level = level.map_err(|error| place.failed(error))?;
    let round = ROUND_MAX.min(cap / 2);
    let begun = Instant::now();
    let mut rates = Vec::new();
    loop {
        let (window, interval) = (round, round / INTERVALS);
        rates.extend(level.rates_per_s(progress, window, interval)?);
        let elapsed = begun.elapsed();
        let last = &rates[rates.len().saturating_sub(2 * INTERVALS as usize)..];
        let enough = rates.len() >= 2 * INTERVALS as usize;
        if enough && stats::steady::judge(last, STEADY_LIMIT) == Steady::Yes {
            return Ok(format!(
                "throughput was steady after {:.0} s of warm-up",
                elapsed.as_secs_f64()
            ));
        }
        if elapsed + round > cap {
            return Ok(format!(
                "throughput was not steady after {:.0} s of warm-up, the most that was allowed",
                elapsed.as_secs_f64()
            ));
        }
    }
}
