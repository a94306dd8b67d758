//! A run, or a study, as one HTML page.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Result;
use archive::Run;
use archive::reference::{self, Reference};
use report::{Against, HtmlOptions};

use crate::arguments::{ReportArguments, ResultOptions};
use crate::command::ending::{Ending, Outcome};
use crate::command::{array, load_run, load_run_or_study, prices};
use crate::exit::Status;
use crate::{locations, output};

/// A comparison for the report, with the owner of its data.
enum Comparison {
    Run(Box<Run>),
    Reference(Box<Reference>),
}

/// The reported run, with the other sides of its study if a study was named: for two sides B, compared with A.
fn run_of_page(name: &str, archive: &Option<PathBuf>) -> Result<(Run, Vec<Run>)> {
    let mut runs = load_run_or_study(name, archive)?;
    let at = match runs.len() {
        2 => 1,
        _ => 0,
    };
    Ok((runs.remove(at), runs))
}

pub(super) fn write(arguments: &ReportArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let (mut run, sides) = run_of_page(&arguments.run, archive)?;
    let sides = sides
        .into_iter()
        .map(|run| Ok(Comparison::Run(Box::new(run))));
    let named = arguments.against.iter().map(|name| {
        Ok(match name.strip_prefix("ref:") {
            Some(name) => Comparison::Reference(Box::new(reference::load(name)?)),
            None => Comparison::Run(Box::new(load_run(name, archive)?)),
        })
    });
    let mut compared = sides.chain(named).collect::<Result<Vec<_>>>()?;
    let others = compared.iter_mut().filter_map(|other| match other {
        Comparison::Run(other) => Some(other.as_mut()),
        Comparison::Reference(_) => None,
    });
    let mut runs: Vec<&mut Run> = std::iter::once(&mut run).chain(others).collect();
    array::attach(&arguments.array, &mut runs)?;
    let against: Vec<Against<'_>> = compared
        .iter()
        .map(|b| match b {
            Comparison::Run(run) => Against::Run(run),
            Comparison::Reference(reference) => Against::Reference(reference),
        })
        .collect();
    let others = compared.iter().filter_map(|other| match other {
        Comparison::Run(other) => Some(other.as_ref()),
        Comparison::Reference(_) => None,
    });
    let priced: Vec<&Run> = std::iter::once(&run).chain(others).collect();
    let options = HtmlOptions {
        prices: prices::load(&arguments.prices, &priced)?,
        generated_at: Some(host::clock::rfc3339(SystemTime::now())),
        ..HtmlOptions::default()
    };
    if let Some(file) = &arguments.output {
        let page = report::html(&run, &against, &options);
        output::write_and_tell(file, &page, "report", "-o")?;
        return Ok(Status::Fine);
    }
    let outcome = Outcome {
        name: name_of(&arguments.run, &run),
        run: &run,
        against,
        options,
    };
    let ending = Ending::new(&ResultOptions::default(), &locations::archive(archive)?)?;
    ending.show(&outcome, Status::Fine)
}

/// The name of the page: that of the study, if its name was typed.
fn name_of<'r>(typed: &str, run: &'r Run) -> &'r str {
    let study = run.study.as_ref().map(|study| study.name.as_str());
    study.filter(|name| *name == typed).unwrap_or(&run.label)
}
