//! The charts of a ramp: throughput, response time and CPU use against the number of users.

use archive::{Run, Table};
use chart::{Axis, Chart, Dash, Series, Shape, Trace, tick};

use super::charts::{INK, key, latency_axis, unnamed};
use super::figure::{Figure, grouped};
use super::load::Load;
use super::sweep::{self, Sweep, sweeps};
use crate::level::{Level, TestGroup};
use crate::number;
use crate::ramp::{Ramp, ramp};
use crate::scorecard::Against;
use crate::users;

/// Lines of the response time with figure and dash; the mean has only markers.
const RESPONSES: [(&str, &str, Dash); 4] = [
    ("mean", "response_us_mean", Dash::None),
    ("p50", "response_us_p50", Dash::Solid),
    ("p95", "response_us_p95", Dash::Dashed),
    ("p99", "response_us_p99", Dash::Dotted),
];

/// The ramp of one target of one run.
struct Side<'s, 'a> {
    sweep: &'s Sweep<'a>,
    levels: Vec<&'s Level<'a>>,
    ramp: Ramp,
}

/// The charts of all ramps of users together; empty if this run has none.
pub fn figures(run: &Run, groups: &[TestGroup<'_>], against: &[Against<'_>]) -> Vec<Figure> {
    let Some(group) = groups.iter().find(|group| users::is_of_users(group.test)) else {
        return Vec::new();
    };
    let rate = sweep::rate_figure(group);
    let sweeps = sweeps(group, run, against, rate);
    let sides: Vec<Side<'_, '_>> = sweeps.iter().filter_map(side).collect();
    if !sides.iter().any(|side| side.sweep.own) {
        return Vec::new();
    }
    let throughput = one_line(&sides, &format!("Throughput, {}", rate.unit), rate.name);
    let cpu = one_line(&sides, "Host CPU utilisation, %", "cpu_pct_avg");
    let memory = one_line(&sides, "Memory of each session, MB", "session_memory_mb");
    [throughput, response(&sides), cpu, memory]
        .into_iter()
        .flatten()
        .collect()
}

fn side<'s, 'a>(sweep: &'s Sweep<'a>) -> Option<Side<'s, 'a>> {
    let curve = sweep.curve.as_ref()?;
    Some(Side {
        sweep,
        levels: curve.levels.iter().filter(|level| !level.extra()).collect(),
        ramp: ramp(curve)?,
    })
}

impl Side<'_, '_> {
    /// A figure of the valid levels, by users.
    fn points(&self, figure: &str) -> Vec<(f64, Option<f64>)> {
        let valid = self.levels.iter().filter_map(|level| level.only_valid());
        valid
            .map(|level| (f64::from(level.first().key.jobs), level.figure(figure)))
            .collect()
    }

    fn line(&self, figure: &str, dash: Dash, shape: Shape) -> Series {
        Series {
            points: self.points(figure),
            ..unnamed(self.sweep.colour, shape, dash)
        }
    }

    /// A vertical line at the supported number of users.
    fn supported(&self, y: &Axis) -> Option<Trace> {
        let users = f64::from(self.ramp.within.as_ref()?.1.users?);
        Some(Trace {
            colour: self.sweep.colour,
            dash: Dash::Dashed,
            points: vec![(users, y.low), (users, y.high)],
            band: Vec::new(),
        })
    }
}

/// One figure by users, a line per side.
fn one_line(sides: &[Side<'_, '_>], caption: &str, figure: &str) -> Option<Figure> {
    let values: Vec<f64> = known(sides, figure).collect();
    let high = stats::summary::max(&values)?;
    let y = match figure {
        "cpu_pct_avg" => Axis::linear("", 100.0, tick),
        _ => Axis::linear("", high, tick),
    };
    let series = sides.iter().map(|side| Series {
        label: side.sweep.label.clone(),
        rejected: rejected(side, figure),
        ..side.line(figure, side.sweep.dash, side.sweep.shape)
    });
    let how = match figure {
        "cpu_pct_avg" => {
            "All processors of the host, mean of each level: at 100 %, more users can only wait."
        }
        "session_memory_mb" => {
            "What the server took for each session that was open: more users with sessions of their own need as much memory more."
        }
        _ => "Higher is better. Where a curve flattens, more users only wait longer.",
    };
    let table = by_users(sides, &[figure_head(caption)], |level| {
        vec![number::figure_or_unknown(level.figure(figure))]
    });
    Some(drawn(sides, caption, y, series.collect(), how, &[], table))
}

fn rejected(side: &Side<'_, '_>, figure: &str) -> Vec<(f64, f64)> {
    let invalid = side
        .levels
        .iter()
        .filter(|level| level.only_valid().is_none());
    invalid
        .filter_map(|level| Some((f64::from(level.first().key.jobs), level.figure(figure)?)))
        .collect()
}

/// Mean and percentiles of the response time by users, with the limit.
fn response(sides: &[Side<'_, '_>]) -> Option<Figure> {
    let limits = || {
        sides
            .iter()
            .filter_map(|side| Some((side, side.ramp.within.as_ref()?.0)))
    };
    let measured = RESPONSES
        .iter()
        .flat_map(|(_, figure, _)| known(sides, figure));
    let values: Vec<f64> = measured
        .chain(limits().map(|(_, limit_us)| limit_us))
        .collect();
    if values.is_empty() {
        return None;
    }
    let mut series: Vec<Series> = sides
        .iter()
        .map(|side| {
            key(
                &side.sweep.label,
                side.sweep.colour,
                side.sweep.shape,
                Dash::None,
            )
        })
        .collect();
    let keys = RESPONSES.iter().map(|(name, _, dash)| match dash {
        Dash::None => key(name, INK, Shape::Circle, Dash::None),
        dash => key(name, INK, Shape::None, *dash),
    });
    series.extend(keys);
    for side in sides {
        let lines = RESPONSES.iter().map(|(_, figure, dash)| match dash {
            Dash::None => side.line(figure, Dash::None, side.sweep.shape),
            dash => side.line(figure, *dash, Shape::None),
        });
        series.extend(lines);
    }
    let heads: Vec<&str> = RESPONSES.iter().map(|(name, ..)| *name).collect();
    let table = by_users(sides, &heads, |level| {
        let figures = RESPONSES.iter().map(|(_, figure, _)| level.figure(figure));
        figures.map(number::latency).collect()
    });
    let mut labels: Vec<String> = limits()
        .map(|(side, limit_us)| {
            let limit = number::latency(Some(limit_us));
            format!("p{} ≤ {limit}", side.ramp.percentile)
        })
        .collect();
    labels.dedup();
    let limit = if labels.is_empty() {
        String::new()
    } else {
        format!(" The horizontal line is the limit: {}.", labels.join("; "))
    };
    let how = format!("Lower is better; the vertical axis is logarithmic.{limit}");
    let y = latency_axis(&values);
    let limits_us: Vec<f64> = limits().map(|(_, limit_us)| limit_us).collect();
    Some(drawn(
        sides,
        "Response time: mean, p50, p95, p99",
        y,
        series,
        &how,
        &limits_us,
        table,
    ))
}

fn drawn(
    sides: &[Side<'_, '_>],
    caption: &str,
    y: Axis,
    series: Vec<Series>,
    how: &str,
    limits_us: &[f64],
    table: Table,
) -> Figure {
    let levels = sides.iter().flat_map(|side| &side.levels);
    let users: Vec<u32> = levels.map(|level| level.first().key.jobs).collect();
    let x = Load::Users.axis(&users);
    let limits = limits_us.iter().map(|limit_us| Trace {
        colour: INK,
        dash: Dash::Solid,
        points: vec![(x.low, *limit_us), (x.high, *limit_us)],
        band: Vec::new(),
    });
    let supported = sides.iter().filter_map(|side| side.supported(&y));
    let traces: Vec<Trace> = limits.chain(supported).collect();
    let has_supported = sides.iter().any(|side| side.supported(&y).is_some());
    let vertical = if has_supported {
        " The dashed vertical line stands at the users that are supported."
    } else {
        ""
    };
    let chart = Chart {
        traces,
        ..Chart::new(&format!("{caption}, by users"), x, y, series)
    };
    Figure::new(
        caption.to_owned(),
        chart.render(),
        format!("{how}{vertical}"),
        table,
    )
}

fn known<'s>(sides: &'s [Side<'_, '_>], figure: &'s str) -> impl Iterator<Item = f64> + 's {
    let levels = sides.iter().flat_map(|side| &side.levels);
    levels.filter_map(move |level| level.shown().figure(figure))
}

fn figure_head(caption: &str) -> &str {
    caption.rsplit(", ").next().unwrap_or(caption)
}

fn by_users(
    sides: &[Side<'_, '_>],
    heads: &[&str],
    cells: impl Fn(&Level<'_>) -> Vec<String>,
) -> Table {
    let heads: Vec<&str> = [Load::Users.head()].iter().chain(heads).copied().collect();
    let rows = sides.iter().flat_map(|side| {
        let levels = side.levels.iter().map(|level| {
            let users = level.first().key.jobs;
            let mut row = vec![match level.only_valid() {
                Some(_) => users.to_string(),
                None => format!("{users} (invalid)"),
            }];
            row.extend(cells(&level.shown()));
            (side.sweep.label.clone(), row)
        });
        levels.collect::<Vec<_>>()
    });
    grouped(&heads, rows)
}
