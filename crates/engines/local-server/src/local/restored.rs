//! A directory with files that a backup brought back, which another server of the kind can be given.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::LocalServer;
use crate::{Account, failed, place};
use engine::url::PLACE;
use engine::{Result, TargetError, TargetUrl};

impl LocalServer {
    /// True if the user of the servers can reach a directory.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_reaches(&self, directory: &Path) -> Result<()> {
        if !self.account.is_changed_to || self.account.reaches(directory) {
            Ok(())
        } else {
            Err(TargetError::statement(format!(
                "the user {} of the server cannot access {}, where the backup would be restored; make it and its parent \
                 directories accessible (chmod o+x), or choose another directory with repository",
                self.account.name,
                directory.display()
            )))
        }
    }

    /// The data directory inside a directory that a server is going to be given; the files are to be brought there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn data_inside(&self, directory: &Path) -> Result<PathBuf> {
        let data = directory.join(place::DATA);
        let made = fs::create_dir(&data)
            .and_then(|()| fs::set_permissions(&data, Permissions::from_mode(0o700)));
        made.map_err(|e| failed(&format!("cannot create {}", data.display()), &e))?;
        Ok(data)
    }

    /// The URL of another server of this one's version on restored files, which lie in one place.
    ///
    /// # Errors
    /// When the path is not UTF-8.
    pub fn url_of_restored(&self, url: &TargetUrl, directory: &Path) -> Result<TargetUrl> {
        let path = directory.to_str().ok_or_else(|| {
            let what = format!(
                "the path {} is not UTF-8; choose another",
                directory.display()
            );
            TargetError::statement(what)
        })?;
        let mut url = url.clone().with_path(path);
        url.settings.retain(|key, _| !key.starts_with(PLACE));
        (url.settings).insert(
            "version".into(),
            self.layout.installation.version.to_string(),
        );
        Ok(url)
    }

    /// Gives a directory with restored files to the user of the servers, and marks it as one that dbdyno made.
    ///
    /// # Errors
    /// When a file cannot be given away.
    pub fn hand_over(&self, directory: &Path) -> Result<()> {
        let hand_over = || {
            let marker = directory.join(place::MARKER);
            fs::write(&marker, self.kind.about().name)?;
            give(directory, &self.account)?;
            File::open(&marker)?.sync_all()
        };
        hand_over().map_err(|e| failed(&format!("cannot hand over {}", directory.display()), &e))
    }

    /// Gives a directory with everything in it to the user of the servers.
    ///
    /// # Errors
    /// When a file cannot be given away.
    pub fn give(&self, directory: &Path) -> Result<()> {
        give(directory, &self.account)
            .map_err(|e| failed(&format!("cannot hand over {}", directory.display()), &e))
    }

    /// Has a program run as the user of the servers, who must be able to read and write what it does.
    pub fn run_as_its_user(&self, command: &mut Command) {
        if self.account.is_changed_to {
            command.uid(self.account.uid).gid(self.account.gid);
        }
        // The directory of whoever started dbdyno may be closed to that user.
        command.current_dir("/");
    }

    /// Restarts the server with these settings over its own, until it is restarted without them. Nothing of them is kept with
    /// the data.
    ///
    /// # Errors
    /// As for [`LocalServer::restart`].
    pub fn restart_with(&self, more: &[(&str, String)]) -> Result<()> {
        let mut settings = self.settings.clone();
        let more = more
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        settings.extend(more);
        self.configure(&settings)?;
        self.restart()
    }
}

fn give(path: &Path, account: &Account) -> io::Result<()> {
    if account.is_changed_to {
        lchown(path, Some(account.uid), Some(account.gid))?;
    }
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), account)?;
        }
    }
    Ok(())
}
