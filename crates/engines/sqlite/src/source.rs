//! A database file as a source, opened to be read alone: one stream in one transaction.

mod kinds;
mod texts;
mod wait;

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::{configure_library, explain, resolved};
use engine::catalogue::{
    Cell, Dialect, Kind, Misfit, Misfits, Part, Reader, Source, SourceColumn, SourceTable, Space,
    Stored, Taker, address_after, enter, select, totals, within,
};
use engine::open_sessions::OpenSession;
use engine::plain::days_of;
use engine::{Result, TargetError, TargetUrl};
use kinds::{find_kinds, kind_of};
use wait::Waiting;

const DIALECT: Dialect = Dialect {
    quote: '"',
    text_bytes: texts::BYTES,
    // Sums of more than 64 bits are an error: those of the upper and of the lower half are not.
    sum: "sum({} >> 32) || ' ' || sum({} & 4294967295)",
    day: "CAST(julianday({}) - julianday('2000-01-01') AS INTEGER)",
};
/// True if every value of a column is a day as 2026-01-31; null where there are none.
const ALL_DAYS: &str =
    "min({} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND date({}) = {})";

/// Names of the number of every row, unless the table is without them; one that a column has is that column.
const ROW_NUMBERS: [&str; 3] = ["rowid", "_rowid_", "oid"];

pub(super) struct SqliteSource {
    path: PathBuf,
    url: String,
    waiting: Waiting,
}

impl SqliteSource {
    /// Looks whether the file can be read.
    ///
    /// # Errors
    /// When it cannot, or the URL names a database in memory.
    pub fn open(url: &TargetUrl) -> Result<Self> {
        configure_library();
        let path = url
            .place()
            .ok_or_else(|| statement("a new in-memory database is empty; name a file".into()))?;
        resolved(&path)?;
        let source = Self {
            path,
            url: url.to_string(),
            waiting: Waiting::default(),
        };
        match source.reader(false) {
            // Whoever reads it waits for its lock.
            Err(error) if !error.is_conflict() => Err(error),
            _ => Ok(source),
        }
    }

    /// The same of a file that a target has open.
    pub(super) fn of_file(path: &Path, url: &str) -> Self {
        Self {
            path: path.to_owned(),
            url: url.to_owned(),
            waiting: Waiting::default(),
        }
    }

    /// A connection in a transaction, which waits for the locks of others, or not.
    fn reader(&self, waits: bool) -> Result<SqliteReader> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || -> rusqlite::Result<SqliteReader> {
            let mut connection = Connection::open_with_flags(&self.path, flags)?;
            texts::add_functions(&connection)?;
            let open = self.waiting.register(&mut connection, waits)?;
            begin(&connection)?;
            Ok(SqliteReader {
                _open: open,
                connection,
                misfits: Misfits::default(),
            })
        };
        let context = format!("cannot read {}", self.path.display());
        open().map_err(|e| explain(&context, &e))
    }
}

/// Begins the transaction; its first look takes the snapshot.
fn begin(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

impl Source for SqliteSource {
    fn title(&self) -> String {
        format!("SQLite {}", rusqlite::version())
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn moment(&self) -> &'static str {
        "all rows are read in one transaction"
    }

    fn one_stream(&self) -> Option<&'static str> {
        Some("SQLite cannot share a snapshot between connections")
    }

    fn tables(&self) -> Result<Vec<SourceTable>> {
        let reader = self.reader(true)?;
        let look = || reader.tables();
        let found = look().map_err(|e| explain("cannot read the schema", &e))?;
        let mut tables = Vec::with_capacity(found.len());
        for table in found {
            enter(&mut tables, table)?;
        }
        Ok(tables)
    }

    fn parts(&self, _table: &SourceTable, _streams: u32) -> Vec<Part> {
        vec![None]
    }

    fn space(&self, table: &SourceTable) -> Result<Option<Space>> {
        if table.address.is_empty() {
            return Ok(None);
        }
        let sql = format!(
            "SELECT (SELECT min({number}) FROM {from}), (SELECT max({number}) FROM {from})",
            number = table.address,
            from = table.from
        );
        let numbers = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        // A table without row numbers is refused, one whose numbers are no numbers as well.
        let ends = self.reader(true)?.connection.query_row(&sql, [], numbers);
        let ends = ends
            .ok()
            .and_then(|(first, last): (Option<i64>, Option<i64>)| {
                Some(u64::try_from(first?).ok()?..u64::try_from(last?).ok()? + 1)
            });
        Ok(ends.and_then(|range| Some(Space::of("row numbers", range)?.with_gaps())))
    }

    fn open_reader(&self) -> Result<Box<dyn Reader>> {
        Ok(Box::new(self.reader(true)?))
    }

    fn waits(&self) -> Option<String> {
        let path = self.path.display();
        let is_waiting = self.waiting.is_waiting();
        is_waiting.then(|| format!("{path} is locked by a program that is writing to it"))
    }

    fn break_off(&self) {
        self.waiting.break_off();
    }
}

/// A connection in a transaction.
struct SqliteReader {
    /// In the register of sessions until the connection is closed.
    _open: OpenSession,
    connection: Connection,
    misfits: Misfits,
}

// SAFETY: a connection without a mutex of its own may move between threads as long as one at a time uses it,
// which `&mut` and owning it guarantee.
unsafe impl Send for SqliteReader {}

impl SqliteReader {
    fn tables(&self) -> rusqlite::Result<Vec<SourceTable>> {
        let mut named = self.connection.prepare(
            "SELECT name, CASE WHEN type = 'view' THEN 1 WHEN sql LIKE 'CREATE VIRTUAL%' THEN 2 ELSE 0 END \
             FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
             ORDER BY name",
        )?;
        let named = named.query_map([], |row| {
            let stored = match row.get::<_, i64>(1)? {
                1 => Stored::Elsewhere("a view"),
                2 => Stored::Elsewhere("a virtual table"),
                _ => Stored::Here,
            };
            Ok((row.get::<_, String>(0)?, stored))
        })?;
        let named = named.collect::<rusqlite::Result<Vec<_>>>()?;
        named
            .into_iter()
            .map(|(name, stored)| Ok(self.table(name, stored)))
            .collect()
    }

    fn table(&self, name: String, stored: Stored) -> SourceTable {
        let mut table = SourceTable {
            schema: String::new(),
            columns: Vec::new(),
            rows_estimated: None,
            disk_bytes: None,
            stored,
            note: None,
            omitted: Vec::new(),
            unreadable: None,
            has_statistics: false,
            extent: 0,
            address: String::new(),
            from: DIALECT.quoted(&name),
            name,
        };
        if let Err(error) = self.describe(&mut table) {
            table.unreadable = Some(explain("cannot look into it", &error).message);
        }
        table
    }

    fn describe(&self, table: &mut SourceTable) -> rusqlite::Result<()> {
        self.columns(table)?;
        if table.stored == Stored::Here {
            self.find_address(table);
            (table.disk_bytes, table.rows_estimated) = self.pages(&table.name);
            if table.address.is_empty() || table.rows_estimated.is_none() {
                table.rows_estimated = self.count(table)?;
            }
            find_kinds(&self.connection, table)?;
            self.find_days(table)?;
        }
        Ok(())
    }

    /// Generated columns are columns; those that a virtual table hides are not read.
    fn columns(&self, table: &mut SourceTable) -> rusqlite::Result<()> {
        let mut described = self.connection.prepare(
            "SELECT name, type, \"notnull\" OR pk > 0, hidden = 1 FROM pragma_table_xinfo(?1)",
        )?;
        let mut rows = described.query([&table.name])?;
        while let Some(row) = rows.next()? {
            let (name, declared): (String, String) = (row.get(0)?, row.get(1)?);
            if row.get(3)? {
                let why = "a virtual table hides it";
                table.omitted.push((name, why));
                continue;
            }
            let quoted = DIALECT.quoted(&name);
            table.columns.push(SourceColumn {
                as_text: texts::text_of(&quoted),
                expression: quoted,
                kind: kind_of(&declared),
                note: None,
                is_nullable: !row.get::<_, bool>(2)?,
                name,
                declared,
            });
        }
        Ok(())
    }

    /// A table without row numbers is refused when it is asked for them.
    fn find_address(&self, table: &mut SourceTable) {
        let is_free = |name: &&str| {
            let mut columns = table.columns.iter();
            !columns.any(|column| column.name.eq_ignore_ascii_case(name))
        };
        let Some(address) = ROW_NUMBERS.into_iter().find(is_free) else {
            return;
        };
        let look = format!("SELECT max({address}) FROM {}", table.from);
        let is_there = self.connection.query_row(&look, [], |_| Ok(())).is_ok();
        if is_there {
            table.address = address.into();
        }
    }

    fn count(&self, table: &SourceTable) -> rusqlite::Result<Option<u64>> {
        let count = format!("SELECT count(*) FROM {}", table.from);
        let rows = self
            .connection
            .query_row(&count, [], |row| row.get::<_, i64>(0))?;
        Ok(u64::try_from(rows).ok())
    }

    /// Bytes of the pages of a table, and the rows in them where it has row numbers; nothing where this build does not
    /// tell.
    fn pages(&self, name: &str) -> (Option<u64>, Option<u64>) {
        let sql = "SELECT sum(pgsize), sum(CASE pagetype WHEN 'leaf' THEN ncell ELSE 0 END) FROM dbstat \
             WHERE name = ?1";
        let told = self.connection.query_row(sql, [name], |row| {
            let number = |place| row.get::<_, Option<i64>>(place);
            Ok((number(0)?, number(1)?))
        });
        let (bytes, rows) = told.unwrap_or((None, None));
        let number = |told: Option<i64>| told.and_then(|n| u64::try_from(n).ok());
        (number(bytes), number(rows))
    }

    /// SQLite has no days. A column of texts that are all days is one of days: where the first is, all are
    /// looked at.
    fn find_days(&self, table: &mut SourceTable) -> rusqlite::Result<()> {
        let is_text = |column: &SourceColumn| column.kind == Ok(Kind::Text);
        let texts: Vec<usize> = (0..table.columns.len())
            .filter(|at| is_text(&table.columns[*at]))
            .collect();
        let days = self.all_days(table, &texts, " LIMIT 100")?;
        let days = self.all_days(table, &days, "")?;
        for at in days {
            let column = &mut table.columns[at];
            column.kind = Ok(Kind::Date);
            column.note = Some("text values that are all dates, kept as dates".into());
        }
        Ok(())
    }

    /// Those of these columns whose values, in the first rows or in all, are days.
    fn all_days(
        &self,
        table: &SourceTable,
        columns: &[usize],
        limit: &str,
    ) -> rusqlite::Result<Vec<usize>> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<String> = (columns.iter())
            .map(|at| ALL_DAYS.replace("{}", &table.columns[*at].expression))
            .collect();
        let names: Vec<&str> = (columns.iter())
            .map(|at| table.columns[*at].expression.as_str())
            .collect();
        let sql = format!(
            "SELECT {} FROM (SELECT {} FROM {}{limit})",
            asked.join(", "),
            names.join(", "),
            table.from
        );
        self.connection.query_row(&sql, [], |row| {
            let mut days = Vec::new();
            for (place, at) in columns.iter().enumerate() {
                if row.get::<_, Option<bool>>(place)? == Some(true) {
                    days.push(*at);
                }
            }
            Ok(days)
        })
    }
}

impl Reader for SqliteReader {
    fn read(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()> {
        let failed = |e: &rusqlite::Error| explain("cannot read a row", e);
        let mut statement = self
            .connection
            .prepare(&(select(table) + &within(table, part)))
            .map_err(|e| failed(&e))?;
        let mut rows = statement.raw_query();
        let mut number = 0_u64;
        while let Some(row) = rows.next().map_err(|e| failed(&e))? {
            number += 1;
            let mut cells: Vec<Cell<'_>> = Vec::with_capacity(table.columns.len());
            for (place, column) in table.columns.iter().enumerate() {
                let value = row.get_ref(place).map_err(|e| failed(&e))?;
                match cell(value, &column.kind) {
                    Some(cell) => cells.push(cell),
                    None => (self.misfits).enter(place, || odd(table, place, number, value)),
                }
            }
            if self.misfits.is_empty() {
                take(&cells)?;
            }
        }
        self.misfits.outcome()
    }

    fn misfits(&mut self) -> Vec<Misfit> {
        self.misfits.take()
    }

    fn address_after(&mut self, table: &SourceTable, from: u64, rows: u64) -> Result<Option<u64>> {
        let sql = address_after(table, from, rows);
        let answer = self
            .connection
            .query_row(&sql, [], |row| row.get::<_, i64>(0));
        match answer {
            Ok(address) => Ok(u64::try_from(address).ok()),
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            Err(error) => Err(explain("cannot look up a row", &error)),
        }
    }

    fn totals(&mut self, table: &SourceTable) -> Result<Vec<Option<String>>> {
        let mut all = Vec::new();
        for sql in totals(table, &DIALECT) {
            let answer = self.connection.query_row(&sql, [], |row| {
                let columns = row.as_ref().column_count();
                (0..columns)
                    .map(|place| row.get_ref(place).map(super::session::text_of))
                    .collect::<rusqlite::Result<Vec<_>>>()
            });
            let answer = answer.map_err(|e| explain("cannot compute the totals of a table", &e))?;
            all.extend(answer.into_iter().map(|cell| cell.map(joined)));
        }
        Ok(all)
    }
}

/// The sum of the two halves that a sum is asked for in; everything else is a number already.
fn joined(told: String) -> String {
    let halves = told.split_once(' ').and_then(|(upper, lower)| {
        let (upper, lower): (i128, i128) = (upper.parse().ok()?, lower.parse().ok()?);
        Some((upper << 32) + lower)
    });
    halves.map_or(told, |sum| sum.to_string())
}

/// A value as its column's kind; `None` where it is of another type than the column says.
fn cell<'a>(value: ValueRef<'a>, kind: &std::result::Result<Kind, String>) -> Option<Cell<'a>> {
    Some(match (value, kind.as_ref().ok()?) {
        (ValueRef::Null, _) => Cell::Null,
        (ValueRef::Integer(n), Kind::Int(_)) => Cell::Int(n),
        (ValueRef::Integer(n), Kind::Double) => Cell::Double(n as f64),
        (ValueRef::Real(x), Kind::Double) => Cell::Double(x),
        (ValueRef::Text(text), Kind::Date) => Cell::Int(days_of(text)?),
        (ValueRef::Text(text), Kind::Text) => {
            std::str::from_utf8(text).ok()?;
            Cell::Bytes(text)
        }
        (ValueRef::Blob(bytes), Kind::Bytes) => Cell::Bytes(bytes),
        _ => return None,
    })
}

/// The fault of a value, with the number of its row as the table is read.
fn odd(table: &SourceTable, place: usize, number: u64, value: ValueRef<'_>) -> String {
    let SourceColumn { name, declared, .. } = &table.columns[place];
    let what = match value {
        ValueRef::Text(text) if std::str::from_utf8(text).is_err() => {
            "text that is not UTF-8".into()
        }
        ValueRef::Text(text) => format!("the text {:?}", shortened(text)),
        other => format!("a value of type {}", other.data_type()),
    };
    let column = format!("{name} {declared}");
    format!(
        "SQLite: row {number} of {} has {what} in the column {}",
        table.label(),
        column.trim_end()
    )
}

/// The beginning of a text, as long as one reads it.
fn shortened(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}

fn statement(message: String) -> TargetError {
    TargetError::statement(format!("SQLite: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_halves_are_exact() {
        assert_eq!(joined("-1 4294967295".into()), "-1");
        let most = i64::MAX;
        let twice = format!("{} {}", 2 * (most >> 32), 2 * (most & 0xffff_ffff));
        assert_eq!(joined(twice), "18446744073709551614");
        assert_eq!(joined("17".into()), "17");
    }
}
