//! CSV (RFC 4180): one line a point, under the names of the JSON.

use serde_json::{Map, Value};

use super::json::row;
use crate::{Point, Run};

/// First characters of a spreadsheet's formula, in both widths.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The run's points as CSV: a header, then one line a point, in the order they were measured.
///
/// The columns are the names of the JSON, with `run` first; `work` is spread out (`work.mode` …),
/// sentences of remarks are joined with "; ", and what is no single value (samples, timed events,
/// histograms) is left to the JSON. An unknown value is an empty field. A text that a spreadsheet would execute as a formula
/// has an apostrophe before it.
pub fn csv(run: &Run) -> String {
    let names = names();
    let mut text = line(names.iter().cloned());
    for point in &run.points {
        let row = row(run, point);
        text += &line(names.iter().map(|name| match name.as_str() {
            "run" => defused(run.label.clone()),
            _ => field(&row, name),
        }));
    }
    text
}

/// Names of the columns: every single value of a row, `work` spread out, the run's label first.
fn names() -> Vec<String> {
    let point = Point::default();
    let mut names = vec!["run".to_owned()];
    for (name, value) in row(&Run::default(), &point) {
        match value {
            _ if name.ends_with("_histogram") => {}
            Value::Array(_) if !["reasons", "notes"].contains(&name.as_str()) => {}
            Value::Object(fields) => {
                names.extend(fields.keys().map(|inner| format!("{name}.{inner}")));
            }
            _ => names.push(name),
        }
    }
    names
}

fn line(fields: impl Iterator<Item = String>) -> String {
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

fn field(row: &Map<String, Value>, name: &str) -> String {
    let value = match name.split_once('.') {
        Some((outer, inner)) => row.get(outer).and_then(|object| object.get(inner)),
        None => row.get(name),
    };
    match value {
        Some(number @ Value::Number(_)) => number.to_string(),
        other => defused(other.map(plain).unwrap_or_default()),
    }
}

/// A text that no spreadsheet takes for a formula, which could run programs or send data elsewhere.
fn defused(text: String) -> String {
    let is_skipped = |c: char| c.is_whitespace() || c.is_control();
    if text.trim_start_matches(is_skipped).starts_with(FORMULA) {
        format!("'{text}")
    } else {
        text
    }
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
    fn no_cell_is_a_formula() {
        for formula in [
            "=1+1",
            "+1",
            "-cmd|' /C calc'!A0",
            "@SUM(A1)",
            " =1",
            "\t=1",
            "＝1",
        ] {
            assert_eq!(defused(formula.to_owned()), format!("'{formula}"));
        }
        for harmless in ["", "a=1", "1-2", "–"] {
            assert_eq!(defused(harmless.to_owned()), harmless);
        }
        let row =
            serde_json::json!({"n": -1.5, "t": "-1.5", "r": [{"text": "=x"}], "w": {"k": "@x"}});
        let row = row.as_object().unwrap();
        let fields = ["n", "t", "r", "w.k", "absent"].map(|name| field(row, name));
        assert_eq!(fields, ["-1.5", "'-1.5", "'=x", "'@x", ""]);
    }

    #[test]
    fn quotes_as_rfc_4180_wants() {
        let fields = ["a", "b,c", "say \"x\"", "two\nlines", ""];
        assert_eq!(
            line(fields.map(str::to_owned).into_iter()),
            "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",\r\n"
        );
    }
}
