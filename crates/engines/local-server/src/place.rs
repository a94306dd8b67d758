//! The data directory: one that goes with the server, or one that was given and stays.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::kind::ServerKind;
use super::{Account, Apart, failed, run_directory};
use engine::file_snapshot::FileSnapshot;
use engine::url::PLACE;
use engine::{Result, TargetError};

/// Stands in every given directory that dbdyno made a server in.
pub(super) const MARKER: &str = ".dbdyno-server";
const MARKER_BYTES_MAX: u64 = 256 << 10;
/// A dbdyno that was killed while it started a program leaves its lock to that program's process until the program runs.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// The server's own directory inside the given one.
pub const DATA: &str = "data";
/// A new file system holds this; a directory with nothing else is empty.
const LOST_AND_FOUND: &str = "lost+found";

/// Where the data is, and whether it is there already.
#[derive(Debug)]
pub struct DataDirectory {
    pub data: PathBuf,
    pub is_initialised: bool,
    /// Files outside it when it was made, as URLs have them; empty for old markers.
    apart: Vec<String>,
    given: Option<Given>,
}

#[derive(Debug)]
struct Given {
    directory: PathBuf,
    marker: File,
}

impl DataDirectory {
    /// A directory that goes with the server.
    pub(super) fn throw_away(run: &Path, account: &Account) -> Result<Self> {
        let data = run.join(DATA);
        make_for(&data, account)?;
        Ok(Self {
            data,
            is_initialised: false,
            apart: Vec::new(),
            given: None,
        })
    }

    /// The directory that the user gave: empty, or one that dbdyno made a server in before.
    ///
    /// # Errors
    /// When it holds something else, is in use, or cannot be reached by the server's user.
    pub fn given(directory: &Path, kind: &dyn ServerKind, account: &Account) -> Result<Self> {
        let shown = directory.display();
        let cannot = |e: &io::Error| failed(&format!("cannot use the data directory {shown}"), e);
        if !directory.exists() {
            run_directory::make(directory).map_err(|e| cannot(&e))?;
        }
        let directory = directory.canonicalize().map_err(|e| cannot(&e))?;
        let is_new = is_free(&directory).map_err(|e| cannot(&e))?;
        if !is_new && !directory.join(MARKER).is_file() {
            return Err(TargetError::foreign(format!(
                "the data directory {shown} is not empty and was not created by dbdyno; name an empty one"
            )));
        }
        if account.is_changed_to && !account.reaches(&directory) {
            return Err(TargetError::unreachable(format!(
                "the user {} of the server cannot access the data directory {shown}; make it and its parent \
                 directories accessible (chmod o+x), or name another",
                account.name
            )));
        }
        let mut marker = open_marker(&directory).map_err(|e| cannot(&e))?;
        if !is_locked_soon(&marker) {
            return Err(TargetError::foreign(format!(
                "another dbdyno is using the data directory {shown}; wait until it has finished, or name another"
            )));
        }
        let text = read(&mut marker).map_err(|e| cannot(&e))?;
        let mut lines = text.lines();
        let is_initialised = match lines.next().unwrap_or_default().trim() {
            "" => false,
            name if name == kind.about().name => true,
            name => {
                return Err(TargetError::foreign(format!(
                    "the data directory {shown} belongs to a {name} server; name another"
                )));
            }
        };
        let data = directory.join(DATA);
        if is_initialised {
            FileSnapshot::beside(&data, &[]).finish_restore()?;
        } else {
            // Half made, by a dbdyno that was killed.
            remove_if_there(&data).map_err(|e| cannot(&e))?;
            make_for(&data, account)?;
        }
        Ok(Self {
            data,
            is_initialised,
            apart: lines.map(str::to_owned).collect(),
            given: Some(Given { directory, marker }),
        })
    }

    /// Directories apart from the data; they were made together with it.
    ///
    /// # Errors
    /// As for [`DataDirectory::given`], or when they belong to other data.
    pub fn apart(
        &self,
        asked: &BTreeMap<Apart, PathBuf>,
        kind: &dyn ServerKind,
        account: &Account,
    ) -> Result<BTreeMap<Apart, Self>> {
        let now = in_url(asked);
        if self.is_initialised && !self.apart.is_empty() && self.apart != now {
            return Err(TargetError::foreign(format!(
                "the server in {} was made with {}; name these places again, or its data would not be whole",
                self.data.display(),
                self.apart.join(", ")
            )));
        }
        let mut places = BTreeMap::new();
        for (apart, directory) in asked {
            let place = Self::given(directory, kind, account)?;
            if place.is_initialised != self.is_initialised {
                let (new, old) = if self.is_initialised {
                    (directory.as_path(), self.data.as_path())
                } else {
                    (self.data.as_path(), directory.as_path())
                };
                return Err(TargetError::foreign(format!(
                    "the data and the {apart} of a server are made together, but {} is new and {} is not; name the directories \
                     that belong together, or two empty ones",
                    new.display(),
                    old.display()
                )));
            }
            places.insert(apart.clone(), place);
        }
        Ok(places)
    }

    pub(super) fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// Remembers that the server in it is whole, with these directories apart from it.
    pub(super) fn set_initialised(
        &mut self,
        kind: &dyn ServerKind,
        apart: &BTreeMap<Apart, PathBuf>,
    ) -> Result<()> {
        if let Some(given) = &mut self.given {
            let lines = [vec![kind.about().name.to_owned()], in_url(apart)].concat();
            let write = |marker: &mut File| {
                marker.write_all(lines.join("\n").as_bytes())?;
                marker.sync_all()
            };
            write(&mut given.marker).map_err(|e| {
                failed(
                    &format!("{} cannot be written", given.directory.display()),
                    &e,
                )
            })?;
        }
        self.is_initialised = true;
        Ok(())
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        // A given directory that was empty and got no whole server is left empty again.
        if let (Some(given), false) = (&self.given, self.is_initialised) {
            let _ = remove_if_there(&self.data);
            let _ = fs::remove_file(given.directory.join(MARKER));
        }
        // Closing is not enough: a process that another thread is starting has a copy of the descriptor until it
        // executes its program, and the lock belongs to all copies.
        if let Some(given) = &self.given {
            let _ = given.marker.unlock();
        }
    }
}

/// Directories as URLs name them: "place.log=/fast".
fn in_url(apart: &BTreeMap<Apart, PathBuf>) -> Vec<String> {
    let places = apart.iter();
    let places = places.map(|(of, place)| format!("{PLACE}{of}={}", place.display()));
    places.collect()
}

fn is_free(directory: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        if entry?.file_name() != LOST_AND_FOUND {
            return Ok(false);
        }
    }
    Ok(true)
}

fn open_marker(directory: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(directory.join(MARKER))
}

/// Locks it, or gives up if another one keeps it.
fn is_locked_soon(marker: &File) -> bool {
    let end = Instant::now() + LOCK_PATIENCE;
    while marker.try_lock().is_err() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    true
}

fn read(marker: &mut File) -> io::Result<String> {
    let mut text = String::new();
    marker.rewind()?;
    // A name and some directories; more would be somebody else's file.
    marker.take(MARKER_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Makes a directory that is `account`'s alone.
pub(super) fn make_for(path: &Path, account: &Account) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt, chown};
    let make = || {
        fs::DirBuilder::new().mode(0o700).create(path)?;
        if account.is_changed_to {
            chown(path, Some(account.uid), Some(account.gid))?;
        }
        Ok(())
    };
    make().map_err(|e: io::Error| failed(&format!("{} cannot be made", path.display()), &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretended::Pretended;

    /// The place of a server of the user at hand.
    fn given(directory: &Path) -> Result<DataDirectory> {
        let account = Account {
            is_changed_to: false,
            ..Account::for_server(&["nobody"]).unwrap()
        };
        DataDirectory::given(directory, &Pretended, &account)
    }

    /// A process that is just being started by another thread still has a copy of every descriptor.
    #[test]
    fn a_place_that_is_dropped_is_free_whoever_has_a_copy_of_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let open = || given(directory.path());
        let mut place = open().unwrap();
        place.set_initialised(&Pretended, &BTreeMap::new()).unwrap();
        assert!(
            open().is_err(),
            "two servers at once use one data directory"
        );
        let marker = &place.given.as_ref().unwrap().marker;
        let copy = marker.try_clone().unwrap();
        drop(place);
        open().unwrap();
        drop(copy);
    }

    /// Whoever is killed unlocks nothing; what it was just starting has the lock until it runs.
    #[test]
    fn a_place_whose_owner_was_killed_is_free_when_its_children_run() {
        let directory = tempfile::tempdir().unwrap();
        let open = || given(directory.path());
        let of_the_child = open().unwrap().given.take();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(LOCK_PAUSE);
                drop(of_the_child);
            });
            open().unwrap();
        });
    }
}
