//! The archive: all measurements in one SQLite file, and everything that reads them.
//!
//! * [`model`]: runs, points and figures as plain data; the terms of the design.
//! * [`store`]: the SQLite file. Every finished point is committed before the next begins.
//! * [`mod@remark`]: why something is invalid or was not measured, and other notes, as values with their sentences.
//! * [`integrity`]: digests; data altered outside dbdyno are invalid.
//! * [`companions`]: files next to a database of SQLite must be SQLite's.
//! * [`lock_file`]: excludes a second process from a run or a database.
//! * [`mod@array`]: histograms from a storage array's own reporter, shown with a run.
//! * [`stream`]: events of a run while it is measured.
//! * [`export`]: JSON, CSV and Markdown of one run.
//! * [`mod@reference`]: published figures of other platforms, from `reference/*.toml`.
//!
//! Figures flow one way: `lab` writes, `report` and the exports read. Percentiles are not stored but
//! computed from the histograms, so the two cannot contradict each other.

#![forbid(unsafe_code)]

pub mod array;
pub mod companions;
pub mod export;
pub mod fields;
pub mod integrity;
pub mod lock_file;
pub mod model;
mod nearest;
mod open_here;
pub mod reference;
pub mod remark;
pub mod store;
pub mod stream;
mod text_file;

pub use model::*;
pub use nearest::nearest;
pub use remark::Remark;
pub use store::{Archive, ArchiveError, NewRun, RunName, RunSummary, immutable_uri};
pub use text_file::{read_text, toml_sentence};
