//! Every cause that the sentence can name, provoked on a real server and named rightly. Each test makes what it
//! asserts: a log that is slow or costs nothing, reads that come slowly from the device, processors that are all busy; so
//! that it holds on any machine, whatever else that does meanwhile. What depends on the machine's numbers is judged in
//! `src/bottleneck/tests.rs`, with numbers made up.

#![allow(clippy::unwrap_used)] // a test ends where its server does not answer

mod alone;
mod bystanders;
mod common;
mod delays;
mod embedded;
mod mysql;
mod postgres;
mod way;
