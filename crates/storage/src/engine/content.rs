//! Contents of writes: data that compresses and deduplicates as requested, in pieces of a sector or more, and not
//! beyond that.
//!
//! Every sector of every write is generated: random bytes, then zeros if it has to compress. No sector occurs twice
//! unless it belongs to a duplicate, so an array finds no other savings whatever its units are.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::LazyLock;

use stats::random::mix;

use super::error::EngineError;
use super::files::SECTOR_BYTES;
use crate::regular;
use crate::run::{DuplicateSets, StorageDefinition};

const SECTOR: usize = SECTOR_BYTES as usize;
/// Increment of a Weyl sequence: its numbers repeat after 2^64, and are spread evenly until then.
const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
/// Bytes that compressors add to the random bytes of a sector: the head of each piece, and for each run of zeros its
/// length, distance, and the length before it. The value is between LZ4's and Zstandard's, for pieces of a sector and
/// of a file.
const HEADS_BYTES: f64 = 8.0;
/// The overhead shrinks with the compression ratio by this many bytes.
const HEADS_PER_RATIO_BYTES: f64 = 28.0;
/// Fewer random bytes would repeat by chance.
const RANDOM_BYTES_MIN: f64 = 8.0;
/// Random data carry their address at this interval, so that a misdirected block can be found; in a pattern it makes
/// blocks differ.
const STAMP_EVERY_BYTES: u64 = 4096;
const STAMP_BYTES: usize = 16;
const PATTERN_BYTES_MAX: u64 = 16 << 20;
/// Executions must write different data; otherwise an array would find the first one's data in the second's.
static EXECUTION: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

#[derive(Debug, Clone)]
pub(crate) struct Content {
    source: Source,
    dedup: Option<Duplicates>,
    /// Seed of this SD, so that two SDs have no data in common.
    owner: u64,
    writes: u64,
}

#[derive(Debug, Clone)]
enum Source {
    /// Number of random bytes in each sector, followed by zeros.
    Random(usize),
    /// Bytes of a file, repeated; cut to whole units of deduplication.
    Pattern(Vec<u8>),
}

/// Choice of duplicate units by their address only, so that rewriting changes nothing.
#[derive(Debug, Clone, Copy)]
struct Duplicates {
    unit_bytes: u64,
    sets: u64,
    /// A unit is a duplicate if its hash, of 2^64, is below this.
    threshold: u64,
}

impl Content {
    pub fn new(sd: &StorageDefinition, size_bytes: u64, seed: u64) -> Result<Self, EngineError> {
        let requested = &sd.content;
        let dedup = requested.dedup.map(|dedup| {
            let unit_bytes = dedup.unit_bytes.max(1);
            let units = (size_bytes / unit_bytes).max(1);
            let sets = match dedup.sets {
                DuplicateSets::Count(count) => count,
                DuplicateSets::Percent(pct) => (units as f64 * pct / 100.0) as u64,
            }
            .clamp(1, units);
            let kept = units as f64 / dedup.ratio.max(1.0);
            let unique = (kept - sets as f64).max(0.0);
            Duplicates {
                unit_bytes,
                sets,
                threshold: ((1.0 - unique / units as f64) * 2f64.powi(64)) as u64,
            }
        });
        let source = match &requested.pattern {
            Some(path) => {
                let bytes = pattern(path)?;
                let unit = dedup.and_then(|dedup| usize::try_from(dedup.unit_bytes).ok());
                let length = unit.unwrap_or(bytes.len());
                Source::Pattern(bytes.into_iter().cycle().take(length).collect())
            }
            None => Source::Random(random_bytes(requested.compression_ratio)),
        };
        let path = sd.path.as_os_str().as_bytes().iter();
        let owner = path.fold(seed, |owner, byte| mix(owner ^ u64::from(*byte)));
        Ok(Self {
            source,
            dedup,
            owner: dedup.map_or(owner ^ *EXECUTION, |_| owner),
            writes: 0,
        })
    }

    /// Fills a buffer once, before the run, with the bytes that never change.
    pub fn fill(&self, buffer: &mut [u8]) {
        if let Source::Pattern(bytes) = &self.source {
            for piece in buffer.chunks_mut(bytes.len()) {
                piece.copy_from_slice(&bytes[..piece.len()]);
            }
        }
    }

    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8], address: u64) {
        self.writes += 1;
        match self.source {
            Source::Random(random) => {
                for (at, sector) in (address..).step_by(SECTOR).zip(buffer.chunks_mut(SECTOR)) {
                    write_sector(sector, random, self.name_of(at));
                    if self.dedup.is_none() && at.is_multiple_of(STAMP_EVERY_BYTES) {
                        sector[..8].copy_from_slice(&at.to_le_bytes());
                    }
                }
            }
            Source::Pattern(_) => self.stamp_pattern(buffer, address),
        }
    }

    fn stamp_pattern(&self, buffer: &mut [u8], address: u64) {
        let unit = self.dedup.map_or(u64::MAX, |dedup| dedup.unit_bytes);
        let every = STAMP_EVERY_BYTES.min(unit);
        let step = every as usize;
        for (at, block) in (address..).step_by(step).zip(buffer.chunks_mut(step)) {
            let length = block.len().min(STAMP_BYTES);
            write_sector(&mut block[..length], length, self.name_of(at));
        }
    }

    /// Seed of a sector's bytes: its position in a duplicated unit, or a number used once.
    #[inline]
    fn name_of(&self, address: u64) -> u64 {
        let (name, within) = match self.dedup {
            Some(dedup) => {
                let unit = address / dedup.unit_bytes;
                let lot = mix(self.owner ^ unit);
                let name = if lot < dedup.threshold {
                    mix(lot) % dedup.sets
                } else {
                    // This is above all sets.
                    unit | 1 << 63
                };
                (name, address % dedup.unit_bytes)
            }
            None => (self.writes, address),
        };
        mix(mix(self.owner ^ name).wrapping_add(within))
    }
}

/// Random bytes in a sector that compresses by `ratio`, after the compressor's overhead.
fn random_bytes(ratio: f64) -> usize {
    if ratio > 1.0 {
        (SECTOR as f64 / ratio - HEADS_BYTES.min(HEADS_PER_RATIO_BYTES / ratio))
            .round()
            .max(RANDOM_BYTES_MIN) as usize
    } else {
        SECTOR
    }
}

/// A Weyl sequence with its halves folded costs one addition per word, and no compressor finds it.
#[inline]
fn write_sector(sector: &mut [u8], random: usize, name: u64) {
    let (bytes, zeros) = sector.split_at_mut(random.min(sector.len()));
    let mut state = name;
    let mut next = || {
        state = state.wrapping_add(WEYL);
        (state ^ (state >> 32)).to_le_bytes()
    };
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        word.copy_from_slice(&next());
    }
    let rest = words.into_remainder();
    rest.copy_from_slice(&next()[..rest.len()]);
    zeros.fill(0);
}

pub(crate) fn pattern(path: &Path) -> Result<Vec<u8>, EngineError> {
    let refused = |reason| EngineError::SideFile {
        path: path.to_owned(),
        purpose: "the data pattern",
        reason,
    };
    let file = regular::read(path).map_err(refused)?;
    let length = file.metadata().map_err(refused)?.len();
    if length == 0 || length > PATTERN_BYTES_MAX {
        let what = format!("it has {length} bytes, but 1 to {PATTERN_BYTES_MAX} are supported");
        return Err(refused(std::io::Error::other(what)));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes).map_err(refused)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write;

    use super::*;
    use crate::run::{DataContent, Dedup};

    fn sd(path: &str, content: &DataContent) -> StorageDefinition {
        StorageDefinition {
            content: content.clone(),
            ..StorageDefinition::whole("sd1", path)
        }
    }

    /// Contents of an SD of `units` units after it was written in units of `unit` bytes.
    fn written(requested: &DataContent, units: u64, unit: usize) -> Vec<u8> {
        let mut content = Content::new(&sd("/f", requested), units * unit as u64, 3).unwrap();
        let mut buffer = vec![0; unit];
        content.fill(&mut buffer);
        let mut all = Vec::new();
        for i in 0..units {
            content.stamp(&mut buffer, i * unit as u64);
            all.extend_from_slice(&buffer);
        }
        all
    }

    fn compressing(ratio: f64) -> DataContent {
        DataContent {
            compression_ratio: ratio,
            ..DataContent::default()
        }
    }

    fn deduplicating(ratio: f64, unit_bytes: u64) -> DataContent {
        DataContent {
            dedup: Some(Dedup {
                ratio,
                unit_bytes,
                sets: DuplicateSets::Percent(5.0),
            }),
            ..DataContent::default()
        }
    }

    /// Number of pieces of a length divided by the number of distinct ones.
    fn dedup_ratio(all: &[u8], piece: usize) -> f64 {
        let kept: HashSet<&[u8]> = all.chunks(piece).collect();
        all.chunks(piece).count() as f64 / kept.len() as f64
    }

    fn compression_ratio(all: &[u8], piece: usize) -> f64 {
        let compressed = |piece: &[u8]| {
            let mut encoder =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(piece).unwrap();
            encoder.finish().unwrap().len()
        };
        all.len() as f64 / all.chunks(piece).map(compressed).sum::<usize>() as f64
    }

    #[test]
    fn nothing_is_found_twice_or_compressed_unless_requested() {
        for transfer in [512, 4096, 8192, 32 * 1024, 128 * 1024] {
            let units = (4 << 20) / transfer as u64;
            let all = written(&DataContent::default(), units, transfer);
            assert_eq!(dedup_ratio(&all, 512), 1.0, "{transfer}");
            for piece in [512, 4096, 8192, 32 * 1024, 128 * 1024, all.len()] {
                let ratio = compression_ratio(&all, piece);
                assert!((ratio - 1.0).abs() < 0.05, "{transfer} in {piece}: {ratio}");
            }
        }
    }

    /// Huffman's tables are a large part of a sector, so deflate is checked from 4 KiB up, and the sector by its
    /// zeros.
    #[test]
    fn every_piece_compresses_as_requested() {
        for (ratio, transfer) in [(1.5, 8192), (2.0, 512), (3.0, 8192), (4.0, 128 * 1024)] {
            let all = written(&compressing(ratio), (2 << 20) / transfer as u64, transfer);
            for piece in [4096, 8192, 32 * 1024, 128 * 1024, all.len()] {
                let found = compression_ratio(&all, piece);
                let off = (found / ratio - 1.0).abs();
                assert!(off < 0.05, "{ratio} in {piece}: {found}");
            }
            for sector in all.chunks(512) {
                let zeros = sector.iter().rev().take_while(|byte| **byte == 0).count();
                let kept = 512.0 / (512.0 - zeros as f64 + HEADS_BYTES);
                assert!((kept / ratio - 1.0).abs() < 0.05, "{kept}");
            }
            assert_eq!(dedup_ratio(&all, 512), 1.0);
        }
    }

    #[test]
    fn duplicates_come_in_the_ratio_requested_whatever_the_transfer() {
        let requested = deduplicating(3.0, 8192);
        let all = written(&requested, 6000, 8192);
        for piece in [512, 4096, 8192] {
            let ratio = dedup_ratio(&all, piece);
            assert!((ratio - 3.0).abs() < 0.15, "{piece}: {ratio}");
        }
        for transfer in [512, 4096, 32 * 1024] {
            let same = written(&requested, 6000 * 8192 / transfer as u64, transfer);
            assert!(all == same, "in transfers of {transfer}");
        }
    }

    #[test]
    fn duplicates_compress_as_requested() {
        let requested = DataContent {
            compression_ratio: 2.0,
            ..deduplicating(2.0, 8192)
        };
        let all = written(&requested, 2048, 8192);
        let in_pieces = compression_ratio(&all, 32 * 1024);
        assert!((in_pieces - 2.0).abs() < 0.1, "{in_pieces}");
        assert!((dedup_ratio(&all, 512) - 2.0).abs() < 0.1);
    }

    #[test]
    fn two_sds_and_two_writes_have_nothing_in_common() {
        let content = |path: &str, requested: &DataContent| {
            Content::new(&sd(path, requested), 1 << 20, 3).unwrap()
        };
        for requested in [DataContent::default(), deduplicating(2.0, 4096)] {
            let mut all = Vec::new();
            for path in ["/a", "/b"] {
                let mut content = content(path, &requested);
                let mut buffer = vec![0; 1 << 20];
                content.stamp(&mut buffer, 0);
                all.push(buffer);
            }
            let sectors =
                |data: &[u8]| -> HashSet<_> { data.chunks(512).map(<[u8]>::to_vec).collect() };
            assert!(sectors(&all[0]).is_disjoint(&sectors(&all[1])));
        }
        let mut same = content("/a", &DataContent::default());
        let mut twice = [[0; 4096]; 2];
        twice.iter_mut().for_each(|buffer| same.stamp(buffer, 0));
        assert_ne!(twice[0], twice[1]);
    }

    #[test]
    fn a_pattern_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pattern");
        std::fs::write(&path, "0123456789abcdef").unwrap();
        let requested = DataContent {
            pattern: Some(path.clone()),
            ..DataContent::default()
        };
        let block = written(&requested, 1, 4096);
        assert_eq!(&block[16..48], b"0123456789abcdef0123456789abcdef");
        std::fs::write(&path, "").unwrap();
        let refused = pattern(&path).unwrap_err().to_string();
        assert!(refused.contains("the data pattern"), "{refused}");
        assert!(refused.contains("0 bytes"), "{refused}");
    }
}
