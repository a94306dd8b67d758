//! Tables of a DuckDB database as a source: of a file, and of what was lifted.

use std::sync::Arc;

use super::appender::GROUP_ROWS;
use super::cells::hand_out;
use super::explain::explain;
use super::handle::{Connection, Database, Interrupt};
use super::instance::{Instance, SessionGuard};
use super::library::{Loaded, library};
use super::set_up::options_read_only;
use super::texts::{Unread, texts};
use engine::catalogue::{
    Cell, DIGITS_MAX, Dialect, Kind, Misfit, Misfits, Part, Reader, Source, SourceColumn,
    SourceTable, Space, Stored, Taker, enter, pieces, select, totals, within,
};
use engine::open_sessions::{OpenSession, Owner, break_off_those_of};
use engine::session::too_many_texts;
use engine::{Result, TargetError, TargetUrl, database_file};

pub const DIALECT: Dialect = Dialect {
    quote: '"',
    text_bytes: "strlen({})",
    sum: "sum({})",
    day: "CASE WHEN isfinite({}) THEN {} - DATE '2000-01-01' END",
};
/// Of every row of a table, unless it gives the name to a column.
const ROW_NUMBER: &str = "rowid";
/// Rows of a piece: whole row groups, of which DuckDB passes over those that lie outside.
const PIECE_ROWS: u64 = 8 * GROUP_ROWS;

/// The integers of 128 bits, of which the largest have a digit more than a decimal.
const HUGE: &str = "HUGEINT";
const HUGE_END: u128 = 10_u128.pow(DIGITS_MAX as u32);

/// Every column of every table of the database in use.
const CATALOGUE: &str = "SELECT c.schema_name, c.table_name, t.estimated_size::VARCHAR, \
     (t.table_oid IS NOT NULL)::VARCHAR, c.column_name, c.data_type, c.is_nullable::VARCHAR \
     FROM duckdb_columns() c LEFT JOIN duckdb_tables() t \
     ON t.table_oid = c.table_oid AND t.database_oid = c.database_oid AND t.schema_oid = c.schema_oid \
     WHERE NOT c.internal AND c.database_name = current_database() \
     ORDER BY c.schema_name, c.table_name, c.column_index";

/// A database that is read.
pub struct DuckDbSource {
    of: Of,
    url: String,
    version: String,
    owner: Owner,
}

enum Of {
    /// One that is open already.
    Instance(Arc<Instance>),
    /// A file that nobody of this process has open.
    File(Database),
}

impl DuckDbSource {
    /// Opens a file to read it alone.
    ///
    /// # Errors
    /// When it cannot be read, or the URL names a database in memory.
    pub fn open(url: &TargetUrl) -> Result<Self> {
        let path = url.place().ok_or_else(|| {
            TargetError::statement("DuckDB: a new in-memory database is empty; name a file")
        })?;
        database_file::resolved("DuckDB", &path)?;
        let Loaded { api, version, .. } = library()?;
        let open = Database::open(api, Some(&path), &options_read_only());
        let database = open.map_err(|m| explain(&format!("cannot open {}", path.display()), &m))?;
        Ok(Self {
            of: Of::File(database),
            url: url.to_string(),
            version: version.clone(),
            owner: Owner::unique(),
        })
    }

    /// The tables of a database that is open.
    pub fn of_instance(instance: &Arc<Instance>, url: String) -> Self {
        Self {
            of: Of::Instance(Arc::clone(instance)),
            url,
            version: instance.loaded.version.clone(),
            owner: Owner::unique(),
        }
    }

    /// Bytes of the blocks of a table, each counted once although small columns share some.
    fn blocks_bytes(&self, table: &SourceTable) -> Result<Option<u64>> {
        // The engine's function takes no name with a quote, and knows no views.
        if table.stored != Stored::Here || format!("{}{}", table.schema, table.name).contains('"') {
            return Ok(None);
        }
        let name = table.from.replace('\'', "''");
        let sql = format!(
            "SELECT (count(DISTINCT block) * (SELECT max(block_size) FROM pragma_database_size()))::VARCHAR \
             FROM (SELECT unnest(list_append(additional_block_ids, block_id)) AS block \
             FROM pragma_storage_info('{name}')) WHERE block >= 0"
        );
        let rows = self.reader()?.texts(&sql)?;
        Ok(rows
            .into_iter()
            .flatten()
            .flatten()
            .next()
            .and_then(|bytes| bytes.parse().ok()))
    }

    fn reader(&self) -> Result<DuckDbReader> {
        let (connection, guard) = match &self.of {
            Of::Instance(instance) => {
                let (connection, guard) = instance.connect()?;
                (connection, Some(guard))
            }
            Of::File(database) => {
                let connection = database.connect();
                (
                    connection.map_err(|m| explain("cannot open a session", &m))?,
                    None,
                )
            }
        };
        let begun = connection.query("BEGIN TRANSACTION READ ONLY").map(drop);
        begun.map_err(|m| explain("cannot start reading", &m))?;
        Ok(DuckDbReader {
            _open: OpenSession::in_process_of(self.owner, {
                let interrupt = Interrupt::of(&connection);
                move || interrupt.interrupt()
            }),
            connection,
            _guard: guard,
            misfits: Misfits::default(),
        })
    }
}

impl Source for DuckDbSource {
    fn title(&self) -> String {
        format!("DuckDB {}", self.version)
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn moment(&self) -> &'static str {
        "only this process has the file open, and it only reads"
    }

    fn one_stream(&self) -> Option<&'static str> {
        None
    }

    fn tables(&self) -> Result<Vec<SourceTable>> {
        let rows = self.reader()?.texts(CATALOGUE)?;
        let mut tables: Vec<SourceTable> = Vec::new();
        for row in rows {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut cell = || cells.next().unwrap_or_default();
            let (schema, name, rows, is_table) = (cell(), cell(), cell(), cell() == "true");
            let rows: Option<u64> = rows.parse().ok();
            let table = SourceTable {
                from: format!("{}.{}", DIALECT.quoted(&schema), DIALECT.quoted(&name)),
                rows_estimated: rows,
                disk_bytes: None,
                has_statistics: false,
                stored: if is_table {
                    Stored::Here
                } else {
                    Stored::Elsewhere("a view")
                },
                note: None,
                omitted: Vec::new(),
                unreadable: None,
                // A view has no row numbers.
                address: ROW_NUMBER.into(),
                extent: rows.filter(|_| is_table).unwrap_or(0),
                columns: vec![column(cell(), cell(), &cell())],
                schema,
                name,
            };
            enter(&mut tables, table)?;
        }
        for table in &mut tables {
            let hides_numbers = |c: &SourceColumn| c.name.eq_ignore_ascii_case(ROW_NUMBER);
            if table.columns.iter().any(hides_numbers) {
                table.extent = 0;
            }
        }
        if let Of::File(_) = self.of {
            for table in &mut tables {
                table.disk_bytes = self.blocks_bytes(table)?;
            }
        }
        Ok(tables)
    }

    fn parts(&self, table: &SourceTable, streams: u32) -> Vec<Part> {
        if streams < 2 || table.extent == 0 {
            vec![None]
        } else {
            pieces(table.extent, PIECE_ROWS)
        }
    }

    fn space(&self, table: &SourceTable) -> Result<Option<Space>> {
        Ok(Space::of("row numbers", 0..table.extent))
    }

    fn open_reader(&self) -> Result<Box<dyn Reader>> {
        Ok(Box::new(self.reader()?))
    }

    fn break_off(&self) {
        break_off_those_of(self.owner);
    }
}

fn column(name: String, declared: String, is_nullable: &str) -> SourceColumn {
    let quoted = DIALECT.quoted(&name);
    let (kind, becomes) = kind_of(&declared);
    SourceColumn {
        as_text: format!("CAST({quoted} AS VARCHAR)"),
        note: becomes.map(|becomes| format!("{declared}, kept as {becomes}")),
        expression: match becomes {
            Some(becomes) if kind == Kind::Text => format!("CAST({quoted} AS {becomes})"),
            _ => quoted,
        },
        name,
        declared,
        kind: Ok(kind),
        is_nullable: is_nullable != "false",
    }
}

/// The kind of a type, and what it becomes where that is something else: a text by a cast.
fn kind_of(declared: &str) -> (Kind, Option<&'static str>) {
    let kind = match declared {
        "BOOLEAN" => Kind::Bool,
        "TINYINT" => Kind::Int(8),
        "SMALLINT" => Kind::Int(16),
        "INTEGER" => Kind::Int(32),
        "BIGINT" => Kind::Int(64),
        "UTINYINT" => Kind::Unsigned(8),
        "USMALLINT" => Kind::Unsigned(16),
        "UINTEGER" => Kind::Unsigned(32),
        "UBIGINT" => Kind::Unsigned(64),
        "FLOAT" => Kind::Float,
        "DOUBLE" => Kind::Double,
        "DATE" => Kind::Date,
        "TIME" => Kind::Time,
        "TIMESTAMP" => Kind::Moment,
        "TIMESTAMP WITH TIME ZONE" => Kind::MomentOfWorld,
        "VARCHAR" => Kind::Text,
        "BLOB" => Kind::Bytes,
        HUGE => {
            let whole = Kind::Decimal {
                digits: DIGITS_MAX,
                places: 0,
            };
            return (whole, Some("DECIMAL(38,0)"));
        }
        other => match decimal(other) {
            Some(decimal) => decimal,
            None => return (Kind::Text, Some("VARCHAR")),
        },
    };
    (kind, None)
}

fn decimal(declared: &str) -> Option<Kind> {
    let inner = declared.strip_prefix("DECIMAL(")?.strip_suffix(')')?;
    let (digits, places) = inner.split_once(',')?;
    Some(Kind::Decimal {
        digits: digits.parse().ok()?,
        places: places.parse().ok()?,
    })
}

/// A connection in a transaction.
struct DuckDbReader {
    /// In the register of sessions until the connection is closed.
    _open: OpenSession,
    connection: Connection,
    _guard: Option<SessionGuard>,
    misfits: Misfits,
}

impl DuckDbReader {
    fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let failed = |message: &str| explain(&format!("\"{sql}\""), message);
        let mut answer = self.connection.query(sql).map_err(|m| failed(&m))?;
        texts(&mut answer).map_err(|unread| match unread {
            Unread::TooMany => too_many_texts(),
            Unread::Message(message) => failed(&message),
        })
    }
}

impl Reader for DuckDbReader {
    fn read(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()> {
        let sql = select(table) + &within(table, part);
        let failed = |message: String| explain(&format!("cannot read {}", table.label()), &message);
        let mut prepared = self.connection.prepare(&sql).map_err(failed)?;
        let mut answer = prepared.stream().map_err(failed)?;
        let is_huge = |column: &SourceColumn| {
            column.declared == HUGE && matches!(column.kind, Ok(Kind::Decimal { .. }))
        };
        let huge: Vec<usize> = (0..table.columns.len())
            .filter(|place| is_huge(&table.columns[*place]))
            .collect();
        if huge.is_empty() {
            return hand_out(&mut answer, take);
        }
        let (misfits, mut number) = (&mut self.misfits, part.as_ref().map_or(0, |p| p.start));
        hand_out(&mut answer, &mut |row| {
            number += 1;
            for place in &huge {
                if let Cell::Wide(n) = row[*place]
                    && n.unsigned_abs() >= HUGE_END
                {
                    misfits.enter(*place, || too_huge(table, *place, number, n));
                }
            }
            if misfits.is_empty() {
                take(row)
            } else {
                Ok(())
            }
        })?;
        self.misfits.outcome()
    }

    fn misfits(&mut self) -> Vec<Misfit> {
        self.misfits.take()
    }

    fn totals(&mut self, table: &SourceTable) -> Result<Vec<Option<String>>> {
        let mut all = Vec::new();
        for sql in totals(table, &DIALECT) {
            all.extend(self.texts(&sql)?.pop().unwrap_or_default());
        }
        Ok(all)
    }
}

fn too_huge(table: &SourceTable, place: usize, number: u64, value: i128) -> String {
    format!(
        "DuckDB: row {number} of {} has {value} in the column {} {HUGE}, and a column store keeps at most {DIGITS_MAX} digits",
        table.label(),
        table.columns[place].name
    )
}

/// The type in which a column of this kind is kept.
pub fn type_of(kind: Kind) -> String {
    match kind {
        Kind::Bool => "BOOLEAN".into(),
        Kind::Int(8) => "TINYINT".into(),
        Kind::Int(16) => "SMALLINT".into(),
        Kind::Int(32) => "INTEGER".into(),
        Kind::Int(_) => "BIGINT".into(),
        Kind::Unsigned(8) => "UTINYINT".into(),
        Kind::Unsigned(16) => "USMALLINT".into(),
        Kind::Unsigned(32) => "UINTEGER".into(),
        Kind::Unsigned(_) => "UBIGINT".into(),
        Kind::Float => "FLOAT".into(),
        Kind::Double => "DOUBLE".into(),
        Kind::Decimal { digits, places } => format!("DECIMAL({digits},{places})"),
        Kind::Date => "DATE".into(),
        Kind::Time => "TIME".into(),
        Kind::Moment => "TIMESTAMP".into(),
        Kind::MomentOfWorld => "TIMESTAMP WITH TIME ZONE".into(),
        Kind::Text => "VARCHAR".into(),
        Kind::Bytes => "BLOB".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_kept_as_what_it_is_read_from() {
        let kinds = [
            Kind::Bool,
            Kind::Int(8),
            Kind::Int(16),
            Kind::Int(32),
            Kind::Int(64),
            Kind::Unsigned(8),
            Kind::Unsigned(16),
            Kind::Unsigned(32),
            Kind::Unsigned(64),
            Kind::Float,
            Kind::Double,
            Kind::Decimal {
                digits: 12,
                places: 2,
            },
            Kind::Date,
            Kind::Time,
            Kind::Moment,
            Kind::MomentOfWorld,
            Kind::Text,
            Kind::Bytes,
        ];
        for kind in kinds {
            assert_eq!(kind_of(&type_of(kind)), (kind, None));
        }
        assert_eq!(kind_of("INTEGER[]"), (Kind::Text, Some("VARCHAR")));
    }
}
