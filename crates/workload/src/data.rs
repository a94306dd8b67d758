//! Rows of the test tables: a pure function of the row number, so that every answer can be computed without the
//! database under test.
//!
//! The data do not depend on the seed of a run: runs with different seeds read different keys of the same rows and stay
//! comparable.

use engine::{BulkRow, Fetched, RowSource, Value};
use stats::random::mix;

/// Rows that share one secondary key: the published 320 rows of an index range.
pub const ROWS_PER_SECONDARY_KEY: u64 = 320;
pub const GROUPS: u64 = 100;
pub const DAYS: u64 = 2556;
pub const LABEL_BYTES: usize = 16;
/// It makes a row about 300 bytes, as in the published tests.
pub const PAD_BYTES: usize = 224;
/// Separates the texts from the numbers of the same row.
const TEXT_SALT: u64 = 0x0070_6164;
/// Version of this generator; tables of another version are loaded again.
pub const GENERATOR: u64 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Primary key, from 1.
    pub id: i64,
    /// Secondary key: rows that share it lie far apart.
    pub skey: i64,
    pub grp: i64,
    pub amount: i64,
    pub day: i64,
}

/// Row number `id` (from 1) of a table of `rows` rows.
#[inline]
pub fn row(id: u64, rows: u64) -> Row {
    let hash = mix(id ^ 0x0064_6264_796e_6f00);
    Row {
        id: id as i64,
        skey: ((id - 1) % secondary_keys(rows)) as i64,
        grp: (hash % GROUPS) as i64,
        amount: ((hash >> 8) % 100_000) as i64,
        day: ((hash >> 32) % DAYS) as i64,
    }
}

pub fn secondary_keys(rows: u64) -> u64 {
    (rows / ROWS_PER_SECONDARY_KEY).max(1)
}

/// Fills `into` with letters derived from `id`. A bulk load waits for this, so eight letters are made at once.
fn letters(id: u64, salt: u64, into: &mut [u8]) {
    for (word, chunk) in into.chunks_mut(8).enumerate() {
        let bits = mix(id.wrapping_mul(64).wrapping_add(word as u64) ^ salt);
        chunk.copy_from_slice(&eight_letters(bits).to_le_bytes()[..chunk.len()]);
    }
}

/// The letter `a + (byte mod 32) mod 26` for every byte. No byte carries into the next: 31 + 102 < 256.
#[inline]
fn eight_letters(bits: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let numbers = bits & (31 * EACH);
    let beyond = ((numbers + (128 - 26) * EACH) >> 7) & EACH;
    numbers - beyond * 26 + u64::from(b'a') * EACH
}

/// Rows `first ..= last` of a table of `rows` rows, in the order of its columns (`id, skey, grp, amount, day, version,
/// label, pad`).
pub struct Rows {
    next: u64,
    last: u64,
    rows: u64,
    text: [u8; LABEL_BYTES + PAD_BYTES],
}

impl Rows {
    pub fn all(rows: u64) -> Self {
        Self::range(1, rows, rows)
    }

    pub fn range(first: u64, last: u64, rows: u64) -> Self {
        Self {
            next: first,
            last,
            rows,
            text: [0; LABEL_BYTES + PAD_BYTES],
        }
    }
}

impl RowSource for Rows {
    fn next_row(
        &mut self,
        sink: &mut dyn FnMut(&BulkRow<'_>) -> engine::Result<()>,
    ) -> engine::Result<bool> {
        if self.next > self.last {
            return Ok(false);
        }
        let id = self.next;
        self.next += 1;
        let Row {
            id: key,
            skey,
            grp,
            amount,
            day,
        } = row(id, self.rows);
        letters(id, TEXT_SALT, &mut self.text);
        let text = std::str::from_utf8(&self.text).expect("letters writes only ASCII");
        let (label, pad) = text.split_at(LABEL_BYTES);
        sink(&[
            Value::Int(key),
            Value::Int(skey),
            Value::Int(grp),
            Value::Int(amount),
            Value::Int(day),
            Value::Int(0),
            Value::Text(label),
            Value::Text(pad),
        ])?;
        Ok(true)
    }
}

/// Bytes of user data in one row: six integers and two texts.
pub const ROW_BYTES: u64 = 6 * 8 + (LABEL_BYTES + PAD_BYTES) as u64;

/// Fills `block` with incompressible bytes derived from `number`.
pub fn incompressible(number: u64, block: &mut [u8]) {
    for (word, chunk) in block.chunks_mut(8).enumerate() {
        let bits = mix(mix(number).wrapping_add(word as u64)).to_le_bytes();
        chunk.copy_from_slice(&bits[..chunk.len()]);
    }
}

/// Answer to `SELECT amount, day … WHERE id = ?`.
#[inline]
pub fn expect_lookup(id: u64, rows: u64) -> Fetched {
    let row = row(id, rows);
    let mut fetched = Fetched { rows: 1, digest: 0 };
    fetched.add_int(0, row.amount);
    fetched.add_int(1, row.day);
    fetched
}

/// Answer to `SELECT id, skey, grp, amount, day, label, pad` over all rows.
pub fn expect_every_cell(rows: u64) -> Fetched {
    let mut all = Fetched::default();
    let mut text = [0; LABEL_BYTES + PAD_BYTES];
    for id in 1..=rows {
        let row = row(id, rows);
        all.rows += 1;
        for (column, value) in [row.id, row.skey, row.grp, row.amount, row.day]
            .into_iter()
            .enumerate()
        {
            all.add_int(column, value);
        }
        letters(id, TEXT_SALT, &mut text);
        let (label, pad) = text.split_at(LABEL_BYTES);
        all.add_text(5, label);
        all.add_text(6, pad);
    }
    all
}

/// Answer to `SELECT amount, day … WHERE skey = ?`.
pub fn expect_secondary(skey: u64, rows: u64) -> Fetched {
    let keys = secondary_keys(rows);
    let mut all = Fetched::default();
    let mut id = skey + 1;
    while id <= rows {
        let one = expect_lookup(id, rows);
        all.rows += 1;
        all.digest = all.digest.wrapping_add(one.digest);
        id += keys;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_a_function_of_their_number() {
        assert_eq!(row(17, 6400), row(17, 6400));
        assert_ne!(row(17, 6400).amount, row(18, 6400).amount);
        let mut first: Vec<u8> = Vec::new();
        Rows::all(2)
            .next_row(&mut |cells| {
                assert_eq!(cells.len(), 8);
                let Value::Text(pad) = cells[7] else {
                    panic!("pad is text")
                };
                first.extend(pad.bytes());
                Ok(())
            })
            .unwrap();
        assert_eq!(first.len(), PAD_BYTES);
        assert!(first.iter().all(u8::is_ascii_lowercase));
    }

    #[test]
    fn letters_are_those_of_their_bytes() {
        for seed in 0..1000 {
            let bits = mix(seed);
            let slowly = bits.to_le_bytes().map(|b| b'a' + (b & 31) % 26);
            assert_eq!(eight_letters(bits).to_le_bytes(), slowly);
        }
        assert_eq!(
            &eight_letters(0x1f1a_1900_ff00_0000).to_le_bytes(),
            b"aaafazaf"
        );
    }

    #[test]
    fn every_secondary_key_has_320_rows() {
        let rows = 320 * 20;
        assert_eq!(secondary_keys(rows), 20);
        assert!((0..20).all(|key| expect_secondary(key, rows).rows == 320));
    }

    #[test]
    fn blocks_do_not_repeat() {
        let (mut a, mut b) = ([0u8; 64], [0u8; 64]);
        incompressible(1, &mut a);
        incompressible(2, &mut b);
        assert_ne!(a, b);
        assert_ne!(a[..8], a[8..16]);
    }
}
