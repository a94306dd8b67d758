//! Exports of one run: JSON (with its published schema), CSV and Markdown.
//!
//! All three name a figure alike, and every name ends in its unit. What is unknown is `null` in
//! JSON, an empty field in CSV and "–" in Markdown; it is never 0.

mod csv;
mod json;
mod markdown;
mod schema;

pub use csv::csv;
pub use json::{Exported, SCHEMA_NAME, json, json_text, write_json, write_json_with};
pub use markdown::markdown;
pub use schema::json_schema;
