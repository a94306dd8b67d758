//! Markdown: one table a test, in the layout of the published reports.

use std::fmt::Write as _;

use super::rows::target;
use crate::{Block, Cell, Component, Point, PointKey, Run, Section, Table};

/// Header of a column, its unit as the published reports print it, and the figure under it.
type Column = (&'static str, &'static str, &'static str);

const COLUMNS: &[Column] = &[
    ("rps", "rows/s", "rows_per_s"),
    ("ops", "ops/s", "operations_per_s"),
    ("CPU", "%", "cpu_pct_avg"),
    ("read", "IOPS", "read_iops"),
    ("write", "IOPS", "write_iops"),
    ("total", "IOPS", "total_iops"),
    ("read", "MB/s", "read_mb_per_s"),
    ("write", "MB/s", "write_mb_per_s"),
    ("total", "MB/s", "total_mb_per_s"),
    ("redo", "MB/s", "redo_mb_per_s"),
    ("time", "s", "elapsed_s"),
];

/// Figures that are the result itself where a test has them, and that no other test has.
const RESULTS: &[Column] = &[
    ("new orders", "/min", "new_orders_per_min"),
    ("unfinished", "ops", "unfinished"),
    ("on disk", "MB", "table_disk_mb"),
    ("in memory", "MB", "table_memory_mb"),
    ("compress factor", "times", "compress_factor"),
    ("scaled", "queries/h", "scaled_queries_per_h"),
];

/// How long one request of the device takes, which is a result of tests that aim at storage.
const OF_STORAGE: &[Column] = &[
    ("read mean", "ms", "read_await_ms"),
    ("read p99", "ms", "read_await_ms_p99"),
    ("write mean", "ms", "write_await_ms"),
    ("write p99", "ms", "write_await_ms_p99"),
];

/// The run as Markdown: sentences that answer first, one table for each test and target, then what is invalid, noted or missing.
pub fn markdown(run: &Run, answer: &[String]) -> String {
    let mut text = format!(
        "# {} — plan {}, {}\n\nMeasured with dbdyno {}, started {}. MB is 10^6 bytes; – is unknown.\n",
        cell(&run.label),
        cell(&run.plan_name),
        run.state.name(),
        cell(&run.tool_version),
        stats::words::date(&run.started_at),
    );
    for sentence in answer {
        let _ = writeln!(text, "\n**{}**", cell(sentence));
    }
    if let Some(label) = &run.renamed_from {
        let _ = writeln!(text, "\nmeasured as {}", cell(label));
    }
    if let Some(note) = &run.note {
        let _ = writeln!(text, "\n{}", cell(note));
    }
    for reason in &run.reasons {
        let _ = writeln!(text, "\n**Invalid:** {}", cell(&reason.to_string()));
    }
    for target in &run.targets {
        if let Some(missing) = &target.rights_missing {
            let _ = writeln!(
                text,
                "\n**{}:** {}",
                cell(&target.name),
                cell(&missing.to_string())
            );
        }
    }
    let mut done: Vec<(&str, u32)> = Vec::new();
    for Point { key, title, .. } in &run.points {
        let group = (key.test.as_str(), key.target);
        if !done.contains(&group) {
            done.push(group);
            let target = target(run, key.target).cloned().unwrap_or_default();
            let _ = write!(
                text,
                "\n## {} {} — {} ({} {})\n\n",
                cell(&key.test),
                cell(title),
                cell(&target.name),
                cell(&target.engine),
                cell(&target.engine_version),
            );
            text += &table(run, group);
            let is_of = |point: &&Point| (point.key.test.as_str(), point.key.target) == group;
            for own in Section::joined(
                run.points
                    .iter()
                    .filter(is_of)
                    .flat_map(Point::valid_sections),
            ) {
                text += &section(&own);
            }
        }
    }
    if !run.missing.is_empty() {
        text += "\n## Not measured\n\n";
    }
    for m in &run.missing {
        let name = target(run, m.target).map_or("", |target| &target.name);
        let _ = writeln!(
            text,
            "- {} {} on {}: {}",
            cell(&m.test),
            cell(&m.title),
            cell(name),
            cell(&m.reason.to_string())
        );
    }
    text
}

/// The table of one test on one target. `Run` is the repetition, `Tst` the point's place in the run.
fn table(run: &Run, group: (&str, u32)) -> String {
    let is_of = |key: &PointKey| (key.test.as_str(), key.target) == group;
    let is_known = |(_, _, figure): &&Column| {
        let mut points = run.points.iter().filter(|point| is_of(&point.key));
        points.any(|point| point.figures.get(figure).is_some())
    };
    let is_of_storage = |p: &Point| is_of(&p.key) && p.component == Component::Storage;
    let of_storage = if run.points.iter().any(is_of_storage) {
        OF_STORAGE
    } else {
        &[]
    };
    let results = RESULTS.iter().chain(of_storage).filter(is_known);
    let columns: Vec<&Column> = COLUMNS.iter().chain(results).collect();
    let mut text = String::from("| Run | Tst | Code | #N | #J | #T |");
    for (header, unit, _) in &columns {
        let _ = write!(text, " {header} [{unit}] |");
    }
    text += " valid |\n|---:|---:|---|---:|---:|---:|";
    text += &"---:|".repeat(columns.len());
    text += "---|\n";
    let mut remarks = String::new();
    for (place, point) in (1..).zip(&run.points) {
        let key = &point.key;
        if !is_of(key) {
            continue;
        }
        let _ = write!(
            text,
            "| {} | {place} | {} | {} | {} | {} |",
            key.repetition,
            cell(&key.test),
            key.nodes,
            key.jobs,
            key.threads
        );
        for (_, _, figure) in &columns {
            let _ = write!(text, " {} |", number(point.figures.get(figure)));
        }
        text += if point.valid() {
            " yes |\n"
        } else {
            " **no** |\n"
        };
        for reason in &point.reasons {
            let _ = writeln!(
                remarks,
                "- Tst {place} is **invalid**: {}",
                cell(&reason.to_string())
            );
        }
        for note in &point.notes {
            let _ = writeln!(remarks, "- Tst {place}: {}", cell(&note.to_string()));
        }
    }
    if !remarks.is_empty() {
        let _ = write!(text, "\n{remarks}");
    }
    text
}

/// Values of a chart are a table: Markdown has no charts.
fn section(section: &Section) -> String {
    let mut text = format!("\n### {}\n", cell(&section.title));
    if let Some(note) = &section.note {
        let _ = write!(text, "\n{}\n", cell(note));
    }
    for block in &section.blocks {
        text += &match block {
            Block::Sentence(sentence) => format!("\n{}\n", cell(sentence)),
            Block::Caution(caution) => format!("\n**{}**\n", cell(caution)),
            Block::Table(table) => values(table),
            Block::Chart(chart) => {
                let note = chart.note.iter().map(|note| format!("\n{}\n", cell(note)));
                let note: String = note.collect();
                format!(
                    "\n**{}**\n{note}{}",
                    cell(&chart.title),
                    values(&chart.table())
                )
            }
        };
    }
    text
}

fn values(table: &Table) -> String {
    let is_text =
        |at: usize| (table.rows.iter()).any(|row| matches!(row.get(at), Some(Cell::Text(_))));
    let (mut heads, mut rule) = (String::from("\n|"), String::from("|"));
    for (at, column) in table.columns.iter().enumerate() {
        let unit = match column.unit.as_str() {
            "" => String::new(),
            unit => format!(" [{}]", cell(unit)),
        };
        let _ = write!(heads, " {}{unit} |", cell(&column.name));
        rule += if is_text(at) { "---|" } else { "---:|" };
    }
    let mut text = format!("{heads}\n{rule}\n");
    for row in &table.rows {
        text += "|";
        for (value, column) in row.iter().zip(&table.columns) {
            let _ = match value {
                // A count.
                Cell::Number(value) if column.unit.is_empty() && value.fract() == 0.0 => {
                    write!(text, " {value} |")
                }
                Cell::Number(value) => write!(text, " {} |", number(Some(*value))),
                Cell::Text(value) => write!(text, " {} |", cell(value)),
                Cell::Unknown(()) => write!(text, " – |"),
            };
        }
        text += &" |".repeat(table.columns.len().saturating_sub(row.len()));
        text += "\n";
    }
    text
}

/// A figure with three significant digits or all its whole ones.
fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(v) if !v.is_finite() => "–".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(v) if v.abs() >= 99.95 => format!("{v:.0}"),
        Some(v) if v.abs() >= 9.995 => format!("{v:.1}"),
        Some(v) if v.abs() >= 0.9995 => format!("{v:.2}"),
        Some(v) if v.abs() >= 0.0005 => format!("{v:.3}"),
        Some(v) => format!("{v:.1e}"),
    }
}

/// Text that can neither break the table it stands in nor be markup of its own: no tag, link, image, code or emphasis.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => cell += "&amp;",
            '<' => cell += "&lt;",
            '>' => cell += "&gt;",
            '|' | '\\' | '`' | '*' | '[' | ']' => cell.extend(['\\', c]),
            c if c.is_control() => cell.push(' '),
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        let text = "<img src=x onerror=a()> ![i](http://h) `c` *b* a|b \\| &lt; \u{1b}[31m\n# t";
        assert_eq!(
            cell(text),
            "&lt;img src=x onerror=a()&gt; !\\[i\\](http://h) \\`c\\` \\*b\\* a\\|b \\\\\\| &amp;lt;  \\[31m # t"
        );
        assert_eq!(
            cell("shared_buffers = 8 GB – 99.9 %"),
            "shared_buffers = 8 GB – 99.9 %"
        );
    }

    #[test]
    fn numbers_keep_three_digits() {
        let text =
            [0.0, 0.00001, 0.0124, 1.2345, 99.949, 99.96, 123_456.7].map(|v| number(Some(v)));
        assert_eq!(
            text,
            ["0", "1.0e-5", "0.012", "1.23", "99.9", "100", "123457"]
        );
        assert_eq!(number(None), "–");
        assert_eq!(number(Some(f64::NAN)), "–");
    }
}
