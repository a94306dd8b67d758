//! Twin: a plan whose load has the profile of an observed database, without its data and without its SQL.
//!
//! From the bottom up:
//! * `error`: reasons against a twin.
//! * `profile`: amounts per transaction, from the observation.
//! * `kinds`: kinds of transaction, with whole statements, whose mean is a profile.
//! * `shape`: statements per transaction by sort, with numbers of rows and lengths of texts.
//! * `fit`: comparison of observation and twin, figure by figure.
//! * `sql`: tables and statements.
//! * `of_run`: twin of an observation in a run.
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
