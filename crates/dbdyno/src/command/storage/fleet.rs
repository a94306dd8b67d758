//! `dbdyno storage fleet`: many systems before and after an update.

use std::path::Path;
use std::time::SystemTime;

use ::fleet::{Imported, Outcome, Store, import};
use anyhow::Result;
use report::HtmlOptions;
use verdict::fleet::{FleetError, Question, judge};

use crate::arguments::storage::fleet::{FleetExport, FleetImport, FleetReport, FleetVerb};
use crate::command::{print, print_coloured, print_json, terminal_columns, wants_colour};
use crate::console::say;
use crate::exit::{Status, invalid};
use crate::output;

const FILES_LISTED_MAX: usize = 20;

pub fn fleet(verb: &FleetVerb) -> Result<Status> {
    match verb {
        FleetVerb::Import(arguments) => add(arguments),
        FleetVerb::Report(arguments) => report(arguments),
        FleetVerb::Export(arguments) => export(arguments),
    }
}

fn add(arguments: &FleetImport) -> Result<Status> {
    let fleet = &arguments.output;
    let is_new = !fleet.exists();
    let store = Store::open(fleet)?;
    let imported = import(&store, &arguments.from);
    if imported.is_err() && is_new {
        // A fleet created for this import holds nothing.
        drop(store);
        let _ = std::fs::remove_file(fleet);
    }
    print(&said(&imported?, fleet))?;
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

fn existing(fleet: &Path) -> Result<Store> {
    if !fleet.exists() {
        return invalid(format!(
            "there is no fleet {}; start one with `dbdyno storage fleet import`, or name its file",
            fleet.display()
        ));
    }
    Ok(Store::open_read_only(fleet)?)
}

fn report(arguments: &FleetReport) -> Result<Status> {
    let store = existing(&arguments.fleet)?;
    let limits_us = arguments.limits.0;
    let question = Question {
        limits_us,
        primary: arguments.primary,
        seed: arguments.seed,
    };
    let judged = match judge(&store.windows(limits_us)?, question) {
        Err(error @ FleetError::Undecided { .. }) => {
            return invalid(format!("{error}{}", advice(&store, limits_us)?));
        }
        other => other?,
    };
    let options = HtmlOptions {
        title: None,
        generated_at: Some(host::clock::rfc3339(SystemTime::now())),
        ..HtmlOptions::default()
    };
    let page = report::fleet_page(&judged, &options);
    output::write(&arguments.output, &page, "report", "-o")?;
    if arguments.format.is_json() {
        print_json(&format!("{:#}\n", verdict::fleet::json(&judged)))?
    } else {
        print_coloured(&report::fleet_text(
            &judged,
            terminal_columns(),
            wants_colour(),
        ))?
    }
    say(&format!("{} written", arguments.output.display()));
    Ok(Status::Fine)
}

/// Limits at which buckets of this fleet end.
fn advice(store: &Store, limits_us: [f64; 2]) -> Result<String> {
    let mut ends = Vec::new();
    for limit in limits_us {
        // Two candidates, so that both limits do not become one.
        let near = store.ends_near(limit, 2)?;
        ends.extend(near.into_iter().find(|end| !ends.contains(end)));
    }
    Ok(match ends[..] {
        [first, second] => format!(", such as --set limits={first},{second}"),
        _ => String::new(),
    })
}

fn export(arguments: &FleetExport) -> Result<Status> {
    existing(&arguments.fleet)?.export(&arguments.output)?;
    say(&format!("{} written", arguments.output.display()));
    Ok(Status::Fine)
}
