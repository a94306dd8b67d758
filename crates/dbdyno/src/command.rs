//! One module per verb.

pub mod ab;
mod array;
pub mod check;
pub mod compare;
pub mod data;
pub mod docs;
mod ending;
pub mod list;
pub mod observe;
mod plan_text;
mod prices;
pub mod report;
mod requests;
mod resumed;
pub mod run;
pub mod runs;
mod shape;
mod sides;
pub mod storage;
pub mod study;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ::host::inventory::Stated;
use anyhow::{Context, Result};
use archive::stream::StreamEvent;
use archive::{Archive, ArchiveError, Run, RunName, SIDES_MAX, SideLabel};
use lab::{HostOptions, Plan, Registry, Setting};
use terminal_size::{Width, terminal_size_of};
use workload::Library;

use crate::arguments::ServerHost;
use crate::console::{JsonForTerminal, Output, printable, takes_colour};
use crate::event_outputs::Watched;
use crate::locations;

fn load_run(name: &str, archive: &Option<PathBuf>) -> Result<Run> {
    let name: RunName = name.parse()?;
    Ok(Archive::open_read_only(locations::archive(archive)?)?.load_run(&name)?)
}

/// Loads the run `name`, or all sides of the study `name`, A first.
fn load_run_or_study(name: &str, archive: &Option<PathBuf>) -> Result<Vec<Run>> {
    let store = Archive::open_read_only(locations::archive(archive)?)?;
    match store.load_run(&name.parse()?) {
        Ok(run) => Ok(vec![run]),
        Err(unknown @ ArchiveError::UnknownRun { .. }) => match sides_of(&store, name) {
            Ok(sides) if sides.iter().all(|run| run.study.is_some()) => Ok(sides),
            _ => Err(unknown.into()),
        },
        Err(other) => Err(other.into()),
    }
}

/// The runs of all sides of a study, A first; an error if one of them is gone.
fn sides_of(store: &Archive, name: &str) -> Result<Vec<Run>> {
    let load = |number| store.load_run(&RunName::Label(SideLabel::new(name, number).to_string()));
    let first = load(0)?;
    let sides = first.study.as_ref().map_or(2, |study| study.sides as usize);
    let more = (1..sides.clamp(2, SIDES_MAX)).map(|number| Ok(load(number)?));
    std::iter::once(Ok(first)).chain(more).collect()
}

/// The statements of a platform file; empty without one.
fn stated(platform: Option<&Path>) -> Result<Stated> {
    match platform {
        Some(path) => Ok(Stated::load(path)?),
        None => Ok(Stated::default()),
    }
}

fn server_host(given: &ServerHost, stated: &Stated) -> Result<HostOptions> {
    Ok(HostOptions::parse(given.ssh.as_deref(), stated)?)
}

/// The workloads, with the library that a plan names or the built-in one.
fn registry(plan_text: &str, settings: &[Setting]) -> Result<Registry> {
    let library = library(Plan::library_of(plan_text, settings).as_deref())?;
    Ok(workloads::registry(library))
}

fn library(directory: Option<&Path>) -> Result<Library> {
    let library = match directory {
        Some(directory) => Library::from_directory(directory),
        None => Library::embedded(),
    };
    Ok(library.map_err(lab::LabError::from)?)
}

/// The requested seed, or a new one: a constant default would draw the same order in every study.
fn seed(requested: Option<u64>) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // The operating system draws the keys of hash maps. Half of the bits keep the seed short enough to type.
    requested.unwrap_or_else(|| RandomState::new().hash_one(()) >> 32)
}

/// Prints to standard output without control characters; a closed reader is no error.
fn print(text: &str) -> Result<()> {
    print_with(|out| out.write_all(printable(text).as_bytes()))
}

/// Prints a coloured text whose parts were cleaned before.
fn print_coloured(text: &str) -> Result<()> {
    if wants_colour() {
        print_with(|out| out.write_all(text.as_bytes()))
    } else {
        print(text)
    }
}

fn print_json(text: &str) -> Result<()> {
    print_json_with(|out| out.write_all(text.as_bytes()))
}

/// Prints JSON that is written in pieces.
fn print_json_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    print_with(|out| write(&mut JsonForTerminal::new(out)))
}

fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(Output);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

fn print_run(run: &Run) -> Result<()> {
    let columns = terminal_columns();
    print_coloured(&::report::terminal(run, &[], columns, wants_colour()))
}

/// The amount of detail in results on the terminal.
fn shown(full: bool) -> ::report::Shown {
    ::report::Shown {
        width: terminal_columns(),
        colour: wants_colour(),
        all: full,
    }
}

/// Sends a verdict to watchers, without colours and for a terminal of usual width.
fn tell(watched: &Watched, render: impl Fn(::report::Shown) -> String) {
    watched.tell(|| StreamEvent::Verdict {
        text: render(::report::Shown {
            width: 100,
            ..::report::Shown::default()
        }),
    });
}

/// Columns of the terminal on standard output; without one, enough for a whole row.
fn terminal_columns() -> usize {
    columns().unwrap_or(120)
}

/// Columns for lines that are shortened: without a terminal, none is.
fn summary_columns() -> usize {
    columns().unwrap_or(usize::MAX)
}

fn columns() -> Option<usize> {
    let from_environment = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    from_environment.or_else(window_columns)
}

fn window_columns() -> Option<usize> {
    let (Width(columns), _) = terminal_size_of(io::stdout())?;
    Some(usize::from(columns))
}

fn wants_colour() -> bool {
    takes_colour(&io::stdout())
}
