//! Unmeasured work of the users until the target is steady.
//!
//! A server that was just started, loaded or restored is first slow and then for some time too fast: its caches are
//! cold, and its changes are not yet written. A ramp-up of fixed length would measure one or the other. So rounds of
//! work precede the first level of a ramp until throughput is steady, within the known error of [`stats::drift`], or a
//! cap is reached.

use std::time::{Duration, Instant};

use ::load::Progress;
use archive::Remark;
use stats::drift::is_at_rest;

use super::level::Level;
use super::{Measured, PointContext};

const ROUND_MAX: Duration = Duration::from_secs(5);
const INTERVALS: u32 = 10;
/// Other inputs than the measured ones, whose rows must not be warmer than others.
const SEED: u64 = 0x5741_524D;

/// Runs the users of a level until throughput is steady, for `cap` at most. Returns a remark on the result.
pub(super) fn warm_up(
    place: &PointContext,
    cap: Duration,
    progress: &Progress,
) -> Result<Remark, Measured> {
    let users = PointContext {
        journal: None,
        ..*place
    };
    let level = Level::open_with_seed(&users, place.seed() ^ SEED);
    let level = level.map_err(|error| place.failed(error))?;
    let rounds = rounds(cap);
    let window = cap / rounds;
    let begun = Instant::now();
    let mut rates = Vec::new();
    for _ in 0..rounds {
        rates.extend(level.rates_per_s(progress, window, window / INTERVALS)?);
        if is_at_rest(&rates) {
            return Ok(remark(true, begun.elapsed()));
        }
    }
    Ok(remark(false, begun.elapsed()))
}

/// Rounds within the cap: at least two, because one is indistinguishable from its ramp-up.
fn rounds(cap: Duration) -> u32 {
    let rounds = cap.as_secs_f64() / ROUND_MAX.as_secs_f64();
    (rounds.ceil() as u32).max(2)
}

fn remark(steady: bool, took: Duration) -> Remark {
    let took_s = took.as_secs_f64();
    if steady {
        Remark::WarmedUp { took_s }
    } else {
        Remark::NotWarmedUp { took_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_fill_the_cap_and_there_are_two_at_least() {
        for (cap_s, expected) in [
            (0.5, 2),
            (2.0, 2),
            (5.0, 2),
            (10.0, 2),
            (11.0, 3),
            (60.0, 12),
        ] {
            let cap = Duration::from_secs_f64(cap_s);
            assert_eq!(rounds(cap), expected, "{cap_s} s");
            assert!(cap / rounds(cap) <= ROUND_MAX);
        }
    }

    #[test]
    fn the_remark_says_what_was_shown() {
        let took = Duration::from_millis(4980);
        assert_eq!(
            remark(true, took).to_string(),
            "throughput was steady after 5 s of warm-up"
        );
        assert_eq!(
            remark(false, took).to_string(),
            "throughput was not shown to be steady within 5 s of warm-up, the longest allowed: it may still have been rising or \
             falling while this was measured"
        );
    }
}
