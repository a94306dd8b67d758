//! Every cause that the sentence can name, provoked on a real server and named rightly. The machine may be
//! busy with other things meanwhile: what is named must be what the jobs wait for.

#![allow(clippy::unwrap_used)] // a test ends where its server does not answer

mod bystanders;
mod common;
mod embedded;
mod memory;
mod mysql;
mod others;
mod postgres;
mod way;
