//! The highest rate of arrivals that holds a response time.

use std::collections::BTreeMap;

use ::load::search::{Found, Measured as Rate, Search, SearchPlan};
use ::load::{Objective, Progress};
use archive::Point;

use super::level::{Level, Seen};
use super::{Measured, Place};

/// Searches, and gives the points of the last measurement at the rate that was found.
pub(super) fn search(place: &Place, objective: Objective, progress: &Progress) -> Measured {
    match Hunt::new(place, objective, progress).run() {
        Ok(points) => Measured::Points(points),
        Err(measured) => measured,
    }
}

struct Hunt<'a> {
    place: &'a Place<'a>,
    objective: Objective,
    progress: &'a Progress,
    /// What was seen last at each rate that held, by the bits of the rate: positive numbers are in their order.
    held: BTreeMap<u64, (Level<'a>, Seen)>,
}

impl<'a> Hunt<'a> {
    fn new(place: &'a Place<'a>, objective: Objective, progress: &'a Progress) -> Self {
        Self {
            place,
            objective,
            progress,
            held: BTreeMap::new(),
        }
    }

    fn run(mut self) -> Result<Vec<Point>, Measured> {
        let plan = SearchPlan::from_rate(self.first_per_s()?);
        let wrong = |error: ::load::search::SearchError| Measured::Broken(error.to_string());
        let mut search = Search::new(plan).map_err(wrong)?;
        while let Some(rate_per_s) = search.next_per_s() {
            let level = self.level()?;
            let seen = level.measure(self.progress, Some(rate_per_s))?;
            if seen.lost.is_some() {
                // A database that forgets what it acknowledged has no rate that is worth finding.
                return Ok(level.points(&seen));
            }
            let holds = self.objective.held(&seen.outcome).holds;
            search.tell(rate_per_s, holds);
            if holds {
                self.held.insert(rate_per_s.to_bits(), (level, seen));
            }
        }
        Ok(self.points(&search))
    }

    fn level(&self) -> Result<Level<'a>, Measured> {
        Level::open(self.place).map_err(|error| self.place.failed(error))
    }

    /// The rate that is tried first: that of the step, or half of what the users get done when they ask again
    /// as soon as they are answered.
    fn first_per_s(&self) -> Result<f64, Measured> {
        if let Some(rate_per_s) = self.place.step.rate_per_s {
            return Ok(rate_per_s);
        }
        let pilot = self.level()?.measure(self.progress, None)?;
        let completed_per_s = pilot.outcome.completed_per_s().unwrap_or(0.0);
        Ok((completed_per_s / 2.0).max(1.0))
    }

    fn points(&self, search: &Search) -> Vec<Point> {
        let found = search.found();
        let objective = self.objective;
        let held = found
            .rate_per_s
            .and_then(|rate| self.held.get(&rate.to_bits()));
        let Some((level, seen)) = held else {
            let lowest = search
                .measured()
                .first()
                .map_or(0.0, |rate| rate.rate_per_s);
            return self.place.without_figures(&format!(
                "no rate was found that holds {objective}: not even {lowest:.1}/s did; {}",
                told(search.measured())
            ));
        };
        let mut points = level.points(seen);
        if let Some(total) = points.first_mut() {
            total.notes.insert(0, words(&found, &objective));
            total.notes.insert(1, told(search.measured()));
        }
        points
    }
}

fn words(found: &Found, objective: &Objective) -> String {
    let rate = found.rate_per_s.unwrap_or(0.0);
    let above = match found.missed_per_s {
        Some(missed) => format!("{missed:.1}/s does not"),
        None => "no higher one was tried that does not".to_owned(),
    };
    let mut text = format!("{rate:.1} arrivals/s hold {objective}, {above}");
    if !found.is_settled {
        text += "; the measurements were used up before the bracket was as narrow as meant";
    }
    if found.holds_above {
        text += "; a higher rate held again: the target is less regular than one rate can say";
    }
    text
}

fn told(measured: &[Rate]) -> String {
    let rates = measured.iter().map(|rate| {
        let all = rate.held + rate.missed;
        format!("{:.1}/s held in {} of {all}", rate.rate_per_s, rate.held)
    });
    format!("rates tried: {}", rates.collect::<Vec<_>>().join(", "))
}
