//! Published figures of other platforms (`reference/*.toml`, one file per platform or study, each with its source).
//!
//! The files are embedded at compile time. [`list`] names them, [`load`] reads one, [`parse`] reads a text of the
//! same form from elsewhere. A published row is stored twice: [`ReferencePoint::printed`] as the document prints
//! it, [`ReferencePoint::figures`] in dbdyno's names and units. A contradiction of the document stands as a note
//! with its figure; no figure is ever corrected.

mod convert;
mod file;
mod published;

use include_dir::{Dir, include_dir};

pub use published::{
    Cell, DERIVED, Fact, FactKind, FactSection, PlatformFacts, PublishedChart, PublishedRow,
    PublishedTable, Reference, ReferencePoint, Remark, ResultTable, ServiceLabel, StatedFigure,
};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../reference");

/// Longest reference file that is read, in bytes.
pub const FILE_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReferenceError {
    #[error("there is no reference called \"{name}\"{hint}; the references are {known}")]
    Unknown {
        name: String,
        /// ` (did you mean "…"?)` or nothing.
        hint: String,
        known: String,
    },
    #[error("reference \"{name}\" cannot be used: {place}: {what}")]
    Malformed {
        name: String,
        /// Line or table in the file.
        place: String,
        what: String,
    },
}

pub fn list() -> Vec<&'static str> {
    let mut names: Vec<_> = FILES
        .files()
        .filter(|file| file.path().extension().is_some_and(|end| end == "toml"))
        .filter_map(|file| file.path().file_stem()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

/// Reads the embedded reference `name`, given with or without the prefix `ref:`.
pub fn load(name: &str) -> Result<Reference, ReferenceError> {
    let name = name.strip_prefix("ref:").unwrap_or(name);
    let text = FILES
        .get_file(format!("{name}.toml"))
        .and_then(|file| file.contents_utf8());
    match text {
        Some(text) => parse(name, text),
        None => Err(ReferenceError::Unknown {
            name: name.to_owned(),
            hint: crate::nearest(name, list()),
            known: list().join(", "),
        }),
    }
}

/// Reads the reference called `name` from the text of its file; the form is described in `docs/REFERENCES.md`.
pub fn parse(name: &str, toml: &str) -> Result<Reference, ReferenceError> {
    let error = |place: String, what: String| ReferenceError::Malformed {
        name: name.to_owned(),
        place,
        what,
    };
    if toml.len() > FILE_BYTES_MAX {
        let what = format!("it has {} bytes; the limit is {FILE_BYTES_MAX}", toml.len());
        return Err(error("whole file".to_owned(), what));
    }
    let file: file::File = toml::from_str(toml).map_err(|e| {
        let line = e.span().map_or(0, |span| {
            toml[..span.start.min(toml.len())].matches('\n').count() + 1
        });
        error(format!("line {line}"), one_line(e.message()))
    })?;
    convert::reference(name, file).map_err(|fault| error(fault.place, fault.what))
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
