//! Options after the verb, in the form of wrappers and scripts.

use std::path::PathBuf;

use super::content::{journal_letters, validation_letters};
use super::error::{LanguageError, Position, Result};
use super::general::{Repeat, repeat};
use super::lexer::Parameter;
use super::rd::{Rd, seconds};
use super::source::Variable;
use crate::run::{Journal, Validation};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommandLine {
    pub files: Vec<PathBuf>,
    /// Output folder as it was written: `DIR`, `DIR+`, `DIR.tod`; `None`: the default.
    pub output: Option<String>,
    pub simulate: bool,
    pub variables: Vec<Variable>,
    pub extra: Vec<String>,
    pub overrides: Overrides,
}

/// Options that take precedence over files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    pub elapsed_s: Option<u32>,
    pub interval_s: Option<u32>,
    pub warmup_s: Option<u32>,
    pub validation: Option<Validation>,
    pub journal: Option<Journal>,
    pub repeat: Option<Repeat>,
}

impl Overrides {
    pub(super) fn apply(&self, rd: &mut Rd) {
        rd.elapsed_s = self.elapsed_s.unwrap_or(rd.elapsed_s);
        rd.interval_s = self.interval_s.unwrap_or(rd.interval_s);
        rd.warmup_s = self.warmup_s.unwrap_or(rd.warmup_s);
    }
}

pub fn command_line(arguments: &[String]) -> Result<CommandLine> {
    let mut command = CommandLine::default();
    let mut rest = arguments.iter().map(String::as_str).peekable();
    while let Some(argument) = rest.next() {
        if argument == "+" {
            command.extra.extend(rest.by_ref().map(str::to_owned));
            break;
        }
        let Some(option) = argument.strip_prefix('-') else {
            command.variables.push(variable(argument)?);
            continue;
        };
        let (letter, attached) = split(option);
        match letter {
            "f" => {
                command
                    .files
                    .extend((!attached.is_empty()).then(|| PathBuf::from(attached)));
                while let Some(file) =
                    rest.next_if(|next| !next.starts_with(['-', '+']) && !next.contains('='))
                {
                    command.files.push(PathBuf::from(file));
                }
            }
            "s" if attached.is_empty() => command.simulate = true,
            "v" => {
                command.overrides.validation = Some(letters(
                    argument,
                    validation_letters(attached),
                    "r, w and t",
                )?)
            }
            "j" => {
                command.overrides.journal = Some(letters(
                    argument,
                    journal_letters(attached),
                    "r, n, m, o, i and s",
                )?)
            }
            "o" | "e" | "i" | "w" | "l" | "m" | "p" => {
                let value = if attached.is_empty() {
                    rest.next().unwrap_or_default()
                } else {
                    attached
                };
                if value.is_empty() {
                    return Err(wrong(format!("{argument} needs a value")));
                }
                command.take(letter, value)?;
            }
            _ => return Err(wrong(format!("the option {argument} {}", refused(letter)))),
        }
    }
    if command.files.is_empty() {
        return Err(wrong("no parameter file is named; give -f FILE".to_owned()));
    }
    Ok(command)
}

impl CommandLine {
    fn take(&mut self, letter: &str, value: &str) -> Result<()> {
        let parameter = Parameter {
            key: format!("-{letter}"),
            values: vec![value.to_owned()],
            place: Position::new("command line", 1),
        };
        match letter {
            "o" => self.output = Some(value.to_owned()),
            "e" => self.overrides.elapsed_s = Some(seconds(&parameter, 1)?),
            "i" => self.overrides.interval_s = Some(seconds(&parameter, 1)?),
            "w" => self.overrides.warmup_s = Some(seconds(&parameter, 0)?),
            "l" => self.overrides.repeat = Some(repeat(&parameter)?),
            // Options about vdbench's processes and port have no meaning here.
            _ => {}
        }
        Ok(())
    }
}

fn split(option: &str) -> (&str, &str) {
    let end = option.chars().next().map_or(0, char::len_utf8);
    option.split_at(end)
}

fn letters<T>(argument: &str, found: Option<T>, known: &str) -> Result<T> {
    found.ok_or_else(|| wrong(format!("{argument}: the supported letters are {known}")))
}

fn variable(argument: &str) -> Result<Variable> {
    match argument.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(Variable {
            name: name.to_owned(),
            value: value.to_owned(),
        }),
        _ => Err(wrong(format!(
            "{argument} is neither an option nor NAME=VALUE; parameter files follow -f"
        ))),
    }
}

fn refused(letter: &str) -> &'static str {
    match letter {
        "-" => "is unknown; dbdyno vdbench --help lists the options",
        "c" => "is for workloads of directories and files, which are not supported",
        "t" => "would run a built-in sample; write a parameter file of five lines instead",
        "r" => "would start at an RD in the middle; leave the RDs before it out of the file",
        "k" => "applies only to Solaris; leave it out",
        _ => "is unknown; supported are -f, -o, -s, -e, -i, -w, -l, -v and -j",
    }
}

fn wrong(what: String) -> LanguageError {
    LanguageError::Command(what)
}
