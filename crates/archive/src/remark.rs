//! Remarks: reasons of invalidity, notes, cautions and obstacles as values, with the one place that has their words.
//!
//! The archive stores code and fields, JSON has them with the sentence, and code decides by the value.

#[macro_use]
mod workloads;
#[macro_use]
mod platform;
#[macro_use]
mod catalogue;
mod fields;
mod json;
mod parts;
mod search;
mod span;
mod value;
mod words;

pub(crate) use json::with_sentences;
pub use parts::{
    BracketEnd, BracketMeasured, Broken, LimitChanged, PendingWrites, RateTried, Reconciled,
    RoundsRole, RoundsWindow,
};
pub use search::Search;
pub use value::{KINDS, Kind, Remark};
