//! Servers that are installed here, and the choice among them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::{Untrusted, trusted};

use engine::{ErrorKind, Result, TargetError};

/// A version, compared number by number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub Vec<u32>);

impl Version {
    /// The first word of `text` that begins with a digit, up to what is neither digit nor point.
    pub fn find_in(text: &str) -> Option<Self> {
        let word = text
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.');
        let numbers = word[..end.unwrap_or(word.len())]
            .split('.')
            .map_while(|part| part.parse().ok())
            .collect();
        Some(Self(numbers))
    }

    /// True if `asked` names this version or a series it belongs to: 15 names 15.18.
    pub fn is(&self, asked: &Version) -> bool {
        self.0.starts_with(&asked.0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    pub version: Version,
    /// The program's own title, for the platform's description.
    pub title: String,
    /// The server's program, links resolved.
    pub server: PathBuf,
    /// The directory it was found by: `bin`, or where a distribution keeps it apart, `sbin`.
    pub directory: PathBuf,
    /// The tree that is whole in itself and may be moved; `None` for a part of the system.
    pub root: Option<PathBuf>,
}

#[derive(Debug, Default, Clone)]
pub struct Surroundings {
    pub root: PathBuf,
    /// The kind's own variable, e.g. `$PG_BIN`.
    pub named: Option<PathBuf>,
    pub path: Option<OsString>,
    pub cache: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process; the kind's own variable is read by [`Surroundings::with_named`].
    pub fn of_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty());
        let cache_home = variable("XDG_CACHE_HOME").map(PathBuf::from);
        let in_home = || variable("HOME").map(|home| Path::new(&home).join(".cache"));
        Self {
            root: "/".into(),
            named: None,
            path: variable("PATH"),
            cache: cache_home
                .filter(|path| path.is_absolute())
                .or_else(in_home)
                .map(|cache| cache.join("dbdyno")),
        }
    }

    /// Adds what `variable` names, unless something is named already.
    #[must_use]
    pub fn with_named(mut self, variable: &str) -> Self {
        let of_process = || std::env::var_os(variable).filter(|v| !v.is_empty());
        if self.named.is_none() && self.root == Path::new("/") {
            self.named = of_process().map(PathBuf::from);
        }
        self
    }

    pub fn path_directories(&self) -> Vec<PathBuf> {
        let split = |path| std::env::split_paths(path).collect();
        self.path.as_ref().map(split).unwrap_or_default()
    }
}

/// Subdirectories of `parent`, their names with the highest version first.
pub fn newest_first(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<(Version, PathBuf)> = entries
        .filter_map(|e| Some((Version::find_in(e.file_name().to_str()?)?, e.path())))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

/// Asks the programs `names` in `directories` for their versions, in this order; each program once. Outside the directory
/// that is `named` to dbdyno, none is executed that others could have put there, or a file of `beside` it.
///
/// # Errors
/// When none is left, with the reason why one was not executed.
pub fn ask_all(
    directories: &[PathBuf],
    names: &[&str],
    beside: &[&str],
    named: Option<&Path>,
) -> Result<Vec<Installation>> {
    let mut found: Vec<Installation> = Vec::new();
    let mut refused = None;
    for directory in directories {
        for name in names {
            let Ok(server) = directory.join(name).canonicalize() else {
                continue;
            };
            if found.iter().any(|other| other.server == server) {
                continue;
            }
            let is_named = named.is_some_and(|named| named == directory);
            match (is_named, untrusted(&server, beside)) {
                (false, Some(why)) => {
                    let message = format!("{} is not executed: {why}", server.display());
                    tracing::info!("{message}");
                    refused.get_or_insert(message);
                }
                _ => found.extend(ask(&server, directory)),
            }
        }
    }
    match refused.filter(|_| found.is_empty()) {
        Some(message) => Err(TargetError::new(ErrorKind::NotInstalled, message)),
        None => Ok(found),
    }
}

/// Why a server, or what is executed with it, may be somebody else's.
fn untrusted(server: &Path, beside: &[&str]) -> Option<Untrusted> {
    let others = beside.iter().map(|name| server.with_file_name(name));
    let others = others.filter(|path| path.exists());
    let mut all = std::iter::once(server.to_owned()).chain(others);
    all.find_map(|path| trusted(&path).err())
}

/// `None` when the program does not run or names no version: it is then no server of use.
fn ask(server: &Path, directory: &Path) -> Option<Installation> {
    let output = Command::new(server)
        .arg("--version")
        // As it is started later: nothing of dbdyno's environment, which may have a password, is for it.
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("LC_ALL", "C")
        .current_dir("/")
        .output()
        .ok()?;
    let title = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // The version of "mariadbd  Ver 10.11.19-MariaDB" and of "postgres (PostgreSQL) 15.18".
    let version = Version::find_in(&title).filter(|_| output.status.success())?;
    Some(Installation {
        version,
        title,
        server: server.to_owned(),
        directory: directory.to_owned(),
        root: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_compared_and_matched() {
        let version = |text| Version::find_in(text).unwrap();
        assert_eq!(
            version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)").0,
            [15, 18]
        );
        let maria = version("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu");
        assert_eq!(maria.to_string(), "10.11.19");
        assert!(version("18.6") > version("9.6") && version("15.2") < version("15.18"));
        assert!(version("15.18").is(&version("15")) && !version("15.18").is(&version("1")));
        assert_eq!(version("19devel").0, [19]);
        assert_eq!(Version::find_in("no version"), None);
    }
}
