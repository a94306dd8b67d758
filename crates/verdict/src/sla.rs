//! A run held against limits: which are met, which are missed, and which cannot be judged.
//!
//! * [`mod@file`]: the file of limits, as TOML.
//! * [`hold`]: the judgement, one row for each limit and target.
//! * [`mod@text`], [`mod@json`] and [`mod@junit`]: the same rows for a person, a program and a build server.
//!
//! Nothing passes in silence: a limit on what was not measured, not told or not valid is not met.

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
