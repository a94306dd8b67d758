//! Remarks: reasons of invalidity, notes, cautions and obstacles as values, with the one place that has their words.
//!
//! Each topic has a file of the catalogue. The archive stores code and fields, JSON has them with the sentence, and code
//! decides by the value.

#[macro_use]
mod driver;
#[macro_use]
mod host;
#[macro_use]
mod library;
#[macro_use]
mod oltp;
#[macro_use]
mod olap;
#[macro_use]
mod columnar;
#[macro_use]
mod backup;
#[macro_use]
mod observe;
#[macro_use]
mod storage;
#[macro_use]
mod study;
#[macro_use]
mod record;
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
    BracketEnd, BracketSeen, Broken, LimitChanged, PendingWrites, RateTried, Reconciled,
    RoundsRole, RoundsWindow,
};
pub use search::Search;
pub use value::{KINDS, Kind, Remark};
