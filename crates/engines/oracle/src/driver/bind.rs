//! Values on their way into statements, in the driver's types.

use engine::plain::{civil, put_decimal};
use engine::{BulkRow, Value};
use oracledb::{DbType, OracleNumber, OracleTimestamp, ToDbValue};

const DAY_US: i64 = 86_400_000_000;

/// One value of a bind, which the driver borrows while it writes. Texts and bytes are borrowed (`&str`) for one execution, and owned
/// (`String`) for an array.
pub(super) enum Bound<T, B> {
    Int(i64),
    Text(T),
    Bytes(B),
    Number(OracleNumber),
    Moment(OracleTimestamp),
    /// No value, of this type: the driver wants one type for all rows of an array.
    Null(&'static DbType),
}

pub(super) type OwnedBound = Bound<String, Vec<u8>>;

impl<T: ToDbValue, B: ToDbValue> Bound<T, B> {
    pub(super) fn as_value(&self) -> &dyn ToDbValue {
        match self {
            Self::Int(number) => number,
            Self::Text(text) => text,
            Self::Bytes(bytes) => bytes,
            Self::Number(number) => number,
            Self::Moment(moment) => moment,
            Self::Null(of) => of,
        }
    }
}

/// A value as its bind; of a null nothing is known but that it is one.
pub(super) fn bound<'v, T: From<&'v str>, B: From<&'v [u8]>>(value: &Value<'v>) -> Bound<T, B> {
    match *value {
        Value::Int(number) => Bound::Int(number),
        Value::Text(text) => Bound::Text(text.into()),
        Value::Blob(bytes) => Bound::Bytes(bytes.into()),
        Value::Null => Bound::Null(oracledb::DB_TYPE_VARCHAR),
        Value::Decimal { unscaled, places } => Bound::Number(decimal(unscaled, places)),
        Value::Moment(us) => Bound::Moment(moment(us)),
        Value::Date(days) => Bound::Moment(date(i64::from(days))),
    }
}

fn decimal(unscaled: i64, places: u8) -> OracleNumber {
    let mut text = String::new();
    put_decimal(unscaled, places, &mut text);
    text.parse().unwrap_or_default()
}

fn date(days: i64) -> OracleTimestamp {
    let (year, month, day) = civil(days);
    OracleTimestamp::new_date(year as i16, month as u8, day as u8)
}

fn moment(us: i64) -> OracleTimestamp {
    let (year, month, day) = civil(us.div_euclid(DAY_US));
    let of_day = us.rem_euclid(DAY_US);
    let seconds = of_day / 1_000_000;
    OracleTimestamp::new_timestamp(
        year as i16,
        month as u8,
        day as u8,
        (seconds / 3600) as u8,
        (seconds / 60 % 60) as u8,
        (seconds % 60) as u8,
        (of_day % 1_000_000 * 1000) as u32,
    )
}

/// Rows of an array, kept until it is sent.
#[derive(Default)]
pub(super) struct Array {
    rows: Vec<Vec<OwnedBound>>,
    bytes: usize,
}

impl Array {
    pub(super) fn push(&mut self, row: &BulkRow<'_>) {
        let values = row.iter().map(|value| {
            self.bytes += match value {
                Value::Text(text) => text.len(),
                Value::Blob(bytes) => bytes.len(),
                _ => 8,
            };
            bound(value)
        });
        self.rows.push(values.collect());
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn columns(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }

    /// Gives each null the type that its column has in other rows.
    pub(super) fn type_nulls(&mut self) {
        for column in 0..self.columns() {
            let mut all = self.rows.iter().filter_map(|row| row.get(column));
            let typed = all.find(|value| !matches!(value, Bound::Null(_)));
            let Some(of) = typed.map(|value| value.as_value().db_type()) else {
                continue;
            };
            for row in &mut self.rows {
                if let Some(null @ Bound::Null(_)) = row.get_mut(column) {
                    *null = Bound::Null(of);
                }
            }
        }
    }

    pub(super) fn values(&self) -> Vec<Vec<&dyn ToDbValue>> {
        let rows = self.rows.iter();
        rows.map(|row| row.iter().map(Bound::as_value).collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_decimals_are_exact() {
        let found = moment(1_769_862_896_123_456);
        assert_eq!((found.year(), found.month(), found.day()), (2026, 1, 31));
        assert_eq!((found.hour(), found.minute(), found.second()), (12, 34, 56));
        assert_eq!(found.nanoseconds(), 123_456_000);
        let before = date(-1);
        assert_eq!(
            (before.year(), before.month(), before.day()),
            (1969, 12, 31)
        );
        assert_eq!(decimal(-5, 2).to_string(), "-0.05");
        assert_eq!(decimal(1_234_567, 2).to_string(), "12345.67");
    }

    #[test]
    fn nulls_of_an_array_have_the_type_of_their_column() {
        let mut array = Array::default();
        array.push(&[Value::Null, Value::Text("a"), Value::Null]);
        array.push(&[Value::Int(7), Value::Null, Value::Null]);
        array.type_nulls();
        let types: Vec<Vec<u16>> = (array.values().iter())
            .map(|row| row.iter().map(|value| value.db_type().num()).collect())
            .collect();
        assert_eq!(types[0], types[1]);
        assert_eq!(types[0][0], oracledb::DB_TYPE_NUMBER.num());
    }
}
