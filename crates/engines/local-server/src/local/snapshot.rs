//! A copy of the data directory of a server that is down meanwhile.

use std::time::Duration;

use archive::Purpose;

use super::LocalServer;
use crate::{Apart, cache, process};
use engine::file_snapshot::FileSnapshot;
use engine::{Cooled, Result, TargetError};

const ORPHANS_TIME_MAX: Duration = Duration::from_secs(5);

impl LocalServer {
    /// Fails with the reason where a copy of its data would not be all of it, apart from files of these kinds.
    ///
    /// # Errors
    /// When other files lie apart from the data.
    pub fn keeps_with_its_data_but(&self, kinds: &[Purpose]) -> Result<()> {
        let is_other = |apart: &&Apart| !kinds.iter().any(|of| **apart == Apart::Kind(*of));
        match self.layout.places.keys().find(is_other) {
            None => Ok(()),
            Some(apart) => Err(TargetError::statement(format!(
                "files lie apart from its data (place.{apart}), and only both together could be brought back"
            ))),
        }
    }

    /// Label of the copy of its data, `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn snapshot_label(&self) -> Result<Option<String>> {
        self.files().label()
    }

    /// Stops it in order, copies its data, and starts it with nothing of it in memory.
    ///
    /// # Errors
    /// When it cannot be stopped or started, or there is no room; it runs then all the same.
    pub fn take_snapshot(&self, label: &str) -> Result<Cooled> {
        self.stop()?;
        let taken = self.files().take(label);
        let cooled = self.forget_all();
        self.launch()?;
        taken.and(cooled).map(|cooled| self.unless_reloaded(cooled))
    }

    /// Ends it without order, puts the copy in the place of its data, and starts it with nothing of them in
    /// memory.
    ///
    /// # Errors
    /// When there is no copy, or the server does not start; it is down then.
    pub fn restore_snapshot(&self) -> Result<Cooled> {
        // The restore discards whatever it would write.
        self.abandon();
        let (data, program) = (&self.layout.data, &self.layout.installation.server);
        process::kill_all(ORPHANS_TIME_MAX, || {
            process::working_in(&[data], &[program])
        });
        self.files().restore()?;
        let cooled = self.forget_all()?;
        self.launch()?;
        Ok(self.unless_reloaded(cooled))
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove_snapshot(&self) -> Result<()> {
        self.files().remove()
    }

    /// Pages of the copy would take memory from those of the server.
    fn forget_all(&self) -> Result<Cooled> {
        let files = self.files();
        if files.copy().is_dir() {
            // The rest is little, and not of the data that are measured.
            let _ = cache::forget(files.copy());
        }
        self.forget_files()
    }

    fn files(&self) -> FileSnapshot {
        FileSnapshot::beside(&self.layout.data, &[])
    }
}
