//! A plan with the profile of an observation: written to the user's file, with a summary of its fit.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use archive::Run;
use observe::twin::{FIRST_LINE, Twin};

use super::print;
use crate::console::say;
use crate::exit::Status;
use crate::output;

/// True for a file with the plan of an earlier observation, which may be replaced.
fn is_twin(begin: &[u8]) -> bool {
    begin.starts_with(FIRST_LINE.as_bytes())
}

fn cannot(path: &Path) -> String {
    let path = path.display();
    format!("the plan {path} cannot be written; choose another file with --plan")
}

/// Refuses a file that dbdyno did not write; changes nothing.
pub fn check_place(path: &Path) -> Result<()> {
    output::is_there_to_renew(path, is_twin).with_context(|| cannot(path))?;
    Ok(())
}

pub fn write(run: &Run, path: &Path) -> Result<()> {
    let twin = Twin::of(run)?;
    let put = || {
        let mut file = output::renew(path, is_twin)?;
        file.write_all(twin.plan().as_bytes())?;
        // A pipe cannot be synchronised.
        if file.metadata()?.is_file() {
            file.sync_all()?;
        }
        anyhow::Ok(())
    };
    put().with_context(|| cannot(path))?;
    let lines: Vec<String> = twin
        .fit_lines()
        .iter()
        .map(|line| format!("  {line}\n"))
        .collect();
    print(&format!(
        "\nThe plan beside what was observed\n{}",
        lines.concat()
    ))?;
    say(&format!(
        "dbdyno: {path} has the plan; run it with: dbdyno run {path} --target URL",
        path = path.display()
    ));
    Ok(())
}

/// Writes the plan after an observation, which stays valid without it.
pub fn write_beside(run: &Run, path: &Path, status: Status) -> Result<Status> {
    match Twin::of(run) {
        Ok(_) => write(run, path).map(|()| status),
        Err(why) => {
            say(&format!(
                "dbdyno: no plan was written to {}: {why}",
                path.display()
            ));
            Ok(Status::CheckFailed)
        }
    }
}
