//! PostgreSQL: a client of its own over the server's protocol.

mod backup;
mod connection;
mod defaults;
mod endpoint;
mod engine;
mod explain;
mod foreign;
mod guard;
mod inspect;
pub mod local;
mod observe;
mod overrides;
mod placeholders;
mod processes;
mod reserved;
mod session;
mod session_settings;
mod set_up;
mod settings;
mod source;
mod table_spaces;
mod target;
mod tls;
mod version;
mod watch;
pub mod wire;

pub use engine::{LocalPostgres, Postgres};
