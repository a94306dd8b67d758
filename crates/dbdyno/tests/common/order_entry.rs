//! Order entry on a PostgreSQL server that dbdyno did not start.

use local_server::LocalServer;

use crate::common::{Ended, Workspace, order_entry_load};
use crate::postgres;

/// Runs users on a server without the consistency checks.
pub fn let_work(workspace: &Workspace, url: &str, more: &[&str]) -> Ended {
    let options = ["run", "oltp", "--target", url, "--yes", "--ramp-up", "0.2"];
    let light = ["--set", "warm_up_max_seconds=0", "--set", "check=none"];
    workspace.dbdyno(&[&options[..], &light, more].concat())
}

pub fn loaded_server(workspace: &Workspace, settings: &str, rows: &str) -> (LocalServer, String) {
    let server = postgres::server(settings);
    let url = postgres::url(&server, "dbdyno");
    workspace.fine(&order_entry_load(&url, &format!("warehouse_rows={rows}")));
    (server, url)
}
