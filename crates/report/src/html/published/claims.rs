//! Single published figures of a test, with the same figure of each of our curves.

use archive::reference::{Reference, StatedFigure};
use archive::{Column, Remark, Run, Table};

use crate::html::sweep::Rate;
use crate::level::{Curve, Level, TestGroup};
use crate::number;

/// Our figure and its level, or "–" and the reason.
#[derive(Debug, PartialEq)]
pub struct Ours {
    pub value: String,
    pub detail: String,
}

/// All figures of the test in a reference, with ours of each curve in the published unit.
pub fn claims(run: &Run, group: &TestGroup<'_>, rate: Rate, reference: &Reference) -> Table {
    let mut table = Table::new("statement | theirs");
    let curves = group
        .curves
        .iter()
        .map(|curve| Column::new("yours", &curve.label));
    table.columns.extend(curves);
    table.columns.push(Column::new("place", ""));
    for figure in &reference.stated {
        if figure.test.as_deref() != Some(group.test) {
            continue;
        }
        let ours = group.curves.iter().map(|curve| {
            let Ours { value, detail } = ours(run, curve, rate, figure);
            format!("{value}\n{detail}").trim_end().to_owned()
        });
        let note = figure
            .note
            .as_ref()
            .map_or_else(String::new, |note| format!(". {note}"));
        let first = [figure.name.clone(), printed(figure)];
        table.row(
            first
                .into_iter()
                .chain(ours)
                .chain([format!("{}{note}", figure.place)]),
        );
    }
    table
}

fn printed(figure: &StatedFigure) -> String {
    if figure.unit.is_empty() || figure.printed.ends_with(&figure.unit) {
        figure.printed.clone()
    } else {
        format!("{} {}", figure.printed, figure.unit)
    }
}

fn ours(run: &Run, curve: &Curve<'_>, rate: Rate, figure: &StatedFigure) -> Ours {
    let unknown = |detail: String| Ours {
        value: number::UNKNOWN.to_owned(),
        detail,
    };
    let Some(is) = figure.is.as_deref() else {
        return unknown(String::new());
    };
    if is == "multithreading_gain_pct" {
        return match multithreading(run, curve, rate) {
            Ok(gain) => Ours {
                value: format!("{:.1} %", gain.pct),
                detail: format!("@{} against @{}", gain.best_dop, gain.cores),
            },
            Err(why) => unknown(why),
        };
    }
    let level = match figure.dop {
        Some(dop) => match at(curve, dop) {
            Some(level) => level,
            None => return unknown(format!("no valid level at DOP {dop}")),
        },
        None => match curve.peak(rate.name) {
            Some(level) => level,
            None => return unknown("no valid level".to_owned()),
        },
    };
    if let Some(scaled) = scaled(&level, figure) {
        return scaled;
    }
    let detail = format!("@{}", level.dop());
    match value(&level, is) {
        Some(value) => Ours {
            value: format!("{} {}", number::figure(value * figure.factor), figure.unit),
            detail,
        },
        None => unknown(format!("not known at DOP {}", level.dop())),
    }
}

/// An estimate if our input differs from the published one, marked as such.
fn scaled(level: &Level<'_>, figure: &StatedFigure) -> Option<Ours> {
    let notes = level.points.iter().flat_map(|point| &point.notes);
    let scaled = notes.filter_map(|note| match note {
        Remark::SmallerInput {
            input, scaled_s, ..
        } => Some((*input, *scaled_s)),
        _ => None,
    });
    let scaled: Vec<(u64, f64)> = scaled.collect();
    let (input, _) = *scaled.first()?;
    let times: Vec<f64> = scaled.into_iter().map(|(_, scaled_s)| scaled_s).collect();
    let mean_s = stats::summary::mean(&times)?;
    Some(Ours {
        value: format!("≈ {} {}", number::figure(mean_s), figure.unit),
        detail: format!("scaled from n = {input}, not measured"),
    })
}

/// The valid level at a degree of parallelism; extras do not count.
fn at<'a>(curve: &Curve<'a>, dop: u32) -> Option<Level<'a>> {
    let mut levels = curve.levels.iter().filter(|level| !level.extra());
    levels.find(|level| level.dop() == dop)?.only_valid()
}

fn value(level: &Level<'_>, is: &str) -> Option<f64> {
    let bytes = |mb: &str, requests: &str| {
        let requests = level.figure(requests).filter(|count| *count > 0.0)?;
        Some(level.figure(mb)? * 1e6 / requests)
    };
    match is {
        "bytes_per_read" => bytes("read_mb_per_s", "read_iops"),
        "bytes_per_write" => bytes("write_mb_per_s", "write_iops"),
        figure => level.figure(figure),
    }
}

/// Gain in throughput from the second and further hardware threads of each core.
#[derive(Debug, PartialEq)]
struct Gain {
    pct: f64,
    cores: u32,
    best_dop: u32,
}

/// The formula of document 001: the best throughput of the sweep beyond one job per core, divided by that with one job per core. For its
/// strings, 78.37 over 68.57 Mops/s with 32 jobs on 32 cores is 14.3 %, printed as 15 %.
fn multithreading(run: &Run, curve: &Curve<'_>, rate: Rate) -> Result<Gain, String> {
    let platform = &run.platform;
    let (Some(cores), Some(threads)) = (platform.cores, platform.threads) else {
        return Err("cores and hardware threads of the machine are unknown".to_owned());
    };
    if threads <= cores {
        return Err(format!(
            "no multithreading: {cores} cores, {threads} threads"
        ));
    }
    let of = |level: &Level<'_>| level.figure(rate.name).filter(|value| *value > 0.0);
    let one_each = at(curve, cores).as_ref().and_then(of);
    let one_each =
        one_each.ok_or_else(|| format!("no valid level with {cores} sessions, one per core"))?;
    let beyond = curve
        .levels
        .iter()
        .filter(|l| !l.extra() && l.dop() > cores);
    let beyond = beyond.filter_map(Level::only_valid);
    let best = beyond
        .filter_map(|level| of(&level).map(|value| (value, level.dop())))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let (best, best_dop) =
        best.ok_or_else(|| format!("no valid level with more than {cores} sessions"))?;
    Ok(Gain {
        pct: 100.0 * (best / one_each - 1.0),
        cores,
        best_dop,
    })
}

#[cfg(test)]
mod tests {
    use archive::{Component, Platform, Point, PointKey};

    use super::*;

    const RATE: Rate = Rate {
        name: "operations_per_s",
        unit: "ops/s",
    };

    /// A sweep of the string test (T141) with these rates.
    fn sweep(cores: u32, threads: u32, rates: &[(u32, f64)]) -> Run {
        let points = rates.iter().map(|&(jobs, rate)| {
            let key = PointKey::of("T141", jobs);
            let mut point = Point::blank(key, "Strings".to_owned(), Component::Cpu);
            point.figures.operations_per_s = Some(rate);
            point
        });
        Run {
            platform: Platform {
                cores: Some(cores),
                threads: Some(threads),
                ..Platform::default()
            },
            points: points.collect(),
            ..Run::planned("library")
        }
    }

    fn gain(run: &Run) -> Result<Gain, String> {
        let groups = crate::level::tests(run, crate::scorecard::rank);
        multithreading(run, &groups[0].curves[0], RATE)
    }

    /// Document 001, the table of string processing: 14.3 %, which its slide calls "up to 15 %".
    #[test]
    fn multithreading_is_reckoned_as_the_document_does_it() {
        let rates = [
            (1, 2.308e6),
            (16, 3.429e7),
            (32, 6.857e7),
            (64, 7.680e7),
            (128, 7.837e7),
        ];
        let gain = gain(&sweep(32, 64, &rates)).unwrap();
        assert_eq!((gain.cores, gain.best_dop), (32, 128));
        assert!((gain.pct - 14.292).abs() < 1e-3, "{}", gain.pct);
    }

    #[test]
    fn where_it_cannot_be_reckoned_the_reason_stands() {
        let rates = [(1, 1e6), (2, 2e6), (4, 2.5e6)];
        let why = |cores, threads, rates: &[_]| gain(&sweep(cores, threads, rates)).unwrap_err();
        assert_eq!(why(2, 2, &rates), "no multithreading: 2 cores, 2 threads");
        assert_eq!(
            why(3, 6, &rates),
            "no valid level with 3 sessions, one per core"
        );
        assert_eq!(
            why(4, 8, &rates),
            "no valid level with more than 4 sessions"
        );
    }
}
