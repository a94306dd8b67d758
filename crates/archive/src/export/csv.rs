//! CSV (RFC 4180): one line a point, under the names of the JSON.

use serde_json::{Map, Value};

use super::{json, schema};
use crate::Run;

/// The run's points as CSV: a header, then one line a point, in the order they were measured.
///
/// The columns are the names of the JSON, with `run` first; `work` is spread out (`work.mode` …),
/// sentences of remarks are joined with "; ", and what is no single value (samples, timed events,
/// histograms) is left to the JSON. An unknown value is an empty field.
pub fn csv(run: &Run) -> String {
    let names = schema::flat_names();
    let mut text = line(names.iter().cloned());
    for point in &run.points {
        let row = json::row(run, point);
        text += &line(names.iter().map(|name| match name.as_str() {
            "run" => run.label.clone(),
            _ => field(&row, name),
        }));
    }
    text
}

fn line(fields: impl Iterator<Item = String>) -> String {
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

fn field(row: &Map<String, Value>, name: &str) -> String {
    let value = match name.split_once('.') {
        Some((outer, inner)) => row.get(outer).and_then(|object| object.get(inner)),
        None => row.get(name),
    };
    value.map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join("; "),
        // Of a remark.
        Value::Object(fields) => fields.get("text").map(plain).unwrap_or_default(),
        other => other.to_string(),
    }
}

fn quoted(field: String) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_rfc_4180_wants() {
        let fields = ["a", "b,c", "say \"x\"", "two\nlines", ""];
        assert_eq!(
            line(fields.map(str::to_owned).into_iter()),
            "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",\r\n"
        );
    }
}
