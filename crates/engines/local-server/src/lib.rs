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
mod spec;
mod staging;

pub use account::Account;
pub use account::own_name;
pub use apart::Apart;
pub use control_connection::ControlConnection;
pub use executed::executed;
pub use find::{Installation, Surroundings, Version};
pub use find::{ask_all, newest_first};
pub use kind::{Layout, Segment, ServerKind, Signals};
pub use local::LocalServer;
pub use process::is_zombie;
pub use run_directory::usual_parent;
pub use spec::{MAX_CONNECTIONS, SESSIONS_USUAL, connections_for, sessions_setting};
pub use spec::{ServerSpec, parse_bytes};

use engine::{TargetUrl, failed};

/// Memory that a server's areas are sized by: the group's when there is one, else the machine's.
pub fn memory_for(spec: &ServerSpec) -> u64 {
    spec.memory_bytes.unwrap_or_else(machine_memory_bytes)
}

/// Memory that the server of a URL takes with so many sessions, at most its limit; `None` where the URL makes no sense.
pub fn memory_need_bytes(kind: &dyn ServerKind, url: &TargetUrl, sessions: u32) -> Option<u64> {
    let spec = ServerSpec::from_url(kind, url).ok()?;
    let need = kind.memory_need_bytes(&spec.all_settings(kind), sessions);
    Some(spec.memory_bytes.map_or(need, |limit| limit.min(need)))
}

fn machine_memory_bytes() -> u64 {
    let machine = rustix::system::sysinfo();
    machine.totalram * u64::from(machine.mem_unit)
}

/// Settings of every local server, as `dbdyno list engines` shows them.
pub const SETTINGS: &[(&str, &str)] = &[
    (
        "version",
        "version or version series of an installed server",
    ),
    (
        "memory",
        "memory limit of the server, including its page cache, e.g. 2GiB (default: no limit)",
    ),
    (
        "place.log",
        "directory of the log, apart from the data; likewise place.indexes, place.temporary, place.undo and \
         place.table.NAME where the server can",
    ),
    ("KEY", "any setting of the server"),
];

/// Versions of the servers of a kind that are installed, or the sentence that says how to get one.
///
/// # Errors
/// That sentence, or what is wrong with the variable that names one.
pub fn versions(kind: &dyn ServerKind) -> std::result::Result<String, String> {
    let found = kind
        .find(&Surroundings::of_process())
        .map_err(|error| error.message)?;
    if found.is_empty() {
        return Err(kind.how_to_get_it().to_owned());
    }
    let versions: Vec<String> = found.iter().map(|i| i.version.to_string()).collect();
    Ok(versions.join(", "))
}

/// The servers of a kind that are installed, each with its program; the first is taken by default.
pub fn found(kind: &dyn ServerKind) -> Vec<String> {
    let found = kind.find(&Surroundings::of_process());
    let line = |i: &Installation| format!("{} {}", i.version, i.server.display());
    found.iter().flatten().map(line).collect()
}
