//! What a study will be able to say, told before its first point.

use stats::compare::Design;
use stats::forecast::{self, Plan};
use verdict::compare::CONFIDENCE;

use super::percent;

/// Spreads of a pair's ratio that are told when nothing is known of the machine.
const SPREADS_ASSUMED: [f64; 3] = [0.005, 0.015, 0.04];

/// Sentences on the chance that `pairs` pairs find a true `effect`, or find two equal ones equivalent.
/// `spread`: what earlier studies of this plan showed, with the number of studies; else some are assumed.
pub fn chances(pairs: u32, band: f64, effect: f64, spread: Option<(f64, usize)>) -> String {
    let mut out = format!(
        "{pairs} pairs, band ±{} %; chances told before the run:\n",
        percent(band)
    );
    let spreads: Vec<f64> = spread.map_or(SPREADS_ASSUMED.to_vec(), |(known, _)| vec![known]);
    for sd_log in spreads {
        let plan = Plan {
            design: Design::Paired,
            band,
            confidence: CONFIDENCE,
        };
        let of = |ratio: f64| forecast::chances(&plan, pairs as usize, sd_log, ratio, 1);
        let (Ok(with), Ok(without)) = (of(1.0 + effect), of(1.0)) else {
            continue;
        };
        out.push_str(&format!(
            "  pairs that scatter by {} %: a true effect of {} % stays inconclusive in {:.0} %, two equal configurations in {:.0} % of such studies\n",
            percent(sd_log),
            percent(effect),
            with.inconclusive * 100.0,
            without.inconclusive * 100.0
        ));
        if let Ok(Some(need)) = forecast::repetitions(&plan, sd_log, 1.0 + effect)
            && need > pairs as usize
        {
            out.push_str(&format!("    {need} pairs would find it in four of five\n"));
        }
    }
    out.push_str(&match spread {
        Some((_, 1)) => {
            "  (the scatter is that of an earlier study of this plan in the archive)\n".to_owned()
        }
        Some((_, n)) => {
            format!("  (the scatter is that of {n} earlier studies of this plan in the archive)\n")
        }
        None => {
            "  (the archive holds no earlier study of this plan, so three scatters are assumed)\n"
                .to_owned()
        }
    });
    out
}
