//! Search for the highest arrival rate within a response-time limit.

use std::cell::Cell;

use ::load::search::{Search, SearchPlan};
use ::load::slo_search::{SearchedRate, slo_search};
use ::load::{Objective, Progress};
use archive::Point;
use stats::random::mix;
use storage::execution::search_of;

use super::growth::Growth;
use super::level::{Level, LevelOutcome};
use super::{Measured, PointContext};

/// Returns the points of the last measurement at the rate that was found.
pub(super) fn search(place: &PointContext, objective: Objective, progress: &Progress) -> Measured {
    let slo_search = RateSearch {
        place,
        objective,
        progress,
        measured: Cell::new(0),
    };
    match slo_search.run() {
        Ok(points) => Measured::Points(points),
        Err(measured) => measured,
    }
}

struct RateSearch<'a> {
    place: &'a PointContext<'a>,
    objective: Objective,
    progress: &'a Progress,
    measured: Cell<u64>,
}

impl<'a> RateSearch<'a> {
    fn run(&self) -> Result<Vec<Point>, Measured> {
        let growth = Growth::begin(self.place).map_err(|error| self.place.failed(error))?;
        let plan = SearchPlan::from_rate(self.first_per_s(&growth)?).moved(self.place.seed());
        let search = Search::new(plan).map_err(|error| Measured::Broken(error.to_string()))?;
        let searched = slo_search(search, |rate_per_s| {
            growth.check(self.progress)?;
            let level = self.level()?;
            let outcome = level.measure(self.progress, Some(rate_per_s), None)?;
            if outcome.lost.is_some() {
                // A database that loses acknowledged transactions has no meaningful rate.
                return Err(Measured::Points(level.points(&outcome)));
            }
            let holds = self.objective.held(&outcome.outcome).holds;
            Ok((holds, (level, outcome)))
        })?;
        let mut points = self.points(&searched);
        if let Some(total) = points.first_mut() {
            total.notes.extend(growth.notes()?);
        }
        Ok(points)
    }

    /// Users with new inputs in each measurement: equal ones would find their rows warm, and say nothing about others.
    fn level(&self) -> Result<Level<'a>, Measured> {
        let number = self.measured.replace(self.measured.get() + 1);
        let seed = mix(self.place.seed() ^ mix(number));
        Level::open_with_seed(self.place, seed).map_err(|error| self.place.failed(error))
    }

    /// First rate: that of the step, or half of the closed-loop throughput.
    fn first_per_s(&self, growth: &Growth<'_>) -> Result<f64, Measured> {
        if let Some(rate_per_s) = self.place.step.rate_per_s {
            return Ok(rate_per_s);
        }
        growth.check(self.progress)?;
        let pilot = self.level()?.measure(self.progress, None, None)?;
        let completed_per_s = pilot.outcome.operations_per_s().unwrap_or(0.0);
        Ok((completed_per_s / 2.0).max(1.0))
    }

    fn points(&self, searched: &SearchedRate<(Level<'a>, LevelOutcome)>) -> Vec<Point> {
        let remarks = search_of(searched).remarks("arrivals", self.objective.to_string());
        let Some((level, outcome)) = searched.best() else {
            return self.place.without_figures(&remarks);
        };
        let mut points = level.points(outcome);
        if let Some(total) = points.first_mut() {
            total.notes.splice(0..0, remarks);
        }
        points
    }
}
