//! Finds the value of every line: each level is a candidate, and the line's rule chooses.

use archive::Run;
use archive::reference::{Reference, ReferencePoint};
use stats::summary;

use super::{Absence, Cell, Column, Line, Measured, Rule, lines, rank};
use crate::level::{self, Curve, Level, TestGroup};
use crate::number;

/// The figure that a line may take per row instead of per operation.
const SERVICE: &str = "service_us_mean";

/// A level with the inputs of the rules.
struct Candidate {
    jobs: u32,
    dop: u32,
    value: Option<f64>,
    range: Option<(f64, f64)>,
    repetitions: usize,
    of: Option<f64>,
    /// Mean service time, or its published bound.
    service_us_mean: Option<f64>,
    doubt: Option<String>,
}

pub fn of_run(run: &Run, own: bool) -> Vec<(Column, Vec<Cell>)> {
    let groups = level::tests(run, rank);
    (0..run.targets.len() as u32)
        .map(|target| {
            let column = Column {
                title: level::target_name(run, target),
                source: if own {
                    "this run".to_owned()
                } else {
                    format!("run {}", run.label)
                },
                own,
            };
            let cells = lines()
                .iter()
                .map(|line| cell_of_target(run, &groups, target, line))
                .collect();
            (column, cells)
        })
        .collect()
}

fn cell_of_target(run: &Run, groups: &[TestGroup<'_>], target: u32, line: &Line) -> Cell {
    let (extras, levels): (Vec<&Level<'_>>, Vec<_>) = groups
        .iter()
        .filter(|g| g.test == line.test)
        .flat_map(|g| g.curves.iter().filter(|c: &&Curve<'_>| c.target == target))
        .flat_map(|c| &c.levels)
        .partition(|level| level.extra());
    if levels.is_empty() && !extras.is_empty() {
        return Cell::Absent {
            why: Absence::OnlyExtras,
            reason: "Only contention extras were measured; they do not count as figures of the platform.".to_owned(),
        };
    }
    if levels.is_empty() {
        return not_measured(run, target, line);
    }
    let invalid: usize = levels.iter().map(|l| l.invalid()).sum();
    let (cached, valid): (Vec<Level<'_>>, Vec<_>) = levels
        .iter()
        .filter_map(|l| l.only_valid())
        .partition(Level::is_from_cache);
    let candidates: Vec<Candidate> = valid.iter().map(|level| of_level(level, line)).collect();
    if candidates.is_empty() && !cached.is_empty() {
        return Cell::Absent {
            why: Absence::NotReported,
            reason: format!(
                "{}: a cache answered the reads, so the rates say nothing about the device; measure a table larger than memory.",
                line.test
            ),
        };
    }
    if candidates.is_empty() {
        let first = levels[0].first().reasons.first();
        return Cell::Absent {
            why: Absence::Invalid,
            reason: format!(
                "{}: no point passed its checks: {}",
                line.test,
                first.map_or("no reason recorded".to_owned(), archive::Remark::to_string)
            ),
        };
    }
    choose(&candidates, line, invalid).unwrap_or_else(|why| Cell::Absent {
        why,
        reason: why_empty(why, line, not_reported(line)),
    })
}

fn not_reported(line: &Line) -> &'static str {
    match line.rule {
        Rule::Speed => "The figure is unknown for one session.",
        _ => "The platform does not report this figure.",
    }
}

fn not_measured(run: &Run, target: u32, line: &Line) -> Cell {
    let missing = run
        .missing
        .iter()
        .find(|m| m.target == target && m.test == line.test);
    match missing {
        Some(missing) => Cell::Absent {
            why: Absence::MissingCapability,
            reason: missing.reason.to_string(),
        },
        None => Cell::Absent {
            why: Absence::NotMeasured,
            reason: if run.state == archive::RunState::Complete {
                format!("Not in the plan of run “{}”.", run.label)
            } else {
                format!(
                    "Not reached before run “{}” stopped, or not in its plan.",
                    run.label
                )
            },
        },
    }
}

fn of_level(level: &Level<'_>, line: &Line) -> Candidate {
    let of = match &line.rule {
        Rule::AtMaximum { of } => level.figure(of),
        _ => None,
    };
    let (service_us_mean, service_range) = if line.per_row {
        (level.row_us_mean(), level.row_us_range())
    } else {
        (level.figure(SERVICE), level.range(SERVICE))
    };
    let (value, range) = match line.figure.as_str() {
        SERVICE => (service_us_mean, service_range),
        figure => (level.figure(figure), level.range(figure)),
    };
    Candidate {
        jobs: level.first().key.jobs,
        dop: level.dop(),
        value,
        range,
        repetitions: level.points.len(),
        of,
        service_us_mean,
        doubt: None,
    }
}

pub fn of_reference(reference: &Reference) -> (Column, Vec<Cell>) {
    let column = Column {
        title: reference.title.clone(),
        source: reference.document.clone(),
        own: false,
    };
    let cells = lines()
        .iter()
        .map(|line| cell_of_reference(reference, line))
        .collect();
    (column, cells)
}

fn cell_of_reference(reference: &Reference, line: &Line) -> Cell {
    let candidates: Vec<Candidate> = published_loads(reference, &line.test)
        .iter()
        .map(|rows| of_rows(rows, line))
        .collect();
    match choose(&candidates, line, 0) {
        Ok(cell) => cell,
        Err(why) => stated(reference, line).unwrap_or_else(|| Cell::Absent {
            why: if candidates.is_empty() {
                Absence::NotMeasured
            } else {
                why
            },
            reason: why_empty(why, line, &not_published(reference, line)),
        }),
    }
}

/// Published rows of one test by load; rows printed twice for the same load count as repetitions.
pub fn published_loads<'r>(reference: &'r Reference, test: &str) -> Vec<Vec<&'r ReferencePoint>> {
    let mut grouped: Vec<Vec<&ReferencePoint>> = Vec::new();
    for point in reference.points.iter().filter(|p| p.test == test) {
        let load = (point.nodes, point.jobs, point.threads);
        match grouped
            .iter_mut()
            .find(|g| (g[0].nodes, g[0].jobs, g[0].threads) == load)
        {
            Some(same) => same.push(point),
            None => grouped.push(vec![point]),
        }
    }
    grouped
}

fn of_rows(rows: &[&ReferencePoint], line: &Line) -> Candidate {
    let each = |name: &str| -> Vec<f64> {
        rows.iter()
            .filter_map(|r| published_figure(r, name))
            .collect()
    };
    let values = each(&line.figure);
    let low = values.iter().copied().reduce(f64::min);
    let high = values.iter().copied().reduce(f64::max);
    let of = match &line.rule {
        Rule::AtMaximum { of } => summary::median(&each(of)),
        _ => None,
    };
    Candidate {
        jobs: rows[0].jobs,
        dop: rows[0].jobs * rows[0].threads,
        value: summary::median(&values),
        range: low.zip(high).filter(|_| values.len() > 1),
        repetitions: rows.len(),
        of,
        service_us_mean: rows.iter().find_map(|r| service_us_at_most(r)),
        doubt: rows.iter().find_map(|r| r.note.clone()),
    }
}

/// A figure of a published row. A rate printed as 0 means "not counted by this test".
pub fn published_figure(point: &ReferencePoint, name: &str) -> Option<f64> {
    match name {
        "service_us_mean" => point.service_ms_mean.map(|ms| ms * 1e3),
        "rows_per_s" | "operations_per_s" => point.figures.get(name).filter(|v| *v > 0.0),
        _ => point.figures.get(name),
    }
}

/// Published mean service time of a row; for a limit, a label such as "< 500 µs" suffices.
fn service_us_at_most(point: &ReferencePoint) -> Option<f64> {
    let label = point.service_labels.first().map(|l| l.ms);
    point.service_ms_mean.or(label).map(|ms| ms * 1e3)
}

/// A figure outside the result tables, if it has the line's unit.
fn stated(reference: &Reference, line: &Line) -> Option<Cell> {
    let units: &[&str] = match (line.figure.as_str(), &line.rule) {
        (_, Rule::Speed) => return None,
        ("rows_per_s", _) => &["rps", "rows/s"],
        ("operations_per_s", _) => &["tps", "ops", "ops/s", "tx/s"],
        _ => return None,
    };
    let figure = reference.stated.iter().find(|s| {
        s.kind == "scorecard"
            && s.test.as_deref() == Some(line.test.as_str())
            && units.contains(&s.unit.as_str())
    })?;
    Some(Cell::Value(Measured {
        value: figure.value * line.scale,
        dop: 0,
        range: None,
        repetitions: 1,
        invalid_left_out: 0,
        doubt: Some(match &figure.note {
            Some(note) => format!("Stated in {}. {note}", figure.place),
            None => format!("Stated in {}, not in a result row.", figure.place),
        }),
    }))
}

fn not_published(reference: &Reference, line: &Line) -> String {
    // A time is no maximum rate, but the speed of one job may be stated as a time.
    let answers = |unit: &str| line.rule == Rule::Speed || is_time(unit) == is_time(&line.unit);
    let stated: Vec<String> = reference
        .stated
        .iter()
        .filter(|s| s.kind == "scorecard" && s.test.as_deref() == Some(line.test.as_str()))
        .filter(|s| answers(&s.unit))
        .map(|s| format!("{} {} ({})", s.printed, s.unit, s.name))
        .collect();
    if stated.is_empty() {
        format!("{}: not published.", reference.title)
    } else {
        format!(
            "{}: not published as such for {}; its scorecard states {}.",
            reference.title,
            line.test,
            stated.join("; ")
        )
    }
}

fn is_time(unit: &str) -> bool {
    ["s", "ms", "µs", "ns"].contains(&unit)
}

fn why_empty(why: Absence, line: &Line, not_reported: &str) -> String {
    match (why, &line.rule) {
        (Absence::OutOfLimit, Rule::Within { limit_us }) => format!(
            "{}: no level has a mean service time within {}.",
            line.test,
            number::latency(Some(*limit_us))
        ),
        _ => not_reported.to_owned(),
    }
}

fn choose(candidates: &[Candidate], line: &Line, invalid: usize) -> Result<Cell, Absence> {
    let known: Vec<&Candidate> = candidates.iter().filter(|c| c.value.is_some()).collect();
    let chosen = match &line.rule {
        Rule::Speed => known
            .iter()
            .copied()
            .filter(|c| c.jobs == 1)
            .min_by_key(|c| c.dop),
        Rule::Maximum => largest(&known, |c| c.value),
        Rule::Minimum => largest(&known, |c| c.value.map(|v| -v)),
        Rule::AtMaximum { .. } => largest(&known, |c| c.of),
        Rule::Within { limit_us } => within(&known, *limit_us)?,
    };
    let (chosen, value) = chosen
        .and_then(|c| c.value.map(|v| (c, v)))
        .ok_or(Absence::NotReported)?;
    Ok(Cell::Value(Measured {
        value: value * line.scale,
        dop: chosen.dop,
        range: chosen
            .range
            .map(|(low, high)| (low * line.scale, high * line.scale)),
        repetitions: chosen.repetitions,
        invalid_left_out: invalid,
        doubt: chosen.doubt.clone(),
    }))
}

/// The candidate with the largest `by`; of equals the one with the smallest parallelism.
fn largest<'c>(
    from: &[&'c Candidate],
    by: impl Fn(&Candidate) -> Option<f64>,
) -> Option<&'c Candidate> {
    from.iter()
        .filter_map(|c| by(c).map(|v| (v, *c)))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.dop.cmp(&a.1.dop)))
        .map(|(_, c)| c)
}

/// The largest value among the levels that meet the limit. An unknown service time gives another reason than one above the limit.
fn within<'c>(known: &[&'c Candidate], limit_us: f64) -> Result<Option<&'c Candidate>, Absence> {
    let within_limit: Vec<&Candidate> = known
        .iter()
        .copied()
        .filter(|c| c.service_us_mean.is_some_and(|us| us <= limit_us))
        .collect();
    if within_limit.is_empty() && known.iter().any(|c| c.service_us_mean.is_some()) {
        return Err(Absence::OutOfLimit);
    }
    Ok(largest(&within_limit, |c| c.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(jobs: u32, value: f64, service_us_mean: Option<f64>) -> Candidate {
        Candidate {
            jobs,
            dop: jobs,
            value: Some(value),
            range: None,
            repetitions: 1,
            of: Some(1.0 / value),
            service_us_mean,
            doubt: None,
        }
    }

    fn line(rule: Rule) -> Line {
        Line {
            rule,
            ..lines()[0].clone()
        }
    }

    fn found(rule: Rule, candidates: &[Candidate]) -> Result<u32, Absence> {
        match choose(candidates, &line(rule), 0)? {
            Cell::Value(m) => Ok(m.dop),
            Cell::Absent { why, .. } => Err(why),
        }
    }

    #[test]
    fn each_rule_chooses_its_level() {
        let levels = [
            candidate(1, 100.0, Some(400.0)),
            candidate(2, 190.0, Some(900.0)),
            candidate(4, 250.0, Some(3000.0)),
            candidate(8, 250.0, None),
        ];
        let of = "operations_per_s".to_owned();
        assert_eq!(found(Rule::Speed, &levels), Ok(1));
        assert_eq!(found(Rule::Maximum, &levels), Ok(4), "smallest of equals");
        assert_eq!(found(Rule::Minimum, &levels), Ok(1));
        assert_eq!(found(Rule::AtMaximum { of }, &levels), Ok(1));
        assert_eq!(found(Rule::Within { limit_us: 1000.0 }, &levels), Ok(2));
        assert_eq!(
            found(Rule::Within { limit_us: 1.0 }, &levels),
            Err(Absence::OutOfLimit)
        );
        assert_eq!(
            found(Rule::Within { limit_us: 1000.0 }, &levels[3..]),
            Err(Absence::NotReported)
        );
        assert_eq!(found(Rule::Speed, &levels[1..]), Err(Absence::NotReported));
    }
}
