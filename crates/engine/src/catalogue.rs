//! Databases as sources: their tables described and read as a whole, somebody's too. Nothing is written.

mod digest;
mod space;
mod sql;

use std::ops::Range;

use crate::{ErrorKind, Result, TargetError};

pub use digest::{Digest, row_hash};
pub use space::Space;
pub use sql::{Dialect, address_after, select, totals};

/// The type of a column, in terms that every column store can keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bool,
    /// Signed integers of so many bits: 8, 16, 32 or 64.
    Int(u8),
    /// Unsigned integers of so many bits.
    Unsigned(u8),
    /// Floating-point numbers of 32 bits.
    Float,
    /// Floating-point numbers of 64 bits.
    Double,
    Decimal {
        /// Digits in all, at most [`DIGITS_MAX`].
        digits: u8,
        places: u8,
    },
    Date,
    Time,
    /// Moments without a time zone.
    Moment,
    /// Moments of the world's clock.
    MomentOfWorld,
    Text,
    Bytes,
}

/// Most digits of a decimal that a column store keeps exactly.
pub const DIGITS_MAX: u8 = 38;
/// How long the lock of another session is waited for, before a table is given up.
pub const LOCK_WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(30);
/// Bytes that a row of an engine with statistics has beside its values.
const ROW_HEAD_BYTES: u64 = 18;
/// Most columns of a table that is read.
pub const COLUMNS_MAX: usize = 1600;
/// Most tables that are read at once.
pub const TABLES_MAX: usize = 10_000;

impl Kind {
    /// True if its values are numbers, days or moments: everything of a fixed width.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Kind::Text | Kind::Bytes)
    }

    /// Bytes of a value that is kept as it is; `None` where that differs from value to value.
    pub fn width_bytes(self) -> Option<u64> {
        Some(match self {
            Kind::Bool => 1,
            Kind::Int(bits) | Kind::Unsigned(bits) => u64::from(bits / 8),
            Kind::Float | Kind::Date => 4,
            Kind::Double | Kind::Time | Kind::Moment | Kind::MomentOfWorld => 8,
            Kind::Decimal { digits: 0..=4, .. } => 2,
            Kind::Decimal { digits: 5..=9, .. } => 4,
            Kind::Decimal {
                digits: 10..=18, ..
            } => 8,
            Kind::Decimal { .. } => 16,
            Kind::Text | Kind::Bytes => return None,
        })
    }
}

/// One value of a row that is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    Null,
    /// An integer, a truth value, the unscaled number of a decimal, days or microseconds since 1970, the
    /// microseconds of a day.
    Int(i64),
    /// The same where 64 bits do not suffice.
    Wide(i128),
    Double(f64),
    /// Text, which is UTF-8, or bytes.
    Bytes(&'a [u8]),
}

impl Cell<'_> {
    /// Bytes of the value: eight of a number, those of a text.
    pub fn bytes(&self) -> u64 {
        match self {
            Cell::Null => 0,
            Cell::Int(_) | Cell::Double(_) => 8,
            Cell::Wide(_) => 16,
            Cell::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceColumn {
    pub name: String,
    /// Its type in the engine's own words.
    pub declared: String,
    /// Its type, or the reason why no column store can hold it.
    pub kind: std::result::Result<Kind, String>,
    pub is_nullable: bool,
    /// Its form in a copy where that differs, e.g. the text of a network address.
    pub note: Option<String>,
    pub expression: String,
    /// The same for its text.
    pub as_text: String,
}

impl SourceColumn {
    /// Has its text read instead of what it is.
    pub fn read_as_text(&mut self) {
        self.kind = Ok(Kind::Text);
        self.expression = self.as_text.clone();
        self.note = Some(if self.declared.is_empty() {
            "kept as text".into()
        } else {
            format!("{}, kept as text", self.declared)
        });
    }

    pub fn is_read_as_text(&self) -> bool {
        self.kind == Ok(Kind::Text) && self.expression == self.as_text
    }
}

/// A column with a value that its kind has no place for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Its place in the table, from 0.
    pub place: usize,
    /// The first such value, with its table and, where that is known, its row.
    pub what: String,
}

/// Found while a table is read: each column once.
#[derive(Debug, Default)]
pub struct Misfits(Vec<Misfit>);

impl Misfits {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes a column, unless it is noted already.
    pub fn enter(&mut self, place: usize, what: impl FnOnce() -> String) {
        if self.0.iter().all(|misfit| misfit.place != place) {
            let what = what();
            self.0.push(Misfit { place, what });
        }
    }

    /// The error of the first column.
    ///
    /// # Errors
    /// When there is one.
    pub fn outcome(&self) -> Result<()> {
        match self.0.first() {
            None => Ok(()),
            Some(Misfit { place, what }) => {
                Err(TargetError::new(ErrorKind::Unfit(*place), what.clone()))
            }
        }
    }

    pub fn take(&mut self) -> Vec<Misfit> {
        std::mem::take(&mut self.0)
    }
}

/// Where the rows of a table lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// In blocks of its own.
    Here,
    /// Nowhere: they are another query's, or another server's.
    Elsewhere(&'static str),
}

/// A table, with the columns that are to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTable {
    /// Schema or database it is in; empty where the engine has none.
    pub schema: String,
    pub name: String,
    /// Its columns in their order.
    pub columns: Vec<SourceColumn>,
    /// Rows, as the engine estimates them; not counted.
    pub rows_estimated: Option<u64>,
    /// Bytes of its rows on the engine's disk, without indexes.
    pub disk_bytes: Option<u64>,
    pub stored: Stored,
    /// Why its rows may not be all that there are.
    pub note: Option<&'static str>,
    /// Columns that cannot be read, which are none of `columns`, with the reason.
    pub omitted: Vec<(String, &'static str)>,
    /// Why no row of it can be read; `None` where nothing in the catalogue speaks against it.
    pub unreadable: Option<String>,
    /// True if the engine knows rows and bytes by statistics that it takes from time to time.
    pub has_statistics: bool,
    /// Number of blocks or row numbers; 0 where it is read in one piece.
    pub extent: u64,
    /// The rows' address in the engine's SQL; empty where they have none.
    pub address: String,
    /// The table in the engine's SQL, quoted.
    pub from: String,
}

impl SourceTable {
    /// Schema and name, as one says them.
    pub fn label(&self) -> String {
        if self.schema.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.schema, self.name)
        }
    }

    /// True if what the engine says of rows and bytes was taken when the table held far fewer rows than these, or far more:
    /// it may count rows at once and bytes later, so that each row would have less than its own head.
    pub fn is_outdated(&self, rows: u64) -> bool {
        let (said, bytes) = (
            self.rows_estimated.unwrap_or(0),
            self.disk_bytes.unwrap_or(0),
        );
        let is_far = rows > said.saturating_mul(2).max(1000) || rows < said / 2;
        let is_told = self.disk_bytes.is_some();
        self.has_statistics && is_told && (is_far || bytes < rows.saturating_mul(ROW_HEAD_BYTES))
    }

    /// The same table, whose parts are ranges of the values of one of its columns; `None` where that holds no integers.
    pub fn by(&self, column: &str) -> Option<Self> {
        let column = self.columns.iter().find(|it| it.name == column)?;
        matches!(column.kind, Ok(Kind::Int(_) | Kind::Unsigned(_))).then(|| Self {
            address: column.expression.clone(),
            ..self.clone()
        })
    }

    /// The same table, of which only rows that meet a condition are read, in one piece.
    #[must_use]
    pub fn only(&self, condition: &str) -> Self {
        Self {
            from: format!("(SELECT * FROM {} WHERE {condition}) AS part", self.from),
            address: String::new(),
            extent: 0,
            ..self.clone()
        }
    }

    /// The same table, of which only so many rows are read, in one piece.
    #[must_use]
    pub fn first(&self, rows: u64) -> Self {
        Self {
            from: format!("{} LIMIT {rows}", self.from),
            address: String::new(),
            extent: 0,
            ..self.clone()
        }
    }

    /// The query for some of its columns where a condition is met, to stand inside another condition.
    pub fn rows_where(&self, columns: &[&str], condition: &str) -> String {
        let columns = columns.join(", ");
        format!("SELECT {columns} FROM {} WHERE {condition}", self.from)
    }

    /// The columns that no column store can hold, with the reasons.
    pub fn unholdable(&self) -> impl Iterator<Item = (&SourceColumn, &str)> {
        self.columns.iter().filter_map(|column| {
            let why = column.kind.as_ref().err()?;
            Some((column, why.as_str()))
        })
    }
}

/// A piece of a table: blocks or row numbers; all of it where there is none.
pub type Part = Option<Range<u64>>;

pub trait Source: Send + Sync {
    fn title(&self) -> String;

    /// Its URL, without a password.
    fn url(&self) -> String;

    /// Of which moment the rows are, in a sentence.
    fn moment(&self) -> &'static str;

    /// Why one stream at a time is all that can be read; `None` where there may be several.
    fn one_stream(&self) -> Option<&'static str>;

    /// Every table that this user may read, without the engine's own.
    ///
    /// # Errors
    /// When the catalogue cannot be read, or names more than [`TABLES_MAX`] tables.
    fn tables(&self) -> Result<Vec<SourceTable>>;

    /// The pieces in which a table is read by so many streams.
    fn parts(&self, table: &SourceTable, streams: u32) -> Vec<Part>;

    /// The addresses by which pieces of a table can be read without reading the rest; `None` where there are none,
    /// or no rows.
    ///
    /// # Errors
    /// When the engine fails.
    fn space(&self, table: &SourceTable) -> Result<Option<Space>>;

    /// One more stream, of the same moment as the others.
    ///
    /// # Errors
    /// When the database cannot be reached.
    fn open_reader(&self) -> Result<Box<dyn Reader>>;

    /// The lock that a session of this source waits for, and which session holds it, as far as the engine reports it;
    /// `None` where none waits.
    fn waits(&self) -> Option<String> {
        None
    }

    /// Has the sessions of a source that a URL has opened fail at what they wait for; those of a target are the target's.
    fn break_off(&self);
}

pub type Taker<'a> = &'a mut dyn FnMut(&[Cell<'_>]) -> Result<()>;

pub trait Reader: Send {
    /// Hands out every row of a part of a table, and stops at the taker's first error. After a value that its column's
    /// kind has no place for, no more rows are handed out, but the rest may be looked at for others.
    ///
    /// # Errors
    /// The taker's, or what the engine says.
    fn read(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()>;

    /// The address of the row that comes so many rows behind the first at or behind `from`; `None` when there are not so
    /// many. Only asked of tables whose addresses are sorted and may have gaps.
    ///
    /// # Errors
    /// When the engine fails.
    fn address_after(&mut self, table: &SourceTable, from: u64, rows: u64) -> Result<Option<u64>> {
        let _ = (table, from, rows);
        Ok(None)
    }

    /// The columns with such values that the last reading has found; the error named the first.
    fn misfits(&mut self) -> Vec<Misfit> {
        Vec::new()
    }

    /// Totals of the table by the engine itself, for a comparison: its rows, and for each column
    /// how many values are there, their sum, or their length. The same of the same content in every engine.
    ///
    /// # Errors
    /// When the engine fails.
    fn totals(&mut self, table: &SourceTable) -> Result<Vec<Option<String>>>;
}

/// Pieces of about `piece` of an extent; the last takes what is left, and what was added since it was measured.
pub fn pieces(extent: u64, piece: u64) -> Vec<Part> {
    let count = (extent / piece.max(1)).max(1);
    let piece = extent.div_ceil(count).max(1);
    (0..count)
        .map(|number| {
            let end = if number + 1 == count {
                u64::MAX
            } else {
                (number + 1) * piece
            };
            Some(number * piece..end)
        })
        .collect()
}

/// Enters a table of one column, which may be one that cannot be read: it belongs to the last table where that is the same one.
///
/// # Errors
/// When the catalogue is too large.
pub fn enter(tables: &mut Vec<SourceTable>, table: SourceTable) -> Result<()> {
    if let Some(last) = tables.last_mut()
        && (&last.schema, &last.name) == (&table.schema, &table.name)
    {
        last.columns.extend(table.columns);
        last.omitted.extend(table.omitted);
        return Ok(());
    }
    if tables.len() == TABLES_MAX {
        return Err(TargetError::statement(format!(
            "the database has more than {TABLES_MAX} tables; name a smaller one"
        )));
    }
    tables.push(table);
    Ok(())
}

/// The condition for the rows of a part of a table whose rows have addresses; empty for all of them.
pub fn within(table: &SourceTable, part: &Part) -> String {
    let address = &table.address;
    match part {
        Some(part) if !address.is_empty() => {
            let from = format!(" WHERE {address} >= {}", part.start);
            match part.end {
                u64::MAX => from,
                end => format!("{from} AND {address} < {end}"),
            }
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_everything_once() {
        for (extent, piece) in [(0, 10), (9, 10), (10, 10), (101, 10), (7, 1), (5, 0)] {
            let parts = pieces(extent, piece);
            let mut next = 0;
            for part in parts.iter().flatten() {
                assert_eq!(part.start, next, "{extent} {piece}");
                assert!(part.end > part.start);
                next = part.end;
            }
            assert_eq!(next, u64::MAX);
        }
    }

    #[test]
    fn statistics_that_are_older_than_the_rows_are_seen() {
        let table = |rows, bytes, has_statistics| SourceTable {
            schema: String::new(),
            name: "t".into(),
            columns: Vec::new(),
            rows_estimated: Some(rows),
            disk_bytes: Some(bytes),
            stored: Stored::Here,
            note: None,
            omitted: Vec::new(),
            unreadable: None,
            has_statistics,
            extent: 0,
            address: String::new(),
            from: "t".into(),
        };
        let fresh = table(300_000, 13_100_000, true);
        assert!(!fresh.is_outdated(310_000) && fresh.is_outdated(900_000));
        assert!(table(300_000, 16_384, true).is_outdated(300_000));
        assert!(!table(300_000, 16_384, false).is_outdated(900_000));
        assert!(!table(0, 16_384, true).is_outdated(3), "a page holds them");
    }

    #[test]
    fn widths_are_those_of_the_smallest_integer_that_holds_a_decimal() {
        let width = |digits| Kind::Decimal { digits, places: 2 }.width_bytes();
        assert_eq!([4, 9, 18, 38].map(width), [2, 4, 8, 16].map(Some));
        assert_eq!(Kind::Text.width_bytes(), None);
    }
}
