//! A run checked against limits, for a person, a program or a build server.

use std::path::{Path, PathBuf};

use anyhow::Result;
use verdict::sla::{self, Judgement, Sla};

use crate::arguments::{Format, ReportArguments};
use crate::command::{load_run, print, print_json};
use crate::exit::{Status, invalid};
use crate::output;

pub(super) fn judge(
    arguments: &ReportArguments,
    limits: &Path,
    format: Format,
    archive: &Option<PathBuf>,
) -> Result<Status> {
    if !matches!(format, Format::Text | Format::Json | Format::Junit) {
        return invalid("--limits needs --format text, json or junit");
    }
    // Errors in the file are reported even without an archive.
    let limits = Sla::load(limits)?;
    let run = load_run(&arguments.run, archive)?;
    let judgement = sla::judge(&run, &limits);
    let (text, print): (_, fn(&str) -> Result<()>) = match format {
        Format::Json => (format!("{:#}\n", sla::json(&run, &judgement)), print_json),
        Format::Junit => (sla::junit(&run, &judgement), print),
        _ => (sla::text(&run, &judgement), print),
    };
    match &arguments.output {
        None => print(&text)?,
        Some(file) if format == Format::Junit && !output::is_standard_output(file) => {
            output::write(file, &text, "JUnit file", "-o")?;
            // The log of a build says which limits were missed.
            print(&sla::text(&run, &judgement))?;
        }
        Some(file) => output::write_and_tell(file, &text, "report", "-o")?,
    }
    Ok(status(&judgement))
}

/// An invalid run decides nothing, so that its status takes precedence over a limit's.
fn status(judgement: &Judgement) -> Status {
    if !judgement.sound() {
        Status::CheckFailed
    } else if judgement.missed() + judgement.unjudged() > 0 {
        Status::Missed
    } else {
        Status::Fine
    }
}
