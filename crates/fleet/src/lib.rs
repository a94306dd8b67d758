//! Telemetry of many systems, before and after an update.
//!
//! [`import`] reads histograms from CSV files (docs/FLEET.md) and from archives into a [`Store`], one file in a
//! format that other engines read; the store sums them up for [`verdict::fleet`].

#![forbid(unsafe_code)]

mod archives;
mod csv;
mod entry;
mod error;
mod import;
mod source;
mod sources;
mod store;

pub use archives::{Observer, Runs};
pub use entry::{BUCKETS_MAX, COUNT_MAX};
pub use error::FleetError;
pub use import::{Imported, Outcome, import};
pub use sources::{FILES_MAX, Source};
pub use store::Store;
