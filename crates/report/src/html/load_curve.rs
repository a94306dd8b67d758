//! Response time over the I/O rate, for runs of a parameter file that differ only in their threads or rate.

use chart::{Axis, Chart, Dash, Series, Shape, tick};

use super::charts::latency_axis;
use super::figure::{Figure, grouped};
use super::section::Fragment;
use crate::level::{Level, TestGroup};
use crate::number;

/// Most curves; a list may have thousands of runs.
const CURVES_MAX: usize = 12;
const HOW: &str = "Each dot is a run, in the order of the I/Os in flight and then of the rate. Lower and further right is better; where the \
     line rises steeply, the storage is saturated. Times count from the intended start.";

/// A curve for each RD with several runs.
pub fn view<'a>(groups: impl Iterator<Item = &'a TestGroup<'a>>) -> Fragment {
    let mut curves: Vec<(String, Vec<Dot>)> = Vec::new();
    for group in groups {
        let name = common_name(group.test);
        let levels = group.curves.iter().flat_map(|curve| &curve.levels);
        for dot in levels.filter_map(|level| Dot::of(group.test, level)) {
            match curves.iter_mut().find(|(known, _)| *known == name) {
                Some((_, dots)) => dots.push(dot),
                None => curves.push((name.clone(), vec![dot])),
            }
        }
    }
    let figures: Vec<Figure> = curves
        .into_iter()
        .filter(|(_, dots)| dots.len() > 1)
        .take(CURVES_MAX)
        .map(|(name, dots)| figure(&name, dots))
        .collect();
    let mut parts = Fragment::default();
    parts.figures(&figures);
    parts
}

struct Dot {
    test: String,
    in_flight: u32,
    iops: f64,
    mean_us: f64,
    p99_us: f64,
}

impl Dot {
    fn of(test: &str, level: &Level<'_>) -> Option<Self> {
        let valid = level.only_valid()?;
        Some(Self {
            test: test.to_owned(),
            in_flight: valid.dop(),
            iops: valid.figure("operations_per_s")?,
            mean_us: valid.figure("response_us_mean")?,
            p99_us: valid.figure("response_us_p99")?,
        })
    }
}

/// The code of a run without its threads and rate: "rd1 xfersize=4k" of "rd1_(50%) xfersize=4k threads=8".
fn common_name(test: &str) -> String {
    let mut words = test.split(' ');
    let rd = words.next().unwrap_or_default();
    let rd = rd.split("_(").next().unwrap_or(rd);
    let of_load = |word: &&str| word.starts_with("threads=") || word.starts_with("iorate=");
    let others = words.filter(|word| !of_load(word));
    std::iter::once(rd)
        .chain(others)
        .collect::<Vec<_>>()
        .join(" ")
}

fn figure(name: &str, mut dots: Vec<Dot>) -> Figure {
    dots.sort_by(|a, b| {
        a.in_flight
            .cmp(&b.in_flight)
            .then(a.iops.total_cmp(&b.iops))
    });
    let line = |label: &str, dash, us: fn(&Dot) -> f64| {
        let points = dots.iter().map(|dot| (dot.iops, Some(us(dot))));
        Series::new(label, 0, Shape::nth(0), dash, points.collect())
    };
    let series = vec![
        line("mean", Dash::Solid, |dot| dot.mean_us),
        line("p99", Dash::Dashed, |dot| dot.p99_us),
    ];
    let values: Vec<f64> = dots
        .iter()
        .flat_map(|dot| [dot.mean_us, dot.p99_us])
        .collect();
    let high = dots.iter().map(|dot| dot.iops).fold(0.0, f64::max);
    let x = Axis::span("I/Os per second", high, tick);
    let caption = format!("{name}: response time over the I/O rate");
    let chart = Chart::new(&caption, x, latency_axis(&values), series);
    let rows = dots.iter().map(|dot| {
        let row = vec![
            dot.test.clone(),
            dot.in_flight.to_string(),
            number::figure(dot.iops),
            number::latency(Some(dot.mean_us)),
            number::latency(Some(dot.p99_us)),
        ];
        (String::new(), row)
    });
    let table = grouped(&["run", "in flight", "I/Os /s", "mean", "p99"], rows);
    Figure::new(caption, chart.render(), HOW.to_owned(), table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_workload_share_a_curve() {
        for (test, name) in [
            ("rd1 threads=8", "rd1"),
            ("rd1_(50%) xfersize=4k threads=8", "rd1 xfersize=4k"),
            ("rd1 xfersize=4k iorate=200", "rd1 xfersize=4k"),
            ("rd1 xfersize=8k iorate=max", "rd1 xfersize=8k"),
        ] {
            assert_eq!(common_name(test), name);
        }
    }
}
