//! The search for the highest arrival rate that meets an objective. Pure: it proposes the next rate to measure, and
//! receives the result.
//!
//! The rate is doubled (or halved) until one rate meets it and a higher one does not; then the bracket is halved, by
//! the geometric mean because a bracket is judged by its ratio, until it is narrow enough. Near the boundary a
//! measurement goes either way by chance, so both ends are then measured again until each has a majority of all its
//! measurements, of which three are planned for each.
//!
//! That more load is worse is expected, not assumed. Everything is judged again after every measurement: a rate that
//! holds must lie below every rate that does not. An end that is overruled moves, and the search continues from
//! there, within the bound on measurements.

use stats::random::Random;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchPlan {
    pub first_per_s: f64,
    pub lowest_per_s: f64,
    pub highest_per_s: f64,
    /// Width of the bracket at the end: its upper end over its lower, less one, in percent.
    pub resolution_pct: f64,
    pub repeats: usize,
    /// Measurements whose majority must miss before a rate is given up; an odd number. With 1, one that goes wrong by
    /// chance takes the search below everything that holds.
    pub misses: usize,
    pub measurements_max: usize,
}

pub const MEASUREMENTS_MAX: usize = 40;

impl SearchPlan {
    /// The default plan from a first rate: 5 %, three measurements of either end, 40 in all.
    pub fn from_rate(first_per_s: f64) -> Self {
        Self {
            first_per_s,
            lowest_per_s: first_per_s / 1024.0,
            highest_per_s: first_per_s * 1024.0,
            resolution_pct: 5.0,
            repeats: 3,
            misses: 1,
            measurements_max: MEASUREMENTS_MAX,
        }
    }

    /// Moves the first rate by up to half a bracket, by lot. Without this every search from one first rate halves
    /// over the same few rates: a target that is 3 % faster often comes to the same one, and repetitions would call
    /// the two alike. With different first rates the errors of repetitions average out.
    #[must_use]
    pub fn moved(self, seed: u64) -> Self {
        let step = (1.0 + self.resolution_pct / 100.0).powf(Random::new(seed).unit() - 0.5);
        let first_per_s = self.first_per_s * step;
        Self {
            first_per_s: first_per_s.max(self.lowest_per_s).min(self.highest_per_s),
            ..self
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    pub rate_per_s: f64,
    pub held: usize,
    pub missed: usize,
}

impl Measured {
    /// True if a majority of measurements held; a draw does not.
    pub fn holds(&self) -> bool {
        self.held > self.missed
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The highest rate that holds, below every rate that does not; `None` if not even the lowest did.
    pub rate_per_s: Option<f64>,
    /// The lowest rate that does not hold: the other end of the bracket; `None` if all did.
    pub missed_per_s: Option<f64>,
    /// True if both ends have the majority of the planned measurements, and the bracket is narrow enough. Otherwise
    /// the measurements were used up before.
    pub is_settled: bool,
    /// True if a rate above one that does not hold holds: more load was not worse there, and a single rate does not
    /// describe the target.
    pub holds_above: bool,
    pub measurements: usize,
}

#[derive(Debug, Clone)]
pub struct Search {
    plan: SearchPlan,
    measured: Vec<Measured>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SearchError {
    #[error(
        "the search cannot use rates from {0} to {2} per second, starting at {1}: give positive rates in this order"
    )]
    Rates(f64, f64, f64),
    #[error("the search cannot use a bracket of {0} %: use 0.1 % to 100 %")]
    Resolution(f64),
    #[error("a search needs measurements: allow 1 or more, and an odd number of repeats")]
    Measurements,
}

impl Search {
    /// A search by a plan. Fails if the plan cannot be followed.
    pub fn new(plan: SearchPlan) -> Result<Self, SearchError> {
        let SearchPlan {
            lowest_per_s: lowest,
            first_per_s: first,
            highest_per_s: highest,
            ..
        } = plan;
        if !(lowest > 0.0 && lowest <= first && first <= highest && highest.is_finite()) {
            return Err(SearchError::Rates(lowest, first, highest));
        }
        if !(0.1..=100.0).contains(&plan.resolution_pct) {
            return Err(SearchError::Resolution(plan.resolution_pct));
        }
        if plan.measurements_max == 0
            || plan.repeats.is_multiple_of(2)
            || plan.misses.is_multiple_of(2)
        {
            return Err(SearchError::Measurements);
        }
        Ok(Self {
            plan,
            measured: Vec::new(),
        })
    }

    /// The rate to measure next, per second; `None` at the end of the search.
    pub fn next_per_s(&self) -> Option<f64> {
        if self.made() < self.plan.measurements_max {
            self.wanted()
        } else {
            None
        }
    }

    pub fn add(&mut self, rate_per_s: f64, holds: bool) {
        let index = self
            .measured
            .partition_point(|known| known.rate_per_s < rate_per_s);
        let is_known = self
            .measured
            .get(index)
            .is_some_and(|known| known.rate_per_s == rate_per_s);
        if !is_known {
            let new = Measured {
                rate_per_s,
                held: 0,
                missed: 0,
            };
            self.measured.insert(index, new);
        }
        let known = &mut self.measured[index];
        known.held += usize::from(holds);
        known.missed += usize::from(!holds);
    }

    pub fn measured(&self) -> &[Measured] {
        &self.measured
    }

    pub fn found(&self) -> Found {
        let (low, high) = self.bracket();
        let above =
            |measured: &Measured| high.is_some_and(|high| measured.rate_per_s > high.rate_per_s);
        Found {
            rate_per_s: low.map(|low| low.rate_per_s),
            missed_per_s: high.map(|high| high.rate_per_s),
            is_settled: !self.measured.is_empty() && self.wanted().is_none(),
            holds_above: self.measured.iter().any(|m| above(m) && m.holds()),
            measurements: self.made(),
        }
    }

    fn made(&self) -> usize {
        self.measured.iter().map(|m| m.held + m.missed).sum()
    }

    /// The highest rate that holds and lies below every rate that does not, and the lowest of those.
    fn bracket(&self) -> (Option<Measured>, Option<Measured>) {
        let held = self.measured.iter().take_while(|m| m.holds()).count();
        let low = held.checked_sub(1).map(|last| self.measured[last]);
        (low, self.measured.get(held).copied())
    }

    /// The next rate of a search without a bound on its measurements.
    fn wanted(&self) -> Option<f64> {
        let plan = &self.plan;
        let doubted = |m: &&Measured| !m.holds() && m.missed < plan.misses / 2 + 1;
        if let Some(doubted) = self.measured.iter().find(doubted) {
            return Some(doubted.rate_per_s);
        }
        match self.bracket() {
            (None, None) => Some(plan.first_per_s),
            (Some(low), None) if low.rate_per_s < plan.highest_per_s => {
                Some((low.rate_per_s * 2.0).min(plan.highest_per_s))
            }
            (None, Some(high)) if high.rate_per_s > plan.lowest_per_s => {
                Some((high.rate_per_s / 2.0).max(plan.lowest_per_s))
            }
            (Some(end), None) | (None, Some(end)) => self.again(&[end]),
            (Some(low), Some(high)) => {
                let ratio = high.rate_per_s / low.rate_per_s;
                if ratio > 1.0 + plan.resolution_pct / 100.0 {
                    Some((low.rate_per_s * high.rate_per_s).sqrt())
                } else {
                    self.again(&[low, high])
                }
            }
        }
    }

    /// The end without a majority of the planned measurements that was measured least often.
    fn again(&self, ends: &[Measured]) -> Option<f64> {
        let majority = self.plan.repeats / 2 + 1;
        let open = ends
            .iter()
            .filter(|end| end.held.max(end.missed) < majority || end.held == end.missed);
        let least = open.min_by_key(|end| end.held + end.missed);
        least.map(|end| end.rate_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> SearchPlan {
        SearchPlan::from_rate(100.0)
    }

    /// Searches a target that answers for each rate; returns the result and the rates measured.
    fn run(plan: SearchPlan, mut holds: impl FnMut(f64) -> bool) -> (Found, Vec<f64>) {
        let mut search = Search::new(plan).unwrap();
        let mut rates = Vec::new();
        while let Some(rate) = search.next_per_s() {
            rates.push(rate);
            search.add(rate, holds(rate));
        }
        assert!(rates.len() <= plan.measurements_max);
        assert_eq!(search.found().measurements, rates.len());
        (search.found(), rates)
    }

    #[test]
    fn a_sharp_boundary_is_bracketed() {
        for boundary in [0.2, 3.0, 99.0, 100.0, 777.0, 90_000.0] {
            let (found, rates) = run(plan(), |rate| rate <= boundary);
            let (low, high) = (found.rate_per_s.unwrap(), found.missed_per_s.unwrap());
            assert!(
                low <= boundary && boundary < high && high / low <= 1.05,
                "{found:?}"
            );
            assert!(found.is_settled && !found.holds_above);
            // 10 octaves, five halvings of one down to 5 %, one more measurement of either end.
            assert!(rates.len() <= 10 + 1 + 5 + 2, "{rates:?}");
        }
    }

    /// A target of 103/s against one of 100/s, wherever their boundaries lie on the grid.
    #[test]
    fn repetitions_tell_a_difference_smaller_than_the_bracket() {
        let mean_pct = |boundary: f64, moved: bool| {
            let found = |boundary: f64, seed: u64| {
                let plan = if moved { plan().moved(seed) } else { plan() };
                run(plan, |rate| rate <= boundary).0.rate_per_s.unwrap()
            };
            let ratio = |n: u64| (found(1.03 * boundary, 2 * n) / found(boundary, 2 * n + 1)).ln();
            100.0 * (0..400).map(ratio).sum::<f64>() / 400.0
        };
        let mut alike = 0;
        for index in 0..16 {
            let boundary = 700.0 * (1.0 + f64::from(index) / 300.0);
            // The error of the mean of 400 is 0.09.
            let found = mean_pct(boundary, true);
            assert!((found - 2.956).abs() < 0.4, "{boundary}: {found} %");
            alike += u32::from(mean_pct(boundary, false) == 0.0);
        }
        assert!(
            alike > 2,
            "from one first rate, {alike} of 16 come out alike"
        );
    }

    #[test]
    fn nothing_and_everything_are_ends_as_well() {
        let (none, rates) = run(plan(), |_| false);
        assert_eq!((none.rate_per_s, none.is_settled), (None, true));
        assert_eq!(none.missed_per_s, Some(plan().lowest_per_s));
        assert_eq!(rates.len(), 12, "ten octaves down, the lowest twice");
        let (all, _) = run(plan(), |_| true);
        assert_eq!((all.rate_per_s, all.missed_per_s), (Some(102_400.0), None));
        assert!(all.is_settled);
    }

    /// One measurement in ten goes the wrong way: the search still ends, within its bound, and in most cases
    /// near the truth. Golden for the seeds: without repeated measurements it would be fewer than 110 of 200.
    #[test]
    fn chance_is_outvoted() {
        let near = |repeats: usize| {
            let hit = |seed: u64| {
                let mut random = Random::new(seed);
                let plan = SearchPlan { repeats, ..plan() };
                let (found, _) = run(plan, |rate| (rate <= 1000.0) != (random.unit() < 0.1));
                found
                    .rate_per_s
                    .is_some_and(|rate| (900.0..1100.0).contains(&rate))
            };
            (0..200).filter(|seed| hit(*seed)).count()
        };
        let (once, three) = (near(1), near(3));
        assert!(once < 130 && three > once + 20, "{once} and {three} of 200");
    }

    /// The first measurement of all goes wrong by chance: nothing below it is ever measured.
    #[test]
    fn a_miss_is_measured_again_where_it_is_doubted() {
        let plan = SearchPlan {
            misses: 3,
            ..plan()
        };
        let mut unlucky = true;
        let (found, rates) = run(plan, |rate| rate <= 150.0 && !std::mem::take(&mut unlucky));
        assert_eq!(rates[..3], [100.0; 3]);
        assert!(rates.iter().all(|rate| *rate >= 100.0), "{rates:?}");
        assert!(found.is_settled && found.rate_per_s.unwrap() > 140.0);
    }

    /// An end that is overruled moves: 100 held the first time by chance, and never again.
    #[test]
    fn an_end_that_is_overruled_moves() {
        let mut lucky = true;
        let (found, rates) = run(plan(), |rate| rate <= 60.0 || std::mem::take(&mut lucky));
        assert_eq!(rates[0], 100.0);
        let (low, high) = (found.rate_per_s.unwrap(), found.missed_per_s.unwrap());
        assert!(
            low <= 60.0 && high > 60.0 && high / low <= 1.05 && found.is_settled,
            "{found:?}"
        );
    }

    /// A target with a hole from 150 to 250 per second: the result lies below it, and the rates above are reported.
    #[test]
    fn what_holds_above_a_hole_is_not_taken_for_the_answer() {
        let hole = |rate: f64| !(150.0..250.0).contains(&rate) && rate < 1000.0;
        let mut search = Search::new(plan()).unwrap();
        search.add(400.0, true);
        while let Some(rate) = search.next_per_s() {
            search.add(rate, hole(rate));
        }
        let found = search.found();
        assert!(
            found.rate_per_s.unwrap() >= 400.0,
            "the hole was never met: {found:?}"
        );
        search.add(200.0, false);
        while let Some(rate) = search.next_per_s() {
            search.add(rate, hole(rate));
        }
        let found = search.found();
        let (low, high) = (found.rate_per_s.unwrap(), found.missed_per_s.unwrap());
        assert!(
            low < 150.0 && high >= 150.0 && high / low <= 1.05,
            "{found:?}"
        );
        assert!(found.holds_above && found.is_settled);
    }

    #[test]
    fn used_up_measurements_are_reported() {
        let short = SearchPlan {
            measurements_max: 4,
            ..plan()
        };
        let (found, _) = run(short, |rate| rate < 150.0);
        assert!(!found.is_settled && found.measurements == 4);
        assert!(found.rate_per_s.unwrap() < 150.0 && found.missed_per_s.unwrap() >= 150.0);
    }

    #[test]
    fn plans_that_cannot_be_followed_are_refused() {
        let refused = |plan: SearchPlan| Search::new(plan).unwrap_err().to_string();
        assert!(refused(SearchPlan::from_rate(0.0)).contains("positive"));
        assert!(refused(SearchPlan::from_rate(f64::NAN)).contains("positive"));
        let wide = SearchPlan {
            resolution_pct: 0.0,
            ..plan()
        };
        assert!(refused(wide).contains("0.1 %"));
        let even = SearchPlan {
            repeats: 2,
            ..plan()
        };
        assert!(refused(even).contains("odd"));
    }
}
