//! A server's tables as a source: read by binary COPY, in as many streams as asked for, all of one snapshot.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::set_up::OF_SESSIONS;
use super::wire::{Copied, Undecodable};
use crate::catalogue::{
    Cell, DIGITS_MAX, Dialect, Kind, Part, Reader, Source, SourceColumn, SourceTable, Space,
    Stored, Taker, enter, pieces, select, totals, within,
};
use crate::{ErrorKind, Result, TargetError, Value};

/// Blocks of a piece: enough that asking for it costs nothing, few enough that streams end together.
const PIECE_BLOCKS: u64 = 8192;
/// Ranges of row addresses are looked up, not filtered, from this version on.
const VERSION_OF_RANGES: u32 = 14;

/// What PostgreSQL calls things.
const DIALECT: Dialect = Dialect {
    quote: '"',
    // Blanks behind a text of fixed length mean nothing and are not read.
    text_bytes: "octet_length({}::text)",
    sum: "sum({})",
    day: "CASE WHEN isfinite({}) THEN {} - date '2000-01-01' END",
};

/// Every column of every table of which this user may read one. A domain is its base type; the size is that of the
/// rows with what is stored aside of them.
const CATALOGUE: &str = "SELECT n.nspname, c.relname, c.relkind::text, c.reltuples::bigint::text, \
     CASE c.relkind WHEN 'p' THEN (SELECT sum(pg_table_size(relid)) FROM pg_partition_tree(c.oid)) \
       ELSE pg_table_size(c.oid) END::text, \
     (pg_relation_size(c.oid) / current_setting('block_size')::int)::text, \
     a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text, \
     CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, NULL) \
       ELSE format_type(a.atttypid, NULL) END, \
     CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END::text, \
     has_table_privilege(c.oid, 'SELECT')::text, \
     has_column_privilege(c.oid, a.attnum, 'SELECT')::text, \
     (c.relrowsecurity AND row_security_active(c.oid))::text \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid \
     WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND NOT c.relispartition AND a.attnum > 0 \
     AND NOT a.attisdropped AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
     AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') \
     ORDER BY n.nspname, c.relname, a.attnum";

/// What is said of a table with policies that hold for this user.
const ROW_SECURITY: &str = "row security is active for this user: hidden rows are not read, and the size on disk is unknown";

/// A database whose snapshot is held as long as this lives.
pub(super) struct PostgresSource {
    endpoint: Endpoint,
    url: String,
    version: String,
    /// The only schema whose tables are meant; all that this user may read without it.
    only: Option<String>,
    snapshot: String,
    /// In the transaction that has exported the snapshot.
    launcher: Mutex<Connection>,
}

impl PostgresSource {
    /// Logs on and takes the snapshot.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub(super) fn open(endpoint: Endpoint, url: String, only: Option<String>) -> Result<Self> {
        let mut launcher = Connection::open(&endpoint, OF_SESSIONS)?;
        launcher.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let snapshot = launcher.texts("SELECT pg_export_snapshot()", &[])?;
        let snapshot = snapshot.into_iter().flatten().flatten().next();
        Ok(Self {
            endpoint,
            url,
            version: launcher.version().to_owned(),
            only,
            snapshot: snapshot.unwrap_or_default(),
            launcher: Mutex::new(launcher),
        })
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
        let rows = self.launcher().texts(CATALOGUE, &[])?;
        let mut tables: Vec<SourceTable> = Vec::new();
        for row in rows {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut cell = || cells.next().unwrap_or_default();
            let (schema, name, kind) = (cell(), cell(), cell());
            if self.only.as_ref().is_some_and(|only| *only != schema) {
                continue;
            }
            let (rows, bytes, blocks) = (cell(), cell(), cell());
            let column = column(cell(), cell(), &cell(), &cell(), &cell());
            let [may_read_rows, may_read_column, is_secured] = [(); 3].map(|()| cell() == "true");
            let (columns, forbidden) = match may_read_column {
                true => (vec![column], Vec::new()),
                false => (Vec::new(), vec![column.name]),
            };
            let stored = match kind.as_str() {
                "v" => Stored::Elsewhere("a view"),
                "f" => Stored::Elsewhere("a foreign table"),
                _ => Stored::Here,
            };
            // The rows of those that inherit from a table are theirs, and they are tables of their own.
            let only = if kind == "r" { "ONLY " } else { "" };
            let table = SourceTable {
                from: format!(
                    "{only}{}.{}",
                    DIALECT.quoted(&schema),
                    DIALECT.quoted(&name)
                ),
                // A partitioned table has no blocks of its own; addresses of rows are for who may read whole rows.
                address: String::new(),
                extent: match kind == "p" || !may_read_rows {
                    true => 0,
                    false => blocks.parse().unwrap_or(0),
                },
                // Less than 0 when it was never analysed.
                rows_estimated: rows.parse().ok(),
                disk_bytes: (bytes.parse().ok())
                    .filter(|_| stored == Stored::Here && may_read_rows && !is_secured),
                stored,
                note: is_secured.then_some(ROW_SECURITY),
                forbidden,
                has_statistics: false,
                columns,
                schema,
                name,
            };
            enter(&mut tables, table)?;
        }
        Ok(tables)
    }

    fn parts(&self, table: &SourceTable, streams: u32) -> Vec<Part> {
        if streams < 2 || table.extent == 0 || !self.has_ranges() {
            return vec![None];
        }
        let piece = PIECE_BLOCKS.min(table.extent.div_ceil(u64::from(streams)));
        pieces(table.extent, piece)
    }

    fn space(&self, table: &SourceTable) -> Result<Option<Space>> {
        match self.has_ranges() {
            true => Ok(Space::of("blocks", 0..table.extent)),
            false => Ok(None),
        }
    }

    fn open_reader(&self) -> Result<Box<dyn Reader>> {
        let mut connection = Connection::open(&self.endpoint, OF_SESSIONS)?;
        connection.batch(&format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{}'",
            self.snapshot
        ))?;
        Ok(Box::new(PostgresReader { connection }))
    }
}

fn column(
    name: String,
    declared: String,
    is_not_null: &str,
    base: &str,
    modifier: &str,
) -> SourceColumn {
    let quoted = DIALECT.quoted(&name);
    let (kind, cast) = kind_of(base, modifier.parse().unwrap_or(-1));
    SourceColumn {
        note: cast.map(|cast| format!("{declared}, kept as {cast}")),
        as_text: format!("{quoted}::text"),
        expression: match cast {
            Some(cast) => format!("{quoted}::{cast}"),
            None => quoted,
        },
        name,
        declared,
        kind,
        is_nullable: is_not_null != "true",
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

/// An error of a value with the names of its table and column.
fn in_table(table: &SourceTable, error: TargetError) -> TargetError {
    let ErrorKind::Unfit(place) = error.kind else {
        return error;
    };
    let message = match table.columns.get(place) {
        Some(SourceColumn { name, declared, .. }) => format!(
            "PostgreSQL: a row of {} has a number in the column {name} {declared} that is not finite or has more digits \
             than its type allows",
            table.label()
        ),
        None => error.message,
    };
    TargetError::new(error.kind, message)
}

impl Reader for PostgresReader {
    fn read(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()> {
        let mut sql = select(table) + &within(table, part);
        if let Some(part) = part.as_ref().filter(|_| table.address.is_empty()) {
            sql.push_str(&format!(" WHERE ctid >= '({},0)'", part.start));
            if part.end < u64::MAX {
                sql.push_str(&format!(" AND ctid < '({},0)'", part.end));
            }
        }
        let types = self.connection.prepare(&sql)?.columns;
        let kinds = table.columns.iter();
        let kinds = kinds.map(|column| column.kind.clone().unwrap_or(Kind::Bytes));
        let mut copied = Copied::new(&types, kinds)?;
        let mut row: Vec<Cell<'static>> = Vec::with_capacity(types.len());
        let copy = format!("COPY ({sql}) TO STDOUT (FORMAT binary)");
        // The rest of the rows is waited for, so that the session can be used again.
        let mut unfit = None;
        self.connection.copy_out(&copy, |piece| {
            if unfit.is_some() {
                return Ok(());
            }
            let mut cells = std::mem::take(&mut row);
            let outcome = copied.rows(piece, &mut cells, &mut *take);
            row = emptied(cells);
            match outcome {
                Err(error) if matches!(error.kind, ErrorKind::Unfit(_)) => {
                    unfit = Some(error);
                    Ok(())
                }
                other => other,
            }
        })?;
        match unfit {
            None => Ok(()),
            Some(error) => Err(in_table(table, error)),
        }
    }

    fn totals(&mut self, table: &SourceTable) -> Result<Vec<Option<String>>> {
        let mut all = Vec::new();
        for sql in totals(table, &DIALECT) {
            let mut rows = self.connection.texts(&sql, &[] as &[Value<'_>])?;
            all.extend(rows.pop().unwrap_or_default());
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
