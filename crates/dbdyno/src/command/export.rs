//! `dbdyno export`: a run for other programs.

use std::path::PathBuf;

use anyhow::Result;
use archive::export;

use super::{load_run, print, print_json_with};
use crate::arguments::{ExportArguments, Format};
use crate::exit::Status;

pub fn export(arguments: &ExportArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let run = load_run(&arguments.run, archive)?;
    match arguments.format {
        Format::Json => print_json_with(|out| export::write_json(&run, out))?,
        Format::Csv => print(&export::csv(&run))?,
        Format::Markdown => print(&export::markdown(&run))?,
    }
    Ok(Status::Fine)
}
