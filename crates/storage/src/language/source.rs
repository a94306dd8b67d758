//! Lines of parameter files after variables, comments, ends and inclusions.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{LanguageError, Position, Result};

/// Function that reads a file; tests and the fuzzer pass one without a file system.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

const FILES_MAX: usize = 64;
pub(super) const FILE_BYTES_MAX: usize = 4 << 20;
const LINES_MAX: usize = 100_000;
const LINE_BYTES_MAX: usize = 1 << 20;

const THIS_MACHINE: &str = "localhost";

#[derive(Debug)]
pub(super) struct Line {
    pub place: Position,
    pub text: String,
}

/// Variable of the command line, which replaces `$name` and `!name` in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

pub(super) struct Sources<'a> {
    read: ReadFile<'a>,
    /// Longest name first, so that `$lun` is never read as `$l`; true once used.
    variables: Vec<(&'a Variable, bool)>,
    /// Parameters appended to every RD that fits on one line.
    extra: &'a [String],
    files: usize,
    lines: Vec<Line>,
}

impl<'a> Sources<'a> {
    pub fn new(read: ReadFile<'a>, variables: &'a [Variable], extra: &'a [String]) -> Self {
        let mut variables: Vec<_> = variables.iter().map(|v| (v, false)).collect();
        variables.sort_by_key(|(variable, _)| std::cmp::Reverse(variable.name.len()));
        Self {
            read,
            variables,
            extra,
            files: 0,
            lines: Vec::new(),
        }
    }

    pub fn lines(mut self, files: &[PathBuf]) -> Result<Vec<Line>> {
        for file in files {
            self.add_file(file, None)?;
        }
        match self.variables.iter().find(|(_, used)| !used) {
            Some((variable, _)) => Err(LanguageError::Command(format!(
                "the variable {0} is set but not used; write ${0} or !{0} in the parameter file, or leave it out",
                variable.name
            ))),
            None => Ok(self.lines),
        }
    }

    fn add_file(&mut self, path: &Path, included_at: Option<&Position>) -> Result<()> {
        self.files += 1;
        if self.files > FILES_MAX {
            return Err(LanguageError::Command(format!(
                "there are more than {FILES_MAX} parameter files; merge some of them"
            )));
        }
        let text = (self.read)(path).map_err(|reason| match included_at {
            Some(place) => place.wrong(format!(
                "include={} cannot be read: {reason}",
                path.display()
            )),
            None => LanguageError::Unreadable {
                path: path.to_owned(),
                reason,
            },
        })?;
        if text.len() > FILE_BYTES_MAX {
            return Err(LanguageError::Command(format!(
                "the parameter file {} is larger than {} MiB; check that it is a parameter file",
                path.display(),
                FILE_BYTES_MAX >> 20
            )));
        }
        let text = text
            .trim_start_matches('\u{feff}')
            .replace("\r\n", "\n")
            .replace('\r', "\n");
        let file: Arc<str> = path.display().to_string().into();
        for (number, line) in (1..).zip(text.lines()) {
            let place = Position::new(Arc::clone(&file), number);
            let text = self.substitute(line, &place)?;
            let text = text.trim();
            if text.starts_with("eof") {
                break;
            }
            if text.is_empty() || text.starts_with(['/', '#', '*']) {
                continue;
            }
            let counted = text.split([' ', '\t']).next().unwrap_or_default();
            if counted.contains('\u{fffd}') {
                return Err(place.wrong(
                    "it has a character that is not UTF-8; convert the file, for example with iconv -f WINDOWS-1252 -t UTF-8",
                ));
            }
            match included(text) {
                None => self.add_line(text, place)?,
                Some(_) if included_at.is_some() => {
                    return Err(place.wrong(
                        "an included file may not include another; include both from the first",
                    ));
                }
                Some(other) => {
                    let other = self.find_included(path, &other);
                    self.add_file(&other, Some(&place))?;
                }
            }
        }
        Ok(())
    }

    /// A bare name is looked up next to the file that includes it, then in the current directory.
    fn find_included(&self, from: &Path, name: &str) -> PathBuf {
        let beside = from.with_file_name(name);
        let is_absent = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        if name.contains('/') || (self.read)(&beside).is_err_and(is_absent) {
            PathBuf::from(name)
        } else {
            beside
        }
    }

    fn add_line(&mut self, text: &str, place: Position) -> Result<()> {
        if self.lines.len() == LINES_MAX {
            return Err(place.wrong(format!(
                "there are more than {LINES_MAX} lines of parameters; use count=, ranges and loops"
            )));
        }
        let text = self.with_extra(text);
        self.lines.push(Line { place, text });
        Ok(())
    }

    fn with_extra(&self, text: &str) -> String {
        let parameters = text.split(' ').next().unwrap_or_default();
        let is_whole_rd =
            text.starts_with("rd=") && !parameters.ends_with(',') && !text.contains('"');
        if self.extra.is_empty() || !is_whole_rd {
            return text.to_owned();
        }
        format!("{parameters},{}", self.extra.join(","))
    }

    fn substitute(&mut self, line: &str, place: &Position) -> Result<String> {
        let mut text = line.to_owned();
        for (variable, used) in &mut self.variables {
            for mark in ['$', '!'] {
                let written = format!("{mark}{}", variable.name);
                if text.contains(&written) {
                    *used = true;
                    text = text.replace(&written, &variable.value);
                }
            }
            if text.len() > LINE_BYTES_MAX {
                return Err(place.wrong("the line is too long once its variables are filled in"));
            }
        }
        for written in ["$host", "!host"] {
            text = text.replace(written, THIS_MACHINE);
        }
        let is_comment = text.trim_start().starts_with(['/', '#', '*']);
        if !is_comment {
            text = text.replace("#host", "0");
        }
        match ["=$", "=!"].iter().find_map(|mark| text.split_once(mark)) {
            Some((_, rest)) if !is_comment => {
                let name: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                Err(place.wrong(format!(
                    "the variable {name} has no value; give {name}=VALUE on the command line"
                )))
            }
            _ => Ok(text),
        }
    }
}

fn included(text: &str) -> Option<String> {
    let path = text.strip_prefix("include=")?;
    Some(match path.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default().to_owned(),
        None => path.split(' ').next().unwrap_or_default().to_owned(),
    })
}
