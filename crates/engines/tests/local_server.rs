//! Throw-away local servers, against the real ones.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "local_server/apart.rs"]
mod apart;
#[path = "local_server/blank.rs"]
mod blank;
#[path = "local_server/common.rs"]
mod common;
#[path = "local_server/life.rs"]
mod life;
#[path = "local_server/memory.rs"]
mod memory;
#[path = "local_server/newest.rs"]
mod newest;
#[path = "local_server/owner.rs"]
mod owner;
#[path = "local_server/refusals.rs"]
mod refusals;
