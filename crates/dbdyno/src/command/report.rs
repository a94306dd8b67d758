//! `dbdyno report`: a run as one HTML page.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use archive::reference::{self, Reference};
use archive::{Run, export};
use report::{Against, HtmlOptions};

use super::load_run;
use crate::arguments::ReportArguments;
use crate::exit::Status;
use crate::say::say;

/// Something to set beside a run, with what it borrows from.
enum Beside {
    Run(Box<Run>),
    Reference(Box<Reference>),
}

pub fn report(arguments: &ReportArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let run = load_run(&arguments.run, archive)?;
    let beside = arguments
        .against
        .iter()
        .map(|name| {
            Ok(match name.strip_prefix("ref:") {
                Some(name) => Beside::Reference(Box::new(reference::load(name)?)),
                None => Beside::Run(Box::new(load_run(name, archive)?)),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let against: Vec<Against<'_>> = beside
        .iter()
        .map(|b| match b {
            Beside::Run(run) => Against::Run(run),
            Beside::Reference(reference) => Against::Reference(reference),
        })
        .collect();
    let options = HtmlOptions {
        title: None,
        generated_at: Some(host::clock::rfc3339(SystemTime::now())),
    };
    let page = report::html(&run, &against, &options, &export::json_text(&run));
    write(&arguments.output, &page)?;
    say(&format!("{} written", arguments.output.display()));
    Ok(Status::Fine)
}

/// Writes beside the file and renames, so that a full disk leaves the old page whole.
fn write(path: &Path, page: &str) -> Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let context = || {
        format!(
            "the report {} cannot be written; choose another file with -o",
            path.display()
        )
    };
    let mut file = tempfile::Builder::new()
        .prefix(".dbdyno-report-")
        .tempfile_in(directory)
        .with_context(context)?;
    file.write_all(page.as_bytes()).with_context(context)?;
    let file = file.persist(path).with_context(context)?;
    make_readable(&file).with_context(context)?;
    Ok(())
}

/// A temporary file belongs to its user alone; a page is made to be passed on.
fn make_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}
