//! `dbdyno runs`: list, names, notes and removal of runs.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::Result;
use archive::{Archive, Run, RunName, RunState, RunSummary};
use host::WallClock;

use super::list::columns;
use super::print;
use crate::arguments::{RunFilter, RunsVerb};
use crate::console::say;
use crate::exit::{Status, invalid};
use crate::locations;

pub fn runs(verb: &RunsVerb, archive: &Option<PathBuf>) -> Result<Status> {
    let path = locations::archive(archive)?;
    let now = host::clock::rfc3339(host::SystemClock.now());
    match verb {
        RunsVerb::List(filter) => print(&listed(&path, filter)?)?,
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
            let (mut archive, id) = opened(&path, run)?;
            archive.rename(id, name, &now)?;
        }
        RunsVerb::Note { run, text } => {
            let (mut archive, id) = opened(&path, run)?;
            archive.note(id, text, &now)?;
        }
    }
    Ok(Status::Fine)
}

/// The archive for writing, and a run's number in it.
fn opened(path: &Path, run: &str) -> Result<(Archive, i64)> {
    // The search must not create an archive.
    Archive::open_read_only(path)?;
    let archive = Archive::open(path)?;
    let id = archive.run_id(&run.parse()?)?;
    Ok((archive, id))
}

fn listed(path: &Path, filter: &RunFilter) -> Result<String> {
    if !path.exists() {
        return Ok(format!(
            "no runs yet: there is no archive {}\n",
            path.display()
        ));
    }
    let heads = [
        "id", "label", "plan", "state", "points", "valid", "started", "targets", "remarks",
    ];
    let runs = Archive::open_read_only(path)?.list_runs()?.into_iter();
    let rows = runs.filter(|run| filter.admits(run)).map(row);
    let rows: Vec<_> = std::iter::once(heads.map(String::from))
        .chain(rows)
        .collect();
    Ok(columns(&rows))
}

impl RunFilter {
    fn admits(&self, run: &RunSummary) -> bool {
        let labels = std::iter::once(&run.label).chain(&run.renamed_from);
        let of_targets = run
            .targets
            .iter()
            .flat_map(|target| [&target.name, &target.url]);
        let of_run = labels
            .chain([&run.plan_name, &run.started_at])
            .chain(of_targets);
        let known: Vec<&String> = of_run.collect();
        let is_in = |wanted: &String| known.iter().any(|text| text.contains(wanted));
        self.texts.iter().all(is_in)
    }
}

fn row(run: RunSummary) -> [String; 9] {
    let targets: Vec<String> = run.targets.into_iter().map(|t| t.name).collect();
    let measured_as = run.renamed_from.map(|label| format!("measured as {label}"));
    let remarks: Vec<String> = measured_as.into_iter().chain(run.note).collect();
    [
        run.id.to_string(),
        run.label,
        run.plan_name,
        match run.state {
            RunState::Running => "running or killed".into(),
            RunState::Interrupted => "interrupted".into(),
            RunState::Complete => "complete".into(),
        },
        format!("{}/{}", run.points_finished, run.points_planned),
        if run.valid { "yes" } else { "no" }.into(),
        run.started_at,
        targets.join(", "),
        remarks.join("; ").replace('\n', " "),
    ]
}

/// The runs of these names, without duplicates.
fn found(path: &Path, names: &[String]) -> Result<Vec<Run>> {
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
