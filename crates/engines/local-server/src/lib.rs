//! Throw-away local database servers: found, initialised, started, restarted and removed by dbdyno.
//!
//! A [`LocalServer`] runs as an unprivileged user, listens on a Unix socket only, and leaves nothing
//! behind: what dropping it cannot remove, because dbdyno was killed, the next start removes. What
//! differs between kinds of server is in their [`ServerKind`].

mod about;
mod account;
mod apart;
mod asked;
mod blank;
mod cache;
mod choose;
mod control_connection;
mod executed;
mod find;
mod group;
mod janitor;
mod kind;
mod launcher;
mod local;
mod place;
#[cfg(test)]
mod pretended;
mod process;
mod run_directory;
mod scheme;
mod spec;
mod staging;

pub use account::Account;
pub use account::own_name;
pub use apart::Apart;
pub use control_connection::ControlConnection;
pub use executed::executed;
pub use find::{Installation, Surroundings, Version};
pub use find::{ask_all, newest_first};
pub use kind::{Layout, Segment, ServerAbout, ServerKind, Signals};
pub use local::LocalServer;
pub use process::is_zombie;
pub use run_directory::usual_parent;
pub use scheme::LocalEngine;
pub use spec::{MAX_CONNECTIONS, SESSIONS_USUAL, connections_for};
pub use spec::{ServerSpec, parse_bytes};

use engine::failed;

/// Memory that a server's areas are sized by: the group's when there is one, else the machine's.
pub fn memory_for(spec: &ServerSpec) -> u64 {
    spec.memory_bytes.unwrap_or_else(machine_memory_bytes)
}

fn machine_memory_bytes() -> u64 {
    let machine = rustix::system::sysinfo();
    machine.totalram * u64::from(machine.mem_unit)
}
