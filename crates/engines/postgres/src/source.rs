//! A server's tables as a source: read by binary COPY, in as many streams as asked for, all of one snapshot.

mod catalogue;
mod waits;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::overrides::OF_SESSIONS;
use super::wire::{Copied, Undecodable};
use engine::catalogue::{
    Cell, DIGITS_MAX, Dialect, Kind, LOCK_WAIT_MAX, Misfit, Misfits, Part, Reader, Source,
    SourceColumn, SourceTable, Space, Taker, pieces, select, totals, within,
};
use engine::open_sessions::break_off_those_of;
use engine::{ErrorKind, Result, TargetError, Value};
use local_server::LocalServer;

/// Blocks of a piece: enough that asking for it costs nothing, few enough that streams end together.
const PIECE_BLOCKS: u64 = 8192;
/// Ranges of row addresses are looked up, not filtered, from this version on.
const VERSION_OF_RANGES: u32 = 14;

const DIALECT: Dialect = Dialect {
    quote: '"',
    // Blanks behind a text of fixed length mean nothing and are not read.
    text_bytes: "octet_length({}::text)",
    sum: "sum({})",
    day: "CASE WHEN isfinite({}) THEN {} - date '2000-01-01' END",
};

/// Bytes of the UTF-8 form of a text, in a database of another encoding.
const TRANSLATED_BYTES: &str = "octet_length(convert_to({}::text, 'UTF8'))";

/// A database whose snapshot is held as long as this lives.
pub(super) struct PostgresSource {
    endpoint: Endpoint,
    url: String,
    version: String,
    /// The only schema whose tables are meant, that of a target; all that this user may read without it.
    only: Option<String>,
    snapshot: String,
    encoding: String,
    /// In the transaction that has exported the snapshot.
    launcher: Mutex<Connection>,
    readers: Mutex<Vec<i32>>,
    /// Looks after them once one has waited.
    watcher: Mutex<Option<Connection>>,
    /// Last, because the connections end before it.
    _server: Option<Arc<LocalServer>>,
}

impl PostgresSource {
    /// Logs on and takes the snapshot.
    pub(super) fn open(endpoint: Endpoint, url: String, only: Option<String>) -> Result<Self> {
        let mut launcher = Connection::open(&endpoint, OF_SESSIONS)?;
        launcher.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let told = "SELECT pg_export_snapshot(), current_setting('server_encoding')";
        let mut told = launcher.texts(told, &[])?.into_iter().flatten().flatten();
        let (snapshot, encoding) = (told.next(), told.next());
        let source = Self {
            endpoint,
            url,
            version: launcher.version().to_owned(),
            only,
            snapshot: snapshot.unwrap_or_default(),
            encoding: encoding.unwrap_or_default(),
            _server: None,
            launcher: Mutex::new(launcher),
            readers: Mutex::default(),
            watcher: Mutex::default(),
        };
        if source.is_any_bytes() {
            // Names may be no UTF-8 as well.
            source
                .launcher()
                .batch("SET client_encoding = 'SQL_ASCII'")?;
        }
        Ok(source)
    }

    /// Keeps a server that dbdyno started.
    pub(super) fn on(self, server: Option<Arc<LocalServer>>) -> Self {
        Self {
            _server: server,
            ..self
        }
    }

    fn is_any_bytes(&self) -> bool {
        self.encoding == "SQL_ASCII"
    }

    fn is_translated(&self) -> bool {
        !self.is_any_bytes() && self.encoding != "UTF8"
    }

    fn dialect(&self) -> Dialect {
        if self.is_translated() {
            Dialect {
                text_bytes: TRANSLATED_BYTES,
                ..DIALECT
            }
        } else {
            DIALECT
        }
    }

    /// The text of any value. Where texts may have bytes that mean nothing in UTF-8, bytes above 127 are written as \ooo
    /// and a backslash twice.
    fn text_of(&self, quoted: &str) -> String {
        match self.encoding.as_str() {
            "UTF8" => format!("{quoted}::text"),
            encoding => {
                format!("encode(convert_to({quoted}::text, '{encoding}'), 'escape')")
            }
        }
    }

    fn launcher(&self) -> MutexGuard<'_, Connection> {
        self.launcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ranges(&self) -> bool {
        let digits = self.version.split(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|major| major.parse().ok()) >= Some(VERSION_OF_RANGES)
    }
}

impl Source for PostgresSource {
    fn title(&self) -> String {
        format!("PostgreSQL {}", self.version)
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn moment(&self) -> &'static str {
        "all streams read the same snapshot of the database"
    }

    fn one_stream(&self) -> Option<&'static str> {
        (!self.has_ranges()).then_some(
            "PostgreSQL before version 14 reads the whole table for each range of row addresses",
        )
    }

    fn tables(&self) -> Result<Vec<SourceTable>> {
        self.catalogue()
    }

    fn parts(&self, table: &SourceTable, streams: u32) -> Vec<Part> {
        if streams < 2 || table.extent == 0 || !self.has_ranges() {
            return vec![None];
        }
        let piece = PIECE_BLOCKS.min(table.extent.div_ceil(u64::from(streams)));
        pieces(table.extent, piece)
    }

    fn space(&self, table: &SourceTable) -> Result<Option<Space>> {
        if self.has_ranges() {
            Ok(Space::of("blocks", 0..table.extent))
        } else {
            Ok(None)
        }
    }

    fn open_reader(&self) -> Result<Box<dyn Reader>> {
        let mut reader = PostgresReader {
            connection: Connection::open(&self.endpoint, OF_SESSIONS)?,
            begin: format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{}'; \
                 SET LOCAL lock_timeout = {}",
                self.snapshot,
                LOCK_WAIT_MAX.as_millis()
            ),
            dialect: self.dialect(),
            misfits: Misfits::default(),
        };
        reader.connection.batch(&reader.begin)?;
        self.watch(&mut reader.connection)?;
        Ok(Box::new(reader))
    }

    fn waits(&self) -> Option<String> {
        self.blockers()
    }

    fn break_off(&self) {
        if self.only.is_none() {
            break_off_those_of(self.endpoint.owner);
        }
    }
}

/// The kind of a type, and what it is cast to for it.
fn kind_of(base: &str, modifier: i32) -> (std::result::Result<Kind, String>, Option<&'static str>) {
    let kind = match base {
        "boolean" => Kind::Bool,
        "smallint" => Kind::Int(16),
        "integer" => Kind::Int(32),
        "bigint" => Kind::Int(64),
        "oid" => return (Ok(Kind::Int(64)), Some("bigint")),
        "real" => Kind::Float,
        "double precision" => Kind::Double,
        "numeric" => return (decimal(modifier), None),
        "date" => Kind::Date,
        "time without time zone" => Kind::Time,
        "timestamp without time zone" => Kind::Moment,
        "timestamp with time zone" => Kind::MomentOfWorld,
        "text" | "character varying" | "character" | "bpchar" | "name" => Kind::Text,
        "bytea" => Kind::Bytes,
        // Everything has a text.
        _ => return (Ok(Kind::Text), Some("text")),
    };
    (Ok(kind), None)
}

/// Precision and scale are in the modifier of the type, above its first four.
fn decimal(modifier: i32) -> std::result::Result<Kind, String> {
    const LENGTH: i32 = 4;
    let Some(bits) = modifier.checked_sub(LENGTH).filter(|bits| *bits >= 0) else {
        return Err("a numeric without a precision has an unlimited number of digits".into());
    };
    let (digits, places) = (bits >> 16, bits & 0x7ff);
    match (u8::try_from(digits), u8::try_from(places)) {
        (Ok(digits @ 1..=DIGITS_MAX), Ok(places)) if places <= digits => {
            Ok(Kind::Decimal { digits, places })
        }
        _ => Err(format!(
            "a column store keeps at most {DIGITS_MAX} digits, and a scale no larger than the precision"
        )),
    }
}

/// A connection in a transaction with the snapshot.
struct PostgresReader {
    connection: Connection,
    begin: String,
    dialect: Dialect,
    misfits: Misfits,
}

impl From<Undecodable> for TargetError {
    fn from(error: Undecodable) -> Self {
        let kind = match error {
            Undecodable::Number(column) => ErrorKind::Unfit(column - 1),
            _ => ErrorKind::Statement,
        };
        TargetError::new(kind, format!("PostgreSQL: {error}"))
    }
}

impl PostgresReader {
    fn copy(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()> {
        let sql = query(table, part);
        let types = self.connection.prepare(&sql)?.columns;
        let kinds = table.columns.iter();
        let kinds = kinds.map(|column| column.kind.clone().unwrap_or(Kind::Bytes));
        let mut copied = Copied::new(&types, kinds)?;
        let mut row: Vec<Cell<'static>> = Vec::with_capacity(types.len());
        let copy = format!("COPY ({sql}) TO STDOUT (FORMAT binary)");
        let (misfits, mut number) = (&mut self.misfits, 0_u64);
        // Rows of a part that is not the first have no number of their own.
        let is_numbered = part.as_ref().is_none_or(|part| part.start == 0);
        // The rest of the rows is waited for, so that the session can be used again.
        self.connection.copy_out(&copy, |piece| {
            if !misfits.is_empty() {
                return Ok(());
            }
            let mut cells = std::mem::take(&mut row);
            let outcome = copied.rows(piece, &mut cells, |cells| {
                number += 1;
                take(cells)
            });
            row = emptied(cells);
            match outcome {
                Err(TargetError {
                    kind: ErrorKind::Unfit(place),
                    ..
                }) => {
                    let number = is_numbered.then_some(number + 1);
                    misfits.enter(place, || {
                        format!("{} that is {NO_NUMBER}", of_column(table, place, number))
                    });
                    Ok(())
                }
                other => other,
            }
        })
    }

    /// After an error of the server the transaction is of no use any more; one with the same snapshot takes its place.
    fn begin_again(&mut self) -> Result<()> {
        self.connection.batch("ROLLBACK")?;
        self.connection.batch(&self.begin)
    }

    /// The columns in which a text is not to be had in UTF-8: the server names neither column nor row. Each column is
    /// read for itself, up to the row that the server refuses.
    fn find_untranslatable(&mut self, table: &SourceTable) -> Result<()> {
        let texts = table.columns.iter().enumerate();
        for (place, _) in texts.filter(|(_, column)| column.kind == Ok(Kind::Text)) {
            let alone = SourceTable {
                columns: vec![table.columns[place].clone()],
                ..table.clone()
            };
            let mut number = 0;
            let copied = self.copy(&alone, &None, &mut |_| {
                number += 1;
                Ok(())
            });
            if let Err(error) = copied {
                self.begin_again()?;
                if error.kind == ErrorKind::Untranslatable {
                    self.misfits.enter(place, || {
                        let column = of_column(table, place, Some(number + 1));
                        format!("{column} whose bytes are no text in UTF-8")
                    });
                }
            }
        }
        Ok(())
    }
}

const NO_NUMBER: &str = "not finite or has more digits than its type allows";

fn query(table: &SourceTable, part: &Part) -> String {
    let mut sql = select(table) + &within(table, part);
    if let Some(part) = part.as_ref().filter(|_| table.address.is_empty()) {
        sql.push_str(&format!(" WHERE ctid >= '({},0)'", part.start));
        if part.end < u64::MAX {
            sql.push_str(&format!(" AND ctid < '({},0)'", part.end));
        }
    }
    sql
}

/// The beginning of a sentence about a value, with the number of its row as the table is read.
fn of_column(table: &SourceTable, place: usize, number: Option<u64>) -> String {
    let row = number.map_or("a row".to_owned(), |number| format!("row {number}"));
    let SourceColumn { name, declared, .. } = &table.columns[place];
    format!(
        "PostgreSQL: {row} of {} has a value in the column {name} {declared}",
        table.label()
    )
}

impl Reader for PostgresReader {
    fn read(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()> {
        match self.copy(table, part, take) {
            Ok(()) => self.misfits.outcome(),
            Err(error) => {
                // Of no use either where the connection is.
                if self.begin_again().is_ok() && error.kind == ErrorKind::Untranslatable {
                    self.find_untranslatable(table)?;
                    self.misfits.outcome()?;
                }
                Err(error)
            }
        }
    }

    fn misfits(&mut self) -> Vec<Misfit> {
        self.misfits.take()
    }

    fn totals(&mut self, table: &SourceTable) -> Result<Vec<Option<String>>> {
        let mut all = Vec::new();
        for sql in totals(table, &self.dialect) {
            let rows = self.connection.texts(&sql, &[] as &[Value<'_>]);
            if rows.is_err() {
                let _ = self.begin_again();
            }
            all.extend(rows?.pop().unwrap_or_default());
        }
        Ok(all)
    }
}

/// The memory of a row for the next one, whose cells live elsewhere.
fn emptied<'b>(mut row: Vec<Cell<'_>>) -> Vec<Cell<'b>> {
    row.clear();
    // Collecting a vector's own iterator keeps its memory.
    row.into_iter().map(|_| Cell::Null).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_that_a_column_store_keeps() {
        let modifier = |digits: i32, places: i32| (digits << 16 | places) + 4;
        let kept = Ok(Kind::Decimal {
            digits: 12,
            places: 2,
        });
        assert_eq!(decimal(modifier(12, 2)), kept);
        for refused in [-1, modifier(39, 0), modifier(2, 3), modifier(3, 0x7ff)] {
            assert!(decimal(refused).is_err(), "{refused}");
        }
        assert_eq!(kind_of("inet", -1), (Ok(Kind::Text), Some("text")));
    }
}
