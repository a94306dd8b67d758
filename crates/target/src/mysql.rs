//! MariaDB, and what speaks its protocol.

pub mod local;
