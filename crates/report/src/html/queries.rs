//! All queries of the analytical workload side by side, with their times and validity.

use archive::Run;

use super::figure::{Figure, grouped};
use crate::level::{self, Curve, Level};
use crate::number;
use crate::scorecard;
use chart::{Bar, bars};

/// The point of all queries of one user.
const POWER: &str = "OLAP-POWER";
/// Tests that are part of it besides the queries.
const REFRESHES: [&str; 2] = ["RF1", "RF2"];

/// One figure for each target and step with a power run in the group, at its smallest degree of parallelism; empty for other tests.
pub fn figures(run: &Run, test: &str, curves: &[Curve<'_>]) -> Vec<Figure> {
    if test != POWER {
        return Vec::new();
    }
    let tests = level::tests(run, scorecard::rank);
    let parts: Vec<_> = tests.iter().filter(|group| is_part(group.test)).collect();
    let several = curves.len() > 1;
    let figure = |curve: &Curve<'_>| {
        let dop = curve.levels.first()?.dop();
        let found: Vec<Part<'_>> = (parts.iter())
            .filter_map(|group| {
                let same = |c: &&Curve<'_>| (c.target, c.step) == (curve.target, curve.step);
                let of_it = group.curves.iter().find(same)?;
                let level = of_it.levels.iter().find(|level| level.dop() == dop)?;
                Some(Part::of(group.test, group.title, level))
            })
            .collect();
        let name = if several {
            format!("Time of each query, {}", curve.label)
        } else {
            "Time of each query".to_owned()
        };
        (!found.is_empty()).then(|| draw(name, &found, curve.target as usize))
    };
    curves.iter().filter_map(figure).collect()
}

fn is_part(test: &str) -> bool {
    scorecard::query_number(test).is_some() || REFRESHES.contains(&test)
}

struct Part<'a> {
    code: &'a str,
    title: &'a str,
    time_us: Option<f64>,
    is_valid: bool,
}

impl<'a> Part<'a> {
    fn of(code: &'a str, title: &'a str, level: &Level<'_>) -> Self {
        let shown = level.shown();
        let elapsed_s = shown.figure("elapsed_s");
        let operations = shown.figure("operations").filter(|n| *n > 0.0);
        Self {
            code,
            title: title.split_once(": ").map_or(title, |(_, title)| title),
            time_us: elapsed_s.zip(operations).map(|(s, n)| s / n * 1e6),
            is_valid: level.only_valid().is_some(),
        }
    }

    fn time(&self) -> String {
        let time = number::latency(self.time_us);
        if self.is_valid {
            time
        } else {
            format!("{time} (invalid)")
        }
    }
}

fn draw(caption: String, parts: &[Part<'_>], colour: usize) -> Figure {
    let rows: Vec<Bar> = (parts.iter())
        .map(|part| Bar {
            label: format!("{} {}", part.code, part.title),
            value: part.time_us,
            text: part.time(),
            colour,
            hollow: !part.is_valid,
        })
        .collect();
    let lines = parts.iter().map(|part| {
        let cells = [part.code, part.title].map(str::to_owned);
        (String::new(), [&cells[..], &[part.time()]].concat())
    });
    let table = grouped(&["point", "query", "time"], lines);
    let how = "Mean time of one execution; shorter is better. Hollow: the answer was wrong or missing, so neither this \
               time nor the power figure counts.";
    Figure::new(
        caption.clone(),
        bars(&caption, &rows),
        how.to_owned(),
        table,
    )
}
