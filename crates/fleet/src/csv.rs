//! CSV of telemetry: a line for each bucket, or for each histogram (docs/FLEET.md).

mod head;
mod units;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use archive::fields::{self, decimal};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use stats::HistogramSnapshot;
use verdict::fleet::{Mix, Operation, Side};

use crate::entry::{BUCKETS_MAX, Bucket, COUNT_MAX, Entry, Key};
use crate::error::FleetError;
use crate::source;
use head::{Column, Head};
use units::Units;

/// Longest line, in bytes: an encoded histogram takes less than a tenth of it.
const LINE_BYTES_MAX: u64 = 1 << 20;
const LINES_MAX: u64 = 50_000_000;
const NAME_CHARS_MAX: usize = 200;
/// Latest lower end of a bucket: an hour, the longest latency of dbdyno's histograms.
const LOW_US_MAX: f64 = 3.6e9;

/// Passes on every histogram of a file, in its order; returns the additional columns. Fails with the line, the
/// mistake and its correction, or if `take` does.
pub fn read(
    path: &Path,
    take: &mut dyn FnMut(Entry) -> Result<(), FleetError>,
) -> Result<Vec<String>, FleetError> {
    let mut lines = Lines {
        path,
        reader: BufReader::with_capacity(1 << 16, source::open(path)?),
        line: 0,
        bytes: Vec::new(),
    };
    let head = match lines.next()? {
        Some(text) => {
            let text = text.trim_start_matches('\u{feff}').to_owned();
            Head::read(&text).map_err(|what| lines.wrong(what))?
        }
        None => return Err(lines.whole("it is empty; the first line names the columns".into())),
    };
    let mut units = Units::default();
    let mut open: Option<Entry> = None;
    while let Some(text) = lines.next()? {
        if text.trim().is_empty() {
            continue;
        }
        let row = Row::read(text, &head).map_err(|what| lines.wrong(what))?;
        units.note(lines.line, &row.buckets, &row.mix);
        let same = open.as_mut().filter(|entry| entry.key == row.key);
        match same {
            Some(entry) => append(entry, row).map_err(|what| lines.wrong(what))?,
            None => {
                if let Some(entry) = open.take() {
                    take(entry)?;
                }
                open = Some(row.entry(lines.line).map_err(|what| lines.wrong(what))?);
            }
        }
    }
    if let Some((line, what)) = units.wrong() {
        lines.line = line;
        return Err(lines.wrong(what));
    }
    match open {
        Some(entry) => take(entry).map(|()| head.ignored),
        None => Err(lines.whole("it has no line below the names of its columns".into())),
    }
}

struct Lines<'a, R> {
    path: &'a Path,
    reader: R,
    line: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<'_, R> {
    fn next(&mut self) -> Result<Option<&str>, FleetError> {
        self.bytes.clear();
        let mut some = self.reader.by_ref().take(LINE_BYTES_MAX + 1);
        let read = some.read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|source| FleetError::Unreadable {
            file: self.path.to_owned(),
            source,
        })?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        if read as u64 > LINE_BYTES_MAX {
            return Err(self.wrong(format!(
                "it has more than {LINE_BYTES_MAX} bytes; is it the right file?"
            )));
        }
        if self.line > LINES_MAX {
            return Err(self.wrong(format!(
                "the file has more than {LINES_MAX} lines; split it"
            )));
        }
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(Some(text.trim_end_matches(['\n', '\r']))),
            Err(_) => Err(self.wrong("it is not UTF-8; convert the file".into())),
        }
    }

    fn wrong(&self, what: String) -> FleetError {
        FleetError::Line {
            file: self.path.to_owned(),
            line: self.line,
            what,
        }
    }

    fn whole(&self, what: String) -> FleetError {
        FleetError::File {
            file: self.path.to_owned(),
            what,
        }
    }
}

struct Row {
    key: Key,
    mix: Mix,
    /// One bucket, or those of a histogram.
    buckets: Vec<Bucket>,
    is_histogram: bool,
}

impl Row {
    fn read(text: &str, head: &Head) -> Result<Self, String> {
        let fields = fields::split(text, head.separator)?;
        if fields.len() != head.width() {
            return Err(format!(
                "it has {} fields, but the head names {} columns",
                fields.len(),
                head.width()
            ));
        }
        let cell = |column: Column| head.cell(&fields, column);
        let side = cell(Column::Side);
        let operation = cell(Column::Operation);
        let key = Key {
            system: system(cell(Column::System))?,
            began_us: moment(cell(Column::Time))?,
            side: Side::named(side)
                .ok_or_else(|| format!("the side is \"{side}\"; write before or after"))?,
            operation: Operation::named(operation)
                .ok_or_else(|| format!("the operation is \"{operation}\"; write read or write"))?,
        };
        let number = |column: Column| (cell(column), head.separator);
        let unbounded = |column, unit: &str| optional(number(column), column, unit, f64::MAX);
        let mix = Mix {
            read_pct: optional(number(Column::ReadPct), Column::ReadPct, "percent", 100.0)?,
            size_kib: unbounded(Column::SizeKib, "KiB")?,
            iops: unbounded(Column::Iops, "I/Os per second")?,
        };
        let is_histogram = head.has_histograms();
        let buckets = if is_histogram {
            histogram(cell(Column::Histogram))?
        } else {
            vec![Bucket {
                low_us: low(number(Column::LowUs))?,
                high_us: high(number(Column::HighUs))?,
                count: count(cell(Column::Count))?,
            }]
        };
        Ok(Self {
            key,
            mix,
            buckets,
            is_histogram,
        })
    }

    fn entry(self, line: u64) -> Result<Entry, String> {
        let mut entry = Entry {
            key: self.key,
            mix: self.mix,
            line,
            buckets: Vec::new(),
        };
        append_buckets(&mut entry.buckets, self.buckets)?;
        Ok(entry)
    }
}

fn append(entry: &mut Entry, row: Row) -> Result<(), String> {
    if row.is_histogram {
        return Err(format!(
            "the {}s of {} {} at this time are in line {} as well; give each histogram once",
            row.key.operation.name(),
            row.key.system,
            row.key.side.name(),
            entry.line
        ));
    }
    if entry.mix != row.mix {
        return Err(format!(
            "read_pct, size_kib or iops differ from those of line {}, which is of the same histogram; write the same in all \
             its lines",
            entry.line
        ));
    }
    append_buckets(&mut entry.buckets, row.buckets)
}

fn append_buckets(buckets: &mut Vec<Bucket>, more: Vec<Bucket>) -> Result<(), String> {
    for bucket in more {
        if let Some(high_us) = bucket.high_us.filter(|high| *high <= bucket.low_us) {
            return Err(format!(
                "the bucket ends at {high_us} µs, not above its beginning at {} µs; high_us must be larger than low_us",
                bucket.low_us
            ));
        }
        match buckets.last().map(|last| last.high_us) {
            Some(None) => {
                return Err(
                    "a bucket without an upper end stands before this one; only the last bucket of a histogram leaves high_us \
                     empty"
                        .to_owned(),
                );
            }
            Some(Some(before)) if before > bucket.low_us => {
                return Err(format!(
                    "the bucket begins at {} µs, below the end of the one before at {before} µs; buckets must ascend and not \
                     overlap",
                    bucket.low_us
                ));
            }
            _ => {}
        }
        if buckets.len() == BUCKETS_MAX {
            return Err(format!("the histogram has more than {BUCKETS_MAX} buckets"));
        }
        buckets.push(bucket);
    }
    let mut sum = 0_u64;
    for bucket in buckets.iter() {
        sum = sum.saturating_add(bucket.count);
    }
    if sum > COUNT_MAX {
        Err(format!("the histogram has more than {COUNT_MAX} I/Os"))
    } else {
        Ok(())
    }
}

fn system(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("the system has no name; write one".to_owned());
    }
    if text.chars().count() > NAME_CHARS_MAX || text.chars().any(char::is_control) {
        return Err(format!(
            "the name of the system has control characters or more than {NAME_CHARS_MAX} characters"
        ));
    }
    Ok(text.to_owned())
}

fn moment(text: &str) -> Result<i64, String> {
    let time = text.parse::<Timestamp>();
    time.map(Timestamp::as_microsecond).map_err(|_| {
        format!("the time \"{text}\" is not of the form 2026-01-31T12:00:00Z, with an offset or Z")
    })
}

/// The text of a cell, and the separator of the cells.
type Cell<'a> = (&'a str, char);

fn optional(
    (text, separator): Cell<'_>,
    column: Column,
    unit: &str,
    most: f64,
) -> Result<Option<f64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let known = decimal(text, separator).filter(|number| *number <= most);
    known.map(Some).ok_or_else(|| {
        let range = if most < f64::MAX { format!("0 to {most}") } else { "0".to_owned() };
        format!(
            "{} is \"{text}\", not a number of {unit} from {range}; leave it empty where it is unknown",
            column.name()
        )
    })
}

fn low((text, separator): Cell<'_>) -> Result<f64, String> {
    let low_us = decimal(text, separator).filter(|low| *low <= LOW_US_MAX);
    low_us.ok_or_else(|| {
        format!("low_us is \"{text}\", not a time in µs from 0 to {LOW_US_MAX} (an hour)")
    })
}

fn high((text, separator): Cell<'_>) -> Result<Option<f64>, String> {
    if text.is_empty() || text == "inf" {
        return Ok(None);
    }
    let high_us = decimal(text, separator).map(Some);
    high_us.ok_or_else(|| {
        format!(
            "high_us is \"{text}\", not a time in µs; leave it empty for the last bucket, which has no upper end"
        )
    })
}

fn count(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| *count <= COUNT_MAX);
    count.ok_or_else(|| {
        format!("count is \"{text}\", not a whole number of I/Os from 0 to {COUNT_MAX}")
    })
}

fn histogram(text: &str) -> Result<Vec<Bucket>, String> {
    let wrong = |why: String| {
        format!(
            "the histogram {why}; write an HdrHistogram of nanoseconds from 1 ns to 1 hour with three digits, as V2 deflate in \
             base64"
        )
    };
    let bytes = BASE64_STANDARD.decode(text);
    let bytes = bytes.map_err(|_| wrong("is not base64".to_owned()))?;
    let snapshot = HistogramSnapshot::decode(&bytes)
        .map_err(|error| wrong(format!("cannot be read ({error})")))?;
    Ok(of_snapshot(&snapshot))
}

pub fn of_snapshot(snapshot: &HistogramSnapshot) -> Vec<Bucket> {
    let ranges = snapshot.ranges_us();
    let bucket = |(low_us, high_us, count)| Bucket {
        low_us,
        high_us: Some(high_us),
        count,
    };
    ranges.map(bucket).collect()
}

#[cfg(test)]
mod tests;
