//! A schema as a source: its tables described and read as a whole.

use std::sync::Arc;

use engine::catalogue::{
    Cell, DIGITS_MAX, Dialect, Kind, Misfit, Misfits, Part, Reader, Source, SourceColumn,
    SourceTable, Space, Stored, Taker, enter, select, totals, within,
};
use engine::open_sessions::break_off_those_of;
use engine::plain::unscaled_of;
use engine::register::quoted;
use engine::{ErrorKind, Result, TargetError};
use oracledb::Row;

use super::client::Client;
use super::guard::folded;
use super::read::{self, microseconds};
use crate::access::Access;

const DAY_US: i64 = 86_400_000_000;

const DIALECT: Dialect = Dialect {
    quote: '"',
    text_bytes: "lengthb({})",
    sum: "sum({})",
    day: "(trunc({}) - DATE '2000-01-01')",
};

pub(super) struct OracleSource {
    access: Arc<Access>,
    url: String,
    version: String,
    is_of_target: bool,
}

impl OracleSource {
    pub(super) fn open(access: Arc<Access>, url: String, is_of_target: bool) -> Result<Self> {
        let client = Client::connect(&access, false)?;
        Ok(Self {
            version: client.version(),
            access,
            url,
            is_of_target,
        })
    }

    /// Numbers of another view by table; none where the user may not see it.
    fn by_table(client: &mut Client, sql: &str) -> Result<Vec<(String, u64)>> {
        let rows = match client.texts(sql) {
            Ok(rows) => rows,
            Err(error) if error.kind == ErrorKind::Statement => Vec::new(),
            Err(error) => return Err(error),
        };
        let pair = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter().flatten();
            Some((cells.next()?, cells.next()?.parse().ok()?))
        };
        Ok(rows.into_iter().filter_map(pair).collect())
    }
}

impl Source for OracleSource {
    fn title(&self) -> String {
        format!("Oracle Database {}", self.version)
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn moment(&self) -> &'static str {
        "all rows are read in one read-only transaction"
    }

    fn one_stream(&self) -> Option<&'static str> {
        Some("Oracle's sessions cannot share a snapshot")
    }

    fn tables(&self) -> Result<Vec<SourceTable>> {
        let mut client = Client::connect(&self.access, false)?;
        let schema = self.access.schema();
        let owner = quoted(&schema);
        let columns = client.texts(&format!(
            "SELECT c.table_name, c.column_name, c.data_type, c.data_precision, c.data_scale, c.data_length, c.nullable, \
             CASE WHEN v.view_name IS NULL THEN 'T' ELSE 'V' END \
             FROM all_tab_columns c LEFT JOIN all_views v ON v.owner = c.owner AND v.view_name = c.table_name \
             WHERE c.owner = {owner} ORDER BY c.table_name, c.column_id"
        ))?;
        let rows = Self::by_table(
            &mut client,
            &format!(
                "SELECT table_name, num_rows FROM all_tables WHERE owner = {owner} AND num_rows IS NOT NULL"
            ),
        )?;
        let bytes = Self::by_table(
            &mut client,
            "SELECT segment_name, sum(bytes) FROM user_segments WHERE segment_type LIKE 'TABLE%' GROUP BY segment_name",
        )?;
        let of = |all: &[(String, u64)], name: &str| {
            let mut found = all.iter().filter(|(of, _)| of == name);
            found.next().map(|(_, number)| *number)
        };
        let mut tables = Vec::new();
        for row in columns {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut cell = || cells.next().unwrap_or_default();
            let name = cell();
            let column = column(&cell(), &cell(), [&cell(), &cell(), &cell()], &cell());
            let stored = match cell().as_str() {
                "V" => Stored::Elsewhere("a view"),
                _ => Stored::Here,
            };
            let table = SourceTable {
                schema: schema.to_lowercase(),
                columns: vec![column],
                rows_estimated: of(&rows, &name),
                disk_bytes: of(&bytes, &name),
                stored,
                note: None,
                omitted: Vec::new(),
                unreadable: None,
                has_statistics: true,
                extent: 0,
                address: String::new(),
                from: format!("{}.{}", written(&schema), written(&name)),
                name: folded(&name),
            };
            enter(&mut tables, table)?;
        }
        Ok(tables)
    }

    fn parts(&self, _table: &SourceTable, _streams: u32) -> Vec<Part> {
        vec![None]
    }

    fn space(&self, _table: &SourceTable) -> Result<Option<Space>> {
        Ok(None)
    }

    fn open_reader(&self) -> Result<Box<dyn Reader>> {
        let mut client = Client::connect(&self.access, false)?;
        client.begin_snapshot()?;
        Ok(Box::new(OracleReader {
            client,
            misfits: Misfits::default(),
        }))
    }

    fn break_off(&self) {
        if !self.is_of_target {
            break_off_those_of(self.access.owner);
        }
    }
}

fn column(
    name: &str,
    data_type: &str,
    [digits, places, length]: [&str; 3],
    nullable: &str,
) -> SourceColumn {
    let quoted = written(name);
    let (kind, note) = kind_of(data_type, digits, places);
    let declared = match (data_type, digits) {
        ("NUMBER", "") => "NUMBER".to_owned(),
        ("NUMBER", digits) => format!("NUMBER({digits},{places})"),
        (other, _) if other.contains("CHAR") || other == "RAW" => format!("{other}({length})"),
        (other, _) => other.to_owned(),
    };
    SourceColumn {
        name: folded(name),
        note: note.map(|note| format!("{declared}, {note}")),
        declared,
        kind,
        is_nullable: nullable != "N",
        as_text: format!("to_char({quoted})"),
        expression: quoted,
    }
}

/// Names that need quotes though they are in capitals.
const RESERVED: &str = " ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COMMENT COMPRESS CONNECT CREATE \
     CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM GRANT GROUP HAVING IDENTIFIED \
     IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL LIKE LOCK LONG MAXEXTENTS MINUS MODE MODIFY NOAUDIT \
     NOCOMPRESS NOT NOWAIT NULL NUMBER OF OFFLINE ON ONLINE OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID \
     ROWNUM ROWS SELECT SESSION SET SHARE SIZE SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION UNIQUE UPDATE \
     USER VALIDATE VALUES VARCHAR VARCHAR2 VIEW WHENEVER WHERE WITH ";

/// A name of the catalogue as a statement has it.
fn written(name: &str) -> String {
    let begins = name.starts_with(|c: char| c.is_ascii_uppercase());
    let is_plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "_$#".contains(c);
    if begins && name.chars().all(is_plain) && !RESERVED.contains(&format!(" {name} ")) {
        name.to_lowercase()
    } else {
        DIALECT.quoted(name)
    }
}

type NotedKind = (std::result::Result<Kind, String>, Option<&'static str>);

fn kind_of(data_type: &str, digits: &str, places: &str) -> NotedKind {
    let number = || match (digits.parse(), places.parse().unwrap_or(0)) {
        (Ok(1..=9), 0) => (Ok(Kind::Int(32)), None),
        (Ok(10..=19), 0) => (Ok(Kind::Int(64)), None),
        (Ok(digits @ 1..=DIGITS_MAX), places @ 0..=127) if places <= digits => {
            (Ok(Kind::Decimal { digits, places }), None)
        }
        (Ok(_), _) => (
            Err("its digits are all behind, or far in front of, the point".into()),
            None,
        ),
        // INTEGER has places and no digits.
        (Err(_), _) if places == "0" => (
            Ok(Kind::Decimal {
                digits: DIGITS_MAX,
                places: 0,
            }),
            None,
        ),
        (Err(_), _) => (
            Ok(Kind::Double),
            Some("kept as a floating-point number of 64 bits"),
        ),
    };
    match data_type.split('(').next().unwrap_or_default() {
        "NUMBER" => number(),
        "FLOAT" | "BINARY_DOUBLE" => (Ok(Kind::Double), None),
        "BINARY_FLOAT" => (Ok(Kind::Float), None),
        "DATE" => (Ok(Kind::Date), None),
        "TIMESTAMP" if data_type.contains("TIME ZONE") => (Ok(Kind::MomentOfWorld), None),
        "TIMESTAMP" => (Ok(Kind::Moment), None),
        "CHAR" | "VARCHAR2" | "NCHAR" | "NVARCHAR2" | "CLOB" | "NCLOB" | "LONG" => {
            (Ok(Kind::Text), None)
        }
        "RAW" | "BLOB" | "LONG RAW" => (Ok(Kind::Bytes), None),
        _ => (Err("the column store has no such type".into()), None),
    }
}

struct OracleReader {
    client: Client,
    misfits: Misfits,
}

impl Reader for OracleReader {
    fn read(&mut self, table: &SourceTable, part: &Part, take: Taker<'_>) -> Result<()> {
        let statement = self
            .client
            .prepare(&of_oracle(&(select(table) + &within(table, part))))?;
        let (misfits, mut number) = (&mut self.misfits, 0_u64);
        let mut scratch = Vec::new();
        self.client.execute(statement, &[], |row, kinds, _| {
            number += 1;
            scratch.clear();
            for (place, kind) in kinds.iter().enumerate() {
                let of = table
                    .columns
                    .get(place)
                    .and_then(|column| column.kind.as_ref().ok());
                match of
                    .map(|of| value(row, place, *kind, *of))
                    .transpose()?
                    .flatten()
                {
                    Some(value) => scratch.push(value),
                    None => misfits.enter(place, || unreadable(table, place, number)),
                }
            }
            if misfits.is_empty() {
                let cells: Vec<Cell<'_>> = scratch.iter().map(Held::as_cell).collect();
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

    fn totals(&mut self, table: &SourceTable) -> Result<Vec<Option<String>>> {
        let mut all = Vec::new();
        for sql in totals(table, &DIALECT) {
            all.extend(
                self.client
                    .texts(&of_oracle(&sql))?
                    .pop()
                    .unwrap_or_default(),
            );
        }
        Ok(all)
    }
}

/// A query that was written for all engines, in Oracle's words: an alias has no AS, and the first rows are fetched.
fn of_oracle(sql: &str) -> String {
    let sql = sql.replace(") AS part", ") part");
    match sql.rsplit_once(" LIMIT ") {
        Some((rest, rows)) if rows.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{rest} FETCH FIRST {rows} ROWS ONLY")
        }
        _ => sql,
    }
}

/// A value that outlives its row.
enum Held {
    Null,
    Int(i64),
    Wide(i128),
    Double(f64),
    Bytes(Vec<u8>),
}

impl Held {
    fn as_cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::Int(n) => Cell::Int(*n),
            Self::Wide(n) => Cell::Wide(*n),
            Self::Double(x) => Cell::Double(*x),
            Self::Bytes(bytes) => Cell::Bytes(bytes),
        }
    }
}

/// A value as its column's kind; `None` where it is none of those.
fn value(row: &Row, place: usize, kind: read::Kind, of: Kind) -> Result<Option<Held>> {
    let cell = read::cell(row, place, kind)?;
    Ok(Some(match (cell, of) {
        (read::Cell::Null, _) => Held::Null,
        (read::Cell::Number(number), Kind::Double) => match number.to_string().parse() {
            Ok(x) => Held::Double(x),
            Err(_) => return Ok(None),
        },
        (read::Cell::Number(number), of) => match unscaled(&number.to_string(), of) {
            Some(unscaled) => i64::try_from(unscaled).map_or(Held::Wide(unscaled), Held::Int),
            None => return Ok(None),
        },
        (read::Cell::Double(x), Kind::Float | Kind::Double) => Held::Double(x),
        (read::Cell::Moment(moment), Kind::Date) => {
            let us = microseconds(&moment);
            // A DATE of Oracle's has a time, which a day has no place for.
            if us % DAY_US != 0 {
                return Ok(None);
            }
            Held::Int(us / DAY_US)
        }
        (read::Cell::Moment(moment), Kind::Moment | Kind::MomentOfWorld) => {
            Held::Int(microseconds(&moment))
        }
        (read::Cell::Text(text), Kind::Text) => Held::Bytes(text.as_bytes().to_vec()),
        (read::Cell::Bytes(bytes), Kind::Bytes) => Held::Bytes(bytes.to_vec()),
        _ => return Ok(None),
    }))
}

/// The unscaled number of digits that the server writes without zeros at their end.
fn unscaled(digits: &str, of: Kind) -> Option<i128> {
    let places = match of {
        Kind::Int(_) | Kind::Unsigned(_) => 0,
        Kind::Decimal { places, .. } => places,
        _ => return None,
    };
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let missing = usize::from(places).checked_sub(rest.len())?;
    let point = if places == 0 { "" } else { "." };
    let found = unscaled_of(
        format!("{whole}{point}{rest}{}", "0".repeat(missing)).as_bytes(),
        places,
    )?;
    match of {
        Kind::Int(64) => i64::try_from(found).ok().map(i128::from),
        Kind::Int(32) => i32::try_from(found).ok().map(i128::from),
        _ => Some(found),
    }
}

fn unreadable(table: &SourceTable, place: usize, number: u64) -> String {
    let Some(SourceColumn { name, declared, .. }) = table.columns.get(place) else {
        return TargetError::statement("oracle: a row has more columns than its table").message;
    };
    format!(
        "oracle: row {number} of {} has a value in the column {name} {declared} that a column store cannot hold, such as a DATE with a time",
        table.label()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_kinds() {
        let kind = |of: &str, digits: &str, places: &str| kind_of(of, digits, places).0;
        assert_eq!(kind("NUMBER", "19", "0"), Ok(Kind::Int(64)));
        assert_eq!(kind("NUMBER", "9", "0"), Ok(Kind::Int(32)));
        assert_eq!(
            kind("NUMBER", "12", "2"),
            Ok(Kind::Decimal {
                digits: 12,
                places: 2
            })
        );
        assert_eq!(
            kind("NUMBER", "", "0"),
            Ok(Kind::Decimal {
                digits: 38,
                places: 0
            })
        );
        assert_eq!(kind("NUMBER", "", ""), Ok(Kind::Double));
        assert_eq!(kind("TIMESTAMP(6)", "", "6"), Ok(Kind::Moment));
        assert_eq!(
            kind("TIMESTAMP(6) WITH TIME ZONE", "", "6"),
            Ok(Kind::MomentOfWorld)
        );
        assert!(kind("SDO_GEOMETRY", "", "").is_err());
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        let found = ["ORDERS", "LEVEL", "Mixed", "V$X_1", "1ST"].map(written);
        assert_eq!(
            found,
            ["orders", "\"LEVEL\"", "\"Mixed\"", "v$x_1", "\"1ST\""]
        );
    }

    #[test]
    fn digits_without_zeros_at_the_end_are_unscaled() {
        let money = Kind::Decimal {
            digits: 12,
            places: 2,
        };
        assert_eq!(unscaled("1.5", money), Some(150));
        assert_eq!(unscaled("-7", money), Some(-700));
        assert_eq!(unscaled("1.555", money), None);
        assert_eq!(unscaled("9999999999999999999", Kind::Int(64)), None);
    }

    #[test]
    fn the_first_rows_are_fetched_in_oracles_words() {
        assert_eq!(
            of_oracle("SELECT a FROM t LIMIT 5"),
            "SELECT a FROM t FETCH FIRST 5 ROWS ONLY"
        );
        assert_eq!(
            of_oracle("SELECT a FROM (SELECT * FROM t) AS part"),
            "SELECT a FROM (SELECT * FROM t) part"
        );
    }
}
