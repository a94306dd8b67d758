//! The archive: what was measured, in one SQLite file, and everything that can be read out of it.
//!
//! * [`model`]: runs, points and figures as plain data; the words of the design.
//! * [`store`]: the SQLite file. Every finished point is committed before the next begins.
//! * [`mod@remark`]: why something is invalid or was not measured, and what else to know: values, and their words.
//! * [`integrity`]: digests; what was changed behind the tool's back comes out invalid.
//! * [`mod@array`]: histograms of a storage array's own reporter, set beside a run.
//! * [`export`]: JSON, CSV and Markdown of one run.
//! * [`mod@reference`]: published figures of other platforms, from `reference/*.toml`.
//!
//! Figures flow one way: `lab` writes, `report` and the exports read. Percentiles are not stored;
//! they are read from the histograms, so that they cannot contradict them.

#![forbid(unsafe_code)]

pub mod array;
pub mod export;
pub mod integrity;
pub mod model;
pub mod reference;
pub mod remark;
pub mod store;
mod text_file;

pub use model::*;
pub use remark::Remark;
pub use store::{Archive, ArchiveError, NewRun, RunName, RunSummary};
pub use text_file::{read_text, toml_sentence};
