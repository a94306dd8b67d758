//! Size of a sample at a level, and the similarity of its pieces.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use column_store::{Encoding, GROUP_ROWS, Level};
use engine::source::{Part, Reader, Source, SourceTable, Space};

use super::predict::Evidence;
use super::sample::{Piece, Sample, half_share};
use crate::lift::populate;
use crate::{LiftOptions, Lifted, Result};

/// Pieces that give slices to a mixed group. A slice has 2048 rows, because so few rows are packed the same in a group
/// of pieces from everywhere.
const MIXED: usize = 4;
/// A full group has [`PIECES_MIN`](super::sample::PIECES_MIN) pieces, about the square of that, so the savings among
/// neighbours occur twice, once per scale.
const SCALES: i32 = 2;
/// A sample of fewer allocation units is packed several times over, up to this number.
const GRAINS_WANTED: u64 = 80;
const COPIES_MOST: usize = 6;

pub struct Alike {
    /// Half-width of the interval of the size, as a share.
    sampling_share: f64,
    /// Saved bytes per row among neighbours, in numeric columns and in all, when only encoded.
    saved_numbers: f64,
    saved_encoded: f64,
    /// Saved share among neighbours when compressed, and the share that packing the pieces together saves.
    saved_compressed_share: f64,
    together_share: f64,
    /// Share by which a third of the pieces, compressed together, differs per row from the whole.
    luck_share: f64,
}

/// Sizes of a sample's pieces: separate, mixed and together.
pub fn alike(sample: &Sample) -> Result<Alike> {
    let table = &sample.copy;
    let bytes = |rows: &[Range<u64>], encoding| -> Result<Vec<f64>> {
        let columns = sample.store.encoded_bytes(&table.name, rows, encoding)?;
        Ok(columns.iter().map(|bytes| *bytes as f64).collect())
    };
    let each = |groups: &[Vec<Range<u64>>], encoding| -> Result<Vec<Vec<f64>>> {
        groups.iter().map(|rows| bytes(rows, encoding)).collect()
    };
    let filled: Vec<&Piece> = sample.pieces.iter().filter(|p| p.count() > 0).collect();
    let apart: Vec<Vec<Range<u64>>> = filled.iter().map(|p| vec![p.rows.clone()]).collect();
    let mixed = mixed(&filled);
    let (encoded, compressed) = (
        each(&apart, Encoding::Plain)?,
        each(&apart, Encoding::Compressed)?,
    );
    let (encoded_mixed, compressed_mixed) = (
        each(&mixed, Encoding::Plain)?,
        each(&mixed, Encoding::Compressed)?,
    );
    let all: Vec<Range<u64>> = filled.iter().map(|p| p.rows.clone()).collect();
    let together = if all.is_empty() {
        0.0
    } else {
        bytes(&all, Encoding::Plain)?.iter().sum()
    };
    let luck_share = if sample.is_whole() {
        0.0
    } else {
        let per_row = |groups: &[Vec<Range<u64>>]| -> Result<f64> {
            Ok(total(&each(groups, Encoding::Compressed)?) / rows(groups))
        };
        let whole = per_row(std::slice::from_ref(&all))?.max(f64::MIN_POSITIVE);
        let thirds = thirds(&all).into_iter().map(|third| per_row(&[third]));
        let thirds = thirds.collect::<Result<Vec<f64>>>()?;
        let differ = thirds.iter().map(|third| (third / whole - 1.0).abs());
        differ.fold(0.0, f64::max)
    };
    let is_number = |at: usize| {
        let kind = table.columns.get(at).map(|column| &column.kind);
        kind.is_some_and(|kind| kind.as_ref().is_ok_and(|kind| kind.is_numeric()))
    };
    let numbers = |groups: &[Vec<f64>]| {
        let of_group = |columns: &Vec<f64>| -> f64 {
            let numbers = columns.iter().enumerate().filter(|(at, _)| is_number(*at));
            numbers.map(|(_, bytes)| bytes).sum()
        };
        groups.iter().map(of_group).sum::<f64>()
    };
    let (rows_apart, rows_mixed) = (rows(&apart), rows(&mixed));
    let saved = |mixed: f64, apart: f64| mixed / rows_mixed - apart / rows_apart;
    Ok(Alike {
        sampling_share: sampling_share(sample, [&encoded, &compressed]),
        saved_numbers: saved(numbers(&encoded_mixed), numbers(&encoded)),
        saved_encoded: saved(total(&encoded_mixed), total(&encoded)),
        saved_compressed_share: saved(total(&compressed_mixed), total(&compressed))
            / (total(&compressed_mixed) / rows_mixed).max(f64::MIN_POSITIVE),
        together_share: 1.0 - together / total(&encoded).max(1.0),
        luck_share,
    })
}

/// Groups the size of a piece, each of slices of [`MIXED`] pieces that are as far apart as possible. Every row of the
/// pieces is in one, as far as their number divides.
fn mixed(pieces: &[&Piece]) -> Vec<Vec<Range<u64>>> {
    let of_group = MIXED.min(pieces.len()).max(1);
    let apart = pieces.len() / of_group;
    let slice = |piece: &Piece, number: usize| {
        let at = |number| piece.rows.start + piece.count() * number as u64 / of_group as u64;
        at(number)..at(number + 1)
    };
    (0..apart * of_group)
        .map(|group| {
            let (first, number) = (group % apart, group / apart);
            let some = pieces.iter().skip(first).step_by(apart).take(of_group);
            let ranges = some.map(|piece| slice(piece, number));
            ranges.filter(|rows| !rows.is_empty()).collect()
        })
        .filter(|group: &Vec<_>| !group.is_empty())
        .collect()
}

/// Three groups of every third piece; none for fewer than three pieces.
fn thirds(pieces: &[Range<u64>]) -> Vec<Vec<Range<u64>>> {
    if pieces.len() < 3 {
        return Vec::new();
    }
    (0..3)
        .map(|first| pieces.iter().skip(first).step_by(3).cloned().collect())
        .collect()
}

/// Widest half-width among those by rows and by values, encoded and compressed.
fn sampling_share(sample: &Sample, sizes: [&Vec<Vec<f64>>; 2]) -> f64 {
    let half = |values: &[f64]| half_share(values, sample.population);
    let of = |value: &dyn Fn(&Piece) -> u64| -> Vec<f64> {
        sample.pieces.iter().map(|p| value(p) as f64).collect()
    };
    let (by_rows, by_bytes) = (half(&of(&Piece::count)), half(&of(&|p| p.bytes)));
    let by_size = sizes.map(|groups| {
        let mut sizes = groups.iter().map(|columns| columns.iter().sum());
        let of_piece = |piece: &Piece| match piece.count() {
            0 => 0.0,
            _ => sizes.next().unwrap_or(0.0),
        };
        half(&sample.pieces.iter().map(of_piece).collect::<Vec<f64>>())
    });
    [by_rows, by_bytes]
        .into_iter()
        .chain(by_size)
        .fold(0.0, f64::max)
}

fn total(groups: &[Vec<f64>]) -> f64 {
    groups.iter().flatten().sum()
}

fn rows(groups: &[Vec<Range<u64>>]) -> f64 {
    let rows: u64 = groups
        .iter()
        .flatten()
        .map(|rows| rows.end - rows.start)
        .sum();
    (rows as f64).max(1.0)
}

/// Evidence of a sample at a level, or the reason why the level does not apply.
///
/// # Errors
/// Of the store, or when the user interrupts.
pub fn evidence(
    sample: &Sample,
    alike: &Alike,
    level: Level,
    stop: &AtomicBool,
) -> Result<std::result::Result<Evidence, String>> {
    let mut lifted = packed(sample, level, 1, stop)?;
    let copies = copies(sample, &lifted);
    if copies > 1 {
        lifted = packed(sample, level, copies, stop)?;
    }
    let reasons = lifted.tables.iter().flat_map(|t| &t.reasons);
    if let Some(why) = reasons.chain(&lifted.doubt).next() {
        return Ok(Err(why.to_string()));
    }
    let packed_bytes = lifted.bytes().unwrap_or(0) as f64;
    let (rows, copies) = (sample.rows() as f64, copies as f64);
    let bytes = packed_bytes / copies;
    let saved_bytes = |per_row: f64| per_row * rows / bytes.max(1.0);
    let share = match level {
        Level::None => 0.0,
        Level::QueryLow => saved_bytes(alike.saved_numbers),
        Level::QueryHigh => saved_bytes(alike.saved_encoded),
        Level::CapacityLow | Level::CapacityHigh => alike.saved_compressed_share,
    };
    let neighbours_share = 1.0 - (1.0 - share.clamp(0.0, 1.0)).powi(SCALES);
    Ok(Ok(Evidence {
        bytes: packed_bytes,
        rows,
        is_whole: sample.is_whole(),
        scale: sample.scale() / copies,
        grain_bytes: lifted.store.grain_bytes() as f64,
        sampling_share: alike.sampling_share,
        neighbours_share,
        together_share: alike.together_share,
        luck_share: match level {
            Level::CapacityLow | Level::CapacityHigh => alike.luck_share,
            Level::None | Level::QueryLow | Level::QueryHigh => 0.0,
        },
        pieces: sample.pieces.len() as f64,
    }))
}

fn packed(sample: &Sample, level: Level, copies: usize, stop: &AtomicBool) -> Result<Lifted> {
    let once = sample.pieces.iter().map(|p| Some(p.rows.clone()));
    let all = std::iter::repeat_n(once, copies).flatten();
    let source = InOrder {
        source: sample.store.source(),
        parts: all.collect(),
    };
    let options = LiftOptions {
        chosen: Default::default(),
        level,
        memory_bytes: None,
        jobs: Some(1),
    };
    populate(&source, &options, stop, &|_| {}, None)
}

/// Number of times that a sample is packed: a few allocation units are too coarse, and the whole has several groups.
/// Only a sample that fills a group can be repeated: within a group its rows would be packed with themselves.
fn copies(sample: &Sample, lifted: &Lifted) -> usize {
    let fills_a_group = sample.rows() >= GROUP_ROWS * 9 / 10;
    let is_coarse = lifted.bytes().unwrap_or(0) < lifted.store.grain_bytes() * GRAINS_WANTED;
    if fills_a_group && is_coarse && !sample.is_whole() {
        (sample.scale() as usize).clamp(1, COPIES_MOST)
    } else {
        1
    }
}

/// Pieces in the order of the source, whatever the order of reading.
struct InOrder {
    source: Box<dyn Source>,
    parts: Vec<Part>,
}

impl Source for InOrder {
    fn title(&self) -> String {
        self.source.title()
    }

    fn url(&self) -> String {
        self.source.url()
    }

    fn moment(&self) -> &'static str {
        self.source.moment()
    }

    fn one_stream(&self) -> Option<&'static str> {
        self.source.one_stream()
    }

    fn tables(&self) -> engine::Result<Vec<SourceTable>> {
        self.source.tables()
    }

    fn parts(&self, _table: &SourceTable, _streams: u32) -> Vec<Part> {
        self.parts.clone()
    }

    fn space(&self, table: &SourceTable) -> engine::Result<Option<Space>> {
        self.source.space(table)
    }

    fn open_reader(&self) -> engine::Result<Box<dyn Reader>> {
        self.source.open_reader()
    }

    fn waits(&self) -> Option<String> {
        self.source.waits()
    }

    fn break_off(&self) {
        self.source.break_off();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(count: u64, rows: u64) -> Vec<Piece> {
        let piece = |n| Piece {
            addresses: None,
            rows: n * rows..(n + 1) * rows,
            bytes: 0,
        };
        (0..count).map(piece).collect()
    }

    #[test]
    fn mixed_groups_take_a_slice_of_pieces_far_apart() {
        let pieces = pieces(33, 40);
        let groups = mixed(&pieces.iter().collect::<Vec<_>>());
        assert_eq!(groups.len(), 32);
        let mut seen = std::collections::BTreeSet::new();
        for group in &groups {
            let of: Vec<u64> = group.iter().map(|rows| rows.start / 40).collect();
            assert!(of.windows(2).all(|pair| pair[1] - pair[0] == 8), "{of:?}");
            assert_eq!(of.len(), MIXED);
            for row in group.iter().cloned().flatten() {
                assert!(seen.insert(row), "{row} is in two groups");
            }
        }
        assert_eq!(rows(&groups), 32.0 * 40.0);
    }

    #[test]
    fn few_or_tiny_pieces_make_what_groups_they_can() {
        let (two, one) = (pieces(2, 4), pieces(1, 1));
        assert_eq!(mixed(&two.iter().collect::<Vec<_>>()).len(), 2);
        assert_eq!(mixed(&one.iter().collect::<Vec<_>>()).len(), 1);
        assert!(mixed(&[]).is_empty());
    }
}
