//! Storage below the database: the language of vdbench parameter files, and the engine that executes them.
//!
//! [`run`] connects the two: plain data, one [`run::Run`] for each line that a simulation lists.

pub mod engine;
mod exclusive;
pub mod execution;
pub mod language;
pub mod layout;
pub mod pages;
pub mod profile;
mod regular;
pub mod run;
