//! Data validation and its journal, as parameters and as options `-v` and `-j`.

use super::error::Result;
use super::lexer::Parameter;
use super::value::begins;
use crate::run::{Journal, Validation};

/// `validate=yes`, `validate=(read_after_write,…)`; `None` for `no`.
pub(super) fn validation(parameter: &Parameter) -> Result<Option<Validation>> {
    let mut validation = Validation::default();
    for word in &parameter.values {
        match word.as_str() {
            word if begins("no", word) => return Ok(None),
            word if begins("yes", word) => {}
            word if begins("read_after_write", word) => validation.read_after_write = true,
            word if begins("no_preread", word) => validation.no_preread = true,
            word if begins("ignore_zero_reads", word) => validation.ignore_zero_reads = true,
            // Only the time of the last good access is not stored.
            word if begins("time", word) => {}
            _ => {
                return Err(parameter.wrong(
                    "supported values are yes, no, read_after_write, no_preread, ignore_zero_reads and time",
                ));
            }
        }
    }
    Ok(Some(validation))
}

/// `journal=yes`, `journal=(recover,noflush,…)`; `None` for `no`.
pub(super) fn journal(parameter: &Parameter) -> Result<Option<Journal>> {
    let mut journal = Journal::default();
    for word in &parameter.values {
        match word.as_str() {
            word if begins("no", word) => return Ok(None),
            word if begins("yes", word) => {}
            word if begins("recover", word) => journal.recover = true,
            word if begins("noflush", word) => journal.no_flush = true,
            word if begins("maponly", word) => journal.map_only = true,
            word if begins("only", word) => {
                journal.recover = true;
                journal.recover_only = true;
            }
            word if begins("skip_read_all", word) => journal.skip_read_all = true,
            word if begins("ignore_pending", word) => journal.ignore_pending = true,
            word if word.starts_with("max=") => {
                return Err(
                    parameter.wrong("the size of the journal cannot be limited; leave max= out")
                );
            }
            _ => {
                return Err(parameter.wrong(
                    "supported values are yes, no, recover, noflush, maponly, only, skip_read_all and ignore_pending",
                ));
            }
        }
    }
    Ok(Some(journal))
}

pub(super) fn validation_letters(letters: &str) -> Option<Validation> {
    let mut validation = Validation::default();
    for letter in letters.chars() {
        match letter {
            'r' => validation.read_after_write = true,
            'w' => validation.no_preread = true,
            't' => {}
            _ => return None,
        }
    }
    Some(validation)
}

pub(super) fn journal_letters(letters: &str) -> Option<Journal> {
    let mut journal = Journal::default();
    for letter in letters.chars() {
        match letter {
            'r' => journal.recover = true,
            'n' => journal.no_flush = true,
            'm' => journal.map_only = true,
            'o' => {
                journal.recover = true;
                journal.recover_only = true;
            }
            'i' => journal.ignore_pending = true,
            's' => journal.skip_read_all = true,
            _ => return None,
        }
    }
    Some(journal)
}
