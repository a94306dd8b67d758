//! The server's processes on this machine.

use super::connection::Connection;
use engine::Result;
use engine::process;

/// Names of its program; the second is an older one of its first process.
const NAMES: [&str; 2] = ["postgres", "postmaster"];

/// The number that the server has for the process which serves this connection.
pub(super) fn own(connection: &mut Connection) -> Result<Option<u32>> {
    let rows = connection.texts("SELECT pg_backend_pid()::text", &[])?;
    let pid = rows.into_iter().flatten().flatten().next();
    Ok(pid.and_then(|pid| pid.parse().ok()))
}

/// True if the process of this number is one of PostgreSQL's here.
pub(super) fn is_server(pid: u32) -> bool {
    process::name(pid).is_some_and(|name| NAMES.iter().any(|known| name.starts_with(known)))
}

/// The process whose children serve the sessions.
pub(super) fn postmaster(connection: &mut Connection) -> std::result::Result<u32, String> {
    if let Some(listener) = connection.listener() {
        return if is_server(listener) {
            Ok(listener)
        } else {
            Err(format!(
                "the process that listens on the server's socket, {listener}, is not the server; name the server's own socket"
            ))
        };
    }
    let mut found = || {
        let port = connection.own_port()?;
        let session = own(connection).ok()??;
        // A session shows the address of its client, which tells it from one of another server.
        let is_ours = process::title(session)?.contains(&format!("({port})"));
        process::parent(session).filter(|pid| is_ours && is_server(*pid))
    };
    found().ok_or_else(|| {
        "cannot find the server's processes on this machine: it is in a container or behind a tunnel or pool; connect \
         through its Unix socket"
            .to_owned()
    })
}
