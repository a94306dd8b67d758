//! Proof that reads return what was written: every block carries its address, its owner and its generation.
//!
//! A block is as large as the smallest transfer on its SD. Its generation is 0 while its contents are unknown, and
//! cycles through 1 … 126 with every write. During an I/O on a block no other one begins.

use std::ops::Range;

use stats::random::mix;

use super::error::Fault;
use super::files::SECTOR_BYTES;

/// Number of generations before they repeat.
pub(crate) const GENERATION_MAX: u8 = 126;
/// Flag of a block with an I/O in progress.
const BUSY: u8 = 0x80;
/// Largest number of blocks of one SD, each with a byte of memory.
pub(crate) const BLOCKS_MAX: u64 = 1 << 34;

const SECTOR: usize = SECTOR_BYTES as usize;
/// Bytes for address, owner and generation; the pattern fills the rest.
const HEAD: usize = 24;

/// State of the blocks of one SD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proof {
    pub block_bytes: u64,
    owner: u64,
    /// Added to addresses, so that blocks are stamped with their address in the file.
    offset_bytes: u64,
    generations: Vec<u8>,
    /// Blocks of zeros count as never written.
    ignore_zeros: bool,
    pub proven: u64,
}

/// Difference of a block from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Corruption {
    pub block: u64,
    /// Address in the file of the sector that differs.
    pub offset_bytes: u64,
    pub what: String,
}

impl Corruption {
    pub fn fault(self) -> Fault {
        Fault::Corrupt {
            offset_bytes: self.offset_bytes,
            what: self.what,
        }
    }
}

impl Proof {
    pub fn new(name: &str, size_bytes: u64, block_bytes: u64, offset_bytes: u64) -> Self {
        let blocks = size_bytes / block_bytes.max(1);
        let letters = name.bytes();
        Self {
            block_bytes: block_bytes.max(1),
            owner: letters.fold(0, |owner, letter| mix(owner ^ u64::from(letter))),
            offset_bytes,
            generations: vec![0; blocks as usize],
            ignore_zeros: false,
            proven: 0,
        }
    }

    pub fn ignoring_zeros(mut self, ignore_zeros: bool) -> Self {
        self.ignore_zeros = ignore_zeros;
        self
    }

    pub fn fits(&self, other: &Proof) -> bool {
        self.block_bytes == other.block_bytes
            && self.owner == other.owner
            && self.offset_bytes == other.offset_bytes
            && self.generations.len() == other.generations.len()
    }

    pub fn owner(&self) -> u64 {
        self.owner
    }

    pub fn blocks(&self) -> u64 {
        self.generations.len() as u64
    }

    pub fn generations(&self) -> impl Iterator<Item = u8> + '_ {
        self.generations.iter().map(|generation| generation & !BUSY)
    }

    pub fn range(&self, address: u64, size: u64) -> Range<u64> {
        address / self.block_bytes..(address + size).div_ceil(self.block_bytes)
    }

    pub fn generation(&self, block: u64) -> u8 {
        self.generations
            .get(block as usize)
            .map_or(0, |generation| generation & !BUSY)
    }

    pub fn set(&mut self, block: u64, generation: u8) {
        if let Some(known) = self.generations.get_mut(block as usize) {
            *known = *known & BUSY | generation & !BUSY;
        }
    }

    pub fn next_generation(&self, block: u64) -> u8 {
        self.generation(block) % GENERATION_MAX + 1
    }

    pub fn is_known(&self, blocks: Range<u64>) -> bool {
        blocks.into_iter().any(|block| self.generation(block) > 0)
    }

    /// Takes blocks for an I/O; false if one was in use.
    pub fn take(&mut self, blocks: Range<u64>) -> bool {
        let places = blocks.start as usize..(blocks.end as usize).min(self.generations.len());
        let taken = &mut self.generations[places];
        if taken.iter().any(|generation| generation & BUSY != 0) {
            return false;
        }
        taken.iter_mut().for_each(|generation| *generation |= BUSY);
        true
    }

    pub fn give_back(&mut self, blocks: Range<u64>) {
        for block in blocks {
            if let Some(generation) = self.generations.get_mut(block as usize) {
                *generation &= !BUSY;
            }
        }
    }

    pub fn stamp(&self, data: &mut [u8], address: u64) {
        for (number, sector) in data.chunks_exact_mut(SECTOR).enumerate() {
            let at = address + (number * SECTOR) as u64;
            let generation = self.next_generation(at / self.block_bytes);
            self.fill(sector, at, generation);
        }
    }

    fn fill(&self, sector: &mut [u8], address: u64, generation: u8) {
        let lba = address + self.offset_bytes;
        sector[..8].copy_from_slice(&lba.to_le_bytes());
        sector[8..16].copy_from_slice(&self.owner.to_le_bytes());
        sector[16..HEAD].copy_from_slice(&u64::from(generation).to_le_bytes());
        let base = mix(lba ^ mix(self.owner ^ u64::from(generation)));
        for (number, word) in sector[HEAD..].chunks_exact_mut(8).enumerate() {
            word.copy_from_slice(&pattern(base, number).to_le_bytes());
        }
    }

    /// Checks data read at `address` against the known generations; unknown blocks are skipped.
    pub fn check(&mut self, data: &[u8], address: u64) -> Result<(), Corruption> {
        let block_bytes = self.block_bytes as usize;
        for (number, content) in data.chunks(block_bytes).enumerate() {
            let at = address + (number * block_bytes) as u64;
            let generation = self.generation(at / self.block_bytes);
            if generation > 0 && !(self.ignore_zeros && content.iter().all(|byte| *byte == 0)) {
                self.check_block(content, at, generation)?;
                self.proven += 1;
            }
        }
        Ok(())
    }

    pub fn check_block(&self, data: &[u8], at: u64, generation: u8) -> Result<(), Corruption> {
        let mut expected = [0; SECTOR];
        for (number, sector) in data.chunks(SECTOR).enumerate() {
            let address = at + (number * SECTOR) as u64;
            self.fill(&mut expected, address, generation);
            if *sector != expected[..sector.len()] {
                return Err(Corruption {
                    block: at / self.block_bytes,
                    offset_bytes: address + self.offset_bytes,
                    what: difference(sector, &expected),
                });
            }
        }
        Ok(())
    }
}

#[inline]
fn pattern(base: u64, number: usize) -> u64 {
    base.wrapping_add((number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// True if any owner has stamped the sector: its pattern follows from its head.
fn is_stamped(sector: &[u8]) -> bool {
    let words: Vec<u64> = sector
        .chunks_exact(8)
        .map(|word| {
            word.iter()
                .rev()
                .fold(0, |all, byte| all << 8 | u64::from(*byte))
        })
        .collect();
    let [lba, owner, generation, rest @ ..] = words.as_slice() else {
        return false;
    };
    let base = mix(lba ^ mix(owner ^ generation));
    let mut numbered = rest.iter().enumerate();
    numbered.all(|(number, word)| *word == pattern(base, number))
}

fn difference(found: &[u8], expected: &[u8]) -> String {
    let word = |data: &[u8], at: usize| -> u64 {
        let mut bytes = [0; 8];
        let end = (at + 8).min(data.len());
        bytes[..end.saturating_sub(at)].copy_from_slice(&data[at.min(end)..end]);
        u64::from_le_bytes(bytes)
    };
    if found.iter().all(|byte| *byte == 0) {
        return "it contains zeros, but was written".to_owned();
    }
    let is_own = word(found, 8) == word(expected, 8);
    if !is_own && !is_stamped(found) {
        return "it is not a block of dbdyno: something else has written here".to_owned();
    }
    let (lba, wanted) = (word(found, 0), word(expected, 0));
    if lba != wanted {
        return format!("it carries the address {lba}, but is at {wanted}");
    }
    if !is_own {
        return "it belongs to another SD".to_owned();
    }
    let (generation, wanted) = (word(found, 16), word(expected, 16));
    if generation != wanted {
        return format!(
            "it is of generation {generation}, but {wanted} was written last (generations go from 1 to \
             {GENERATION_MAX} and start again)"
        );
    }
    let at = found.iter().zip(expected).position(|(a, b)| a != b);
    let at = at.unwrap_or(0);
    format!(
        "byte {at} of the sector is {:#04x}, but {:#04x} was written",
        found[at], expected[at]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> (Proof, Vec<u8>) {
        let mut proof = Proof::new("sd1", 64 * 1024, 4096, 1024);
        let mut data = vec![0; 8192];
        for _ in 0..3 {
            proof.stamp(&mut data, 8192);
            for block in proof.range(8192, 8192) {
                proof.set(block, proof.next_generation(block));
            }
        }
        (proof, data)
    }

    #[test]
    fn what_was_written_is_proven_and_the_rest_passed_over() {
        let (mut proof, data) = written();
        assert_eq!(proof.check(&data, 8192), Ok(()));
        assert_eq!(proof.proven, 2);
        assert_eq!(proof.check(&vec![1; 8192], 0), Ok(()));
        assert_eq!(proof.proven, 2, "of these blocks nothing is known");
        assert!(proof.is_known(2..3) && !proof.is_known(0..2));
    }

    #[test]
    fn every_kind_of_corruption_is_named() {
        let (proof, data) = written();
        let corruption = |change: &dyn Fn(&mut [u8])| {
            let mut bad = data.clone();
            change(&mut bad);
            let corruption = proof.clone().check(&bad, 8192).unwrap_err();
            (corruption.offset_bytes, corruption.what)
        };
        let flipped = corruption(&|data| data[4096 + 512 + 100] ^= 1);
        assert_eq!(flipped.0, 8192 + 1024 + 4096 + 512);
        assert!(flipped.1.contains("byte 100"), "{}", flipped.1);
        assert!(corruption(&|data| data[..512].fill(0)).1.contains("zeros"));
        assert!(
            corruption(&|data| data.copy_within(512..1024, 0))
                .1
                .contains("address 9728")
        );
        let old = corruption(&|data| {
            let (mut older, _) = written();
            older.set(2, 1);
            older.stamp(&mut data[..4096], 8192);
        });
        assert!(
            old.1.contains("generation 2, but 3 was written last"),
            "{}",
            old.1
        );
        let foreign = corruption(&|data| {
            let mut other = Proof::new("sd2", 64 * 1024, 4096, 1024);
            other.set(2, 2);
            other.stamp(&mut data[..512], 8192);
        });
        assert!(foreign.1.contains("another SD"), "{}", foreign.1);
        for fill in [0xA5_u8, 0xFF] {
            let noise = corruption(&|data| data[..512].fill(fill));
            assert!(noise.1.contains("not a block of dbdyno"), "{}", noise.1);
        }
    }

    #[test]
    fn a_block_has_one_io_at_a_time() {
        let mut proof = Proof::new("sd1", 64 * 1024, 4096, 0);
        assert!(proof.take(2..4));
        assert!(!proof.take(3..5) && proof.take(4..5));
        proof.set(3, 5);
        assert_eq!(proof.generation(3), 5, "busy or not");
        proof.give_back(2..4);
        assert!(proof.take(3..4));
    }

    #[test]
    fn generations_begin_again_without_zero() {
        let mut proof = Proof::new("sd1", 4096, 4096, 0);
        proof.set(0, GENERATION_MAX);
        assert_eq!(proof.next_generation(0), 1);
    }
}
