//! PostgreSQL, against real servers that dbdyno starts.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "postgres/common.rs"]
mod common;
#[path = "servers/cut_off.rs"]
mod cut_off;
#[path = "postgres/foreign.rs"]
mod foreign;
#[path = "postgres/guard.rs"]
mod guard;
#[path = "postgres/logon.rs"]
mod logon;
#[path = "postgres/losses.rs"]
mod losses;
#[path = "servers/pgbouncer.rs"]
mod pgbouncer;
#[path = "postgres/pooler.rs"]
mod pooler;
#[path = "postgres/session.rs"]
mod session;
#[path = "postgres/session_settings.rs"]
mod session_settings;
#[path = "postgres/target.rs"]
mod target_itself;
#[path = "postgres/wait_sampling.rs"]
mod wait_sampling;
#[path = "postgres/watch.rs"]
mod watch;
