//! The few values that cross the traits of the engines.

use std::collections::BTreeMap;

use crate::Result;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Int(i64),
    Text(&'a str),
    Blob(&'a [u8]),
    Null,
    /// An exact decimal of at most four places: `unscaled ÷ 10^places`.
    Decimal {
        /// The number without its point.
        unscaled: i64,
        places: u8,
    },
    /// A moment without a time zone, in microseconds since 1970.
    Moment(i64),
    /// A day, in days since 1970.
    Date(i32),
}

/// Rows and digest of a query, small enough to be compared after every operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Rows returned; every one was read by the client.
    pub rows: u64,
    /// Sum of [`cell_digest`] over all cells, independent of the order of the rows.
    pub digest: u64,
}

impl Fetched {
    /// Takes one integer cell into account.
    #[inline]
    pub fn add_int(&mut self, column: usize, value: i64) {
        self.digest = self.digest.wrapping_add(cell_digest(column, value));
    }

    /// Takes one text cell into account, by the FNV-1a hash of its bytes.
    #[inline]
    pub fn add_text(&mut self, column: usize, value: &[u8]) {
        let hash = value.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
        });
        self.add_int(column, hash as i64);
    }
}

/// Digest of one integer cell: the value weighted by its column, `value × (2·column + 1)`, so that
/// swapped columns show and a single column of a single row is its own digest.
#[inline]
pub fn cell_digest(column: usize, value: i64) -> u64 {
    (value as u64).wrapping_mul(2 * column as u64 + 1)
}

/// Handle of a prepared statement, valid for the session that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement(pub usize);

/// One row on its way into a table, in the order of the table's columns.
pub type BulkRow<'a> = [Value<'a>];

/// Rows for a bulk load, handed out one by one so that no table is held in memory.
pub trait RowSource {
    /// Calls `sink` with the next row; false when there is none left.
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool>;
}

/// Names of tables, each with its identity among tables of that name.
pub type Identities = BTreeMap<String, String>;

/// Cumulative counters; `None` where the engine does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pages asked of the engine's own cache.
    pub buffer_gets: Option<u64>,
    pub redo_bytes: Option<u64>,
    /// Pages read from files because the engine's own cache did not have them.
    pub pages_read: Option<u64>,
}

impl Counters {
    /// Sum of two, unknown as soon as one is.
    #[inline]
    pub fn plus(self, other: Counters) -> Counters {
        let add = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
        Counters {
            buffer_gets: add(self.buffer_gets, other.buffer_gets),
            redo_bytes: add(self.redo_bytes, other.redo_bytes),
            pages_read: add(self.pages_read, other.pages_read),
        }
    }

    /// Increase since `before`, unknown where either is or where the counter was reset.
    #[inline]
    pub fn since(self, before: Counters) -> Counters {
        let sub = |a: Option<u64>, b: Option<u64>| a?.checked_sub(b?);
        Counters {
            buffer_gets: sub(self.buffer_gets, before.buffer_gets),
            redo_bytes: sub(self.redo_bytes, before.redo_bytes),
            pages_read: sub(self.pages_read, before.pages_read),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cooled {
    /// The engine's cache and the kernel's are empty for the data files.
    Cold,
    /// Something may still be cached, and why.
    Lukewarm(String),
}

/// Sessions that a server lets in beside those that are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionsLeft {
    pub count: u64,
    /// The limit with its figures: "max_connections is 100, 3 of them reserved and 2 in use".
    pub limit: String,
    /// How to raise that: "raise it with SET GLOBAL max_connections = N".
    pub how_to_raise: String,
}

#[derive(Debug, Clone, Copy)]
pub struct SessionLimit<'l> {
    pub name: &'l str,
    pub most: u64,
    /// How many of them are kept for others.
    pub reserved: u64,
    pub used: u64,
    pub how_to_raise: &'l str,
}

impl SessionsLeft {
    /// Under the tightest of some limits.
    pub fn under(limits: &[SessionLimit<'_>]) -> Option<Self> {
        let left = limits.iter().map(|limit| {
            let SessionLimit {
                name,
                most,
                reserved,
                used,
                how_to_raise,
            } = *limit;
            let reserved_words = match reserved {
                0 => String::new(),
                n => format!("{n} of them reserved and "),
            };
            Self {
                count: most.saturating_sub(reserved + used),
                limit: format!("{name} is {most}, {reserved_words}{used} in use"),
                how_to_raise: how_to_raise.to_owned(),
            }
        });
        left.min_by_key(|left| left.count)
    }
}

/// Why the value of a column (from 0) is not handed out, where it is not `is_plain`; `types` are those it can be cast to.
pub fn check_column<C>(
    columns: &[C],
    column: usize,
    is_plain: impl FnOnce(&C) -> bool,
    types: &str,
) -> std::result::Result<(), String> {
    let (number, count) = (column + 1, columns.len());
    match columns.get(column) {
        Some(found) if is_plain(found) => Ok(()),
        Some(_) => Err(format!(
            "column {number} of the result is neither an integer nor text; cast it to {types}"
        )),
        None => Err(format!(
            "the result has {count} columns and no column {number}"
        )),
    }
}
