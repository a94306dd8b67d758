//! The order-entry database on real engines: loader, resumption, and every condition of the check.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "oltp/backups.rs"]
mod backups;
#[path = "oltp/breaks.rs"]
mod breaks;
#[path = "oltp/common.rs"]
mod common;
#[path = "../../workload/tests/common/database.rs"]
mod database;
#[path = "oltp/followed.rs"]
mod followed;
#[path = "oltp/foreign.rs"]
mod foreign;
#[path = "oltp/loaded.rs"]
mod loaded;
#[path = "oltp/loads.rs"]
mod loads;
#[path = "oltp/oracle.rs"]
mod oracle;
#[path = "oltp/populations.rs"]
mod populations;
#[path = "oltp/reconciles.rs"]
mod reconciles;
#[path = "oltp/restores.rs"]
mod restores;
#[path = "oltp/users.rs"]
mod users;
