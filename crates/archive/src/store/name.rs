//! How a run is called: by its number, by its label, or `last`.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use super::{ArchiveError, Result};

pub const LABEL_CHARS_MAX: usize = 100;

/// `RUN` of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunName {
    Id(i64),
    /// Label, given or made up (`run-7`).
    Label(String),
    Last,
}

impl FromStr for RunName {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        Ok(match (text, text.parse::<i64>()) {
            ("last", _) => Self::Last,
            (_, Ok(id)) => Self::Id(id),
            _ => Self::Label(text.to_owned()),
        })
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Label(label) => f.write_str(label),
            Self::Last => f.write_str("last"),
        }
    }
}

/// The label of a run that was given none.
pub(super) fn made_up_label(id: i64) -> String {
    format!("run-{id}")
}

/// Refuses a label by which the run could not be found again.
///
/// # Errors
/// [`ArchiveError::LabelUnusable`] with the reason.
pub fn check_label(label: &str) -> Result<()> {
    let made_up = label
        .strip_prefix("run-")
        .is_some_and(|n| n.parse::<u64>().is_ok());
    let reason = if label.is_empty() {
        "it is empty"
    } else if label.chars().count() > LABEL_CHARS_MAX {
        "it is longer than 100 characters"
    } else if label.chars().any(char::is_control) || label.trim() != label {
        "it contains control characters, or starts or ends with a space"
    } else if label.chars().any(is_invisible_order) {
        "it contains characters that change the order in which text is shown"
    } else if label.starts_with("--") {
        "it begins like a flag"
    } else if label == "last" {
        "`last` means the run started last"
    } else if label.parse::<i64>().is_ok() {
        "a number means a run's id"
    } else if made_up {
        "`run-NUMBER` is the name of a run without a label"
    } else if label.starts_with("ref:") {
        "names of references start with `ref:`"
    } else {
        return Ok(());
    };
    Err(ArchiveError::LabelUnusable {
        label: label.to_owned(),
        reason,
    })
}

/// Unicode's marks, embeddings, overrides and isolates of the direction of text.
fn is_invisible_order(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_id_a_label_or_last() {
        let parse = |s: &str| s.parse::<RunName>().unwrap();
        assert_eq!(parse("12"), RunName::Id(12));
        assert_eq!(parse("last"), RunName::Last);
        assert_eq!(parse("12 GB"), RunName::Label("12 GB".into()));
        for name in ["12", "last", "after"] {
            assert_eq!(parse(name).to_string(), name);
        }
    }

    #[test]
    fn a_label_must_lead_back_to_its_run() {
        for bad in [
            "",
            "last",
            "7",
            "-7",
            "run-7",
            "ref:hp",
            " x",
            "a\nb",
            "--help",
            "a\u{202e}b",
            &"x".repeat(101),
        ] {
            assert!(check_label(bad).is_err(), "{bad:?}");
        }
        for good in [
            "before",
            "run-of-the-mill",
            "7a",
            "größer",
            "-10% mem",
            &"x".repeat(100),
        ] {
            assert!(check_label(good).is_ok(), "{good:?}");
        }
    }
}
