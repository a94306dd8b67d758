//! The analytical database on real engines: loader, answers and refusals.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "olap/answers.rs"]
mod answers;
#[path = "olap/common.rs"]
mod common;
#[path = "olap/copies.rs"]
mod copies;
#[path = "../../workload/tests/common/database.rs"]
mod database;
#[path = "olap/foreign.rs"]
mod foreign;
#[path = "olap/hardships.rs"]
mod hardships;
#[path = "olap/loads.rs"]
mod loads;
#[path = "olap/refreshes.rs"]
mod refreshes;
