//! Programs of a database, to separate their processor time from that of others.

use std::sync::Arc;

use engine::Target;
use host::Programs;

/// Programs of these databases together.
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
