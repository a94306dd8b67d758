//! A plan with the profile of an observation, with a summary of its fit.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use archive::Run;
use observe::twin::{FIRST_LINE, Twin};

use crate::command::print;
use crate::console::say;
use crate::output;

/// True for a file with the plan of an earlier observation, which may be replaced.
fn is_twin(begin: &[u8]) -> bool {
    begin.starts_with(FIRST_LINE.as_bytes())
}

/// Writes the plan, and prints how well it fits where the plan does not go.
pub(super) fn write(run: &Run, file: Option<&Path>) -> Result<()> {
    let twin = Twin::of(run)?;
    let lines = twin.fit_lines().into_iter();
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    let fit = format!("\nThe plan and what was observed\n{lines}");
    let Some(path) = file.filter(|path| !output::is_standard_output(path)) else {
        print(&twin.plan())?;
        say(fit.trim_end());
        return Ok(());
    };
    let put = || {
        let mut file = output::renew(path, is_twin)?;
        file.write_all(twin.plan().as_bytes())?;
        // A pipe cannot be synchronised.
        if file.metadata()?.is_file() {
            file.sync_all()?;
        }
        anyhow::Ok(())
    };
    let path = path.display();
    put().with_context(|| {
        format!("the plan {path} cannot be written; choose another file with -o")
    })?;
    print(&fit)?;
    say(&format!(
        "dbdyno: {path} has the plan; run it with: dbdyno run {path} URL"
    ));
    Ok(())
}
