//! `flatfile.html`: one row for each interval and each run, in columns that programs read by name.

use super::columns::{Cpu, Sums, deviation_ms, max_ms, mean_ms};
use super::line::Line;
use super::stamp;
use crate::language::MAX_IOPS;
use crate::run::{Rate, Run, Seek, Sizes};

const GIB: f64 = 1_073_741_824.0;

const COLUMNS: [(&str, &str); 36] = [
    ("tod", "Time of day"),
    ("timestamp", "Date and time"),
    ("Run", "Name of the run, from rd="),
    ("Interval", "Number of the interval"),
    ("reqrate", "Requested I/Os per second"),
    ("rate", "Completed I/Os per second"),
    ("MB/sec", "MiB per second"),
    ("bytes/io", "Mean size of an I/O in bytes"),
    ("read%", "Percentage of reads"),
    ("resp", "Mean response time in ms"),
    ("read_resp", "... of reads"),
    ("write_resp", "... of writes"),
    ("resp_max", "Longest response time in ms"),
    ("read_max", "... of reads"),
    ("write_max", "... of writes"),
    ("resp_std", "Standard deviation of response times in ms"),
    ("read_std", "... of reads"),
    ("write_std", "... of writes"),
    ("xfersize", "Requested transfer size"),
    ("threads", "Requested I/Os in flight per SD"),
    ("rdpct", "Requested percentage of reads"),
    ("rhpct", "Requested percentage of read hits"),
    ("whpct", "Requested percentage of write hits"),
    ("seekpct", "Requested percentage of random addresses"),
    ("lunsize", "Gibibytes of all SDs"),
    ("version", "Version of dbdyno"),
    ("compratio", "Requested compression ratio"),
    ("dedupratio", "Requested deduplication ratio"),
    ("queue_depth", "Mean I/Os in flight"),
    (
        "cpu_used",
        "Percentage of processor time in user and kernel mode",
    ),
    ("cpu_user", "... in user mode"),
    ("cpu_kernel", "... in kernel mode"),
    ("cpu_wait", "... idle with I/O outstanding"),
    ("cpu_idle", "... idle"),
    ("resp_p50", "Median response time in ms (rows of runs)"),
    (
        "resp_p99",
        "99th percentile of response times in ms (rows of runs)",
    ),
];

pub(super) fn head(name_width: usize) -> String {
    let mut text = String::from(
        "*\n* One row for each interval and each run; the first line that is not a comment names the columns.\n*\n",
    );
    for (name, meaning) in COLUMNS.iter().skip(2) {
        text.push_str(&format!("* {name:<15} : {meaning}\n"));
    }
    text.push_str("* 'n/a'           : unknown, or more than one value was requested\n*\n");
    for (index, (name, _)) in COLUMNS.iter().enumerate() {
        text.push_str(&cell(index, name, name_width));
    }
    text.push_str(" \n");
    text
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

/// One row. `sums` are those of the line, `lun_bytes` the bytes of all SDs, `name_width` the length of the longest
/// run name.
pub(super) fn row(
    run: &Run,
    line: &Line<'_>,
    sums: &Sums,
    lun_bytes: Option<u64>,
    name_width: usize,
) -> String {
    let number = |value: f64| format!("{value:.4}");
    let all = sums.all();
    let cpu = |of: fn(&Cpu) -> f64| {
        sums.cpu
            .as_ref()
            .map_or(NOT_KNOWN.to_owned(), |cpu| number(of(cpu)))
    };
    let streams = || run.streams.iter();
    let cells = [
        stamp::time_of_day(line.now),
        stamp::status(line.now),
        run.name.clone(),
        line.name.to_owned(),
        number(asked_iops(run)),
        number(sums.iops()),
        number(sums.mib_per_s()),
        sums.bytes().to_string(),
        number(sums.read_pct()),
        number(mean_ms(&all)),
        number(mean_ms(&sums.read)),
        number(mean_ms(&sums.write)),
        number(max_ms(&all)),
        number(max_ms(&sums.read)),
        number(max_ms(&sums.write)),
        number(deviation_ms(&all)),
        number(deviation_ms(&sums.read)),
        number(deviation_ms(&sums.write)),
        one(streams().map(|stream| match stream.sizes {
            Sizes::Fixed(bytes) => Some(bytes.to_string()),
            _ => None,
        })),
        one(run
            .storage
            .iter()
            .map(|sd| Some(run.threads_shared.unwrap_or(sd.threads).to_string()))),
        one(streams().map(|stream| Some(number(stream.read_pct)))),
        one(streams().map(|stream| Some(number(stream.read_hit_pct)))),
        one(streams().map(|stream| Some(number(stream.write_hit_pct)))),
        one(streams().map(|stream| seek_pct(stream.seek).map(number))),
        lun_bytes.map_or(NOT_KNOWN.to_owned(), |bytes| number(bytes as f64 / GIB)),
        env!("CARGO_PKG_VERSION").to_owned(),
        one(run
            .storage
            .iter()
            .map(|sd| Some(number(sd.content.compression_ratio)))),
        one(run
            .storage
            .iter()
            .map(|sd| sd.content.dedup.map(|dedup| number(dedup.ratio)))),
        number(sums.queue_depth()),
        cpu(|cpu| cpu.user_pct + cpu.system_pct),
        cpu(|cpu| cpu.user_pct),
        cpu(|cpu| cpu.system_pct),
        cpu(|cpu| cpu.wait_pct),
        cpu(|cpu| (100.0 - cpu.user_pct - cpu.system_pct - cpu.wait_pct).max(0.0)),
        line.percentiles_ms
            .map_or(NOT_KNOWN.to_owned(), |[p50, _]| number(p50)),
        line.percentiles_ms
            .map_or(NOT_KNOWN.to_owned(), |[_, p99]| number(p99)),
    ];
    let row: String = cells
        .iter()
        .enumerate()
        .map(|(index, text)| cell(index, text, name_width))
        .collect();
    row + " \n"
}

const NOT_KNOWN: &str = "n/a";
const NAME: usize = 2;

fn one(mut values: impl Iterator<Item = Option<String>>) -> String {
    let first = values.next().flatten();
    match first {
        Some(first) if values.all(|value| value.as_ref() == Some(&first)) => first,
        _ => NOT_KNOWN.to_owned(),
    }
}

fn asked_iops(run: &Run) -> f64 {
    match &run.rate {
        Rate::Fixed { iops } => *iops,
        Rate::Variable { steps } => {
            let seconds: f64 = steps.iter().map(|step| f64::from(step.seconds)).sum();
            steps
                .iter()
                .map(|step| step.iops * f64::from(step.seconds))
                .sum::<f64>()
                / seconds
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
