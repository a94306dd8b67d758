//! The trait of a kind of database server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use archive::Purpose;

use super::{Apart, Installation, ServerSpec, Surroundings, Version};
use engine::Result;

/// Where everything of one server lies.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The program and its version.
    pub installation: Installation,
    pub data: PathBuf,
    /// Directories of files that lie apart from the data.
    pub places: BTreeMap<Apart, PathBuf>,
    /// Directory of the socket, which only dbdyno's user and the server's may enter.
    pub socket_directory: PathBuf,
    /// The settings, as the server reads them.
    pub configuration: PathBuf,
    /// Directory for small files of this run.
    pub run: PathBuf,
}

impl Layout {
    /// Directory of the files of a kind, where they lie apart from the data.
    pub fn place(&self, of: Purpose) -> Option<&Path> {
        self.places.get(&Apart::Kind(of)).map(PathBuf::as_path)
    }
}

/// The signals a kind of server understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals {
    /// Ends it in order, its data files complete.
    pub stop: i32,
    /// Ends it fast, for data that nobody needs any more, but without leaving shared memory behind.
    pub abandon: i32,
}

/// A System V shared memory segment, which outlives a killed server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The number the kernel gave.
    pub id: i32,
    /// The key it was made with, so that a reused number is not mistaken for it.
    pub key: i32,
}

/// Facts of a kind of server.
pub struct ServerAbout {
    /// "PostgreSQL".
    pub title: &'static str,
    /// Name of directories and processes, e.g. "postgres".
    pub name: &'static str,
    /// Environment variable that names the directory of its programs.
    pub variable: &'static str,
    /// The sentence that says how to get it.
    pub how_to_get_it: &'static str,
    /// Users of the operating system it should run as when dbdyno is root, best first.
    pub accounts: &'static [&'static str],
    /// Its database user that may do everything, reachable without a password through the socket.
    pub superuser: &'static str,
    /// Settings that dbdyno decides, with the reason: a URL must not change them.
    pub reserved: &'static [(&'static str, &'static str)],
    /// Kinds of files that it can keep apart from its data; it can do so with tables.
    pub places: &'static [Purpose],
    pub signals: Signals,
}

pub trait ServerKind: Sync {
    fn about(&self) -> &'static ServerAbout;

    /// Installations, that of [`ServerAbout::variable`] first and then the system's, newest first.
    ///
    /// # Errors
    /// When the variable names something that is none.
    fn find(&self, surroundings: &Surroundings) -> Result<Vec<Installation>>;

    /// The spelling of a setting's name that [`ServerKind::defaults`] uses.
    fn canonical(&self, key: &str) -> String {
        key.to_ascii_lowercase()
    }

    /// The settings of a server that nothing is asked of.
    fn defaults(&self, spec: &ServerSpec) -> BTreeMap<String, String>;

    /// Memory that `sessions` sessions need with these settings.
    fn memory_need_bytes(&self, settings: &BTreeMap<String, String>, sessions: u32) -> u64;

    /// The command that makes the data directory, which exists and is empty.
    fn initialise(&self, layout: &Layout) -> Command;

    /// Text of the configuration file.
    fn configuration(&self, layout: &Layout, settings: &BTreeMap<String, String>) -> String;

    fn serve(&self, layout: &Layout) -> Command;

    /// Why a server with these settings has data in its cache when it has just started.
    fn reloads_cache(&self, _settings: &BTreeMap<String, String>) -> Option<&'static str> {
        None
    }

    fn socket_path(&self, socket_directory: &Path) -> PathBuf;

    fn is_ready(&self, layout: &Layout, pid: u32) -> bool;

    /// The version that made a data directory.
    fn version_of_data(&self, data: &Path) -> Option<Version>;

    /// The server's own sentence about what went wrong, from its log.
    fn complaint(&self, log: &str) -> Option<String>;

    /// True if the server did not start because of a setting, by its log: that is for who named it to mend.
    fn refuses_a_setting(&self, log: &str) -> bool;

    /// The server's messages about settings that it adjusted, from its log.
    fn adjustments(&self, _log: &str) -> Vec<String> {
        Vec::new()
    }

    /// Removes what a dead server left in a data directory that would keep the next one from starting.
    /// Called when nothing works in the directory.
    fn forget_dead(&self, _data: &Path) {}

    /// The running server's segments of System V shared memory.
    fn segments(&self, _data: &Path) -> Vec<Segment> {
        Vec::new()
    }
}
