//! Metrics: one figure of one test at one level, or the best over the levels, in each repetition.
//!
//! Written as `[TARGET:]TEST[@JOBS[xTHREADS]].FIGURE`: `T611.operations_per_s` is the best over all levels,
//! `sqlite:T611@4.response_us_p99` that of four jobs on one target.

use std::fmt;
use std::str::FromStr;

use archive::{Better, FIGURES, Latency, Point, Run};

/// A metric as it is named in a plan, a file of limits or on the command line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    /// Short name of the target; `None` is every target that has the test.
    pub target: Option<String>,
    pub test: String,
    /// Jobs and threads; `None` is the best over all levels.
    pub level: Option<(u32, u32)>,
    /// Name of the figure, e.g. `operations_per_s` or `response_us_p99`.
    pub figure: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    #[error(
        "\"{0}\" is not a metric; write [TARGET:]TEST[@JOBS[xTHREADS]].FIGURE, for example T611@4.response_us_p99"
    )]
    Form(String),
    #[error(
        "the metric \"{metric}\" names the unknown figure \"{figure}\"; docs/GLOSSARY.md lists the figures; latencies are \
         service_us_ or response_us_ followed by mean, p50, p90, p95, p99, p99_9 or max"
    )]
    UnknownFigure { metric: String, figure: String },
}

impl FromStr for Metric {
    type Err = MetricError;

    fn from_str(text: &str) -> Result<Self, MetricError> {
        let form = || MetricError::Form(text.to_owned());
        let (place, figure) = text.split_once('.').ok_or_else(form)?;
        let (target, place) = match place.split_once(':') {
            Some((target, place)) => (Some(target), place),
            None => (None, place),
        };
        let (test, level) = match place.split_once('@') {
            Some((test, level)) => (test, Some(parse_level(level).ok_or_else(form)?)),
            None => (place, None),
        };
        if test.is_empty() || target == Some("") {
            return Err(form());
        }
        if unit(figure).is_none() {
            return Err(MetricError::UnknownFigure {
                metric: text.to_owned(),
                figure: figure.to_owned(),
            });
        }
        Ok(Self {
            target: target.map(str::to_owned),
            test: test.to_owned(),
            level,
            figure: figure.to_owned(),
        })
    }
}

fn parse_level(text: &str) -> Option<(u32, u32)> {
    let (jobs, threads) = text.split_once('x').unwrap_or((text, "1"));
    let level: (u32, u32) = (jobs.parse().ok()?, threads.parse().ok()?);
    (level.0 > 0 && level.1 > 0).then_some(level)
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(target) = &self.target {
            write!(f, "{target}:")?;
        }
        f.write_str(&self.test)?;
        match self.level {
            Some((jobs, 1)) => write!(f, "@{jobs}")?,
            Some((jobs, threads)) => write!(f, "@{jobs}x{threads}")?,
            None => {}
        }
        write!(f, ".{}", self.figure)
    }
}

/// Unit of a figure of the result row or of a latency; `None` for an unknown figure.
pub fn unit(figure: &str) -> Option<&'static str> {
    if let Some(info) = FIGURES.iter().find(|info| info.name == figure) {
        return Some(info.unit);
    }
    is_latency(figure).then_some("µs")
}

pub fn better(figure: &str) -> Better {
    match FIGURES.iter().find(|info| info.name == figure) {
        Some(info) => info.better,
        None => Better::Lower,
    }
}

pub(crate) const PERCENTILES: [&str; 7] = ["mean", "p50", "p90", "p95", "p99", "p99_9", "max"];

fn is_latency(figure: &str) -> bool {
    ["service_us_", "response_us_"]
        .iter()
        .filter_map(|kind| figure.strip_prefix(kind))
        .any(|end| PERCENTILES.contains(&end))
}

/// A figure of one point, latencies read from its histograms.
pub fn figure_of(point: &Point, figure: &str) -> Option<f64> {
    let of = |histogram, end: &str| {
        let named = Latency::of(histogram)?.named();
        named.into_iter().find(|(n, _)| *n == end).map(|(_, v)| v)
    };
    if let Some(end) = figure.strip_prefix("service_us_") {
        return of(&point.histograms.service, end);
    }
    if let Some(end) = figure.strip_prefix("response_us_") {
        return of(&point.histograms.response, end);
    }
    point.figures.get(figure)
}

impl Metric {
    pub fn on(&self, target: &str) -> Metric {
        Metric {
            target: Some(target.to_owned()),
            ..self.clone()
        }
    }

    /// True if the metric includes a point of `run`, valid or not.
    pub fn covers(&self, run: &Run, point: &Point) -> bool {
        let target = run.targets.get(point.key.target as usize);
        let level = (point.key.jobs, point.key.threads);
        point.key.test == self.test
            && self.level.is_none_or(|wanted| wanted == level)
            && self
                .target
                .as_deref()
                .is_none_or(|name| target.is_some_and(|t| t.name == name))
    }

    /// The metric's value in each repetition, the first at index 0. `None` if the repetition has no valid point with
    /// the figure: a figure that failed its check is not a figure. Over several levels the best one counts: the
    /// highest rate, the lowest time.
    pub fn values(&self, run: &Run) -> Vec<Option<f64>> {
        let points = self.points(run).into_iter();
        points.map(|point| Some(point?.1)).collect()
    }

    pub fn points<'r>(&self, run: &'r Run) -> Vec<Option<(&'r Point, f64)>> {
        let mut points: Vec<Option<(&Point, f64)>> = vec![None; run.repetitions as usize];
        for point in run.points.iter().filter(|p| p.valid()) {
            let place = (point.key.repetition as usize).checked_sub(1);
            let place = place.and_then(|at| points.get_mut(at));
            let (Some(place), true) = (place, self.covers(run, point)) else {
                continue;
            };
            let Some(value) = figure_of(point, &self.figure).filter(|v| v.is_finite()) else {
                continue;
            };
            if place.is_none_or(|(_, there)| self.is_better(value, there)) {
                *place = Some((point, value));
            }
        }
        points
    }

    fn is_better(&self, value: f64, than: f64) -> bool {
        match better(&self.figure) {
            Better::Lower => value < than,
            Better::Higher | Better::Neither => value > than,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_written_as_it_is_read() {
        for text in [
            "T611.operations_per_s",
            "sqlite:T611@4.response_us_p99",
            "T512@1x8.elapsed_s",
        ] {
            assert_eq!(text.parse::<Metric>().unwrap().to_string(), text);
        }
        let wide: Metric = "T611@4x1.rows_per_s".parse().unwrap();
        assert_eq!(wide.level, Some((4, 1)));
    }

    #[test]
    fn what_is_no_metric_says_why() {
        for text in [
            "T611",
            ".rows_per_s",
            "T611@0.rows_per_s",
            "T611@x.rows_per_s",
            ":T1.rows_per_s",
        ] {
            assert!(
                matches!(text.parse::<Metric>(), Err(MetricError::Form(_))),
                "{text}"
            );
        }
        let error = "T611.speed".parse::<Metric>().unwrap_err().to_string();
        assert!(error.contains("\"speed\""), "{error}");
        assert!("T611.service_us_p98".parse::<Metric>().is_err());
    }

    #[test]
    fn directions_are_properties_of_figures() {
        assert_eq!(better("operations_per_s"), Better::Higher);
        assert_eq!(better("response_us_p99"), Better::Lower);
        assert_eq!(better("cpu_pct_avg"), Better::Neither);
        assert_eq!(unit("response_us_p99"), Some("µs"));
    }
}
