//! The statements that every engine understands, with the few words in which engines differ.

use super::{Kind, SourceColumn, SourceTable};

/// Values that one query is asked for: PostgreSQL allows 1664 and SQLite 2000, and a column is asked for up to three.
const TOTALS_MAX: usize = 1000;
/// Digits of a decimal of which as many rows as a table can have sum up to no more than 38.
const SUMMED_DIGITS_MAX: u8 = 27;

#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    pub quote: char,
    /// Bytes of a text in UTF-8, with `{}` for the column.
    pub text_bytes: &'static str,
    /// The exact sum of integers and decimals, with `{}` for the column.
    pub sum: &'static str,
    /// Days of a date since 2000, nothing of one without an end, with `{}` for the column: as texts, dates of long ago differ
    /// from engine to engine.
    pub day: &'static str,
}

impl Dialect {
    /// A name as it stands in a statement.
    pub fn quoted(&self, name: &str) -> String {
        let quote = self.quote;
        let name = name.replace(quote, &format!("{quote}{quote}"));
        format!("{quote}{name}{quote}")
    }
}

/// The query for the columns of a table, without a condition.
pub fn select(table: &SourceTable) -> String {
    let columns: Vec<&str> = (table.columns.iter())
        .map(|column| column.expression.as_str())
        .collect();
    format!("SELECT {} FROM {}", columns.join(", "), table.from)
}

/// The query for [`super::Reader::address_after`].
pub fn address_after(table: &SourceTable, from: u64, rows: u64) -> String {
    let SourceTable {
        address,
        from: table,
        ..
    } = table;
    format!(
        "SELECT {address} FROM {table} WHERE {address} >= {from} ORDER BY {address} LIMIT 1 OFFSET {rows}"
    )
}

/// The queries for [`super::Reader::totals`], one row each.
pub fn totals(table: &SourceTable, dialect: &Dialect) -> Vec<String> {
    let columns = table.columns.iter();
    let asked: Vec<String> = std::iter::once("count(*)".to_owned())
        .chain(columns.flat_map(|column| totals_of(column, dialect)))
        .collect();
    (asked.chunks(TOTALS_MAX))
        .map(|asked| format!("SELECT {} FROM {}", asked.join(", "), table.from))
        .collect()
}

fn totals_of(column: &SourceColumn, dialect: &Dialect) -> Vec<String> {
    let it = &column.expression;
    let mut asked = vec![format!("count({it})")];
    match column.kind {
        // A sum of such numbers may have more digits than an engine has room for.
        Ok(Kind::Decimal { digits, .. }) if digits > SUMMED_DIGITS_MAX => {
            asked.extend([format!("min({it})"), format!("max({it})")]);
        }
        Ok(Kind::Int(_) | Kind::Unsigned(_) | Kind::Decimal { .. }) => {
            asked.push(dialect.sum.replace("{}", it));
        }
        Ok(Kind::Date) => {
            let day = dialect.day.replace("{}", it);
            asked.extend([format!("min({day})"), format!("max({day})")]);
        }
        Ok(Kind::Text) => {
            let bytes = dialect.text_bytes.replace("{}", it);
            asked.push(format!("sum({bytes})"));
        }
        // Sums of the others depend on the order of the rows, or there are none.
        _ => {}
    }
    asked
}
