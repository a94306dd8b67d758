//! Check of a run against limits: those that are met, missed, or cannot be judged.
//!
//! * [`mod@file`]: the file of limits, as TOML.
//! * [`hold`]: the judgement, one row for each limit and target.
//! * [`mod@text`], [`mod@json`] and [`mod@junit`]: the same rows for a person, a program and a build server.
//!
//! A limit on a figure that was not measured, is missing or invalid is not met.

pub mod file;
pub mod hold;
pub mod json;
pub mod junit;
mod levels;
pub mod text;
mod words;

pub use file::{Limit, Sla, SlaError};
pub use hold::{Bound, Finding, Judgement, LeftOut, Outcome, Row, Soundness, Surety, judge};
pub use json::{SCHEMA_NAME, json};
pub use junit::junit;
pub use text::text;
