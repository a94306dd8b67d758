//! The exports say what the run says, under the published names.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::common::example_run;
use archive::export::{csv, json, json_schema, json_text, markdown};
use archive::remark::{KINDS, Kind};
use archive::{FIGURES, Run};
use serde_json::Value;
use stats::Histogram;
use testing::Says;

fn docs(file: &str) -> PathBuf {
    Path::new("../../docs").join(file)
}

fn errors(schema: &Value, instance: &Value) -> Vec<String> {
    let validator = jsonschema::draft202012::new(schema).unwrap();
    validator
        .iter_errors(instance)
        .map(|e| e.to_string())
        .collect()
}

/// `UPDATE_SCHEMA=1 cargo test -p archive` writes the file again.
#[test]
fn the_published_schema_is_the_generated_one() {
    let generated = format!("{:#}\n", json_schema());
    let file = docs("dbdyno-result.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &generated).unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap();
    assert!(
        published == generated,
        "run the tests with UPDATE_SCHEMA=1 and commit {file:?}"
    );
}

#[test]
fn an_exported_run_is_what_the_schema_says() {
    let schema = json_schema();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    let exported: Value = serde_json::from_str(&json_text(&example_run())).unwrap();
    assert_eq!(errors(&schema, &exported), Vec::<String>::new());
}

#[test]
fn the_schema_refuses_what_an_export_never_holds() {
    let schema = json_schema();
    let good = json(&example_run());
    let changes: [fn(&mut Value); 6] = [
        |v| v["schema"] = "dbdyno-result/1".into(),
        |v| v["points"][0]["rows_per_s"] = "many".into(),
        |v| v["points"][0]["rows_per_second"] = 1.into(),
        |v| v["points"][0]["component"] = "network".into(),
        |v| v["points"][0]["samples"][0]["at_s"] = Value::Null,
        |v| {
            drop(
                v["points"][0]
                    .as_object_mut()
                    .unwrap()
                    .remove("service_us_p99"),
            )
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut bad = good.clone();
        change(&mut bad);
        assert_eq!(errors(&schema, &bad).len(), 1, "change {number}");
    }
}

#[test]
fn a_row_of_the_json_is_flat_and_complete() {
    let run = example_run();
    let exported = json(&run);
    let row = &exported["points"][0];
    for (figure, value) in run.points[0].figures.iter() {
        assert_eq!(row[figure.name], Value::from(value), "{}", figure.name);
    }
    assert_eq!(row["target"], "sqlite");
    assert_eq!(row["engine"], "sqlite");
    assert_eq!(row["valid"], true);
    assert_eq!(row["steady"], "yes");
    assert_eq!(exported["run"]["valid"], false);
    assert_eq!(exported["missing"][0]["target"], "sqlite");
    let invalid = &exported["points"][2];
    assert_eq!(invalid["valid"], false);
    assert_eq!(invalid["steady"], Value::Null);
    for unknown in ["service_us_mean", "response_us_max", "service_histogram"] {
        assert_eq!(invalid[unknown], Value::Null, "{unknown}");
    }
}

/// Percentiles come from the histogram beside them, and anyone can read that.
#[test]
fn the_histogram_travels_with_its_percentiles() {
    use base64::Engine as _;
    let exported = json(&example_run());
    let row = &exported["points"][0];
    for kind in ["service", "response"] {
        let text = row[format!("{kind}_histogram")].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text)
            .unwrap();
        let histogram = Histogram::decode(&bytes).unwrap();
        assert_eq!(row[format!("{kind}_us_p99")], histogram.percentile_us(99.0));
        assert_eq!(row[format!("{kind}_us_mean")], histogram.mean_us());
        assert_eq!(histogram.count(), 1_000);
    }
}

#[test]
fn what_is_not_a_number_is_null_with_a_note() {
    let mut run = example_run();
    run.points[0].figures.rows_per_s = Some(f64::NAN);
    run.points[0].figures.operations = Some(f64::INFINITY);
    run.points[0].samples[0].at_s = f64::NAN;
    run.platform.processor_mhz = Some(f64::NAN);
    let exported = json(&run);
    assert_eq!(errors(&json_schema(), &exported), Vec::<String>::new());
    let row = &exported["points"][0];
    assert_eq!(row["rows_per_s"], Value::Null);
    assert_eq!(row["operations"], Value::Null);
    let notes = row["notes"].to_string();
    notes.says_all(&["rows_per_s", "operations was"]);
    assert!(!csv(&run).contains("NaN") && !markdown(&run, &[]).contains("NaN"));
}

/// Reads RFC 4180, line by line and field by field.
fn parse(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut field, mut quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            c => field.push(c),
        }
    }
    assert!(
        line.is_empty() && field.is_empty(),
        "the last line is not ended"
    );
    lines
}

#[test]
fn the_csv_has_a_line_for_each_point_and_the_names_of_the_json() {
    let run = example_run();
    let lines = parse(&csv(&run));
    let exported = json(&run);
    assert_eq!(lines.len(), 1 + run.points.len());
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    let field = |line: usize, name: &str| {
        let column = lines[0].iter().position(|n| n == name);
        lines[line][column.unwrap_or_else(|| panic!("no column {name}"))].as_str()
    };
    for (line, point) in (1..).zip(exported["points"].as_array().unwrap()) {
        for name in FIGURES
            .iter()
            .map(|f| f.name)
            .chain(["service_us_p99", "response_us_max"])
        {
            assert_eq!(
                field(line, name).parse().ok(),
                point[name].as_f64(),
                "{name}"
            );
        }
    }
    assert_eq!(field(1, "run"), "example");
    assert_eq!(field(1, "test"), "T611");
    assert_eq!(field(2, "dop"), "2");
    assert_eq!(field(1, "work.state"), "fresh, analysed");
    assert_eq!(
        field(3, "reasons"),
        "7 of 8000 rows were wrong, see \"check\""
    );
    assert_eq!(field(1, "valid"), "true");
    assert_eq!(field(3, "valid"), "false");
    assert_eq!(field(3, "steady"), "");
    for name in &lines[0][1..] {
        let outer = name.split('.').next().unwrap();
        assert!(
            exported["points"][0].get(outer).is_some(),
            "{name} is not in the JSON"
        );
    }
}

#[test]
fn the_markdown_has_a_table_for_each_test() {
    let answer = ["The figures are indicative: measured once.".to_owned()];
    insta::assert_snapshot!(markdown(&example_run(), &answer));
}

#[test]
fn the_markdown_shows_sizes_where_they_are_the_result() {
    let mut run = example_run();
    for point in &mut run.points {
        let figures = &mut point.figures;
        (figures.table_disk_mb, figures.table_memory_mb) = (None, None);
        (figures.compress_factor, figures.scaled_queries_per_h) = (None, None);
    }
    assert!(!markdown(&run, &[]).contains("compress factor"));
    let figures = &mut run.points[0].figures;
    (figures.table_memory_mb, figures.compress_factor) = (Some(12.5), Some(3.2));
    let text = markdown(&run, &[]);
    let heads = "in memory [MB] | compress factor [times] | valid |";
    assert!(text.contains(heads), "{text}");
    assert!(text.contains(" 12.5 | 3.20 | "), "{text}");
}

/// `docs/FORMAT.md` shows one whole row: the one that is written today.
#[test]
fn the_format_shows_a_whole_row() {
    let run: Run = example_run();
    let mut row = json(&run)["points"][0].clone();
    for kind in ["service_histogram", "response_histogram"] {
        row[kind] = "HISTFAAA…".into();
    }
    row["operation_times"][0]["histogram"] = "HISTFAAA…".into();
    shown("FORMAT.md", "row", &format!("```json\n{row:#}\n```\n"));
}

/// … and every remark that there is, with its fields.
#[test]
fn the_format_lists_every_remark() {
    let mut table = String::from("\n| code | fields | meaning |\n|---|---|---|\n");
    for kind in KINDS {
        let field = |(name, of): &(&str, &str)| format!("`{name}` ({})", in_words(of));
        let fields: Vec<String> = kind.fields.iter().map(field).collect();
        table += &format!(
            "| `{}` | {} | {} |\n",
            kind.code(),
            fields.join(", "),
            kind.about()
        );
    }
    table += "\n";
    shown("FORMAT.md", "remarks", &table);
}

/// `docs/GLOSSARY.md` lists every metric with its unit.
#[test]
fn the_glossary_lists_every_metric() {
    let mut table = String::from("\n| metric | unit | meaning |\n|---|---|---|\n");
    for metric in FIGURES {
        let (name, unit, meaning) = (metric.name, metric.unit, metric.meaning);
        table += &format!("| `{name}` | {unit} | {meaning} |\n");
    }
    table += "\n";
    shown("GLOSSARY.md", "metrics", &table);
}

fn in_words(of: &str) -> String {
    let of: String = of.split_whitespace().collect();
    if let Some(inner) = of.strip_prefix("Option<") {
        return format!("{}?", in_words(inner.trim_end_matches('>')));
    }
    let words = match of.as_str() {
        "String" => "text",
        "f64" | "u32" | "u64" => "number",
        "bool" => "flag",
        "Box<Remark>" => "remark",
        "RoundsRole" => "`alone`, `for_all` or `other`",
        list if list.starts_with("Vec<") => "list",
        _ => "object",
    };
    words.to_owned()
}

/// Codes name one remark each, and what every export has is no field of its own.
#[test]
fn codes_are_unique_and_leave_the_names_of_exports_free() {
    let codes: std::collections::HashSet<String> = KINDS.iter().map(Kind::code).collect();
    assert_eq!(codes.len(), KINDS.len());
    for kind in KINDS.iter().filter(|kind| kind.code() != "text") {
        let taken = kind
            .fields
            .iter()
            .find(|(name, _)| ["code", "text"].contains(name));
        assert_eq!(taken, None, "{}", kind.code());
    }
    let exported = archive::Remark::Short { elapsed_s: 0.0461 }.exported();
    let text = "short: 46 ms; use a larger size for a reliable figure";
    assert_eq!(
        exported,
        serde_json::json!({ "code": "short", "elapsed_s": 0.0461, "text": text })
    );
}

/// Compares the part of a document between the marks of this name; `UPDATE_SCHEMA` writes it again.
fn shown(document: &str, name: &str, text: &str) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _turn = WRITING.lock();
    let file = docs(document);
    let mut whole = std::fs::read_to_string(&file).unwrap();
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let from = whole.find(&start).expect("the document marks the start") + start.len();
    let to = whole.find(&end).expect("the document marks the end");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        whole.replace_range(from..to, text);
        std::fs::write(&file, &whole).unwrap();
        return;
    }
    assert!(
        &whole[from..to] == text,
        "run the tests with UPDATE_SCHEMA=1 and commit {file:?}"
    );
}
