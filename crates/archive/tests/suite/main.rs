//! The archive from outside: what it stores, exports and tells of damage; and the published references.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod afterthoughts;
mod annotate;
mod array;
mod common;
mod devices;
mod document;
mod engine_io;
mod executions;
mod export;
mod faults;
mod hostile;
mod interfaces;
mod reference;
mod reference_dl980;
mod reference_studies;
mod store;
mod study;
mod tamper;

#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
