//! A twin: a plan whose load has the profile of a database that was observed at work, without its data and without its SQL.
//!
//! From the bottom up:
//! * `error`: what stands in the way.
//! * `profile`: what the observation tells, for each transaction.
//! * `kinds`: kinds of transaction whose mean is a profile, with whole statements in each.
//! * `shape`: how many statements of which sort a transaction has, with how many rows and how long texts.
//! * `fit`: what was observed beside what the twin does, figure by figure.
//! * `sql`: tables and statements.
//! * `of_run`: a twin of the observation that a run is.
//! * `text`: its plan, with the fit.

mod error;
mod fit;
mod kinds;
mod of_run;
mod profile;
mod shape;
mod sql;
#[cfg(test)]
mod tests;
mod text;

pub use error::TwinError;
pub use fit::{Figure, Fit};
pub use of_run::Twin;
pub use profile::Unit;
pub use text::FIRST_LINE;
