//! Exports of one run: JSON (with its published schema), CSV and Markdown.
//!
//! All three name a figure alike, and every name ends in its unit. What is unknown is `null` in
//! JSON, an empty field in CSV and "–" in Markdown; it is never 0.

mod cores;
mod csv;
mod flat;
mod json;
mod markdown;
mod rows;
mod schema;

pub use cores::{Saved, SavedItem, SpareCores};
pub use csv::csv;
pub use json::{Exported, SCHEMA_NAME, json, json_text, write_json};
pub use markdown::markdown;
pub use schema::json_schema;
