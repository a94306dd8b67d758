//! What makes the command at home in a shell: completions, and manual pages.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::command::print;
use crate::exit::Status;

/// `dbdyno completions`.
pub fn completions(shell: Shell) -> Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "dbdyno", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Fine)
}

/// `dbdyno manual`: a page for the command and for each of its verbs.
pub fn manual(directory: &Path) -> Result<Status> {
    let write = || {
        std::fs::create_dir_all(directory)?;
        clap_mangen::generate_to(Arguments::command(), directory)
    };
    write().with_context(|| {
        format!(
            "the manual pages cannot be written to {}",
            directory.display()
        )
    })?;
    Ok(Status::Fine)
}
