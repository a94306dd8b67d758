//! `dbdyno judge`: a run held against limits, for a person, a program or a build server.

use std::path::PathBuf;

use anyhow::Result;
use verdict::sla::{self, Judgement, Sla};

use super::{load_run, print, print_json};
use crate::arguments::JudgeArguments;
use crate::exit::Status;
use crate::output;

pub fn judge(arguments: &JudgeArguments, archive: &Option<PathBuf>) -> Result<Status> {
    // What is wrong in the file must be said also when there is no archive yet.
    let limits = Sla::load(&arguments.sla)?;
    let run = load_run(&arguments.run, archive)?;
    let judgement = sla::judge(&run, &limits);
    if let Some(path) = &arguments.junit {
        let document = sla::junit(&run, &judgement);
        output::write(path, &document, "JUnit file", "--junit")?;
    }
    if arguments.json {
        print_json(&format!("{:#}\n", sla::json(&run, &judgement)))?;
    } else {
        print(&sla::text(&run, &judgement))?;
    }
    Ok(status(&judgement))
}

/// An unsound run decides nothing, so that its status wins over that of a limit.
fn status(judgement: &Judgement) -> Status {
    if !judgement.sound() {
        Status::CheckFailed
    } else if judgement.missed() + judgement.unjudged() > 0 {
        Status::Missed
    } else {
        Status::Fine
    }
}
