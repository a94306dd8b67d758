//! Values of each type, on their way into a table and out of it.

use super::bench::{Bench, Checked, Rows, failed, number, same};
use crate::Value;

/// 31 January 2026, 12:34:56.123456, in microseconds since 1970.
const MOMENT_US: i64 = 1_769_862_896_123_456;
/// The same day, and one before 1970.
const DAYS: [(i32, &str); 2] = [(20_484, "2026-01-31"), (-1, "1969-12-31")];
/// With everything that a protocol or a file of rows could take for something else.
const TEXTS: [&str; 6] = [
    "",
    "plain",
    "it's \"quoted\"",
    "tab\tnew\nline\\N\\",
    "äöü ßĐ漢字",
    "\u{1f697}",
];
const INTEGERS: [i64; 6] = [0, 1, -1, 4_294_967_296, i64::MAX, i64::MIN + 1];

/// Puts values into a table of one column, by a prepared statement and by a bulk load, and hands out what comes back.
fn both_ways(
    bench: &Bench<'_>,
    of: &str,
    values: &[Value<'_>],
    check: impl Fn(Vec<Option<String>>) -> Checked,
) -> Checked {
    let name = "dbdyno_check_types";
    let columns = format!("id BIGINT NOT NULL, v {of}");
    bench.with_table(name, &columns, |session, table| {
        let text = bench.names.text;
        let ordered = format!("SELECT CAST(v AS {text}) FROM {table} ORDER BY id");
        let insert = session.prepare(&format!("INSERT INTO {table} VALUES (?, ?)"))?;
        let numbered = || (0..).map(Value::Int).zip(values);
        session.begin()?;
        for (id, value) in numbered() {
            session.execute(insert, &[id, *value])?;
        }
        session.commit()?;
        let column = |rows: Vec<Vec<Option<String>>>| rows.into_iter().flatten().collect();
        check(column(session.texts(&ordered)?))?;
        session.batch(&format!("DELETE FROM {table}"))?;
        let rows: Vec<Vec<Value<'_>>> = numbered().map(|(id, value)| vec![id, *value]).collect();
        let loaded = session.bulk_load(name, &mut Rows(rows.iter()))?;
        same("rows loaded in bulk", values.len() as u64, loaded)?;
        check(column(session.texts(&ordered)?))
    })
}

fn are(expected: &[&str]) -> impl Fn(Vec<Option<String>>) -> Checked {
    let expected: Vec<Option<String>> = expected.iter().map(|text| Some((*text).into())).collect();
    move |seen| same("values", expected.clone(), seen)
}

pub(super) fn integers(bench: &Bench<'_>) -> Checked {
    let values = INTEGERS.map(Value::Int);
    let expected = INTEGERS.map(|number| number.to_string());
    both_ways(
        bench,
        "BIGINT",
        &values,
        are(&expected.each_ref().map(String::as_str)),
    )
}

pub(super) fn decimals(bench: &Bench<'_>) -> Checked {
    let numbers = [1_234_567, -5, 0, 999_999_999_999];
    let values = numbers.map(|unscaled| Value::Decimal {
        unscaled,
        places: 2,
    });
    both_ways(bench, "DECIMAL(12,2)", &values, |seen| {
        // Zeros behind the point are a matter of writing.
        let cents = |text: &Option<String>| {
            let number: f64 = text.as_deref()?.parse().ok()?;
            Some((number * 100.0).round() as i64)
        };
        let seen: Vec<Option<i64>> = seen.iter().map(cents).collect();
        same("hundredths", numbers.map(Some).to_vec(), seen)
    })
}

pub(super) fn strings(bench: &Bench<'_>) -> Checked {
    let is_null = |text: &str| text.is_empty() && bench.names.empty_text_is_null;
    let expected = TEXTS.map(|text| (!is_null(text)).then(|| text.to_owned()));
    both_ways(bench, "VARCHAR(80)", &TEXTS.map(Value::Text), |seen| {
        same("values", expected.to_vec(), seen)
    })
}

pub(super) fn nulls(bench: &Bench<'_>) -> Checked {
    for of in ["BIGINT", "VARCHAR(80)", bench.names.moment] {
        let values = [Value::Null, Value::Null];
        both_ways(bench, of, &values, |seen| {
            same("nulls", vec![None, None], seen)
        })?;
    }
    Ok(())
}

pub(super) fn moments(bench: &Bench<'_>) -> Checked {
    let values = [Value::Moment(MOMENT_US), Value::Moment(0)];
    both_ways(bench, bench.names.moment, &values, |seen| {
        // Zeros behind the point are a matter of writing.
        let plain = |text: Option<String>| {
            text.map(|text| {
                if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.').to_owned()
                } else {
                    text
                }
            })
        };
        let seen: Vec<Option<String>> = seen.into_iter().map(plain).collect();
        are(&["2026-01-31 12:34:56.123456", "1970-01-01 00:00:00"])(seen)
    })
}

pub(super) fn dates(bench: &Bench<'_>) -> Checked {
    let values = DAYS.map(|(days, _)| Value::Date(days));
    both_ways(bench, "DATE", &values, are(&DAYS.map(|(_, text)| text)))
}

/// Every byte there is, compared by the engine: no two write them alike as text.
pub(super) fn bytes(bench: &Bench<'_>) -> Checked {
    let name = "dbdyno_check_bytes";
    let all: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let columns = format!("id BIGINT NOT NULL, v {} NOT NULL", bench.names.bytes);
    bench.with_table(name, &columns, |session, table| {
        let insert = session.prepare(&format!("INSERT INTO {table} VALUES (?, ?)"))?;
        session.execute(insert, &[Value::Int(1), Value::Blob(&all)])?;
        let rows = [vec![Value::Int(2), Value::Blob(&all)]];
        session.bulk_load(name, &mut Rows(rows.iter()))?;
        let octets = bench.names.octets;
        let length = format!("SELECT count(*) FROM {table} WHERE {octets}(v) = 1000");
        same("values of 1000 bytes", 2, number(session, &length)?)?;
        let equal = session.prepare(&format!("SELECT id FROM {table} WHERE v = ?"))?;
        let found = session.fetch(equal, &[Value::Blob(&all)])?;
        match found.rows {
            2 => Ok(()),
            rows => Err(failed(
                "2 values equal to what was sent",
                format!("{rows} of them"),
            )),
        }
    })
}
