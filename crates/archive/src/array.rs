//! Histograms of a storage array's own reporter, read from CSV and attached to a run (docs/VDBENCH.md).
//!
//! They do not enter the archive: a finished point is never changed, and the file can be attached again.

use std::borrow::Cow;

use stats::Histogram;

use crate::fields::{decimal, separator, split};
use crate::{OperationTimes, Point, PointKey, Run};

const LINES_MAX: usize = 100_000;
const COLUMNS: [&str; 4] = ["run", "operation", "up_to_us", "count"];
const OPERATIONS: [&str; 2] = ["read", "write"];

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    #[error("its first line must name the columns run, operation, up_to_us and count, not \"{0}\"")]
    Head(String),
    #[error("line {line}: {what}")]
    Line {
        /// From 1.
        line: usize,
        what: String,
    },
    #[error("it has more than {LINES_MAX} lines; split it by run")]
    TooLong,
    #[error("line {line}: \"{name}\" matches {found} points of run {run}; use one of: {known}")]
    Name {
        /// From 1.
        line: usize,
        name: String,
        found: usize,
        run: String,
        known: String,
    },
}

struct Bucket {
    line: usize,
    run: String,
    operation: &'static str,
    /// Upper end; none in the bucket of all that is longer.
    up_to_us: Option<f64>,
    count: u64,
}

/// Attaches the histograms of a file to the points of `run`; `file` is its name, for the remarks.
///
/// An I/O counts as the geometric middle of its bucket: the file has no more.
///
/// # Errors
/// [`ArrayError`], and `run` is left as it was.
pub fn attach(run: &mut Run, file: &str, text: &str) -> Result<(), ArrayError> {
    let (buckets, ignored) = parse(text)?;
    let ignored = match ignored.as_slice() {
        [] => String::new(),
        ignored => format!("; columns ignored: {}", ignored.join(", ")),
    };
    let mut found: Vec<(PointKey, OperationTimes)> = Vec::new();
    for same in buckets.chunk_by(|a, b| (&a.run, a.operation) == (&b.run, b.operation)) {
        let Some(first) = same.first() else { continue };
        let key = key_of(run, first)?;
        let times = OperationTimes::of("array", file, first.operation, "whole");
        if found
            .iter()
            .any(|(other, t)| *other == key && t.is("array", first.operation, "whole"))
        {
            return Err(wrong(
                first.line,
                format!(
                    "the {}s of {} already occur in an earlier line; keep their buckets together",
                    first.operation, first.run
                ),
            ));
        }
        let (histogram, count) = histogram(same)?;
        let times = times.with(&histogram).remarked(format!(
            "{count} I/Os in {} buckets of {file}, each counted as the middle of its bucket{ignored}",
            same.len()
        ));
        found.push((key, times));
    }
    for (key, times) in found {
        let point = run.points.iter_mut().find(|point| point.key == key);
        point
            .into_iter()
            .for_each(|point| point.by_operation.times.push(times.clone()));
    }
    Ok(())
}

fn wrong(line: usize, what: String) -> ArrayError {
    ArrayError::Line { line, what }
}

/// The buckets, and the columns without a meaning here.
fn parse(text: &str) -> Result<(Vec<Bucket>, Vec<String>), ArrayError> {
    let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let head = lines.next().map_or("", |(_, head)| head);
    let separator = separator(head);
    let names = split(head, separator).map_err(|what| wrong(1, what))?;
    let place = |column: &str| names.iter().position(|name| name == column);
    let [Some(run), Some(operation), Some(up_to), Some(count)] = COLUMNS.map(place) else {
        return Err(ArrayError::Head(head.to_owned()));
    };
    let places = Places {
        separator,
        width: names.len(),
        of: [run, operation, up_to, count],
    };
    let mut buckets = Vec::new();
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        if line > LINES_MAX {
            return Err(ArrayError::TooLong);
        }
        buckets.push(bucket(line, text, &places)?);
    }
    let is_ignored = |name: &&Cow<'_, str>| !COLUMNS.contains(&name.as_ref());
    let ignored = names.iter().filter(is_ignored);
    Ok((buckets, ignored.map(ToString::to_string).collect()))
}

struct Places {
    separator: char,
    width: usize,
    /// In the order of [`COLUMNS`].
    of: [usize; 4],
}

fn bucket(line: usize, text: &str, places: &Places) -> Result<Bucket, ArrayError> {
    let fields = split(text, places.separator).map_err(|what| wrong(line, what))?;
    if fields.len() != places.width {
        return Err(wrong(
            line,
            format!("it has {} fields instead of {}", fields.len(), places.width),
        ));
    }
    let [run, operation, up_to, count] = places.of.map(|at| &*fields[at]);
    let known = OPERATIONS.into_iter().find(|known| *known == operation);
    let operation = known.ok_or_else(|| {
        wrong(
            line,
            format!("the operation is \"{operation}\"; write read or write"),
        )
    })?;
    let up_to_us = match up_to {
        "" | "inf" => None,
        number => {
            let value = decimal(number, places.separator).filter(|value| *value > 0.0);
            Some(value.ok_or_else(|| {
                wrong(
                    line,
                    format!(
                        "the upper end \"{number}\" is not a time above 0 µs; leave it empty for the bucket without upper end"
                    ),
                )
            })?)
        }
    };
    let count = count
        .parse()
        .map_err(|_| wrong(line, format!("the count \"{count}\" is not a whole number")))?;
    Ok(Bucket {
        line,
        run: run.to_owned(),
        operation,
        up_to_us,
        count,
    })
}

/// The point that a name means: the whole of its code, of a database with its level (T311@8) where there are several, or
/// the name of an RD that no other run has.
fn key_of(run: &Run, bucket: &Bucket) -> Result<PointKey, ArrayError> {
    let first: Vec<&Point> = (run.points.iter())
        .filter(|p| p.key.repetition == 1)
        .collect();
    let is_named = |p: &&&Point| p.key.test == bucket.run || with_level(p) == bucket.run;
    let is_of_rd =
        |p: &&&Point| p.work.below_database && p.key.test.split(' ').next() == Some(&*bucket.run);
    let mut fitting: Vec<&PointKey> = first.iter().filter(is_named).map(|p| &p.key).collect();
    if fitting.is_empty() {
        fitting = first.iter().filter(is_of_rd).map(|p| &p.key).collect();
    }
    match fitting[..] {
        [one] => Ok(one.clone()),
        _ => {
            let names: Vec<String> = first.iter().take(10).map(|p| with_level(p)).collect();
            let known = names.join(", ");
            Err(ArrayError::Name {
                line: bucket.line,
                name: bucket.run.clone(),
                found: fitting.len(),
                run: run.label.clone(),
                known,
            })
        }
    }
}

/// The name of a point that no other one of its repetition has: "T311@8", "Q1@1x4"; below a database its code.
fn with_level(point: &Point) -> String {
    let key = &point.key;
    match (point.work.below_database, key.threads) {
        (true, _) => key.test.clone(),
        (false, 1) => format!("{}@{}", key.test, key.jobs),
        (false, threads) => format!("{}@{}x{threads}", key.test, key.jobs),
    }
}

fn histogram(buckets: &[Bucket]) -> Result<(Histogram, u64), ArrayError> {
    let mut histogram = Histogram::new();
    let (mut low_us, mut total) = (0.0, 0_u64);
    let mut ended = false;
    for bucket in buckets {
        let rising = bucket.up_to_us.is_none_or(|high_us| high_us > low_us);
        if ended || !rising {
            return Err(wrong(
                bucket.line,
                "the upper ends of the buckets must increase".to_owned(),
            ));
        }
        // Of the last bucket nothing is known but where it begins; the first one begins nowhere.
        let high_us = bucket.up_to_us.unwrap_or(low_us * 2.0);
        let middle_us = (low_us.max(high_us / 2.0) * high_us).sqrt();
        histogram.record_many_ns((middle_us * 1e3) as u64, bucket.count);
        total = total.saturating_add(bucket.count);
        low_us = high_us;
        ended = bucket.up_to_us.is_none();
    }
    Ok((histogram, total))
}
