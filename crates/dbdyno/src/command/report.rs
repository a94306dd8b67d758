//! `dbdyno report`: a run as one HTML page.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Result;
use archive::Run;
use archive::reference::{self, Reference};
use report::{Against, HtmlOptions};

use super::{array, load_run, prices};
use crate::arguments::ReportArguments;
use crate::exit::Status;
use crate::output;
use crate::say::say;

/// Something to set beside a run, with what it borrows from.
enum Beside {
    Run(Box<Run>),
    Reference(Box<Reference>),
}

pub fn report(arguments: &ReportArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let mut run = load_run(&arguments.run, archive)?;
    let mut beside = arguments
        .against
        .iter()
        .map(|name| {
            Ok(match name.strip_prefix("ref:") {
                Some(name) => Beside::Reference(Box::new(reference::load(name)?)),
                None => Beside::Run(Box::new(load_run(name, archive)?)),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let others = beside.iter_mut().filter_map(|other| match other {
        Beside::Run(other) => Some(other.as_mut()),
        Beside::Reference(_) => None,
    });
    let mut runs: Vec<&mut Run> = std::iter::once(&mut run).chain(others).collect();
    array::attach(&arguments.array, &mut runs)?;
    let against: Vec<Against<'_>> = beside
        .iter()
        .map(|b| match b {
            Beside::Run(run) => Against::Run(run),
            Beside::Reference(reference) => Against::Reference(reference),
        })
        .collect();
    let others = beside.iter().filter_map(|other| match other {
        Beside::Run(other) => Some(other.as_ref()),
        Beside::Reference(_) => None,
    });
    let priced: Vec<&Run> = std::iter::once(&run).chain(others).collect();
    let options = HtmlOptions {
        title: None,
        prices: prices::load(&arguments.prices, &priced)?,
        generated_at: Some(host::clock::rfc3339(SystemTime::now())),
    };
    let page = report::html(&run, &against, &options);
    output::write(&arguments.output, &page, "report", "-o")?;
    say(&format!("{} written", arguments.output.display()));
    Ok(Status::Fine)
}
