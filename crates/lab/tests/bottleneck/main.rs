//! Every cause of the sentence, provoked on a real server. Each test creates its cause (a slow or free log, slow
//! reads from the device, busy processors), so that it holds on any machine and under any load. Causes that depend on
//! the machine's numbers are tested in `src/bottleneck/tests.rs` with invented numbers.

#![allow(clippy::unwrap_used)] // a test ends where its server does not answer

mod alone;
mod bystanders;
mod common;
mod delays;
mod embedded;
mod mysql;
mod postgres;
mod way;
