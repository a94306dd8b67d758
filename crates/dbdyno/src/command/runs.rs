//! `dbdyno runs`: names, notes and removal of runs.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use anyhow::Result;
use archive::{Archive, Run, RunName};
use host::WallClock;

use super::print;
use crate::arguments::RunsVerb;
use crate::console::say;
use crate::exit::{Status, invalid};
use crate::locations;

pub fn runs(verb: &RunsVerb, archive: &Option<PathBuf>) -> Result<Status> {
    let path = locations::archive(archive)?;
    // The search must not create an archive.
    Archive::open_read_only(&path)?;
    let now = host::clock::rfc3339(host::SystemClock.now());
    match verb {
        RunsVerb::Delete { runs, yes } => {
            let found = found(&path, runs)?;
            agree(&found, *yes)?;
            let ids: Vec<i64> = found.iter().map(|run| run.id).collect();
            Archive::open(&path)?.delete_runs(&ids, &now)?;
            for run in &found {
                print(&format!("deleted: {}\n", line(run)))?;
            }
        }
        RunsVerb::Rename { run, name } => {
            let mut archive = Archive::open(&path)?;
            let id = archive.run_id(&run.parse()?)?;
            archive.rename(id, name, &now)?;
        }
        RunsVerb::Note { run, text } => {
            let mut archive = Archive::open(&path)?;
            let id = archive.run_id(&run.parse()?)?;
            archive.note(id, text, &now)?;
        }
    }
    Ok(Status::Fine)
}

/// The runs of these names, without duplicates.
fn found(path: &PathBuf, names: &[String]) -> Result<Vec<Run>> {
    let archive = Archive::open_read_only(path)?;
    let mut found: Vec<Run> = Vec::new();
    for name in names {
        let name: RunName = name.parse()?;
        let run = archive.load_run(&name)?;
        if found.iter().all(|other| other.id != run.id) {
            found.push(run);
        }
    }
    Ok(found)
}

fn agree(runs: &[Run], yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    for run in runs {
        say(&line(run));
    }
    if !std::io::stdin().is_terminal() {
        return invalid("nothing was deleted: this cannot be undone; add --yes to confirm");
    }
    say("Delete them? This cannot be undone. [y/N]");
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => invalid("nothing was deleted"),
    }
}

fn line(run: &Run) -> String {
    let points = match run.points.len() {
        1 => "1 point".to_owned(),
        n => format!("{n} points"),
    };
    format!(
        "run {} “{}”, plan {}, {points}, started {}",
        run.id, run.label, run.plan_name, run.started_at
    )
}
