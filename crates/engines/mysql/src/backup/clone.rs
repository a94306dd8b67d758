//! MySQL's plugin `clone`: the server copies its own files while it works, and the copy recovers when a server starts on it.

use std::path::{Path, PathBuf};

use super::super::local::LOG_BYTES;
use super::super::name::literal;
use super::super::target::MySqlTarget;
use super::pages;
use engine::backup_adapter::Adapter;
use engine::failed;
use engine::file_snapshot::copy;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};

const IS_ACTIVE: &str = "SELECT 1 FROM information_schema.plugins WHERE plugin_name = 'clone' AND plugin_status = 'ACTIVE'";
const INSTALL: &str = "INSTALL PLUGIN clone SONAME 'mysql_clone.so'";
/// The server makes this directory itself.
const COPY: &str = "clone";

pub(super) const CLONE: Adapter<MySqlTarget> = Adapter {
    about: BackupMethod {
        name: "clone",
        how: "CLONE LOCAL DATA DIRECTORY: the server copies its files while it works, then synchronised; a server that starts on \
              the copy recovers it. The processor time is the server's",
        restored_log_bytes: LOG_BYTES,
        ..BackupMethod::SIMPLE
    },
    on: |target| Box::new(Clone(target)),
};

struct Clone<'t>(&'t MySqlTarget);

impl Method for Clone<'_> {
    fn lacks(&self) -> Option<String> {
        let is_active = || Ok(!self.0.texts(IS_ACTIVE)?.is_empty());
        let install = || {
            if !is_active()? {
                self.0.texts(INSTALL)?;
            }
            is_active()
        };
        let installed: Result<bool> = install();
        match installed {
            Ok(true) => None,
            Ok(false) => Some("the server's plugin clone is not active".into()),
            Err(error) => Some(error.message),
        }
    }

    fn back_up(&self, _options: BackupOptions, into: &Path) -> Result<BackedUp> {
        self.0.own_server()?.give(into)?;
        let place = literal(&copy_in(into).display().to_string());
        self.0
            .texts(&format!("CLONE LOCAL DATA DIRECTORY = {place}"))?;
        copy::sync(into).map_err(|e| failed("cannot synchronise the backup", &e))?;
        Ok(BackedUp::default())
    }

    fn verify(&self, from: &Path) -> Result<Option<String>> {
        pages::verify(self.0, from)
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        pages::restore(self.0, of, &copy_in(of.from), |_| Ok(()))
    }
}

fn copy_in(backup: &Path) -> PathBuf {
    backup.join(COPY)
}
