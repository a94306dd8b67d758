//! Throw-away local servers, against the real ones.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "local_server/common.rs"]
mod common;
#[path = "local_server/life.rs"]
mod life;
#[path = "local_server/refusals.rs"]
mod refusals;
