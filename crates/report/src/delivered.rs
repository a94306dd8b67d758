//! The part of the device's throughput that the database delivers: the best of a test through the database, divided by the best of the same
//! kind of work below it.

use archive::{Run, Sample, Section, Table};
use stats::autocorrelation::VALUES_MIN;
use stats::ratio::{Mean, Ratio, of_means};
use verdict::compare::CONFIDENCE;

use crate::level::{self, Level, TestGroup};
use crate::number;

/// Tests of the same work below the database and through it.
struct Pair {
    what: &'static str,
    unit: &'static str,
    below: &'static str,
    through: &'static str,
    /// The figure of the device in both tests, taken from the device's own counters if the database is in between.
    figure: &'static str,
}

const PAIRS: [Pair; 4] = [
    Pair {
        what: "Sequential read",
        unit: "MB/s",
        below: "D111",
        through: "T426",
        figure: "read_mb_per_s",
    },
    Pair {
        what: "Sequential write",
        unit: "MB/s",
        below: "D112",
        through: "T211",
        figure: "write_mb_per_s",
    },
    Pair {
        what: "Random read",
        unit: "IOPS",
        below: "D121",
        through: "T626",
        figure: "read_iops",
    },
    Pair {
        what: "Random write",
        unit: "IOPS",
        below: "D122",
        through: "T721",
        figure: "write_iops",
    },
];

/// The best level of a test: value, parallelism and samples.
struct Best<'a> {
    test: &'static str,
    value: f64,
    level: Level<'a>,
    samples: Vec<f64>,
}

impl Best<'_> {
    fn describe(&self, unit: &str) -> String {
        let (value, dop) = (number::figure(self.value), self.level.dop());
        format!("{value} {unit} ({} @{dop})", self.test)
    }

    fn mean(&self) -> Mean<'_> {
        Mean {
            of_all: self.value,
            values: &self.samples,
        }
    }

    /// "T426 was measured for 0.23 s, which gave 2 samples".
    fn measured(&self) -> String {
        let seconds = self.level.points.iter().filter_map(|p| p.figures.elapsed_s);
        format!(
            "{} was measured for {} s, which gave {}",
            self.test,
            number::figure(seconds.sum()),
            number::counted(self.samples.len() as u64, "sample")
        )
    }
}

const HEADS: &str =
    "target | I/O | device | through the database | database ÷ device [95 % interval] | based on";
const NOTE: &str = "The best rate through the database, by the device's counters, divided by the best rate of the same kind of I/O on a file \
     next to the database's data, without a database. Far below 100 %, the device waits for the database. Above 100 %, the two tests were \
     not alike: different I/O sizes or queue depths, or a device that had become faster. The interval comes from the scatter of the \
     samples within each test; it does not cover the variation from run to run.";

/// A row for each target and kind of work that was also measured below the database; `None` if none was.
pub fn delivered(run: &Run, groups: &[TestGroup<'_>]) -> Option<Section> {
    let mut table = Table::new(HEADS);
    for target in 0..run.targets.len() as u32 {
        for pair in &PAIRS {
            let Some(below) = best(groups, pair.below, target, pair.figure) else {
                continue;
            };
            let through = best(groups, pair.through, target, pair.figure);
            let unknown = || number::UNKNOWN.to_owned();
            let (share, rests_on) = through.as_ref().map_or_else(
                || {
                    (
                        unknown(),
                        format!("{} does not report this figure", pair.through),
                    )
                },
                |through| share(&below, through),
            );
            table.row([
                level::target_name(run, target),
                pair.what.to_owned(),
                below.describe(pair.unit),
                through.map_or_else(unknown, |through| through.describe(pair.unit)),
                share,
                rests_on,
            ]);
        }
    }
    let section = Section::new("Database throughput relative to the device").note(NOTE);
    (!table.rows.is_empty()).then(|| section.table(table))
}

fn share(below: &Best<'_>, through: &Best<'_>) -> (String, String) {
    let short = [below, through]
        .into_iter()
        .find(|best| best.samples.len() < VALUES_MIN);
    if let Some(short) = short {
        let why = format!(
            "{}, and {VALUES_MIN} are needed: measure longer (mode = \"time\" with more seconds)",
            short.measured()
        );
        return (number::UNKNOWN.to_owned(), why);
    }
    match of_means(below.mean(), through.mean(), CONFIDENCE) {
        Ok(Ratio { interval, .. }) => {
            let percent = interval.map(|ratio| ratio * 100.0);
            let text = format!(
                "{:.0} % [{:.0}, {:.0}]",
                percent.estimate, percent.low, percent.high
            );
            let [of_below, of_through] = [below, through].map(|best| best.samples.len());
            (text, format!("{of_through} and {of_below} samples"))
        }
        Err(why) => (number::UNKNOWN.to_owned(), why.to_string()),
    }
}

/// The valid level of a test on a target with the largest value.
fn best<'a>(
    groups: &[TestGroup<'a>],
    test: &'static str,
    target: u32,
    figure: &str,
) -> Option<Best<'a>> {
    let group = groups.iter().find(|group| group.test == test)?;
    let curves = group.curves.iter().filter(|curve| curve.target == target);
    let peaks = curves.filter_map(|curve| {
        let level = curve.peak(figure)?.only_valid()?;
        let samples = level.points.iter().flat_map(|point| &point.samples);
        Some(Best {
            test,
            value: level.figure(figure)?,
            samples: samples
                .filter_map(|sample| of_sample(sample, figure))
                .collect(),
            level,
        })
    });
    peaks.max_by(|a, b| a.value.total_cmp(&b.value))
}

fn of_sample(sample: &Sample, figure: &str) -> Option<f64> {
    match figure {
        "read_mb_per_s" => sample.read_mb_per_s,
        "write_mb_per_s" => sample.write_mb_per_s,
        "read_iops" => sample.read_iops,
        _ => sample.write_iops,
    }
}
