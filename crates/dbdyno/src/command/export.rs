//! `dbdyno export`: a run for other programs.

use std::path::PathBuf;

use anyhow::Result;
use archive::export;

use super::{load_run, print};
use crate::arguments::{ExportArguments, Format};
use crate::exit::Status;

pub fn export(arguments: &ExportArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let run = load_run(&arguments.run, archive)?;
    print(&match arguments.format {
        Format::Json => export::json_text(&run),
        Format::Csv => export::csv(&run),
        Format::Markdown => export::markdown(&run),
    })?;
    Ok(Status::Fine)
}
