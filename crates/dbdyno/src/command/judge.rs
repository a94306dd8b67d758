//! `dbdyno judge`: a run checked against limits, for a person, a program or a build server.

use std::path::PathBuf;

use anyhow::Result;
use verdict::sla::{self, Judgement, Sla};

use super::{load_run, print, print_json};
use crate::arguments::JudgeArguments;
use crate::exit::Status;
use crate::output;

pub fn judge(arguments: &JudgeArguments, archive: &Option<PathBuf>) -> Result<Status> {
    // Errors in the file are reported even without an archive.
    let limits = Sla::load(&arguments.sla)?;
    let run = load_run(&arguments.run, archive)?;
    let judgement = sla::judge(&run, &limits);
    if let Some(path) = &arguments.junit {
        let document = sla::junit(&run, &judgement);
        output::write(path, &document, "JUnit file", "--junit")?;
    }
    if arguments.format.is_json() {
        print_json(&format!("{:#}\n", sla::json(&run, &judgement)))?;
    } else {
        print(&sla::text(&run, &judgement))?;
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
