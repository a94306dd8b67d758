//! Data validation and its journal, as parameters and as options `-v` and `-j`.

use super::error::Result;
use super::lexer::Parameter;
use super::value::begins;
use crate::run::{Journal, Validation};

/// Word of a parameter, letter of an option, and its effect.
type Settings<T> = &'static [(&'static str, Option<char>, fn(&mut T))];

const VALIDATION: Settings<Validation> = &[
    ("yes", None, |_| {}),
    ("read_after_write", Some('r'), |it| {
        it.read_after_write = true
    }),
    ("no_preread", Some('w'), |it| it.no_preread = true),
    ("ignore_zero_reads", None, |it| it.ignore_zero_reads = true),
    // Only the time of the last good access is not stored.
    ("time", Some('t'), |_| {}),
];
const JOURNAL: Settings<Journal> = &[
    ("yes", None, |_| {}),
    ("recover", Some('r'), |it| it.recover = true),
    ("noflush", Some('n'), |it| it.no_flush = true),
    ("maponly", Some('m'), |it| it.map_only = true),
    ("only", Some('o'), |it| {
        (it.recover, it.recover_only) = (true, true)
    }),
    ("skip_read_all", Some('s'), |it| it.skip_read_all = true),
    ("ignore_pending", Some('i'), |it| it.ignore_pending = true),
];

/// `validate=yes`, `validate=(read_after_write,…)`; `None` for `no`.
pub(super) fn validation(parameter: &Parameter) -> Result<Option<Validation>> {
    read(
        parameter,
        VALIDATION,
        "supported values are yes, no, read_after_write, no_preread, ignore_zero_reads and time",
    )
}

/// `journal=yes`, `journal=(recover,noflush,…)`; `None` for `no`.
pub(super) fn journal(parameter: &Parameter) -> Result<Option<Journal>> {
    if parameter.values.iter().any(|word| word.starts_with("max=")) {
        return Err(parameter.wrong("the size of the journal cannot be limited; leave max= out"));
    }
    read(
        parameter,
        JOURNAL,
        "supported values are yes, no, recover, noflush, maponly, only, skip_read_all and ignore_pending",
    )
}

fn read<T: Default>(
    parameter: &Parameter,
    known: Settings<T>,
    supported: &str,
) -> Result<Option<T>> {
    let mut settings = T::default();
    for given in &parameter.values {
        if begins("no", given) {
            return Ok(None);
        }
        let found = known.iter().find(|(word, ..)| begins(word, given));
        let (.., set) = found.ok_or_else(|| parameter.wrong(supported))?;
        set(&mut settings);
    }
    Ok(Some(settings))
}

pub(super) fn validation_letters(letters: &str) -> Option<Validation> {
    of_letters(letters, VALIDATION)
}

pub(super) fn journal_letters(letters: &str) -> Option<Journal> {
    of_letters(letters, JOURNAL)
}

fn of_letters<T: Default>(letters: &str, known: Settings<T>) -> Option<T> {
    let mut settings = T::default();
    for given in letters.chars() {
        let (.., set) = known.iter().find(|(_, letter, _)| *letter == Some(given))?;
        set(&mut settings);
    }
    Some(settings)
}
