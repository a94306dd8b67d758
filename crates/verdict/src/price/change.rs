//! Cost and gain of a change: two bills and a comparison.

use archive::Better;
use stats::Interval;
use stats::summary::median;

use super::bill::{Bill, Money};
use crate::compare::{Comparison, Row};
use crate::metric::{self, Metric};
use crate::outcome::inverse;

/// Additional cost of the second platform, and the resulting prices of its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub currency: String,
    /// Total of each side; `None` if it is unknown, or in another currency or for another time than the other's.
    pub totals: [Option<Money>; 2],
    pub refused: Option<String>,
    /// Gain of each primary metric; empty if `refused`.
    pub gains: Vec<Gain>,
}

impl Change {
    /// Additional net cost of B, negative if it is cheaper.
    pub fn extra(&self) -> Option<f64> {
        let [a, b] = self.totals;
        Some(b?.net - a?.net)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    pub metric: Metric,
    pub unit: &'static str,
    /// Performance of B divided by that of A, above 1 if B is better: for times the inverse.
    pub performance: Interval,
    /// Price of the performance of B divided by that of A, below 1 if B gives more for the money. `None` if A costs
    /// nothing.
    pub price_of_performance: Option<Interval>,
    /// Cost of one further unit of the figure (for times: one unit less). `None` if B costs no more, or if the
    /// interval includes no gain.
    pub per_unit: Option<Interval>,
}

/// Cost and gain of the change from A to B, by the net totals. The intervals are those of the comparison: prices have
/// none.
pub fn change(a: &Bill, b: &Bill, compared: &Comparison) -> Change {
    let refused = refused(a, b);
    // Amounts of different currencies or times have no difference either.
    let totals = if a.currency == b.currency && a.term_years == b.term_years {
        [a.total, b.total]
    } else {
        [None, None]
    };
    let gains = match (&refused, totals) {
        (None, [Some(a), Some(b)]) => {
            let rows = compared.primary();
            rows.filter_map(|row| gain(a.net, b.net, row)).collect()
        }
        _ => Vec::new(),
    };
    Change {
        currency: b.currency.clone(),
        totals,
        refused,
        gains,
    }
}

fn refused(a: &Bill, b: &Bill) -> Option<String> {
    if a.currency != b.currency {
        return Some(format!(
            "the prices are in {} and {}; convert one file to the currency of the other",
            a.currency, b.currency
        ));
    }
    if a.term_years != b.term_years {
        let years = |bill: &Bill| {
            bill.term_years
                .map_or("no term".into(), |n| format!("{n} years"))
        };
        return Some(format!(
            "the prices are for different times ({} and {}); write the same term_years into both files",
            years(a),
            years(b)
        ));
    }
    a.for_ratios().err().or(b.for_ratios().err())
}

fn gain(cost_a: f64, cost_b: f64, row: &Row) -> Option<Gain> {
    let ratio = row.result.ratio?;
    let performance = match row.better {
        Better::Lower => inverse(ratio),
        Better::Higher | Better::Neither => ratio,
    };
    let times = cost_b / cost_a;
    let price_of_performance =
        (times.is_finite() && cost_a > 0.0).then(|| inverse(performance).map(|less| less * times));
    let extra = cost_b - cost_a;
    Some(Gain {
        unit: metric::unit(&row.metric.figure).unwrap_or_default(),
        metric: row.metric.clone(),
        performance,
        price_of_performance,
        per_unit: median(&row.a).and_then(|base| per_unit(extra, base, ratio, row.better)),
    })
}

/// Additional price ÷ units gained, base × |ratio − 1|.
fn per_unit(extra: f64, base: f64, ratio: Interval, better: Better) -> Option<Interval> {
    let gained = |ratio: f64| match better {
        Better::Lower => base * (1.0 - ratio),
        Better::Higher | Better::Neither => base * (ratio - 1.0),
    };
    let ends = [gained(ratio.low), gained(ratio.high)];
    let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    (extra > 0.0 && least > 0.0).then(|| Interval {
        estimate: extra / gained(ratio.estimate),
        low: extra / most,
        high: extra / least,
        confidence: ratio.confidence,
    })
}

#[cfg(test)]
mod tests;
