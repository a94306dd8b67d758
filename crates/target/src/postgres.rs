//! PostgreSQL.

pub mod local;
