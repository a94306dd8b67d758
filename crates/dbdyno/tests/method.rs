//! Correctness of dbdyno's measurements: its invariants in virtual time, where everything is known, and on databases of every engine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "method/databases.rs"]
mod databases;
#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;
#[path = "method/virtual_time.rs"]
mod virtual_time;

mod common;
