//! The effects that a study can find, estimated before its first point.

use stats::compare::{Band, Design};
use stats::forecast::{self, Plan};
use stats::multiple::confidence_of_each;
use verdict::compare::CONFIDENCE;

use crate::number::percent;

/// Spreads of a pair's ratio that are assumed while no study of this machine is known.
const SPREADS_ASSUMED: [f64; 3] = [0.005, 0.015, 0.04];

/// Sentences on the chance that `pairs` pairs find a true `effect` of one of `metrics` primary metrics, or prove equivalence. `spread`: the
/// spread in earlier studies of this plan, with their number; without it some spreads are assumed.
pub fn chances(
    pairs: u32,
    metrics: usize,
    band: f64,
    effect: f64,
    spread: Option<(f64, usize)>,
) -> String {
    let confidence = confidence_of_each(CONFIDENCE, metrics);
    let mut out = format!(
        "{pairs} pairs, band ±{} %{}; chances before the run:\n",
        percent(band),
        match metrics {
            0 | 1 => String::new(),
            _ => format!(
                ", {metrics} primary metrics with intervals of {} % each",
                percent(confidence)
            ),
        }
    );
    let spreads: Vec<f64> = spread.map_or(SPREADS_ASSUMED.to_vec(), |(known, _)| vec![known]);
    for sd_log in spreads {
        let plan = Plan {
            design: Design::Paired,
            band: Band::of(band),
            confidence,
        };
        let of = |ratio: f64| forecast::chances(&plan, pairs as usize, sd_log, ratio, 1);
        let (Ok(with), Ok(without)) = (of(1.0 + effect), of(1.0)) else {
            continue;
        };
        out.push_str(&format!(
            "  if pairs scatter by {} %: a true difference of {} % would be inconclusive in {:.0} % of studies, no \
             difference at all in {:.0} %\n",
            percent(sd_log),
            percent(effect),
            with.inconclusive * 100.0,
            without.inconclusive * 100.0
        ));
        if let Ok(Some(need)) = forecast::repetitions(&plan, sd_log, 1.0 + effect)
            && need > pairs as usize
        {
            out.push_str(&format!(
                "    {need} pairs would detect it in four of five studies\n"
            ));
        }
    }
    out.push_str(&match spread {
        Some((_, 1)) => "  (scatter of one earlier study of this plan in the archive)\n".to_owned(),
        Some((_, n)) => {
            format!("  (scatter of {n} earlier studies of this plan in the archive)\n")
        }
        None => "  (assumed scatter: the archive has no earlier study of this plan)\n".to_owned(),
    });
    out
}
