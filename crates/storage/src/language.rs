//! The language of vdbench parameter files: a file becomes a list of resolved [`Run`]s.
//!
//! Lines are read from files (`source`), cut into parameters (`lexer`), assigned to their section (`sections`:
//! general, hd, sd, wd, rd), and RDs are expanded into runs (`expand`). docs/VDBENCH.md defines the language.

mod checks;
mod command_line;
mod content;
mod error;
mod expand;
mod flags;
mod format;
mod general;
mod histogram;
mod lexer;
mod limits;
mod list;
mod loops;
mod names;
mod precondition;
mod rd;
mod refused;
mod resolve;
mod sd;
mod sections;
mod shares;
mod source;
mod value;
mod wd;
mod words;

use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

pub use command_line::{CommandLine, Overrides, command_line};
pub use error::{LanguageError, Position, Result};
pub use format::{Format, FormatPolicy};
pub use general::Repeat;
pub use histogram::Buckets;
pub use list::{heading, simulation, summary, workloads};
pub use precondition::PRECONDITION_NAME;
pub use rd::MAX_IOPS;
pub use source::{ReadFile, Variable};

use crate::run::Run;

#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// At least one, in order.
    pub runs: Vec<Run>,
    pub format: Format,
    pub repeat: Repeat,
    pub histogram: Buckets,
    /// Tolerance in percent of a workload's deviation from its requested share; a larger one ends the execution.
    pub skew_tolerance_pct: Option<f64>,
    /// File whose contents `end_rd` and `end_vdbench` end the run or all of them.
    pub monitor: Option<PathBuf>,
    /// Comments that look like parameters, each in a sentence.
    pub hints: Vec<String>,
}

/// Reads the files of a command line. `read` returns the text of a file.
pub fn script(command: &CommandLine, read: ReadFile<'_>) -> Result<Script> {
    let lines =
        source::Sources::new(read, &command.variables, &command.extra).lines(&command.files)?;
    let hints = lexer::hints(&lines);
    // Most errors come from a comment that swallowed a parameter.
    let hinted = |error| match hints.first() {
        Some(hint) => LanguageError::Hinted {
            error: Box::new(error),
            hint: hint.clone(),
        },
        None => error,
    };
    let script = of_lines(command, &lines).map_err(hinted)?;
    Ok(Script { hints, ..script })
}

fn of_lines(command: &CommandLine, lines: &[source::Line]) -> Result<Script> {
    let parameters = lexer::parameters(lines)?;
    let sections = sections::Sections::read(&parameters)?;
    let runs = expand::runs(&sections, &command.overrides)?;
    let general = sections.general;
    let policy = checks::format(general.format, &runs)?;
    Ok(Script {
        runs,
        format: Format {
            policy,
            transfer_bytes: general.format_bytes,
        },
        repeat: command.overrides.repeat.unwrap_or(general.repeat),
        histogram: general.histogram,
        skew_tolerance_pct: general.skew_tolerance_pct,
        monitor: general.monitor,
        hints: Vec::new(),
    })
}

pub fn read_file(path: &Path) -> io::Result<String> {
    let what = std::fs::metadata(path)?.file_type();
    // A shell replaces `<(command)` with a pipe, which does not keep its reader waiting.
    let is_of_shell = path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd");
    if (what.is_fifo() && !is_of_shell) || what.is_socket() {
        return Err(io::Error::other("it is a FIFO or a socket; name a file"));
    }
    let mut bytes = Vec::new();
    // One byte more than the limit shows that the file is too long.
    let limit = source::FILE_BYTES_MAX as u64 + 1;
    std::fs::File::open(path)?
        .take(limit)
        .read_to_end(&mut bytes)?;
    let is_utf_16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    if bytes.len() <= source::FILE_BYTES_MAX && (is_utf_16 || bytes.contains(&0)) {
        let what = "it is UTF-16 or no text; convert it, for example with iconv -f UTF-16 -t UTF-8";
        return Err(io::Error::other(what));
    }
    // Comments may be in any encoding.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
