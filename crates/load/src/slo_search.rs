//! Executes a search: measures each rate that it proposes, and stores the measurements of those that hold.

use std::collections::BTreeMap;

use crate::search::{Found, Measured, Search};

#[derive(Debug)]
pub struct SearchedRate<T> {
    search: Search,
    /// Measurements by the bits of the rate: positive numbers are in their order.
    held: BTreeMap<u64, T>,
}

/// Executes `search`. `measure` returns for a rate whether it holds, with its measurement; its errors end the search.
pub fn slo_search<T, E>(
    mut search: Search,
    mut measure: impl FnMut(f64) -> Result<(bool, T), E>,
) -> Result<SearchedRate<T>, E> {
    let mut held = BTreeMap::new();
    while let Some(rate_per_s) = search.next_per_s() {
        let (holds, measured) = measure(rate_per_s)?;
        search.add(rate_per_s, holds);
        if holds {
            held.insert(rate_per_s.to_bits(), measured);
        }
    }
    Ok(SearchedRate { search, held })
}

impl<T> SearchedRate<T> {
    pub fn found(&self) -> Found {
        self.search.found()
    }

    /// The last measurement at the rate that was found; `None` if none holds.
    pub fn best(&self) -> Option<&T> {
        let rate_per_s = self.search.found().rate_per_s?;
        self.held.get(&rate_per_s.to_bits())
    }

    pub fn into_best(mut self) -> Option<T> {
        let rate_per_s = self.search.found().rate_per_s?;
        self.held.remove(&rate_per_s.to_bits())
    }

    pub fn tried(&self) -> &[Measured] {
        self.search.measured()
    }
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
    fn what_was_seen_at_the_rate_is_kept() {
        let found = searched(150.0);
        let best = *found.best().unwrap();
        assert!((140.0..=150.0).contains(&best));
        assert_eq!(found.found().rate_per_s, Some(best));
        let first = found.tried().iter().find(|rate| rate.rate_per_s == 100.0);
        assert_eq!(first.map(|rate| (rate.held, rate.missed)), Some((1, 0)));
        assert_eq!(found.into_best(), Some(best));
        let none = searched(0.0);
        let lowest = none
            .tried()
            .first()
            .map(|rate| format!("{:.1}", rate.rate_per_s));
        assert_eq!(lowest.as_deref(), Some("0.1"));
        assert_eq!(none.best(), None);
    }

    #[test]
    fn an_error_ends_it() {
        let search = Search::new(SearchPlan::from_rate(1.0)).unwrap();
        let ended = slo_search::<(), _>(search, |_| Err("gone"));
        assert_eq!(ended.unwrap_err(), "gone");
    }
}
