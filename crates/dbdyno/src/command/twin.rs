//! A plan with the profile of an observation: written to the file that its user names, and how well it fits is printed.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use archive::Run;
use workload::twin::{FIRST_LINE, Twin};

use super::print;
use crate::exit::Status;
use crate::output;
use crate::say::say;

/// Whether a file is a plan of an earlier observation, which may be written anew.
fn is_twin(begin: &[u8]) -> bool {
    begin.starts_with(FIRST_LINE.as_bytes())
}

fn cannot(path: &Path) -> String {
    let path = path.display();
    format!("the plan {path} cannot be written; choose another file with --plan")
}

/// Refuses a file that is not ours; touches nothing.
///
/// # Errors
/// What stands in the way.
pub fn check_place(path: &Path) -> Result<()> {
    output::is_there_to_renew(path, is_twin).with_context(|| cannot(path))?;
    Ok(())
}

/// Writes the plan of an observation.
///
/// # Errors
/// Why there is none, or why it cannot be written.
pub fn write(run: &Run, path: &Path) -> Result<()> {
    let twin = Twin::of(run)?;
    let put = || {
        let mut file = output::renew(path, is_twin)?;
        file.write_all(twin.plan().as_bytes())?;
        // A pipe has nothing to be synchronized.
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

/// The same behind an observation, which stays valid without it.
///
/// # Errors
/// When the file cannot be written.
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
