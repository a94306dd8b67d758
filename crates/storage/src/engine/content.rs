//! What is written: data that compresses and deduplicates as asked for, and no more than that.
//!
//! A tile of data fills the buffers once. What makes blocks differ is stamped into each of them before it is
//! written: 16 bytes, so that no array finds a block again that it should not find.

use std::io::Read;
use std::path::Path;

use stats::random::{Random, mix};

use super::error::EngineError;
use crate::regular;
use crate::run::{DataContent, DuplicateSets};

/// Arrays look for duplicates in blocks no smaller than this.
const STAMP_EVERY_BYTES: u64 = 4096;
const STAMP_BYTES: usize = 16;
/// Length of the tile; longer than the window of the usual compressors' fast modes.
const TILE_BYTES: usize = 256 * 1024;
/// A compressor sees the same ratio in every piece of this length.
const RATIO_UNIT_BYTES: usize = 512;
/// A pattern file is read up to here.
const PATTERN_BYTES_MAX: u64 = 16 << 20;

/// What goes into the buffers of one SD.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    tile: Vec<u8>,
    stamp_every: u64,
    dedup: Option<Duplicates>,
    seed: u64,
    /// Blocks stamped so far: what is written twice to one place differs.
    stamped: u64,
}

/// Which units are duplicates, decided by their address alone, so that writing again changes nothing.
#[derive(Debug, Clone, Copy)]
struct Duplicates {
    unit_bytes: u64,
    sets: u64,
    /// Of 2^64 units so many are duplicates.
    threshold: u64,
}

impl Content {
    /// What `asked` says, for an SD of `size_bytes`.
    pub fn new(asked: &DataContent, size_bytes: u64, seed: u64) -> Result<Self, EngineError> {
        let mut tile = match &asked.pattern {
            Some(path) => pattern(path)?,
            None => compressible(asked.compression_ratio, seed),
        };
        let dedup = asked.dedup.map(|dedup| {
            let units = (size_bytes / dedup.unit_bytes.max(1)).max(1);
            let sets = match dedup.sets {
                DuplicateSets::Count(count) => count,
                DuplicateSets::Percent(pct) => (units as f64 * pct / 100.0) as u64,
            }
            .clamp(1, units);
            let kept = units as f64 / dedup.ratio.max(1.0);
            let unique = (kept - sets as f64).max(0.0);
            Duplicates {
                unit_bytes: dedup.unit_bytes.max(1),
                sets,
                threshold: ((1.0 - unique / units as f64) * 2f64.powi(64)) as u64,
            }
        });
        // Duplicates must be the same wherever they stand in a buffer, so that every unit begins the tile anew.
        let unit = dedup.map_or(TILE_BYTES as u64, |dedup| dedup.unit_bytes);
        if let Some(dedup) = dedup {
            let length = usize::try_from(dedup.unit_bytes).unwrap_or(TILE_BYTES);
            let whole: Vec<u8> = tile.iter().copied().cycle().take(length).collect();
            tile = whole;
        }
        Ok(Self {
            tile,
            stamp_every: STAMP_EVERY_BYTES.min(unit),
            dedup,
            seed,
            stamped: 0,
        })
    }

    /// Fills a buffer once, before the run.
    pub fn fill(&self, buffer: &mut [u8]) {
        for piece in buffer.chunks_mut(self.tile.len()) {
            piece.copy_from_slice(&self.tile[..piece.len()]);
        }
    }

    /// Makes the blocks of one write what they are to be.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8], address: u64) {
        let every = self.stamp_every;
        let mut at = 0;
        while at + STAMP_BYTES <= buffer.len() {
            let (name, number) = self.stamp_of(address + at as u64);
            buffer[at..at + 8].copy_from_slice(&name.to_le_bytes());
            buffer[at + 8..at + STAMP_BYTES].copy_from_slice(&number.to_le_bytes());
            at += every as usize;
        }
    }

    #[inline]
    fn stamp_of(&mut self, address: u64) -> (u64, u64) {
        if let Some(dedup) = self.dedup {
            let unit = address / dedup.unit_bytes;
            let within = address % dedup.unit_bytes / self.stamp_every;
            let lot = mix(self.seed ^ unit);
            if lot < dedup.threshold {
                return (mix(mix(lot) % dedup.sets), within);
            }
            return (mix(unit) | 1, u64::MAX - within);
        }
        self.stamped += 1;
        (address, self.seed.wrapping_add(self.stamped))
    }
}

/// Random bytes and zeros so mixed that every piece can be stored in 1/ratio of its length.
fn compressible(ratio: f64, seed: u64) -> Vec<u8> {
    let mut random = Random::stream(seed, u64::MAX);
    let mut tile = vec![0; TILE_BYTES];
    let kept = (RATIO_UNIT_BYTES as f64 / ratio.max(1.0)).round() as usize;
    for piece in tile.chunks_mut(RATIO_UNIT_BYTES) {
        for word in piece[..kept.min(RATIO_UNIT_BYTES)].chunks_mut(8) {
            let bits = random.next_u64().to_le_bytes();
            word.copy_from_slice(&bits[..word.len()]);
        }
    }
    tile
}

/// What a pattern file holds.
pub(crate) fn pattern(path: &Path) -> Result<Vec<u8>, EngineError> {
    let refused = |reason| EngineError::SideFile {
        path: path.to_owned(),
        purpose: "the data pattern",
        reason,
    };
    let file = regular::read(path).map_err(refused)?;
    let length = file.metadata().map_err(refused)?.len();
    if length == 0 || length > PATTERN_BYTES_MAX {
        let kind = std::io::ErrorKind::InvalidData;
        return Err(refused(std::io::Error::new(
            kind,
            format!("it has {length} bytes, but 1 to {PATTERN_BYTES_MAX} are supported"),
        )));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes).map_err(refused)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::run::Dedup;

    fn written(asked: &DataContent, units: u64, unit: usize) -> Vec<Vec<u8>> {
        let mut content = Content::new(asked, units * unit as u64, 3).unwrap();
        let mut buffer = vec![0; unit];
        (0..units)
            .map(|i| {
                content.fill(&mut buffer);
                content.stamp(&mut buffer, i * unit as u64);
                buffer.clone()
            })
            .collect()
    }

    #[test]
    fn nothing_is_found_twice_unless_asked_for() {
        let all = written(&DataContent::default(), 500, 8192);
        let blocks: HashSet<&[u8]> = all.iter().flat_map(|b| b.chunks(4096)).collect();
        assert_eq!(blocks.len(), 1000);
        let zeros = all[0].iter().filter(|byte| **byte == 0).count();
        assert!(zeros < 100, "random data has few zeros: {zeros}");
    }

    #[test]
    fn a_compressor_finds_the_zeros() {
        let asked = DataContent {
            compression_ratio: 4.0,
            ..DataContent::default()
        };
        let all = written(&asked, 50, 8192);
        let zeros = all.iter().flatten().filter(|byte| **byte == 0).count();
        let share = zeros as f64 / (50.0 * 8192.0);
        assert!((share - 0.75).abs() < 0.02, "{share}");
    }

    #[test]
    fn duplicates_come_in_the_ratio_asked_for() {
        let asked = DataContent {
            dedup: Some(Dedup {
                ratio: 3.0,
                unit_bytes: 8192,
                sets: DuplicateSets::Percent(5.0),
            }),
            ..DataContent::default()
        };
        let all = written(&asked, 6000, 8192);
        let kept: HashSet<&Vec<u8>> = all.iter().collect();
        let ratio = 6000.0 / kept.len() as f64;
        assert!((ratio - 3.0).abs() < 0.15, "{ratio}");
        assert_eq!(
            all,
            written(&asked, 6000, 8192),
            "again the same, so that rewriting keeps the ratio"
        );
    }

    #[test]
    fn a_pattern_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pattern");
        std::fs::write(&path, "0123456789abcdef").unwrap();
        let asked = DataContent {
            pattern: Some(path.clone()),
            ..DataContent::default()
        };
        let block = &written(&asked, 1, 4096)[0];
        assert_eq!(&block[16..48], b"0123456789abcdef0123456789abcdef");
        std::fs::write(&path, "").unwrap();
        let refused = Content::new(&asked, 4096, 1).unwrap_err().to_string();
        assert!(
            refused.contains("pattern") && refused.contains("0 bytes"),
            "{refused}"
        );
    }
}
