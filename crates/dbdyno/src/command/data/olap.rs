//! `dbdyno data … olap`: the database of the analytical workload.

use std::fmt::Write;
use std::time::Instant;

use anyhow::Result;
use olap::{Checked, Finding, LoadOptions, Verdict};
use serde_json::{Value, json};
use stats::words::counted;

use super::database::{bar, open, show, sound, tell};
use crate::arguments::data::{DropArguments, OlapCheckArguments, OlapLoadArguments};
use crate::command::{print, print_json};
use crate::exit::Status;

const FORMAT: u32 = 1;

pub(super) fn load(arguments: &OlapLoadArguments) -> Result<Status> {
    let (target, engine) = open(&arguments.target.of("data load olap")?)?;
    let options = LoadOptions {
        scale: arguments.scale,
        jobs: arguments.clients,
        replace: arguments.replace,
    };
    lab::signal::install();
    let begun = Instant::now();
    let bar = bar(0, "parts");
    let outcome = olap::load(
        target.as_ref(),
        &engine,
        &options,
        lab::signal::stop_flag(),
        &|event| show(&bar, event, "parts"),
    );
    bar.finish_and_clear();
    let loaded = outcome?;
    if loaded.restored {
        print(&format!(
            "what a refresh had changed is restored: scale {} is as loaded\n",
            arguments.scale
        ))?;
        return Ok(Status::Fine);
    }
    let mut text = format!(
        "scale {} is loaded: {} rows in {:.3} s by {}; {:.3} s with keys, statistics and row counts\n",
        arguments.scale,
        loaded.rows_loaded(),
        loaded.rows_took.as_secs_f64(),
        counted(u64::from(loaded.jobs), "session"),
        begun.elapsed().as_secs_f64(),
    );
    for (step, took) in &loaded.steps_took {
        let _ = writeln!(text, "{:>9.3} s  {step}", took.as_secs_f64());
    }
    print(&text)?;
    Ok(Status::Fine)
}

pub(super) fn check(arguments: &OlapCheckArguments) -> Result<Status> {
    let (target, engine) = open(&arguments.target.of("data check olap")?)?;
    let queries = arguments.queries.clone().unwrap_or_default();
    let bar = bar(0, "queries");
    let checked = olap::check(
        target.as_ref(),
        &engine,
        &queries,
        arguments.timeout,
        &|what| {
            if !bar.is_hidden() {
                tell(&bar, what.to_owned());
            }
        },
    );
    bar.finish_and_clear();
    let checked = checked?;
    if arguments.answers {
        print(&answers(&checked)?)?;
        return Ok(Status::Fine);
    }
    if arguments.format.is_json() {
        print_json(&format!("{:#}\n", document(&checked, &target.record().url)))?
    } else {
        print(&lines(&checked))?
    }
    Ok(sound(checked.is_sound()))
}

fn name(finding: &Finding) -> String {
    match finding.number {
        0 => "rows".to_owned(),
        number => format!("Q{number}"),
    }
}

fn lines(checked: &Checked) -> String {
    let mut text = format!(
        "analytical database of scale {}, qualification parameters\n",
        checked.metadata.scale
    );
    for finding in &checked.findings {
        let (word, about) = match &finding.verdict {
            Verdict::Right => ("right", String::new()),
            Verdict::Unknown(answer) => (
                "answered",
                format!(
                    " ({} rows; there is no reference answer at this scale)",
                    answer.rows.len()
                ),
            ),
            Verdict::Wrong(what) => ("WRONG", format!(": {what}")),
        };
        let _ = writeln!(
            text,
            "{:>4}  {word:<8}  {}{about}",
            name(finding),
            finding.title
        );
    }
    text
}

fn document(checked: &Checked, url: &str) -> Value {
    let finding = |finding: &Finding| {
        let mut value = json!({ "query": finding.number, "title": finding.title });
        match &finding.verdict {
            Verdict::Right => value["verdict"] = json!("right"),
            Verdict::Unknown(answer) => {
                value["verdict"] = json!("unknown");
                value["rows"] = json!(answer.rows.len());
            }
            Verdict::Wrong(what) => {
                value["verdict"] = json!("wrong");
                value["reason"] = json!(what);
            }
        }
        value
    };
    json!({
        "format": FORMAT,
        "target": url,
        "scale": checked.metadata.scale.factor(),
        "generator": checked.metadata.generator,
        "sound": checked.is_sound(),
        "findings": checked.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

/// The answers as JSON for storage; stored answers of the scale are only compared.
fn answers(checked: &Checked) -> Result<String> {
    let mut answers = Vec::new();
    for finding in &checked.findings {
        if let Verdict::Unknown(answer) = &finding.verdict {
            answers.push((olap::Query::numbered(finding.number)?, answer.clone()));
        }
    }
    Ok(olap::reference::stored(&answers))
}

pub(super) fn drop_tables(arguments: &DropArguments) -> Result<Status> {
    let (target, _) = open(&arguments.target.of("data drop olap")?)?;
    print(if olap::drop_all(target.as_ref())? {
        "the analytical database was dropped\n"
    } else {
        "there was no analytical database\n"
    })?;
    Ok(Status::Fine)
}
