//! `dbdyno fleet`: many systems before and after an update.

use std::path::Path;
use std::time::SystemTime;

use ::fleet::{Imported, Observer, Options, Outcome, Runs, Store, import};
use anyhow::Result;
use report::HtmlOptions;
use verdict::fleet::{FleetError, Question, judge};

use super::{print, print_coloured, print_json, terminal_columns, wants_colour};
use crate::arguments::fleet::{FleetExport, FleetImport, FleetReport, FleetVerb, ObserverAsked};
use crate::exit::{InvalidInput, Status};
use crate::output;
use crate::say::say;

/// Files that are listed one by one.
const FILES_LISTED_MAX: usize = 20;

pub fn fleet(verb: &FleetVerb) -> Result<Status> {
    match verb {
        FleetVerb::Import(asked) => add(asked),
        FleetVerb::Report(asked) => report(asked),
        FleetVerb::Export(asked) => export(asked),
    }
}

fn add(asked: &FleetImport) -> Result<Status> {
    let options = Options {
        runs: Runs {
            before: asked.before.clone(),
            after: asked.after.clone(),
            system: asked.system.clone(),
            observer: match asked.observer {
                ObserverAsked::Device => Observer::Device,
                ObserverAsked::Driver => Observer::Driver,
            },
        },
    };
    let is_one_file = matches!(&asked.from[..], [one] if !one.is_dir());
    if asked.system.is_some() && !is_one_file {
        return Err(InvalidInput(
            "--system is for a single archive; import them one by one".into(),
        )
        .into());
    }
    let is_new = !asked.file.fleet.exists();
    let store = Store::open(&asked.file.fleet)?;
    let imported = import(&store, &asked.from, &options);
    if imported.is_err() && is_new {
        // What was begun for this import alone holds nothing.
        drop(store);
        let _ = std::fs::remove_file(&asked.file.fleet);
    }
    print(&said(&imported?, &asked.file.fleet))?;
    Ok(Status::Fine)
}

fn said(imported: &Imported, fleet: &Path) -> String {
    let mut text = String::new();
    for (at, (file, outcome)) in imported.files.iter().enumerate() {
        let what = match outcome {
            Outcome::Already => "imported before; nothing was added".to_owned(),
            Outcome::Added { empty: 0, .. } if at >= FILES_LISTED_MAX => continue,
            Outcome::Added {
                histograms,
                empty,
                ignored,
            } => {
                let left_out = match empty {
                    0 => String::new(),
                    n => format!(", {n} without I/Os left out"),
                };
                let columns = match ignored.as_slice() {
                    [] => String::new(),
                    ignored => format!("; columns ignored: {}", ignored.join(", ")),
                };
                format!(
                    "{}{left_out}{columns}",
                    report::number::counted(*histograms, "histogram")
                )
            }
        };
        text.push_str(&format!("{}: {what}\n", file.display()));
    }
    let files = report::number::counted(imported.files.len() as u64, "file");
    let histograms = report::number::counted(imported.histograms(), "histogram");
    text + &format!("{histograms} of {files} added to {}\n", fleet.display())
}

/// Opens a fleet that must be there.
fn existing(fleet: &Path) -> Result<Store> {
    if !fleet.exists() {
        return Err(InvalidInput(format!(
            "there is no fleet {}; begin one with `dbdyno fleet import`, or name it with --fleet",
            fleet.display()
        ))
        .into());
    }
    Ok(Store::open_read_only(fleet)?)
}

fn report(asked: &FleetReport) -> Result<Status> {
    let store = existing(&asked.file.fleet)?;
    let limits_us = asked.limits.0;
    let question = Question {
        limits_us,
        primary: asked.primary,
        seed: asked.seed,
    };
    let judged = match judge(&store.windows(limits_us)?, question) {
        Err(error @ FleetError::Undecided { .. }) => {
            return Err(InvalidInput(format!("{error}{}", advice(&store, limits_us)?)).into());
        }
        other => other?,
    };
    let options = HtmlOptions {
        title: None,
        generated_at: Some(host::clock::rfc3339(SystemTime::now())),
        ..HtmlOptions::default()
    };
    let page = report::fleet_page(&judged, &options);
    output::write(&asked.output, &page, "report", "-o")?;
    if asked.json {
        print_json(&format!("{:#}\n", verdict::fleet::json(&judged)))?
    } else {
        print_coloured(&report::fleet_text(
            &judged,
            terminal_columns(),
            wants_colour(),
        ))?
    }
    say(&format!("{} written", asked.output.display()));
    Ok(Status::Fine)
}

/// Limits at which buckets of this fleet end.
fn advice(store: &Store, limits_us: [f64; 2]) -> Result<String> {
    let mut ends = Vec::new();
    for limit in limits_us {
        // Two, so that both limits do not become one.
        let near = store.ends_near(limit, 2)?;
        ends.extend(near.into_iter().find(|end| !ends.contains(end)));
    }
    Ok(match ends[..] {
        [first, second] => format!(", such as --limits {first},{second}"),
        _ => String::new(),
    })
}

fn export(asked: &FleetExport) -> Result<Status> {
    existing(&asked.file.fleet)?.export(&asked.to)?;
    say(&format!("{} written", asked.to.display()));
    Ok(Status::Fine)
}
