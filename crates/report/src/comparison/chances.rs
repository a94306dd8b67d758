//! The effects that a study can find, estimated before its first point.

use stats::compare::{Band, Design};
use stats::forecast::{self, Plan};
use stats::multiple::confidence_of_each;
use verdict::compare::CONFIDENCE;

use crate::number::{self, percent};

/// Spreads of a pair's ratio that are assumed while no study of this machine is known.
const CALM: f64 = 0.005;
const NOISY: f64 = 0.04;

/// One line on the differences that so many pairs find in four of five studies. `spread`: that of earlier studies of this plan, with their
/// number; without it, a calm and a noisy machine are assumed.
pub fn chances(pairs: u32, metrics: usize, band: f64, spread: Option<(f64, usize)>) -> String {
    let plan = Plan {
        design: Design::Paired,
        band: Band::of(band),
        confidence: confidence_of_each(CONFIDENCE, metrics),
    };
    let least = |sd_log: f64| match forecast::least_effect(&plan, sd_log, pairs as usize) {
        Some(effect) => format!(
            "differences of {} % or more",
            number::figure(effect * 100.0)
        ),
        None => "no difference".to_owned(),
    };
    match spread {
        Some((known, studies)) => format!(
            "{pairs} pairs find {} in four of five studies, if the machine is as noisy as in {} of this plan\n",
            least(known),
            match studies {
                1 => "the earlier study".to_owned(),
                n => format!("{n} earlier studies"),
            }
        ),
        None => format!(
            "{pairs} pairs find {} on a calm machine (pairs scatter by {} %), {} on a noisy one ({} %)\n",
            least(CALM),
            percent(CALM),
            least(NOISY),
            percent(NOISY)
        ),
    }
}
