//! Reads pieces of a table, spread over all of it, into a separate store.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use column_store::{GROUP_ROWS, Level, Store, Writer};
use engine::TargetError;
use engine::source::{Cell, Reader, Source, SourceTable, Space};
use stats::random::Random;

use super::predict::CONFIDENCE;
use crate::copies::copy_of;
use crate::{ColumnarError, Result};

/// Keys of which fewer than one in this many exists are not assumed to be spread evenly.
const GAPS: u64 = 2;

/// Rows of a piece: enough neighbours for an encoding to benefit.
pub const PIECE_ROWS: u64 = 8192;
/// Fewest pieces of a larger table; together they fill a group and show the spread between them.
pub const PIECES_MIN: u64 = GROUP_ROWS / PIECE_ROWS;
/// Most pieces: four times as many would at best halve the interval.
pub const PIECES_MOST: u64 = 60;
/// Tables of no more pieces are read as a whole: half of them would be read anyway, and so few groups vary.
pub const WHOLE_PIECES: u64 = 2 * PIECES_MIN;
/// Byte limit of a piece; a piece of wide rows has fewer rows.
const PIECE_BYTES: u64 = 8 << 20;
/// Byte limit of a sample, so that it fits in memory whatever the rows are.
const SAMPLE_BYTES: u64 = 256 << 20;
pub const STORE_BYTES: u64 = 2 << 30;
/// More pieces are read while the half-width of the interval is above this share.
const SPREAD_WANTED: f64 = 0.05;
/// Addresses of the first reading if the engine does not know the number of rows.
const PROBE: u64 = 128;
/// Addresses are too uneven once a piece has this many times its intended rows.
const UNEVEN: u64 = 64;
/// Assumed row size if the engine knows neither rows nor bytes.
const ROW_BYTES: u64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Addresses in the source; `None` for a table that is read as a whole.
    pub addresses: Option<Range<u64>>,
    pub rows: Range<u64>,
    /// Bytes of the values, uncompressed.
    pub bytes: u64,
}

impl Piece {
    pub fn count(&self) -> u64 {
        self.rows.end - self.rows.start
    }
}

pub struct Sample {
    pub store: Store,
    pub copy: SourceTable,
    pub pieces: Vec<Piece>,
    /// Addresses of the whole table; `None` if it has none and was read as a whole.
    pub space: Option<Space>,
    pub population: u64,
    /// True if pieces have equal numbers of rows instead of addresses.
    pub is_by_rows: bool,
    /// True if time ran out before all intended pieces were read.
    pub cut_short: bool,
    pub read_took: Duration,
}

impl Sample {
    pub fn rows(&self) -> u64 {
        self.pieces.iter().map(Piece::count).sum()
    }

    pub fn is_whole(&self) -> bool {
        self.pieces.len() as u64 >= self.population
    }

    /// Size of the whole as a multiple of the sample: by addresses, of which the last piece may have fewer, or by
    /// pieces if these have equal numbers of rows.
    pub fn scale(&self) -> f64 {
        if self.is_by_rows && !self.is_whole() {
            return self.population as f64 / self.pieces.len().max(1) as f64;
        }
        let Some(space) = self.space.as_ref().filter(|_| !self.is_whole()) else {
            return 1.0;
        };
        let addresses = self.pieces.iter().filter_map(|p| p.addresses.as_ref());
        let read: u64 = addresses.map(|range| range.end - range.start).sum();
        space.extent() as f64 / read.max(1) as f64
    }
}

pub struct Limits<'a> {
    /// Share of its pieces (default: as many as are of use).
    pub share: Option<f64>,
    pub deadline: Option<Instant>,
    pub seed: u64,
    pub stop: &'a AtomicBool,
}

impl Limits<'_> {
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }
}

/// Reads a sample.
///
/// # Errors
/// Of source or store; [`ColumnarError::Unsized`] when the table can only be read as a whole and is too large for that.
pub fn take(source: &dyn Source, table: &SourceTable, limits: &Limits<'_>) -> Result<Sample> {
    let begun = Instant::now();
    let store = Store::open(Level::None, STORE_BYTES)?;
    let copy = copy_of(table);
    store.begin(&copy, 1)?;
    let mut taker = Taker {
        source,
        table,
        limits,
        writer: Some(store.writer(&copy, 1)?),
        rows: 0,
        bytes: 0,
        pieces: Vec::new(),
    };
    let (space, population, meant) = match source.space(table)? {
        Some(space) => {
            let (population, meant) = taker.spread(&space)?;
            (Some(space), population, meant)
        }
        None => {
            taker.all()?;
            (None, 1, 1)
        }
    };
    let is_by_rows = space.as_ref().is_some_and(|space| taker.is_sparse(space));
    taker.finish()?;
    let mut pieces = std::mem::take(&mut taker.pieces);
    drop(taker);
    store.finish(&copy, Some(1))?;
    let start = |piece: &Piece| piece.addresses.as_ref().map(|range| range.start);
    pieces.sort_by_key(start);
    Ok(Sample {
        store,
        copy,
        cut_short: (pieces.len() as u64) < meant,
        pieces,
        space,
        population,
        is_by_rows,
        read_took: begun.elapsed(),
    })
}

enum Pieces {
    /// Pieces of equal address ranges.
    Even {
        width: u64,
        population: u64,
        rows_most: u64,
    },
    /// Pieces of equal numbers of rows: their starts, and the end of the last.
    Walked { starts: Vec<u64>, end: u64 },
}

impl Pieces {
    fn count(&self) -> u64 {
        match self {
            Self::Even { population, .. } => *population,
            Self::Walked { starts, .. } => starts.len() as u64,
        }
    }

    fn addresses(&self, space: &Space, number: u64) -> Range<u64> {
        match self {
            Self::Even { width, .. } => space.piece(number, *width),
            Self::Walked { starts, end } => {
                let at = |number: u64| starts.get(number as usize).copied().unwrap_or(*end);
                at(number)..at(number + 1)
            }
        }
    }

    /// Row limit of a piece unless addresses are very uneven.
    fn rows_most(&self) -> u64 {
        match self {
            Self::Even { rows_most, .. } => *rows_most,
            Self::Walked { .. } => u64::MAX,
        }
    }
}

struct Taker<'a> {
    source: &'a dyn Source,
    table: &'a SourceTable,
    limits: &'a Limits<'a>,
    writer: Option<Writer<'a>>,
    rows: u64,
    bytes: u64,
    pieces: Vec<Piece>,
}

impl Taker<'_> {
    /// Reads pieces from all over the table. Returns the number of pieces that it has, and the number intended.
    fn spread(&mut self, space: &Space) -> Result<(u64, u64)> {
        let mut reader = self.source.open_reader()?;
        let pieces = if self.is_sparse(space) {
            self.by_rows(reader.as_mut(), space)?
        } else {
            self.by_width(space)?
        };
        let population = pieces.count();
        let meant = meant(population, self.limits.share);
        let mut random = Random::new(self.limits.seed);
        let mut taken: Vec<u64> = Vec::new();
        let mut aim = meant;
        loop {
            for number in spread_evenly(population, aim, &taken, &mut random) {
                if !self.pieces.is_empty() && (self.limits.is_late() || self.bytes > SAMPLE_BYTES) {
                    return Ok((population, meant));
                }
                let addresses = pieces.addresses(space, number);
                self.piece(reader.as_mut(), Some(addresses), pieces.rows_most())?;
                taken.push(number);
            }
            let is_enough = taken.len() as u64 >= PIECES_MOST.min(population);
            if is_enough || self.spread_share() <= SPREAD_WANTED {
                return Ok((population, meant));
            }
            aim = PIECES_MIN;
        }
    }

    /// True if most addresses are unused, or nobody knows.
    fn is_sparse(&self, space: &Space) -> bool {
        let rows = self.table.rows_estimated.unwrap_or(0);
        space.has_gaps && space.extent() > rows.saturating_mul(GAPS)
    }

    /// Pieces of as many addresses as hold a piece's rows on average.
    fn by_width(&self, space: &Space) -> Result<Pieces> {
        let rows = self.rows_about(space)?;
        let width = self.width(space, rows);
        let population = space.pieces(width);
        Ok(Pieces::Even {
            width,
            population,
            rows_most: (rows / population.max(1)).max(PIECE_ROWS) * UNEVEN,
        })
    }

    /// Pieces of equal numbers of rows, found by one walk along the keys.
    fn by_rows(&self, reader: &mut dyn Reader, space: &Space) -> Result<Pieces> {
        let rows = self.table.rows_estimated.filter(|rows| *rows > 0);
        let each = self.piece_rows(rows.unwrap_or(1 << 20));
        let mut starts = vec![space.range.start];
        let mut from = space.range.start;
        while let Some(next) = reader.address_after(self.table, from, each)? {
            if self.limits.stop.load(Ordering::Relaxed) {
                return Err(ColumnarError::Interrupted);
            }
            if self.limits.is_late() {
                return Err(unsized_by(self.table, TOO_LONG));
            }
            // A key with more rows than a piece is one piece.
            from = next.max(from + 1);
            starts.push(from);
        }
        Ok(Pieces::Walked {
            starts,
            end: space.range.end,
        })
    }

    /// Reads every row; a table that is too large for that has no representative sample.
    fn all(&mut self) -> Result<()> {
        let mut reader = self.source.open_reader()?;
        self.piece(reader.as_mut(), None, u64::MAX)
    }

    fn piece(
        &mut self,
        reader: &mut dyn Reader,
        addresses: Option<Range<u64>>,
        rows_most: u64,
    ) -> Result<()> {
        let (begin_rows, begin_bytes) = (self.rows, self.bytes);
        let is_all = addresses.is_none();
        let mut broken_off = None;
        let outcome = reader.read(self.table, &addresses, &mut |row| {
            let too_large = is_all && (self.limits.is_late() || self.bytes > SAMPLE_BYTES);
            broken_off = match () {
                () if self.limits.stop.load(Ordering::Relaxed) => Some(ColumnarError::Interrupted),
                () if too_large => Some(unsized_by(self.table, NO_ADDRESSES)),
                () if self.rows - begin_rows >= rows_most => {
                    Some(unsized_by(self.table, TOO_UNEVEN))
                }
                () => None,
            };
            if broken_off.is_some() {
                return Err(TargetError::statement("sampling stopped"));
            }
            self.rows += 1;
            self.bytes += row.iter().map(Cell::bytes).sum::<u64>();
            let writer = self.writer.as_mut();
            let writer = writer.expect("the writer is there until the sample is finished");
            writer.put(row).map(drop)
        });
        if let Some(why) = broken_off {
            return Err(why);
        }
        outcome?;
        self.pieces.push(Piece {
            addresses,
            rows: begin_rows..self.rows,
            bytes: self.bytes - begin_bytes,
        });
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        match self.writer.take() {
            Some(writer) => Ok(writer.finish()?),
            None => Ok(()),
        }
    }

    /// Rows of the table, by the engine's estimate or a first reading. If keys have gaps, an engine that knows only the
    /// last key is far off, and pieces would be too small.
    fn rows_about(&self, space: &Space) -> Result<u64> {
        let Some(rows) = self.table.rows_estimated.filter(|rows| *rows > 0) else {
            return self.rows_by_probe(space, PROBE);
        };
        let rows_read = self.rows_by_probe(space, self.width(space, rows))?;
        let is_about = rows_read == 0 || (rows / 2..=rows.saturating_mul(2)).contains(&rows_read);
        Ok(if is_about { rows } else { rows_read })
    }

    /// Rows of the table, extrapolated from addresses in its middle.
    fn rows_by_probe(&self, space: &Space, addresses: u64) -> Result<u64> {
        let mut found = 0_u64;
        let middle = space.range.start + space.extent() / 2;
        let look = middle..middle.saturating_add(addresses).min(space.range.end);
        let mut reader = self.source.open_reader()?;
        let read = look.end - look.start;
        reader.read(self.table, &Some(look), &mut |_| {
            found += 1;
            Ok(())
        })?;
        Ok((found as f64 / read as f64 * space.extent() as f64) as u64)
    }

    fn piece_rows(&self, rows: u64) -> u64 {
        let row_bytes = (self.table.disk_bytes).map_or(ROW_BYTES, |bytes| bytes / rows.max(1));
        (PIECE_BYTES / row_bytes.max(1)).clamp(1, PIECE_ROWS)
    }

    fn width(&self, space: &Space, rows: u64) -> u64 {
        let addresses_per_row = space.extent() as f64 / rows.max(1) as f64;
        ((self.piece_rows(rows) as f64 * addresses_per_row).ceil() as u64).max(1)
    }

    /// Half-width of the interval of the bytes, as a share; `None` if unknown.
    fn spread_share(&self) -> f64 {
        let mut pieces: Vec<&Piece> = self.pieces.iter().collect();
        pieces.sort_by_key(|piece| piece.addresses.as_ref().map(|range| range.start));
        let bytes: Vec<f64> = pieces.iter().map(|piece| piece.bytes as f64).collect();
        half_share(&bytes, u64::MAX)
    }
}

/// Half-width of the interval from differences of neighbours, as a share of the total; 0 for the whole, and 1 if there
/// are too few.
pub fn half_share(values: &[f64], population: u64) -> f64 {
    match stats::cluster::total(values, population, CONFIDENCE) {
        Ok(total) if total.estimate > 0.0 => (total.high - total.estimate) / total.estimate,
        Ok(_) => 0.0,
        Err(_) => 1.0,
    }
}

/// Pieces to read: the share, but at least enough to fill a group and at most as many as are of use; all if that is
/// half of them.
fn meant(population: u64, share: Option<f64>) -> u64 {
    if population <= WHOLE_PIECES {
        return population;
    }
    let share = share.map_or(PIECES_MOST, |share| {
        (share * population as f64).ceil() as u64
    });
    share.clamp(PIECES_MIN, PIECES_MOST).min(population)
}

/// Numbers of about `count` of `population` pieces that were not taken before: a random one out of each of as many
/// equal stretches. The order is random too, so that the pieces read before time runs out are also spread evenly.
fn spread_evenly(population: u64, count: u64, taken: &[u64], random: &mut Random) -> Vec<u64> {
    let mut chosen: Vec<u64> = (0..count.min(population))
        .map(|stretch| {
            let (from, to) = (
                stretch * population / count.min(population),
                (stretch + 1) * population / count.min(population),
            );
            from + random.index((to - from) as usize) as u64
        })
        .filter(|number| !taken.contains(number))
        .collect();
    for at in (1..chosen.len()).rev() {
        chosen.swap(at, random.index(at + 1));
    }
    chosen
}

const NO_ADDRESSES: &str = "its rows cannot be read in pieces, and it is too large to be read as a whole; populate it, or \
     give it an integer primary key";
const TOO_UNEVEN: &str = "its keys are so uneven that a piece holds many times the expected rows; populate it to measure \
     its size";

const TOO_LONG: &str = "its keys have gaps, and scanning them takes longer than the time in the budget; increase the \
     budget, or populate it";

fn unsized_by(table: &SourceTable, why: &str) -> ColumnarError {
    ColumnarError::Unsized {
        table: table.label(),
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_counts_between_a_group_and_what_is_of_use() {
        assert_eq!(meant(7, Some(0.02)), 7);
        assert_eq!(meant(WHOLE_PIECES, Some(0.02)), WHOLE_PIECES);
        assert_eq!(meant(100, Some(0.02)), PIECES_MIN);
        assert_eq!(meant(2000, Some(0.02)), 40);
        assert_eq!(meant(1_000_000, Some(0.02)), PIECES_MOST);
        assert_eq!(meant(1_000_000, None), PIECES_MOST);
    }

    #[test]
    fn one_piece_out_of_each_stretch_and_none_twice() {
        let mut random = Random::new(3);
        let mut first = spread_evenly(1000, 20, &[], &mut random);
        let order = first.clone();
        first.sort_unstable();
        assert_ne!(first, order, "in an order at random");
        for (stretch, number) in (0_u64..).zip(&first) {
            assert_eq!(number / 50, stretch);
        }
        let all: Vec<u64> = (0..30).collect();
        assert!(spread_evenly(30, 15, &all, &mut random).is_empty());
        assert_eq!(spread_evenly(5, 15, &[], &mut random).len(), 5);
    }
}
