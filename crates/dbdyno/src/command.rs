//! One module per verb.

pub mod ab;
mod array;
pub mod backup;
pub mod check;
pub mod columnar;
pub mod compare;
mod database;
pub mod export;
pub mod fleet;
pub mod host;
pub mod judge;
pub mod layout;
pub mod list;
pub mod live;
mod many;
pub mod observe;
pub mod olap;
pub mod oltp;
mod plan_text;
mod prices;
pub mod report;
mod resumed;
pub mod run;
pub mod runs;
pub mod shell;
pub mod study;
mod twin;
pub mod vdbench;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ::host::inventory::Stated;
use anyhow::{Context, Result};
use archive::stream::StreamEvent;
use archive::{Archive, ArchiveError, Run, RunName, SIDES_MAX, SideLabel};
use lab::HostAsked;
use terminal_size::{Width, terminal_size_of};
use workload::Library;

use crate::arguments::{Judging, ServerHost};
use crate::place;
use crate::say::{JsonForTerminal, Output, printable, takes_colour};
use crate::watch::Watched;

/// Loads the run called `name` from the archive.
fn load_run(name: &str, archive: &Option<PathBuf>) -> Result<Run> {
    let name: RunName = name.parse()?;
    Ok(Archive::open_read_only(place::archive(archive)?)?.load_run(&name)?)
}

/// Loads the run called `name`, or all sides of the study called so, A first.
fn load_run_or_study(name: &str, archive: &Option<PathBuf>) -> Result<Vec<Run>> {
    let kept = Archive::open_read_only(place::archive(archive)?)?;
    match kept.load_run(&name.parse()?) {
        Ok(run) => Ok(vec![run]),
        Err(unknown @ ArchiveError::UnknownRun { .. }) => match sides_of(&kept, name) {
            Ok(sides) if sides.iter().all(|run| run.study.is_some()) => Ok(sides),
            _ => Err(unknown.into()),
        },
        Err(other) => Err(other.into()),
    }
}

/// The runs of all sides of a study, A first.
///
/// # Errors
/// When there is none of this name, or one of its runs is gone.
fn sides_of(kept: &Archive, name: &str) -> Result<Vec<Run>> {
    let load = |number| kept.load_run(&RunName::Label(SideLabel::new(name, number).to_string()));
    let first = load(0)?;
    let sides = first.study.as_ref().map_or(2, |study| study.sides as usize);
    let more = (1..sides.clamp(2, SIDES_MAX)).map(|number| Ok(load(number)?));
    std::iter::once(Ok(first)).chain(more).collect()
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

/// The seed that is asked for, or a new one: the same for everybody would be the same lot in every study.
fn seed(asked: Option<u64>) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Keys of hash maps are drawn by the operating system. Half of the bits, so that somebody can type it.
    asked.unwrap_or_else(|| RandomState::new().hash_one(()) >> 32)
}

/// Prints to standard output without control characters; a reader that has gone away is no error.
fn print(text: &str) -> Result<()> {
    print_with(|out| out.write_all(printable(text).as_bytes()))
}

/// The same of a text that is coloured, and whose parts were cleaned when it was.
fn print_coloured(text: &str) -> Result<()> {
    if wants_colour() {
        print_with(|out| out.write_all(text.as_bytes()))
    } else {
        print(text)
    }
}

/// The same of JSON, where such a character is escaped.
fn print_json(text: &str) -> Result<()> {
    print_json_with(|out| out.write_all(text.as_bytes()))
}

/// The same of JSON that is written piece by piece.
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

/// How results are judged on the terminal.
fn shown(judging: &Judging) -> ::report::Shown {
    ::report::Shown {
        width: terminal_columns(),
        colour: wants_colour(),
        all: judging.all,
    }
}

/// Tells a verdict to whoever watches: as on a terminal of usual width, without colours.
fn tell(watched: &Watched, judging: &Judging, render: impl Fn(::report::Shown) -> String) {
    watched.tell(|| StreamEvent::Verdict {
        text: render(::report::Shown {
            width: 100,
            colour: false,
            all: judging.all,
        }),
    });
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
    takes_colour(&io::stdout())
}
