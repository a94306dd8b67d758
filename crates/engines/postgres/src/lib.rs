//! PostgreSQL: a client of its own over the server's protocol.

mod backup;
mod connection;
mod defaults;
mod endpoint;
mod explain;
mod foreign;
mod guard;
mod inspect;
pub mod local;
mod observe;
mod overrides;
mod processes;
mod reserved;
mod scheme;
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

pub use scheme::ENGINES;

#[cfg(test)]
#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
