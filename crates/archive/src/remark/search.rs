//! The search for the highest rate.

use super::parts::RateTried;
use super::value::Remark;

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The highest rate that holds; `None` when not even the lowest did.
    pub rate_per_s: Option<f64>,
    /// The lowest that does not.
    pub missed_per_s: Option<f64>,
    /// The bracket is as narrow as requested.
    pub settled: bool,
    /// A rate held above one that did not.
    pub holds_above: bool,
    /// From the lowest on.
    pub tried: Vec<RateTried>,
}

impl Search {
    /// The result and the rates that were tried; `arrivals` are the things that arrive.
    pub fn remarks(self, arrivals: &str, objective: String) -> [Remark; 2] {
        let verdict = match self.rate_per_s {
            Some(rate_per_s) => Remark::RateFound {
                rate_per_s,
                arrivals: arrivals.to_owned(),
                objective,
                missed_per_s: self.missed_per_s,
                settled: self.settled,
                holds_above: self.holds_above,
            },
            None => Remark::NoRateFound {
                objective,
                lowest_per_s: self.tried.first().map_or(0.0, |tried| tried.rate_per_s),
            },
        };
        [verdict, Remark::RatesTried { rates: self.tried }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_gives_a_verdict_and_its_rates() {
        let search = Search {
            rate_per_s: Some(148.25),
            missed_per_s: Some(151.5),
            settled: true,
            holds_above: false,
            tried: vec![RateTried {
                rate_per_s: 100.0,
                held: 1,
                of: 1,
            }],
        };
        let texts = |search: &Search| {
            let remarks = search.clone().remarks("I/Os", "p99=1ms".to_owned());
            remarks.map(|remark| remark.to_string())
        };
        assert_eq!(
            texts(&search),
            [
                "148.2 I/Os/s meet p99=1ms, 151.5/s do not",
                "rates tried: 100.0/s met it in 1 of 1"
            ]
        );
        let odd = Search {
            missed_per_s: None,
            settled: false,
            holds_above: true,
            ..search.clone()
        };
        assert_eq!(
            texts(&odd)[0],
            "148.2 I/Os/s meet p99=1ms, every higher rate tried met it too; the search ran out of \
             measurements before the bracket was narrow enough; a higher rate met it again: the target is too irregular for a single rate"
        );
        let none = Search {
            rate_per_s: None,
            ..search
        };
        assert_eq!(
            texts(&none)[0],
            "no rate was found that meets p99=1ms: even 100.0/s did not"
        );
    }
}
