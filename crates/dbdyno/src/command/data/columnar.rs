//! `dbdyno data load columnar`: sizes, times and proof of populated tables.

use std::fmt::Write;

use anyhow::Result;
use archive::Remark;
use columnar::memory::words;
use columnar::{LiftOptions, Lifted, LiftedTable};
use engine::source::Source;
use serde_json::{Value, json};
use stats::words::counted;

use super::database::{bar, show, sound};
use super::wanted::{
    chosen_of, error_with_status, left_out, no_sum, one_line, source_of, tables_of, texts,
};
use crate::arguments::data::ColumnarLoadArguments;
use crate::command::{print, print_json};
use crate::exit::Status;

const FORMAT: u32 = 1;

pub(super) fn load(arguments: &ColumnarLoadArguments) -> Result<Status> {
    let source = source_of("data load columnar", &arguments.chosen)?;
    lab::signal::install();
    let options = LiftOptions {
        chosen: chosen_of(&arguments.chosen),
        level: arguments.levels,
        memory_bytes: arguments.memory,
        jobs: arguments.clients,
    };
    let bar = bar(0, "tables");
    let outcome = columnar::lift(
        source.as_ref(),
        &options,
        lab::signal::stop_flag(),
        &|event| show(&bar, event, "tables"),
    );
    bar.finish_and_clear();
    let lifted = outcome.map_err(error_with_status)?;
    if arguments.format.is_json() {
        print_json(&format!("{:#}\n", document(source.as_ref(), &lifted)))?
    } else {
        print(&lines(source.as_ref(), &lifted))?
    }
    Ok(sound(lifted.is_valid()))
}

fn lines(source: &dyn Source, lifted: &Lifted) -> String {
    let level = lifted.store.level();
    let mut text = format!(
        "{} of {} in {}, level {level}: {}\n\n",
        tables_of(lifted.tables.len()),
        source.title(),
        lifted.store.title(),
        level.meaning(),
    );
    let width = lifted
        .tables
        .iter()
        .map(|table| table.label.chars().count());
    let width = width.max().unwrap_or(0).max(5);
    let mut line = |cells: [&str; 7]| {
        let [name, rows, disk, memory, factor, took, codecs] = cells;
        let _ = writeln!(
            text,
            "{name:<width$}  {rows:>12}  {disk:>9}  {memory:>9}  {factor:>6}  {took:>9}  {codecs}"
        );
    };
    line([
        "table",
        "rows",
        "on disk",
        "in memory",
        "factor",
        "populate",
        "codecs",
    ]);
    for table in &lifted.tables {
        line([
            &one_line(&table.label),
            &table.digest.rows.to_string(),
            &table.disk_bytes.map_or("–".into(), words),
            &table.memory_bytes.map_or("–".into(), words),
            &factor(table.compress_factor()),
            &format!("{:.3} s", table.populate_took.as_secs_f64()),
            &codecs(table),
        ]);
    }
    line([
        "all",
        &lifted.rows().to_string(),
        &lifted.disk_bytes().map_or("–".into(), words),
        &lifted.bytes().map_or("–".into(), words),
        &factor(lifted.compress_factor()),
        &format!("{:.3} s", lifted.populate_took.as_secs_f64()),
        "",
    ]);
    text.push('\n');
    text.push_str(&remarks(lifted));
    text
}

fn remarks(lifted: &Lifted) -> String {
    let verify_s: f64 = (lifted.tables.iter())
        .map(|table| table.verify_took.as_secs_f64())
        .sum();
    let grown = |bytes: Option<u64>| bytes.map_or("–".into(), words);
    let mut text = format!(
        "{}; {}. The process took up to {} more memory while loading, and {} in the end. Reading everything back \
         to compare rows, checksums and sums took {verify_s:.3} s. It is a copy: later changes of the source are \
         not in it.\n",
        counted(u64::from(lifted.jobs), "stream"),
        lifted.moment,
        grown(lifted.grown.peak_bytes),
        grown(lifted.grown.left_bytes),
    );
    if let Some(why) = &lifted.doubt {
        let _ = writeln!(text, "Sizes in memory are unknown: {why}.");
    }
    let unknown = lifted.tables.iter().filter(|t| t.disk_bytes.is_none());
    if let Some(line) = no_sum(unknown.map(|table| table.label.as_str())) {
        let _ = writeln!(text, "{line}");
    }
    for out in &lifted.left_out {
        let _ = writeln!(text, "{}", one_line(&out.to_string()));
    }
    for table in &lifted.tables {
        for note in &table.notes {
            let _ = writeln!(text, "{}", one_line(&format!("{}: {note}", table.label)));
        }
    }
    for table in &lifted.tables {
        for reason in &table.reasons {
            let line = format!("INVALID {}: {reason}", table.label);
            let _ = writeln!(text, "{}", one_line(&line));
        }
    }
    text
}

fn factor(factor: Option<f64>) -> String {
    factor.map_or("–".into(), |factor| format!("{factor:.2}"))
}

/// The codecs of a table, with the number of columns of each.
fn codecs(table: &LiftedTable) -> String {
    let codec = |(codec, columns): (&String, &Vec<String>)| format!("{codec} {}", columns.len());
    table
        .codecs
        .iter()
        .map(codec)
        .collect::<Vec<_>>()
        .join(", ")
}

fn document(source: &dyn Source, lifted: &Lifted) -> Value {
    let table = |table: &LiftedTable| {
        json!({
            "table": table.label,
            "rows": table.digest.rows,
            "checksum": format!("{:016x}", table.digest.sum),
            "disk_bytes": table.disk_bytes,
            "memory_bytes": table.memory_bytes,
            "compress_factor": table.compress_factor(),
            "populate_s": table.populate_took.as_secs_f64(),
            "verify_s": table.verify_took.as_secs_f64(),
            "codecs": table.codecs,
            "notes": texts(&table.notes),
            "valid": table.reasons.is_empty(),
            "reasons": texts(&table.reasons),
        })
    };
    json!({
        "format": FORMAT,
        "from": source.url(),
        "source": source.title(),
        "moment": lifted.moment,
        "store": lifted.store.title(),
        "level": lifted.store.level().name(),
        "meaning": lifted.store.level().meaning(),
        "jobs": lifted.jobs,
        "memory_limit_bytes": lifted.memory_bytes,
        "rows": lifted.rows(),
        "disk_bytes": lifted.disk_bytes(),
        "memory_bytes": lifted.bytes(),
        "memory_bytes_peak": lifted.grown.peak_bytes,
        "memory_bytes_process": lifted.grown.left_bytes,
        "memory_doubt": lifted.doubt.as_ref().map(Remark::to_string),
        "compress_factor": lifted.compress_factor(),
        "populate_s": lifted.populate_took.as_secs_f64(),
        "valid": lifted.is_valid(),
        "tables": lifted.tables.iter().map(table).collect::<Vec<_>>(),
        "left_out": left_out(&lifted.left_out),
    })
}
