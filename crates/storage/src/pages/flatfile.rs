//! `flatfile.html`: one row for each interval and each run, in columns that programs read by name.

use super::columns::{Cpu, Sums, deviation_ms, max_ms, mean_ms};
use super::line::Line;
use super::stamp;
use crate::language::MAX_IOPS;
use crate::run::{Rate, Run, Seek, Sizes, StorageDefinition, Stream};

const GIB: f64 = 1_073_741_824.0;
const NOT_KNOWN: &str = "n/a";
const NAME: usize = 2;

/// One row: its run, its line of figures with their sums, and the bytes of all SDs.
pub(super) struct Row<'a> {
    pub run: &'a Run,
    pub line: &'a Line<'a>,
    pub sums: &'a Sums,
    pub lun_bytes: Option<u64>,
}

/// Name of a column, its meaning, and its value in a row.
type Column = (&'static str, &'static str, fn(&Row<'_>) -> String);

macro_rules! columns {
    ($($name:literal, $meaning:literal => $value:expr;)*) => {
        &[$(($name, $meaning, $value)),*]
    };
}

const COLUMNS: &[Column] = columns! {
    "tod", "Time of day" => |row| stamp::time_of_day(row.line.now);
    "timestamp", "Date and time" => |row| stamp::status(row.line.now);
    "Run", "Name of the run, from rd=" => |row| row.run.name.clone();
    "Interval", "Number of the interval" => |row| row.line.name.to_owned();
    "reqrate", "Requested I/Os per second" => |row| number(requested_iops(row.run));
    "rate", "Completed I/Os per second" => |row| number(row.sums.iops());
    "MB/sec", "MiB per second" => |row| number(row.sums.mib_per_s());
    "bytes/io", "Mean size of an I/O in bytes" => |row| row.sums.bytes().to_string();
    "read%", "Percentage of reads" => |row| number(row.sums.read_pct());
    "resp", "Mean response time in ms" => |row| number(mean_ms(&row.sums.all()));
    "read_resp", "... of reads" => |row| number(mean_ms(&row.sums.read));
    "write_resp", "... of writes" => |row| number(mean_ms(&row.sums.write));
    "resp_max", "Longest response time in ms" => |row| number(max_ms(&row.sums.all()));
    "read_max", "... of reads" => |row| number(max_ms(&row.sums.read));
    "write_max", "... of writes" => |row| number(max_ms(&row.sums.write));
    "resp_std", "Standard deviation of response times in ms" => |row| number(deviation_ms(&row.sums.all()));
    "read_std", "... of reads" => |row| number(deviation_ms(&row.sums.read));
    "write_std", "... of writes" => |row| number(deviation_ms(&row.sums.write));
    "xfersize", "Requested transfer size" => |row| row.of_streams(|stream| match stream.sizes {
        Sizes::Fixed(bytes) => Some(bytes.to_string()),
        _ => None,
    });
    "threads", "Requested I/Os in flight per SD" => |row| {
        let threads = |sd: &StorageDefinition| row.run.threads_shared.unwrap_or(sd.threads);
        one(row.run.storage.iter().map(|sd| Some(threads(sd).to_string())))
    };
    "rdpct", "Requested percentage of reads" => |row| row.of_streams(|stream| Some(number(stream.read_pct)));
    "rhpct", "Requested percentage of read hits" => |row| row.of_streams(|stream| Some(number(stream.read_hit_pct)));
    "whpct", "Requested percentage of write hits" => |row| row.of_streams(|stream| Some(number(stream.write_hit_pct)));
    "seekpct", "Requested percentage of random addresses" => |row| row.of_streams(|stream| seek_pct(stream.seek).map(number));
    "lunsize", "Gibibytes of all SDs" => |row| known(row.lun_bytes.map(|bytes| bytes as f64 / GIB));
    "version", "Version of dbdyno" => |_| env!("CARGO_PKG_VERSION").to_owned();
    "compratio", "Requested compression ratio" => |row| row.of_sds(|sd| Some(sd.content.compression_ratio));
    "dedupratio", "Requested deduplication ratio" => |row| row.of_sds(|sd| sd.content.dedup.map(|dedup| dedup.ratio));
    "queue_depth", "Mean I/Os in flight" => |row| number(row.sums.queue_depth());
    "cpu_used", "Percentage of processor time in user and kernel mode" => |row| row.cpu(|cpu| cpu.user_pct + cpu.system_pct);
    "cpu_user", "... in user mode" => |row| row.cpu(|cpu| cpu.user_pct);
    "cpu_kernel", "... in kernel mode" => |row| row.cpu(|cpu| cpu.system_pct);
    "cpu_wait", "... idle with I/O outstanding" => |row| row.cpu(|cpu| cpu.wait_pct);
    "cpu_idle", "... idle" => |row| row.cpu(|cpu| (100.0 - cpu.user_pct - cpu.system_pct - cpu.wait_pct).max(0.0));
    "resp_p50", "Median response time in ms (rows of runs)" => |row| known(row.line.percentiles_ms.map(|[p50, _]| p50));
    "resp_p99", "99th percentile of response times in ms (rows of runs)" => |row| known(row.line.percentiles_ms.map(|[_, p99]| p99));
};

impl Row<'_> {
    fn of_streams(&self, value: fn(&Stream) -> Option<String>) -> String {
        one(self.run.streams.iter().map(value))
    }

    fn of_sds(&self, value: fn(&StorageDefinition) -> Option<f64>) -> String {
        one(self.run.storage.iter().map(|sd| value(sd).map(number)))
    }

    fn cpu(&self, of: fn(&Cpu) -> f64) -> String {
        known(self.sums.cpu.as_ref().map(of))
    }

    /// The row as text; `name_width` is the length of the longest run name.
    pub fn text(&self, name_width: usize) -> String {
        let columns = COLUMNS.iter().enumerate();
        let cells = columns.map(|(index, (.., value))| cell(index, &value(self), name_width));
        cells.collect::<String>() + " \n"
    }
}

pub(super) fn head(name_width: usize) -> String {
    let mut text = String::from(
        "*\n* One row for each interval and each run; the first line that is not a comment names the columns.\n*\n",
    );
    for (name, meaning, _) in COLUMNS.iter().skip(2) {
        text += &format!("* {name:<15} : {meaning}\n");
    }
    text += "* 'n/a'           : unknown, or more than one value was requested\n*\n";
    for (index, (name, ..)) in COLUMNS.iter().enumerate() {
        text += &cell(index, name, name_width);
    }
    text + " \n"
}

/// The column of run names is as wide as the longest of them, so that later columns align.
fn cell(index: usize, text: &str, name_width: usize) -> String {
    match index {
        0 => format!("{text:>12}"),
        1 => format!(" {text:>23}"),
        NAME => format!(" {text:>width$}", width = name_width.max(10)),
        _ => format!(" {text:>10}"),
    }
}

fn number(value: f64) -> String {
    format!("{value:.4}")
}

fn known(value: Option<f64>) -> String {
    value.map_or(NOT_KNOWN.to_owned(), number)
}

fn one(mut values: impl Iterator<Item = Option<String>>) -> String {
    let first = values.next().flatten();
    match first {
        Some(first) if values.all(|value| value.as_ref() == Some(&first)) => first,
        _ => NOT_KNOWN.to_owned(),
    }
}

fn requested_iops(run: &Run) -> f64 {
    match &run.rate {
        Rate::Fixed { iops } => *iops,
        Rate::Variable { steps } => {
            let seconds: f64 = steps.iter().map(|step| f64::from(step.seconds)).sum();
            let ios = steps.iter().map(|step| step.iops * f64::from(step.seconds));
            ios.sum::<f64>() / seconds
        }
        _ => MAX_IOPS,
    }
}

fn seek_pct(seek: Seek) -> Option<f64> {
    match seek {
        Seek::Random { pct } => Some(pct),
        Seek::Sequential | Seek::SequentialFromRandom => Some(0.0),
        Seek::SequentialToEnd => Some(-1.0),
        Seek::Poisson { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_widens_its_column_and_no_other() {
        for width in [0, 30] {
            let name = "n".repeat(width);
            let lengths: Vec<usize> = (0..5).map(|at| cell(at, &name, width).len()).collect();
            assert_eq!(lengths[NAME], 1 + width.max(10));
            let head = head(width);
            let names = head.lines().last().unwrap();
            assert_eq!(
                names.find(" Interval"),
                Some(12 + 24 + 1 + width.max(10) + 2)
            );
        }
    }
}
