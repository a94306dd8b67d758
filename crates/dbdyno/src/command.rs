//! One module per verb.

pub mod ab;
mod array;
pub mod columnar;
pub mod compare;
mod database;
pub mod export;
pub mod host;
pub mod judge;
pub mod list;
pub mod olap;
pub mod oltp;
mod plan_text;
pub mod report;
pub mod run;
pub mod runs;
pub mod shell;
pub mod vdbench;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use ::host::inventory::Stated;
use anyhow::{Context, Result};
use archive::{Archive, Run, RunName};
use lab::HostAsked;
use terminal_size::{Width, terminal_size_of};
use workload::Library;

use crate::arguments::ServerHost;
use crate::place;

/// Loads the run called `name` from the archive.
fn load_run(name: &str, archive: &Option<PathBuf>) -> Result<Run> {
    let name: RunName = name.parse()?;
    Ok(Archive::open_read_only(place::archive(archive))?.load_run(&name)?)
}

/// What the machine's owner states in a platform file; nothing without one.
fn stated(platform: Option<&Path>) -> Result<Stated> {
    match platform {
        Some(path) => Ok(Stated::load(path)?),
        None => Ok(Stated::default()),
    }
}

/// What was said about the machine of the servers.
fn server_host(said: &ServerHost) -> Result<HostAsked> {
    Ok(HostAsked::parse(
        said.address.as_deref(),
        said.device.as_deref(),
    )?)
}

/// The tests of a directory, or those that are built in.
fn library(directory: Option<&Path>) -> Result<Library> {
    let library = match directory {
        Some(directory) => Library::from_directory(directory),
        None => Library::embedded(),
    };
    Ok(library.map_err(lab::LabError::from)?)
}

/// Prints to standard output; a reader that has gone away is no error.
fn print(text: &str) -> Result<()> {
    print_with(|out| out.write_all(text.as_bytes()))
}

/// The same of what is written piece by piece.
fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Columns of the terminal on standard output; wide enough for a whole row when there is none.
fn terminal_columns() -> usize {
    let from_environment = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    from_environment.or_else(window_columns).unwrap_or(120)
}

fn window_columns() -> Option<usize> {
    let (Width(columns), _) = terminal_size_of(io::stdout())?;
    Some(usize::from(columns))
}

fn wants_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
