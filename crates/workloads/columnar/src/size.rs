//! Estimated size of tables in a column store, from a sample of their blocks.
//!
//! * [`budget`]: limit of the reading.
//! * [`sample`]: pieces from all over a table, in a separate store.
//! * [`measure`]: size of the pieces at each level, and their similarity.
//! * [`mod@predict`]: size of the whole, with an interval.
//! * [`mod@fit`]: tables that fit in a given memory, and cores.

pub mod budget;
pub mod fit;
pub mod measure;
pub mod predict;
pub mod sample;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use archive::Remark;
use column_store::{GROUP_ROWS, Level};
use engine::ErrorKind;
use engine::source::{Source, SourceTable};
use stats::Interval;
use workload::loading::{Event, Observer};

use super::chosen::{LeftOut, Unfit};
use super::watch::{Watch, watched};
use super::{Chosen, ColumnarError, Result, table_note, unfit};
pub use budget::Budget;
pub use fit::{Cores, Fit, Published, cores, fit, holds, needs, published};
pub use sample::Piece;
use sample::{Limits, Sample};

#[derive(Debug, Clone, PartialEq)]
pub struct SizeOptions {
    pub chosen: Chosen,
    pub levels: Vec<Level>,
    pub budget: Budget,
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// Tables in the user's or the catalogue's order.
    pub tables: Vec<SizedTable>,
    pub moment: &'static str,
    pub read_took: Duration,
    /// Tables and columns that are missing although nobody excluded them.
    pub left_out: Vec<LeftOut>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SizedTable {
    pub label: String,
    pub disk_bytes: Option<u64>,
    pub rows: Option<Interval>,
    /// Bytes at each level, or the reason why they are unknown.
    pub levels: Vec<(Level, std::result::Result<Interval, String>)>,
    pub sampled: Sampled,
    pub notes: Vec<Remark>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampled {
    /// Unit of the addresses; empty if the table has none and was read as a whole.
    pub unit: String,
    pub extent: u64,
    /// Pieces of the whole table, if they have equal numbers of rows because addresses have gaps.
    pub population: Option<u64>,
    pub pieces: Vec<Piece>,
    pub is_whole: bool,
    pub took: Duration,
}

impl Sampled {
    pub fn rows(&self) -> u64 {
        self.pieces.iter().map(Piece::count).sum()
    }

    /// Share that was read: of the addresses, or of the pieces if these have equal numbers of rows.
    pub fn share(&self) -> f64 {
        if let Some(population) = self.population {
            return self.pieces.len() as f64 / population.max(1) as f64;
        }
        let addresses = self.pieces.iter().filter_map(|p| p.addresses.as_ref());
        let read: u64 = addresses.map(|range| range.end - range.start).sum();
        if self.is_whole {
            1.0
        } else {
            read as f64 / self.extent.max(1) as f64
        }
    }
}

impl SizedTable {
    pub fn at(&self, level: Level) -> Option<Interval> {
        let found = self.levels.iter().find(|(of, _)| *of == level)?;
        found.1.clone().ok()
    }

    /// Size on disk ÷ size in memory: a larger size is a smaller factor.
    pub fn compress_factor(&self, level: Level) -> Option<Interval> {
        let size = self.at(level)?;
        Some(factor(self.disk_bytes? as f64, size))
    }
}

impl Sizes {
    /// Bytes of all tables at a level; `None` if that of one is unknown.
    pub fn total(&self, level: Level) -> Option<Interval> {
        let all: Option<Vec<Interval>> = self.tables.iter().map(|table| table.at(level)).collect();
        Some(predict::sum(&all?))
    }

    /// Size on disk ÷ size in memory, of all tables.
    pub fn compress_factor(&self, level: Level) -> Option<Interval> {
        let disk: Option<u64> = self.tables.iter().map(|table| table.disk_bytes).sum();
        Some(factor(disk? as f64, self.total(level)?))
    }
}

fn factor(disk_bytes: f64, size: Interval) -> Interval {
    let by = |bytes: f64| disk_bytes / bytes.max(1.0);
    Interval {
        estimate: by(size.estimate),
        low: by(size.high),
        high: by(size.low),
        confidence: size.confidence,
    }
}

/// Estimates sizes in a column store; reads no more than the budget.
///
/// # Errors
/// When a name is unknown, a column is unsupported, source or store fails, or `stop` was set.
pub fn size(
    source: &dyn Source,
    options: &SizeOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Sizes> {
    watched(source, stop, tell, |watch| {
        sizes(source, options, stop, tell, watch)
    })
}

fn sizes(
    source: &dyn Source,
    options: &SizeOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
    watch: &Watch,
) -> Result<Sizes> {
    let mut selection = options.chosen.of(source.tables()?)?;
    let tables = std::mem::take(&mut selection.tables);
    if !selection.unfit.is_empty() {
        return Err(unfit::refused(source, &tables, &selection.unfit)?);
    }
    // Small tables come first, so that large ones can use the time that they leave.
    let mut order: Vec<usize> = (0..tables.len()).collect();
    order.sort_by_key(|at| tables[*at].disk_bytes.unwrap_or(0));
    let mut time = options.budget.time;
    let mut sized: Vec<Option<SizedTable>> = vec![None; tables.len()];
    for (done, at) in order.iter().enumerate() {
        let table = &tables[*at];
        tell(Event::Step(&format!("sampling {}", table.label())));
        let left = order[done..].iter().map(|at| &tables[*at]);
        let limits = Limits {
            share: options.budget.share,
            deadline: time.map(|time| Instant::now() + time.mul_f64(share_of(table, left))),
            seed: options.seed.wrapping_add(*at as u64),
            stop,
        };
        match fitting(source, table, options, &limits, tell) {
            Ok(found) => {
                time = time.map(|time| time.saturating_sub(found.sampled.took));
                sized[*at] = Some(found);
            }
            Err(ColumnarError::Target(error)) => {
                let is_unfit = matches!(error.kind, ErrorKind::Unfit(_));
                if is_unfit && options.chosen.unfit == Unfit::Fail {
                    return Err(unfit::refused(source, &tables, &[])?);
                }
                // Other tables cannot be read either once the source is gone.
                source.open_reader()?;
                selection.left_out.push(LeftOut {
                    name: table.label(),
                    why: watch.reason(&error),
                });
            }
            Err(other) => return Err(other),
        }
        tell(Event::Parts {
            done: done as u32 + 1,
            of: tables.len() as u32,
            rows: sized.iter().flatten().map(|t| t.sampled.rows()).sum(),
        });
    }
    let tables: Vec<SizedTable> = sized.into_iter().flatten().collect();
    if tables.is_empty() {
        selection.refuse_nothing()?;
    }
    Ok(Sizes {
        moment: source.moment(),
        read_took: tables.iter().map(|table| table.sampled.took).sum(),
        left_out: selection.left_out,
        tables,
    })
}

/// Share of the remaining time: proportional to the table's size among those left, but for a small table at least a
/// quarter of an equal share.
fn share_of<'a>(table: &SourceTable, left: impl Iterator<Item = &'a SourceTable>) -> f64 {
    let weight = |table: &SourceTable| table.disk_bytes.unwrap_or(0).max(1) as f64;
    let weights: Vec<f64> = left.map(weight).collect();
    let least = 0.25 / weights.len().max(1) as f64;
    (weight(table) / weights.iter().sum::<f64>()).clamp(least, 1.0)
}

/// Result for a table. Columns with unsupported values are read as text if so requested.
fn fitting(
    source: &dyn Source,
    table: &SourceTable,
    options: &SizeOptions,
    limits: &Limits<'_>,
    tell: Observer<'_>,
) -> Result<SizedTable> {
    let mut table = table.clone();
    loop {
        let error = match one(source, &table, options, limits, tell) {
            Err(ColumnarError::Target(error)) => error,
            outcome => return outcome,
        };
        match error.kind {
            ErrorKind::Unfit(place)
                if options.chosen.unfit == Unfit::Text
                    && !table.columns[place].is_read_as_text() =>
            {
                table.columns[place].read_as_text();
            }
            _ => return Err(error.into()),
        }
    }
}

fn unknown(table: &SourceTable, options: &SizeOptions, why: &str) -> SizedTable {
    SizedTable {
        label: table.label(),
        disk_bytes: table.disk_bytes,
        rows: None,
        levels: (options.levels.iter())
            .map(|level| (*level, Err(why.to_owned())))
            .collect(),
        sampled: Sampled::default(),
        notes: table_note(table).into_iter().collect(),
    }
}

fn one(
    source: &dyn Source,
    table: &SourceTable,
    options: &SizeOptions,
    limits: &Limits<'_>,
    tell: Observer<'_>,
) -> Result<SizedTable> {
    let begun = Instant::now();
    let mut sized = unknown(table, options, "");
    let sample = match sample::take(source, table, limits) {
        Ok(sample) => sample,
        Err(ColumnarError::Unsized { why, .. }) => {
            sized = unknown(table, options, &why);
            sized.sampled.took = begun.elapsed();
            return Ok(sized);
        }
        Err(other) => return Err(other),
    };
    sized.levels.clear();
    sized.rows = rows(&sample);
    sized.notes.extend(notes(&sample));
    let rows = sized.rows.map(|rows| rows.estimate as u64);
    if rows.is_some_and(|rows| table.is_outdated(rows)) {
        sized.disk_bytes = None;
        sized.notes.push(Remark::StatisticsOutdated);
    }
    if !sample.is_whole() && sample.pieces.len() < stats::cluster::CLUSTERS_MIN {
        let why = "the budget was too small: it allowed too few pieces to estimate a size; increase the budget";
        let unknown = |level: &Level| (*level, Err(why.to_owned()));
        sized.levels = options.levels.iter().map(unknown).collect();
    } else {
        let alike = measure::alike(&sample)?;
        for level in &options.levels {
            tell(Event::Step(&format!(
                "packing {} at {level}",
                table.label()
            )));
            let evidence = measure::evidence(&sample, &alike, *level, limits.stop)?;
            let size = evidence.map(|evidence| predict::predict(&evidence));
            sized.levels.push((*level, size));
        }
    }
    sized.sampled = Sampled {
        unit: sample
            .space
            .as_ref()
            .map_or(String::new(), |space| space.unit.clone()),
        extent: sample.space.as_ref().map_or(0, |space| space.extent()),
        is_whole: sample.is_whole(),
        population: sample.is_by_rows.then_some(sample.population),
        took: sample.read_took,
        pieces: sample.pieces,
    };
    Ok(sized)
}

/// Rows of the table, estimated from those of the pieces; `None` if there are too few.
fn rows(sample: &Sample) -> Option<Interval> {
    let counts: Vec<f64> = sample.pieces.iter().map(|p| p.count() as f64).collect();
    let half = sample::half_share(&counts, sample.population);
    let estimate = sample.rows() as f64 * sample.scale();
    (half < 1.0).then_some(Interval {
        estimate: estimate.round(),
        low: (estimate * (1.0 - half)).round(),
        high: (estimate * (1.0 + half)).round(),
        confidence: predict::CONFIDENCE,
    })
}

fn notes(sample: &Sample) -> Vec<Remark> {
    let mut notes = Vec::new();
    if sample.cut_short {
        notes.push(Remark::SampleCut {
            pieces: sample.pieces.len() as u64,
        });
    }
    if !sample.is_whole() && sample.rows() < GROUP_ROWS * 4 / 5 {
        notes.push(Remark::SampleSmall {
            rows: sample.rows(),
            rows_together: GROUP_ROWS,
        });
    }
    notes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sized(label: &str, disk_bytes: u64, bytes_high: Option<f64>) -> SizedTable {
        let size = bytes_high.map(|high| Interval {
            estimate: high / 2.0,
            low: high / 4.0,
            high,
            confidence: predict::CONFIDENCE,
        });
        SizedTable {
            label: label.into(),
            disk_bytes: Some(disk_bytes),
            rows: None,
            levels: vec![(Level::None, size.ok_or_else(|| "why".to_owned()))],
            sampled: Sampled::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_larger_size_is_a_smaller_factor() {
        let factor = sized("t", 100, Some(50.0)).compress_factor(Level::None);
        let factor = factor.unwrap();
        assert_eq!((factor.low, factor.estimate, factor.high), (2.0, 4.0, 8.0));
        assert!(factor.covers(3.0));
    }

    #[test]
    fn totals_need_every_table() {
        let mut sizes = Sizes {
            tables: vec![sized("a", 100, Some(50.0)), sized("b", 10, Some(20.0))],
            moment: "",
            read_took: Duration::ZERO,
            left_out: Vec::new(),
        };
        assert_eq!(sizes.total(Level::None).unwrap().high, 70.0);
        assert_eq!(sizes.total(Level::QueryLow), None);
        sizes.tables.push(sized("c", 1, None));
        assert_eq!(sizes.compress_factor(Level::None), None);
    }
}
