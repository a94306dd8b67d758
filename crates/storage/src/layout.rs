//! Layouts: devices, file systems on them, and the volumes of a database's files, created for a trial and removed
//! again.
//!
//! A layout has a private directory with the files of its loop devices, the mount points of its volumes, and a
//! ledger. Each step is entered before it is taken, so that whoever cleans up after a kill knows what may exist.
//! Mounts and attached devices are then looked up in the kernel's tables rather than in the ledger; only a given
//! device has to be remembered, by the identity of the file system built on it.

mod definition;
mod error;
mod files;
mod ledger;
mod programs;
mod steps;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use archive::Purpose;

pub use definition::{Definition, Device, FileSystem, Profile, Volume};
use error::system;
pub use error::{LayoutError, VARIABLE};
use files::{PASSABLE, make_passable};
use ledger::{Entry, Ledger};
pub use steps::{Step, StepObserver};

/// /var/tmp is on disk, unlike /tmp on many systems, and accessible to the servers' users, unlike root's home.
const PARENT: &str = "/var/tmp";
/// Space that must remain free after the files of a layout are created.
const ROOM_LEFT_BYTES: u64 = 256 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    UntilRemoved,
    /// Until the value that holds it is dropped; if its process is killed, it is left over.
    WhileHeld,
}

#[derive(Debug, Clone)]
pub struct Layouts {
    parent: PathBuf,
}

#[derive(Debug)]
pub struct StandingLayout {
    pub definition: Definition,
    directory: PathBuf,
    _held: Option<Ledger>,
}

impl Default for Layouts {
    fn default() -> Self {
        let named = std::env::var_os(VARIABLE).filter(|v| !v.is_empty());
        let usual = || Path::new(PARENT).join(format!("dbdyno-layouts-{}", host::user_id()));
        Self::below(named.map_or_else(usual, PathBuf::from))
    }
}

impl Layouts {
    pub fn below(parent: PathBuf) -> Self {
        Self { parent }
    }

    /// Checks that the layouts can be created and exist at the same time; creates nothing.
    pub fn check(&self, definitions: &[Definition]) -> Result<(), LayoutError> {
        if host::user_id() != 0 {
            return Err(LayoutError::NotRoot);
        }
        for definition in definitions {
            programs::check(definition)?;
        }
        let parent = self.parent()?;
        self.remove_left_behind(&mut |_| {})?;
        steps::check_given(definitions)?;
        for definition in definitions {
            self.check_name(definition, &parent)?;
        }
        self.check_room(definitions, &parent)
    }

    /// Creates a layout.
    pub fn make(
        &self,
        definition: &Definition,
        stands: Stands,
        observer: StepObserver<'_>,
    ) -> Result<StandingLayout, LayoutError> {
        self.check(std::slice::from_ref(definition))?;
        let directory = self.parent()?.join(&definition.name);
        let made = DirBuilder::new().mode(PASSABLE).create(&directory);
        made.map_err(system(&directory))?;
        make_passable(&directory)?;
        let begun = Ledger::begin(&directory, definition);
        let mut ledger = match begun {
            Ok(ledger) => ledger,
            Err(error) => {
                let _ = fs::remove_dir_all(&directory);
                return Err(error);
            }
        };
        let made =
            steps::make(&directory, definition, &mut ledger, observer).and_then(
                |()| match stands {
                    Stands::UntilRemoved => ledger.enter(&Entry::Whole),
                    Stands::WhileHeld => Ok(()),
                },
            );
        if let Err(error) = made {
            // The first error is the one to report; the next command removes the rest.
            let _ = steps::remove(&directory, &mut ledger, &mut |_| {});
            return Err(error);
        }
        Ok(StandingLayout {
            definition: definition.clone(),
            directory,
            _held: (stands == Stands::WhileHeld).then_some(ledger),
        })
    }

    /// Removes a layout with everything on it.
    pub fn remove(&self, name: &str, observer: StepObserver<'_>) -> Result<(), LayoutError> {
        if host::user_id() != 0 {
            return Err(LayoutError::NotRoot);
        }
        let not_there = || LayoutError::NotThere(name.to_owned());
        let is_plain = !name.is_empty() && !name.contains(['/', '\0']) && name != "..";
        let directory = Some(self.parent()?.join(name)).filter(|_| is_plain);
        let directory = directory.ok_or_else(not_there)?;
        let mut ledger = Ledger::open(&directory)?.ok_or_else(not_there)?;
        if !ledger.try_lock() {
            return Err(LayoutError::InUse(name.to_owned()));
        }
        ledger.enter(&Entry::Removing)?;
        steps::remove(&directory, &mut ledger, observer)
    }

    /// Removes layouts of killed processes that were creating, using or removing them.
    pub fn remove_left_behind(&self, observer: StepObserver<'_>) -> Result<(), LayoutError> {
        for directory in self.directories() {
            let Some(mut ledger) = Ledger::open(&directory)? else {
                continue;
            };
            if ledger.try_lock() && !ledger.stands() {
                steps::remove(&directory, &mut ledger, observer)?;
            }
        }
        Ok(())
    }

    /// Layouts that exist until they are removed.
    pub fn made(&self) -> Result<Vec<StandingLayout>, LayoutError> {
        let mut made = Vec::new();
        for directory in self.directories() {
            if let Some(ledger) = Ledger::open(&directory)?.filter(Ledger::stands)
                && let Some(definition) = ledger.definition().cloned()
            {
                made.push(StandingLayout {
                    definition,
                    directory,
                    _held: None,
                });
            }
        }
        made.sort_by(|a, b| a.definition.name.cmp(&b.definition.name));
        Ok(made)
    }

    fn directories(&self) -> Vec<PathBuf> {
        let is_own = |path: &Path| {
            fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == host::user_id())
        };
        let Some(parent) = fs::canonicalize(&self.parent).ok().filter(|it| is_own(it)) else {
            return Vec::new();
        };
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| is_own(path)).collect()
    }

    /// The parent directory, created if necessary; it must belong to this user.
    fn parent(&self) -> Result<PathBuf, LayoutError> {
        let parent = &self.parent;
        match DirBuilder::new().mode(PASSABLE).create(parent) {
            Ok(()) => make_passable(parent)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(system(parent)(error)),
        }
        // In a directory that others may write, another user could have created it first.
        let found = fs::symlink_metadata(parent).map_err(system(parent))?;
        let foreign = |why| LayoutError::Foreign {
            path: parent.clone(),
            why,
        };
        if !found.is_dir() {
            return Err(foreign("is not a directory"));
        }
        if found.uid() != host::user_id() || found.mode() & 0o022 != 0 {
            return Err(foreign(
                "belongs to another user, or other users may write to it",
            ));
        }
        fs::canonicalize(parent).map_err(system(parent))
    }

    fn check_name(&self, definition: &Definition, parent: &Path) -> Result<(), LayoutError> {
        let name = definition.name.clone();
        let directory = parent.join(&name);
        match Ledger::open(&directory)? {
            Some(ledger) if ledger.stands() => Err(LayoutError::There(name)),
            Some(_) => Err(LayoutError::InUse(name)),
            None if directory.exists() => Err(LayoutError::There(name)),
            None => Ok(()),
        }
    }

    fn check_room(&self, definitions: &[Definition], parent: &Path) -> Result<(), LayoutError> {
        let need_bytes = definitions.iter().map(Definition::file_bytes).sum();
        let free_bytes = host::room(parent).map_or(u64::MAX, |room| room.free_bytes);
        if need_bytes == 0 || need_bytes + ROOM_LEFT_BYTES <= free_bytes {
            return Ok(());
        }
        Err(LayoutError::NoRoom {
            names: named(definitions),
            parent: parent.to_owned(),
            need_bytes,
            free_bytes,
        })
    }
}

fn named(definitions: &[Definition]) -> String {
    let names: Vec<&str> = definitions.iter().map(|it| it.name.as_str()).collect();
    let word = if names.len() == 1 {
        "layout"
    } else {
        "layouts"
    };
    format!("{word} {}", names.join(", "))
}

impl StandingLayout {
    /// Directory for a kind of a database's files, which the engine creates. Each kind has a directory, even if kinds
    /// share a volume.
    pub fn place(&self, purpose: Purpose) -> Option<PathBuf> {
        let volume = self.definition.volume_of(purpose)?;
        Some(self.mount_point(&volume.name).join(purpose.name()))
    }

    /// Directory for a table that is on another volume than the data; the engine creates it.
    pub fn table_place(&self, table: &str) -> Option<PathBuf> {
        let volume = self.definition.tables.get(table)?;
        Some(self.mount_point(volume).join(format!("table-{table}")))
    }

    pub fn mount_point(&self, volume: &str) -> PathBuf {
        steps::mount_point(&self.directory, volume)
    }

    /// Block device of a device of the definition; `None` when it is not attached.
    pub fn device(&self, device: &Device) -> Option<PathBuf> {
        steps::device_node(&self.directory, device)
    }

    /// Removes the layout with everything on it.
    pub fn remove(mut self, observer: StepObserver<'_>) -> Result<(), LayoutError> {
        match &mut self._held {
            Some(ledger) => steps::remove(&self.directory, ledger, observer),
            None => Ok(()),
        }
    }
}
