//! The programs that a database is made of, so that their processor time can be told from that of others.

use std::sync::Arc;

use engine::Target;
use host::Programs;

/// Those of these databases together.
///
/// # Errors
/// With the reason, where a server's process is not known.
pub fn programs_of<'n>(
    nodes: impl IntoIterator<Item = &'n Arc<dyn Target>>,
) -> std::result::Result<Programs, String> {
    let mut programs = Programs::default();
    for node in nodes {
        match node.server_process() {
            Some(server) => programs.servers.push(server?),
            None => programs.is_inside = true,
        }
    }
    Ok(programs)
}
