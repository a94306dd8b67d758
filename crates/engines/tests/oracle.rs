//! The engine for Oracle on a stand-in for Oracle, never on Oracle: its wire protocol in front of PostgreSQL.
#![cfg(feature = "oracle")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "every test program uses its own part")]
#[path = "servers/shared.rs"]
mod shared;

#[path = "oracle/common.rs"]
mod common;
#[path = "oracle/guard.rs"]
mod guard;
#[path = "oracle/logon.rs"]
mod logon;
#[path = "oracle/session.rs"]
mod session;
#[path = "oracle/target.rs"]
mod target;
