//! Copies of databases that are loaded once for all tests.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use oltp::Loaded;
use tempfile::TempDir;
use testing::Shared;

use crate::common::*;
use crate::database::{MARIADB, MYSQL, POSTGRES};

/// Directories with the originals of the copies, by engine and size, and the results of their loads.
static ORIGINALS: Shared<(Arc<TempDir>, Loaded)> = Shared::new();

impl Database {
    /// A database with so many warehouses, right after its load.
    pub fn loaded(engine: &'static str, warehouses: u32) -> Self {
        Self::loaded_with(engine, warehouses, "")
    }

    /// `settings` of the server, each after an ampersand.
    pub fn loaded_with(engine: &'static str, warehouses: u32, settings: &str) -> Self {
        let directory = directory_with(engine, warehouses);
        let url = url(engine, directory.path()) + settings;
        Self::at(engine, &url, directory)
    }
}

/// Result of the load of such a database.
pub fn as_loaded(engine: &'static str, warehouses: u32) -> Loaded {
    original(engine, warehouses).1
}

fn original(engine: &'static str, warehouses: u32) -> (Arc<TempDir>, Loaded) {
    ORIGINALS.get(&format!("{engine} {warehouses}"), || {
        let directory = Arc::new(passable());
        let database = Database::running(engine, &url(engine, directory.path()));
        let loaded = database.load(&options(warehouses)).unwrap();
        (directory, loaded)
    })
}

/// A directory with the files of such a database: a server's are in `server`.
pub fn directory_with(engine: &'static str, warehouses: u32) -> TempDir {
    let (original, _) = original(engine, warehouses);
    let copy = passable();
    let mut command = Command::new("cp");
    command.args(["-a", "--reflink=auto"]);
    let from = original.path().join(".");
    let done = command.arg(from).arg(copy.path()).status().unwrap();
    assert!(done.success(), "{command:?}");
    copy
}

/// A directory on disk that a server's user can reach.
fn passable() -> TempDir {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o711)).unwrap();
    directory
}

fn url(engine: &str, directory: &Path) -> String {
    let directory = directory.display();
    match engine {
        "sqlite" => format!("sqlite:{directory}/test.db?synchronous=OFF"),
        "postgres" => format!("postgres+local:{directory}/server?{POSTGRES}"),
        "mariadb" => format!("mariadb+local:{directory}/server?{MARIADB}"),
        _ => format!("mysql+local:{directory}/server?{MYSQL}"),
    }
}
