//! Order entry on a PostgreSQL server that dbdyno did not start.

use local_server::LocalServer;

use crate::common::{Ended, Workspace, order_entry_load};
use crate::postgres;

/// What users do on a server, without the checks.
pub fn let_work(place: &Workspace, url: &str, more: &[&str]) -> Ended {
    let asked = ["oltp", "run", "--target", url, "--yes", "--ramp-up", "0.2"];
    let light = ["--warm-up-max", "0", "--check", "none"];
    place.dbdyno(&[&asked[..], &light, more].concat())
}

/// A server with a warehouse of so many rows.
pub fn loaded_server(place: &Workspace, settings: &str, rows: &str) -> (LocalServer, String) {
    let server = postgres::server(settings);
    let url = postgres::url(&server, "dbdyno");
    place.fine(&order_entry_load(&url, rows));
    (server, url)
}
