//! A server's tables as a source: one stream, because InnoDB shares a snapshot with no second session.

mod waits;

use std::sync::{Arc, Mutex};

use super::access::Access;
use super::client::Client;
use super::flavour::plain_version;
use super::session::connect;
use super::wire::Cell as WireCell;
use engine::Result;
use engine::catalogue::{
    Cell, DIGITS_MAX, Dialect, Kind, LOCK_WAIT_MAX, Misfit, Misfits, Part, Reader, Source,
    SourceColumn, SourceTable, Space, Stored, Taker, address_after, enter, select, totals, within,
};
use engine::open_sessions::break_off_those_of;
use engine::plain::{days_from, unscaled_of};
use local_server::LocalServer;

const DIALECT: Dialect = Dialect {
    quote: '`',
    text_bytes: "length(convert({} using utf8mb4))",
    sum: "sum({})",
    day: "datediff({}, '2000-01-01')",
};
/// The tables and views of the database. Names that differ in their case only are different where the server says so,
/// but its catalogue compares them without their case.
///
/// A view of something that is gone and a table that the server cannot open have no columns; the comment says why.
const CATALOGUE: &str = "SELECT t.table_name, t.table_type, t.engine, t.table_rows, t.data_length, t.table_comment, \
     c.column_name, c.data_type, c.column_type, c.numeric_precision, c.numeric_scale, c.is_nullable, s.seq_in_index = 1 \
     FROM information_schema.tables t LEFT JOIN information_schema.columns c \
     ON c.table_schema = t.table_schema AND c.table_name = t.table_name \
     AND binary c.table_name = binary t.table_name \
     LEFT JOIN information_schema.statistics s ON s.table_schema = t.table_schema \
     AND s.table_name = t.table_name AND binary s.table_name = binary t.table_name AND s.column_name = c.column_name AND s.index_name = 'PRIMARY' \
     WHERE t.table_schema = database() AND t.table_type <> 'SYSTEM VIEW' \
     ORDER BY binary t.table_name, c.ordinal_position";
/// The snapshot begins at once, not with the first statement.
const BEGIN: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
const DAY_US: i64 = 86_400_000_000;

/// Reason for a table that keeps its own history.
const VERSIONED: &str = "the table keeps the history of its rows: only the current ones are read, and how much of its size on \
     disk is theirs is unknown";
/// Types whose text is that of their shape.
const SHAPES: [&str; 9] = [
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
    "geomcollection",
];

pub(super) struct MySqlSource {
    access: Access,
    url: String,
    is_of_target: bool,
    title: String,
    readers: Mutex<Vec<String>>,
    /// Looks after them once one has waited.
    watcher: Mutex<Option<Client>>,
    /// Last, because the connections end before it.
    _server: Option<Arc<LocalServer>>,
}

impl MySqlSource {
    /// Looks whether the server lets this user in.
    pub(super) fn open(access: Access, url: String, is_of_target: bool) -> Result<Self> {
        let client = connect(&access)?;
        let title = format!(
            "{} {}",
            client.flavour().title,
            plain_version(client.server_version())
        );
        Ok(Self {
            access,
            url,
            is_of_target,
            title,
            _server: None,
            readers: Mutex::default(),
            watcher: Mutex::default(),
        })
    }

    /// Keeps a server that dbdyno started.
    pub(super) fn on(self, server: Option<Arc<LocalServer>>) -> Self {
        Self {
            _server: server,
            ..self
        }
    }
}

impl Source for MySqlSource {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn moment(&self) -> &'static str {
        "all rows are read in one consistent snapshot, except tables of engines without transactions"
    }

    fn one_stream(&self) -> Option<&'static str> {
        Some("the server cannot share a snapshot between sessions")
    }

    fn tables(&self) -> Result<Vec<SourceTable>> {
        let rows = connect(&self.access)?.read(CATALOGUE)?;
        let mut tables: Vec<SourceTable> = Vec::new();
        for row in rows {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut cell = || cells.next().unwrap_or_default();
            let (name, sort, engine) = (cell(), cell(), cell());
            let (rows, bytes, comment) = (cell(), cell(), cell());
            // The history of a table that keeps its own is on disk as well, and is not read.
            let is_versioned = sort == "SYSTEM VERSIONED";
            let column = column(cell(), &cell(), cell(), [&cell(), &cell()], &cell());
            let is_key =
                cell() == "1" && matches!(column.kind, Ok(Kind::Int(_) | Kind::Unsigned(_)));
            let address = is_key.then(|| column.expression.clone());
            let table = SourceTable {
                schema: String::new(),
                from: DIALECT.quoted(&name),
                rows_estimated: rows.parse().ok(),
                disk_bytes: bytes.parse().ok().filter(|_| !is_versioned),
                has_statistics: engine == "InnoDB",
                stored: match sort.as_str() {
                    "VIEW" => Stored::Elsewhere("a view"),
                    "SEQUENCE" => Stored::Elsewhere("a sequence"),
                    _ => Stored::Here,
                },
                note: is_versioned.then_some(VERSIONED),
                omitted: Vec::new(),
                unreadable: column.name.is_empty().then(|| match comment.as_str() {
                    "" => "the server lists none of its columns".to_owned(),
                    comment => format!("the server says: {comment}"),
                }),
                extent: 0,
                address: String::new(),
                columns: Some(column)
                    .filter(|c| !c.name.is_empty())
                    .into_iter()
                    .collect(),
                name,
            };
            enter(&mut tables, table)?;
            if let (Some(address), Some(table)) = (address, tables.last_mut()) {
                table.address = address;
            }
        }
        Ok(tables)
    }

    fn parts(&self, _table: &SourceTable, _streams: u32) -> Vec<Part> {
        vec![None]
    }

    /// Rows lie in the order of the primary key: where its first column is an integer, in pieces of that.
    fn space(&self, table: &SourceTable) -> Result<Option<Space>> {
        let key = &table.address;
        if key.is_empty() {
            return Ok(None);
        }
        let sql = format!("SELECT min({key}), max({key}) FROM {}", table.from);
        let rows = connect(&self.access)?.read(&sql)?;
        let ends: Vec<u64> = (rows.into_iter().flatten())
            .filter_map(|end| end?.parse().ok())
            .collect();
        Ok(match ends[..] {
            [first, last] => Space::of(format!("values of {key}"), first..last.saturating_add(1))
                .map(Space::with_gaps),
            // Without rows, or with keys below 0.
            _ => None,
        })
    }

    fn open_reader(&self) -> Result<Box<dyn Reader>> {
        let mut client = connect(&self.access)?;
        let patience = LOCK_WAIT_MAX.as_secs();
        client.run(&format!("SET SESSION lock_wait_timeout = {patience}"))?;
        client.run(BEGIN)?;
        self.watch(&mut client)?;
        Ok(Box::new(MySqlReader {
            client,
            misfits: Misfits::default(),
        }))
    }

    fn waits(&self) -> Option<String> {
        self.blockers()
    }

    fn break_off(&self) {
        if !self.is_of_target {
            break_off_those_of(self.access.owner);
        }
    }
}

fn column(
    name: String,
    data_type: &str,
    declared: String,
    [digits, places]: [&str; 2],
    is_nullable: &str,
) -> SourceColumn {
    let quoted = DIALECT.quoted(&name);
    let kind = kind_of(data_type, &declared, digits, places);
    let (expression, note) = match data_type {
        "bit" => (format!("({quoted} + 0)"), Some("bits, kept as an integer")),
        // From -838 to 838 hours: no time of a day.
        "time" => (format!("cast({quoted} AS char)"), Some("kept as text")),
        "enum" | "set" | "json" | "uuid" | "inet4" | "inet6" => {
            (quoted.clone(), Some("kept as text"))
        }
        _ => (quoted.clone(), None),
    };
    SourceColumn {
        as_text: match kind {
            Err(_) if SHAPES.contains(&data_type) => format!("st_astext({quoted})"),
            Err(_) if data_type != "decimal" => format!("hex({quoted})"),
            _ => format!("cast({quoted} AS char)"),
        },
        note: note.map(|note| format!("{declared}, {note}")),
        expression,
        name,
        declared,
        kind,
        is_nullable: is_nullable != "NO",
    }
}

fn kind_of(
    data_type: &str,
    declared: &str,
    digits: &str,
    places: &str,
) -> std::result::Result<Kind, String> {
    let is_unsigned = declared.contains("unsigned");
    let integer = |bits| {
        if is_unsigned {
            Kind::Unsigned(bits)
        } else {
            Kind::Int(bits)
        }
    };
    Ok(match data_type {
        "tinyint" => integer(8),
        "smallint" => integer(16),
        "mediumint" | "int" => integer(32),
        "bigint" => integer(64),
        "bit" => Kind::Unsigned(64),
        "year" => Kind::Int(16),
        "float" => Kind::Float,
        "double" => Kind::Double,
        "date" => Kind::Date,
        "datetime" => Kind::Moment,
        "timestamp" => Kind::MomentOfWorld,
        "decimal" => match (digits.parse(), places.parse()) {
            (Ok(digits @ 1..=DIGITS_MAX), Ok(places)) => Kind::Decimal { digits, places },
            _ => return Err(format!("a column store keeps at most {DIGITS_MAX} digits")),
        },
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => Kind::Bytes,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set"
        | "json" | "time" | "uuid" | "inet4" | "inet6" => Kind::Text,
        _ => return Err("the column store has no such type".into()),
    })
}

struct MySqlReader {
    client: Client,
    misfits: Misfits,
}

impl Reader for MySqlReader {
    fn read(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()> {
        let statement = self
            .client
            .prepare(&(select(table) + &within(table, part)))?;
        let columns = &table.columns;
        // The rest of the rows is waited for, so that the session, which alone has its snapshot, can be used again.
        let (misfits, mut number) = (&mut self.misfits, 0_u64);
        self.client.hand_out(statement, |row| {
            number += 1;
            let mut cells: Vec<Cell<'_>> = Vec::with_capacity(columns.len());
            row.for_each(|place, value| {
                let kind = columns.get(place).and_then(|c| c.kind.as_ref().ok());
                match kind.and_then(|kind| cell(value, *kind)) {
                    Some(cell) => cells.push(cell),
                    None => misfits.enter(place, || unreadable(table, place, number)),
                }
            })?;
            if misfits.is_empty() {
                take(&cells)
            } else {
                Ok(())
            }
        })?;
        self.misfits.outcome()
    }

    fn misfits(&mut self) -> Vec<Misfit> {
        self.misfits.take()
    }

    fn address_after(&mut self, table: &SourceTable, from: u64, rows: u64) -> Result<Option<u64>> {
        let found = self.client.read(&address_after(table, from, rows))?;
        let address = found.into_iter().flatten().flatten().next();
        Ok(address.and_then(|address| address.parse().ok()))
    }

    fn totals(&mut self, table: &SourceTable) -> Result<Vec<Option<String>>> {
        let mut all = Vec::new();
        for sql in totals(table, &DIALECT) {
            all.extend(self.client.read(&sql)?.pop().unwrap_or_default());
        }
        Ok(all)
    }
}

/// A value as its column's kind; `None` where it is none of those.
fn cell(value: WireCell<'_>, kind: Kind) -> Option<Cell<'_>> {
    Some(match (value, kind) {
        (WireCell::Null, _) => Cell::Null,
        // Above 2^63 the bits are the same, the number is not.
        (WireCell::Int(n), Kind::Unsigned(64)) => Cell::Wide(i128::from(n as u64)),
        (WireCell::Int(n), Kind::Int(_) | Kind::Unsigned(_)) => Cell::Int(n),
        (WireCell::Double(x), Kind::Float | Kind::Double) => Cell::Double(x),
        (WireCell::Decimal(digits), Kind::Decimal { places, .. }) => {
            let unscaled = unscaled_of(digits, places)?;
            match i64::try_from(unscaled) {
                Ok(n) => Cell::Int(n),
                Err(_) => Cell::Wide(unscaled),
            }
        }
        (WireCell::Time(moment), Kind::Date) => Cell::Int(moment_us(moment)? / DAY_US),
        (WireCell::Time(moment), Kind::Moment | Kind::MomentOfWorld) => {
            Cell::Int(moment_us(moment)?)
        }
        (WireCell::Bytes(bytes), Kind::Text | Kind::Bytes) => Cell::Bytes(bytes),
        _ => return None,
    })
}

/// Microseconds since 1970 of a moment of the protocol: year, month and day, the time behind it and its
/// microseconds where there are some. `None` for the day zero, which is no day.
fn moment_us(moment: &[u8]) -> Option<i64> {
    let at = |place: usize| moment.get(place).copied().map_or(0, i64::from);
    let year = at(0) | at(1) << 8;
    let (month, day) = (at(2), at(3));
    if moment.len() < 4 || month == 0 || day == 0 {
        return None;
    }
    let days = days_from(year, month, day);
    let us = at(7) | at(8) << 8 | at(9) << 16 | at(10) << 24;
    Some(((days * 24 + at(4)) * 60 + at(5)) * 60_000_000 + at(6) * 1_000_000 + us)
}

fn unreadable(table: &SourceTable, place: usize, number: u64) -> String {
    let SourceColumn { name, declared, .. } = &table.columns[place];
    format!(
        "mysql: row {number} of {} has a value in the column {name} {declared} that a column store cannot hold, such as the \
         date zero",
        table.label()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_counted_from_1970() {
        assert_eq!(moment_us(&[0xb2, 0x07, 1, 2]), Some(DAY_US));
        let moment = [0xb2, 0x07, 1, 1, 1, 2, 3, 4, 0, 0, 0];
        assert_eq!(moment_us(&moment), Some(3_723_000_004));
        for zero in [&[][..], &[0, 0, 0, 0], &[0xb2, 0x07, 0, 1]] {
            assert_eq!(moment_us(zero), None);
        }
    }

    #[test]
    fn types_have_their_kinds() {
        let kind = |data_type, declared| kind_of(data_type, declared, "12", "2");
        assert_eq!(kind("int", "int(10) unsigned"), Ok(Kind::Unsigned(32)));
        assert_eq!(kind("bigint", "bigint(20)"), Ok(Kind::Int(64)));
        let decimal = Kind::Decimal {
            digits: 12,
            places: 2,
        };
        assert_eq!(kind("decimal", "decimal(12,2)"), Ok(decimal));
        assert!(kind_of("decimal", "", "65", "2").is_err());
        assert!(kind("geometry", "geometry").is_err());
    }
}
