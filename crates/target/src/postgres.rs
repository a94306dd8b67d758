//! PostgreSQL: its throw-away local server.

pub mod local;
