//! Databases that are loaded already: copies of what is loaded once for all tests.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;
use testing::Shared;
use workload::oltp::Loaded;

use crate::common::*;
use crate::database::{MYSQL, POSTGRES};

/// Directories with the databases that copies are made of, by engine and size, and what their loads told.
static ORIGINALS: Shared<(Arc<TempDir>, Loaded)> = Shared::new();

impl Database {
    /// With so many warehouses, right after their load.
    pub fn loaded(engine: &'static str, warehouses: u32) -> Self {
        Self::loaded_with(engine, warehouses, "")
    }

    /// With more settings, each after an ampersand.
    pub fn loaded_with(engine: &'static str, warehouses: u32, settings: &str) -> Self {
        let directory = directory_with(engine, warehouses);
        let url = url(engine, directory.path()) + settings;
        Self::at(engine, &url, directory)
    }
}

/// What the load of such a database told.
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

/// On disk, and where a server's user can reach it.
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
        _ => format!("mysql+local:{directory}/server?{MYSQL}"),
    }
}
