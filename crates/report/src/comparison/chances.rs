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
        "{pairs} pairs, band ±{} %; chances before the run:\n",
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
            "  with a scatter of {} % between pairs, a true effect of {} % stays inconclusive in {:.0} %, two equal \
             configurations in {:.0} % of such studies\n",
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
