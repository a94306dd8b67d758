//! A digest of rows that does not depend on their order.

use super::Cell;

/// Odd numbers without a pattern, from the digits of π.
const SEEDS: [u64; 4] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7345,
    0xa409_3822_299f_31d1,
    0x082e_fa98_ec4e_6c89,
];

/// Number and digest of rows. Two with other rows have the same digest by chance once in 2^64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest {
    pub rows: u64,
    /// Sum of the hashes of the rows, so that their order does not matter.
    pub sum: u64,
}

impl Digest {
    /// Takes a row into account.
    #[inline]
    pub fn add(&mut self, row: &[Cell<'_>]) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(row_hash(row));
    }

    /// Takes the rows of another digest into account.
    pub fn merge(&mut self, other: Digest) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// Hash of a row: of its cells in their order, so that swapped columns show.
#[inline]
pub fn row_hash(row: &[Cell<'_>]) -> u64 {
    let mut hash = SEEDS[0] ^ row.len() as u64;
    for cell in row {
        hash = mix(hash, cell_hash(cell));
    }
    hash
}

#[inline]
fn cell_hash(cell: &Cell<'_>) -> u64 {
    match *cell {
        Cell::Null => SEEDS[3],
        Cell::Int(n) => n as u64,
        Cell::Wide(n) => match i64::try_from(n) {
            Ok(n) => n as u64,
            Err(_) => mix(n as u64, (n >> 64) as u64),
        },
        // One zero, whatever its sign: engines differ in whether they keep it.
        Cell::Double(x) => (x + 0.0).to_bits(),
        Cell::Bytes(bytes) => bytes_hash(bytes),
    }
}

/// Both halves of the product of two words, so that every bit of the one meets every bit of the other.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ SEEDS[1]) * u128::from(b ^ SEEDS[2]);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Eight bytes at a time.
#[inline]
fn bytes_hash(bytes: &[u8]) -> u64 {
    let mut hash = SEEDS[0] ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_le_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(rows: &[&[Cell<'_>]]) -> Digest {
        let mut digest = Digest::default();
        rows.iter().for_each(|row| digest.add(row));
        digest
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_that_of_columns_does() {
        let (a, b): (&[Cell<'_>], &[Cell<'_>]) = (
            &[Cell::Int(1), Cell::Bytes(b"x")],
            &[Cell::Int(2), Cell::Null],
        );
        assert_eq!(digest(&[a, b]), digest(&[b, a]));
        let mut halves = digest(&[a]);
        halves.merge(digest(&[b]));
        assert_eq!(halves, digest(&[a, b]));
        let swapped: &[Cell<'_>] = &[Cell::Bytes(b"x"), Cell::Int(1)];
        assert_ne!(digest(&[a]), digest(&[swapped]));
    }

    #[test]
    fn values_that_differ_have_other_hashes() {
        let cells = [
            Cell::Null,
            Cell::Int(0),
            Cell::Int(1),
            Cell::Int(-1),
            Cell::Wide(1 << 64),
            Cell::Wide(1 << 65),
            Cell::Double(1.5),
            Cell::Bytes(b""),
            Cell::Bytes(b"\0"),
            Cell::Bytes(b"12345678"),
            Cell::Bytes(b"123456780"),
        ];
        let mut hashes: Vec<u64> = cells.iter().map(|c| row_hash(&[*c])).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), cells.len());
        assert_eq!(row_hash(&[Cell::Wide(-7)]), row_hash(&[Cell::Int(-7)]));
        assert_eq!(
            row_hash(&[Cell::Double(-0.0)]),
            row_hash(&[Cell::Double(0.0)])
        );
    }
}
