//! `dbdyno list`: tests, plans, studies, engines, references and runs.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use archive::{Archive, RunState, RunSummary, TargetRecord, reference};
use clap::ValueEnum;
use engine::Reach;
use lab::Plan;

use super::study::built_in::BuiltIn;
use super::study::cost::{self, Machine};
use super::{plan_text, print};
use crate::arguments::study::Size;
use crate::arguments::{ListArguments, Listing};
use crate::exit::{Status, invalid};
use crate::locations;

pub fn list(arguments: &ListArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let is_filtered = [&arguments.plan, &arguments.target, &arguments.since];
    let is_filtered = is_filtered.iter().any(|filter| filter.is_some());
    if is_filtered && !matches!(arguments.what, Listing::Runs) {
        return invalid("--plan, --target and --since are for `dbdyno list runs`");
    }
    if arguments.name.is_some() && !matches!(arguments.what, Listing::References) {
        return invalid("only references can be listed by name: `dbdyno list references NAME`");
    }
    let text = match arguments.what {
        Listing::Tests => tests()?,
        Listing::Plans => plans()?,
        Listing::Studies => studies()?,
        Listing::Engines => engines(),
        Listing::References => match &arguments.name {
            Some(name) => report::published(&reference::load(name)?),
            None => references()?,
        },
        Listing::Runs => runs(arguments, archive)?,
    };
    print(&text)?;
    Ok(Status::Fine)
}

fn tests() -> Result<String> {
    let library = super::library(None)?;
    let mut rows =
        vec![["code", "component", "title", "for OLTP", "for warehouses"].map(String::from)];
    for test in library.tests() {
        let d = &test.definition;
        rows.push([
            d.code.clone(),
            d.component.name().into(),
            d.title.clone(),
            d.importance.oltp.name().into(),
            d.importance.warehouse.name().into(),
        ]);
    }
    Ok(columns(&rows))
}

fn plans() -> Result<String> {
    let mut rows = vec![["plan", "what it measures"].map(String::from)];
    let workloads = workloads::registry(super::library(None)?);
    for name in Plan::built_in() {
        let plan = Plan::parse(&workloads, &Plan::text(name)?, &[])?;
        rows.push([plan.name, plan.about]);
    }
    Ok(columns(&rows))
}

fn studies() -> Result<String> {
    let heads = [
        "study",
        "document",
        "size",
        "writes at most",
        "timed points",
        "fits here",
        "what it measures",
    ];
    let mut rows = vec![heads.map(String::from)];
    let workloads = workloads::registry(super::library(None)?);
    let machine = Machine::here(&std::env::temp_dir());
    for study in BuiltIn::all()? {
        let [name, document, about] =
            [&study.name, &study.document, &study.about].map(Clone::clone);
        let none = String::new;
        rows.push([name, document, none(), none(), none(), none(), about]);
        for size in Size::value_variants() {
            let cost = cost::of(
                &study,
                *size,
                cost::How::default(),
                &workloads,
                &[(engines::DEFAULT_ENGINE, 1)],
                &[],
            )?;
            rows.push([
                String::new(),
                String::new(),
                plan_text::word(*size),
                stats::words::bytes(cost.written_bytes),
                cost::time(cost.timed_s),
                machine
                    .lacks(&cost)
                    .map_or("yes".into(), |lacks| format!("no: {lacks}")),
                study.scale(*size).about.clone(),
            ]);
        }
    }
    let how = "For PostgreSQL, from the plan of each size. Bytes: an upper bound of all data and logs that its workloads write. Timed \
               points: the seconds that the plan sets, with the longest warm-up; loads, checks and work of a fixed amount are extra.\n";
    Ok(columns(&rows) + how)
}

fn engines() -> String {
    let mut text = String::new();
    for engine in engines::engines() {
        let info = engine.info();
        let version = engine
            .version()
            .unwrap_or_else(|how_to_get_it| format!("– {how_to_get_it}"));
        let path = match engine.reach() {
            Reach::Nowhere | Reach::Replica => "",
            Reach::Embedded => "PATH",
            Reach::LocalServer => "[DATA_DIR]",
            Reach::Network => "//USER[:PASSWORD]@HOST[:PORT]/DATABASE",
        };
        let _ = writeln!(
            text,
            "{}:{path}  {}  {version}",
            engine.scheme(),
            info.title
        );
        for found in engine.found() {
            let _ = writeln!(text, "    {found}");
        }
        for (key, meaning) in info.settings {
            let _ = writeln!(text, "    ?{key}=  {meaning}");
        }
    }
    text
}

fn references() -> Result<String> {
    let mut rows = vec![["reference", "platform", "document"].map(String::from)];
    for name in reference::list() {
        let reference = reference::load(name)?;
        rows.push([format!("ref:{name}"), reference.title, reference.document]);
    }
    Ok(columns(&rows))
}

fn runs(arguments: &ListArguments, archive: &Option<PathBuf>) -> Result<String> {
    let path = locations::archive(archive)?;
    let header = [
        "id", "label", "plan", "state", "points", "valid", "started", "targets", "remarks",
    ]
    .map(String::from);
    let mut rows = vec![header];
    if !path.exists() {
        return Ok(format!(
            "no runs yet: there is no archive {}\n",
            path.display()
        ));
    }
    let runs = Archive::open_read_only(&path)?.list_runs()?;
    for run in runs.into_iter().filter(|run| is_wanted(run, arguments)) {
        let targets: Vec<String> = run.targets.into_iter().map(|t| t.name).collect();
        let measured_as = run.renamed_from.map(|label| format!("measured as {label}"));
        let remarks = measured_as.into_iter().chain(run.note);
        rows.push([
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
            remarks.collect::<Vec<_>>().join("; ").replace('\n', " "),
        ]);
    }
    Ok(columns(&rows))
}

fn is_wanted(run: &RunSummary, arguments: &ListArguments) -> bool {
    let is_of_plan = arguments
        .plan
        .as_ref()
        .is_none_or(|plan| run.plan_name == *plan);
    let is_later = arguments
        .since
        .as_ref()
        .is_none_or(|since| run.started_at >= *since);
    let is_on = |target: &TargetRecord, wanted: &str| {
        let later_node = format!(" {wanted}");
        target.name == wanted || target.url.starts_with(wanted) || target.url.contains(&later_node)
    };
    let wanted = arguments.target.as_ref();
    is_of_plan
        && is_later
        && wanted.is_none_or(|wanted| run.targets.iter().any(|target| is_on(target, wanted)))
}

fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|r| r[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn columns_are_aligned_and_not_padded_at_the_end() {
        let rows = [["a", "bb"], ["ccc", "d"]].map(|r| r.map(String::from));
        assert_eq!(columns(&rows), "a    bb\nccc  d\n");
    }
}
