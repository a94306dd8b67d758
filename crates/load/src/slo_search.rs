//! A search carried out: measures each rate that the search asks for, and tells in words what was found.

use std::collections::BTreeMap;

use crate::objective::Objective;
use crate::search::{Found, Search};

/// A search that is over, with what was seen last at each rate that held.
#[derive(Debug)]
pub struct SearchedRate<T> {
    search: Search,
    /// By the bits of the rate: positive numbers are in their order.
    held: BTreeMap<u64, T>,
}

/// Carries out `search`. `measure` tells of a rate whether it holds, with what was seen; its errors end the search.
///
/// # Errors
/// Those of `measure`.
pub fn slo_search<T, E>(
    mut search: Search,
    mut measure: impl FnMut(f64) -> Result<(bool, T), E>,
) -> Result<SearchedRate<T>, E> {
    let mut held = BTreeMap::new();
    while let Some(rate_per_s) = search.next_per_s() {
        let (holds, seen) = measure(rate_per_s)?;
        search.tell(rate_per_s, holds);
        if holds {
            held.insert(rate_per_s.to_bits(), seen);
        }
    }
    Ok(SearchedRate { search, held })
}

impl<T> SearchedRate<T> {
    /// What was found.
    pub fn found(&self) -> Found {
        self.search.found()
    }

    /// What was seen last at the rate that was found; `None` when none holds.
    pub fn best(&self) -> Option<&T> {
        let rate_per_s = self.search.found().rate_per_s?;
        self.held.get(&rate_per_s.to_bits())
    }

    /// The same, to keep.
    pub fn into_best(mut self) -> Option<T> {
        let rate_per_s = self.search.found().rate_per_s?;
        self.held.remove(&rate_per_s.to_bits())
    }

    /// What was found, in sentences; `what` are the things that arrive.
    pub fn told(&self, what: &str, objective: &Objective) -> [String; 2] {
        let found = self.search.found();
        let verdict = match found.rate_per_s {
            Some(rate_per_s) => sentence(rate_per_s, &found, what, objective),
            None => {
                let lowest = self.search.measured().first();
                let lowest = lowest.map_or(0.0, |measured| measured.rate_per_s);
                format!("no rate was found that holds {objective}: not even {lowest:.1}/s did")
            }
        };
        [verdict, self.tried()]
    }

    fn tried(&self) -> String {
        let rates = self.search.measured().iter().map(|rate| {
            let all = rate.held + rate.missed;
            format!("{:.1}/s held in {} of {all}", rate.rate_per_s, rate.held)
        });
        format!("rates tried: {}", rates.collect::<Vec<_>>().join(", "))
    }
}

fn sentence(rate_per_s: f64, found: &Found, what: &str, objective: &Objective) -> String {
    let above = match found.missed_per_s {
        Some(missed) => format!("{missed:.1}/s does not"),
        None => "no higher one was tried that does not".to_owned(),
    };
    let mut text = format!("{rate_per_s:.1} {what}/s hold {objective}, {above}");
    if !found.is_settled {
        text += "; the measurements were used up before the bracket was as narrow as meant";
    }
    if found.holds_above {
        text += "; a higher rate held again: the target is less regular than one rate can say";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SearchPlan;

    fn searched(boundary: f64) -> SearchedRate<f64> {
        let search = Search::new(SearchPlan::from_rate(100.0)).unwrap();
        slo_search::<_, ()>(search, |rate| Ok((rate <= boundary, rate))).unwrap()
    }

    #[test]
    fn what_was_seen_at_the_rate_is_kept_and_told() {
        let objective: Objective = "p99=1ms".parse().unwrap();
        let found = searched(150.0);
        let best = *found.best().unwrap();
        assert!((140.0..=150.0).contains(&best));
        let [verdict, tried] = found.told("I/Os", &objective);
        assert!(
            verdict.starts_with(&format!("{best:.1} I/Os/s hold p99=1ms, ")),
            "{verdict}"
        );
        assert!(tried.contains("100.0/s held in 1 of 1"), "{tried}");
        assert_eq!(found.into_best(), Some(best));
        let none = searched(0.0);
        let [verdict, _] = none.told("I/Os", &objective);
        assert!(verdict.contains("not even 0.1/s did"), "{verdict}");
        assert_eq!(none.best(), None);
    }

    #[test]
    fn an_error_ends_it() {
        let search = Search::new(SearchPlan::from_rate(1.0)).unwrap();
        let ended = slo_search::<(), _>(search, |_| Err("gone"));
        assert_eq!(ended.unwrap_err(), "gone");
    }
}
