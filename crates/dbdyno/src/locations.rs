//! Locations of the archive and of the default targets' files.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use archive::Run;
use engine::TargetUrl;
use host::LockableFile;

/// Marker file of directories that dbdyno created and may remove.
const MARKER: &str = ".dbdyno-work";
const MARKED: &[u8] = b"databases of a dbdyno run; removed when it is complete\n";
const NAMES_MAX: u32 = 100;
/// Age at which the files of an abandoned run are removed.
const WORK_AGE_MAX: Duration = Duration::from_secs(7 * 86_400);

/// The archive: the option, else `$DBDYNO_ARCHIVE`, else in the user's data directory.
pub fn archive(requested: &Option<PathBuf>) -> Result<PathBuf> {
    let from_environment = || {
        env::var_os("DBDYNO_ARCHIVE")
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    match requested.clone().or_else(from_environment) {
        Some(archive) => Ok(archive),
        None => {
            let directory = user_directory("XDG_DATA_HOME", ".local/share", "--archive FILE")?;
            Ok(directory.join("archive.dbdyno"))
        }
    }
}

/// A directory of the user. The current directory is no choice for data, and others may have prepared files in a temporary one.
fn user_directory(variable: &str, below_home: &str, option: &str) -> Result<PathBuf> {
    let directory = env::home_dir().map(|home| home.join(below_home));
    let of_variable = env::var_os(variable).map(PathBuf::from);
    let absolute = [of_variable, directory].into_iter().flatten();
    let found = absolute.into_iter().find(|path| path.is_absolute());
    let Some(found) = found else {
        bail!(
            "this user has no home directory ($HOME is not an absolute path); name a place with {option}, or set $HOME"
        );
    };
    Ok(found.join("dbdyno"))
}

/// The files of the default targets: a directory per run, removed when the run is complete.
pub struct WorkFiles {
    directory: PathBuf,
    /// The lock marks the directory as in use, so that no other process removes it.
    _marker: LockableFile,
}

impl WorkFiles {
    /// Creates the directory, below the given one or the user's cache.
    pub fn create(requested: Option<&Path>) -> Result<Self> {
        let parent = match requested {
            Some(requested) => requested.to_path_buf(),
            None => user_directory("XDG_CACHE_HOME", ".cache", "--work-dir DIR")?.join("work"),
        };
        remove_old(&parent);
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let name = format!("run-{}-{}", now.as_secs(), std::process::id());
        let refused = |verb: &str| {
            let directory = parent.join(&name).display().to_string();
            format!(
                "the directory {directory} for the databases cannot be {verb}; choose another with --work-dir"
            )
        };
        fs::create_dir_all(&parent).with_context(|| refused("created"))?;
        // The parent may be writable by others, so that existing directories are not used.
        let parent = fs::canonicalize(&parent).with_context(|| refused("created"))?;
        let directory = new_directory(&parent, &name).with_context(|| refused("created"))?;
        let marker = mark(&directory).with_context(|| refused("written"))?;
        Ok(Self {
            directory,
            _marker: marker,
        })
    }

    /// URLs of a database file for every available embedded engine; `missing` receives the others.
    pub fn targets(&self, missing: impl FnMut(&str)) -> Vec<TargetUrl> {
        self.targets_named("bench", missing)
    }

    /// The same with other file names, for the sides of a study.
    pub fn targets_named(&self, name: &str, mut missing: impl FnMut(&str)) -> Vec<TargetUrl> {
        let mut urls = Vec::new();
        let embedded = |engine: &&&dyn engine::Engine| engine.reach() == engine::Reach::Embedded;
        for engine in engines::engines().iter().filter(embedded) {
            match engine.version() {
                Ok(_) => {
                    let scheme = engine.scheme();
                    let path = self.directory.join(format!("{name}.{scheme}"));
                    urls.push(TargetUrl {
                        scheme: scheme.to_owned(),
                        path: path.display().to_string(),
                        settings: BTreeMap::new(),
                        password: None,
                        sql_of: None,
                    });
                }
                Err(how_to_get_it) => missing(&how_to_get_it),
            }
        }
        urls
    }

    pub fn remove(self) {
        // Remaining files are no failure of the measurement; the next run removes them.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The work directory of a resumed run, if dbdyno created it; an error if another process uses it.
pub fn work_files_of(begun: &Run) -> Result<Option<WorkFiles>> {
    let urls = begun.targets.first().map(lab::nodes::urls_of);
    let file = urls
        .and_then(Result::ok)
        .and_then(|urls| engines::file(urls.first()?));
    let Some(directory) = file.as_deref().and_then(Path::parent) else {
        return Ok(None);
    };
    match marker_of(directory) {
        None => Ok(None),
        Some(marker) if marker.try_lock().is_ok() => Ok(Some(WorkFiles {
            directory: directory.to_path_buf(),
            _marker: marker,
        })),
        Some(_) => bail!(
            "the directory {} is in use by another dbdyno process; wait until that process has ended",
            directory.display()
        ),
    }
}

/// Creates a new directory for this user only.
fn new_directory(parent: &Path, name: &str) -> io::Result<PathBuf> {
    let mut maker = DirBuilder::new();
    maker.mode(0o700);
    let mut last = io::ErrorKind::AlreadyExists.into();
    for number in 0..NAMES_MAX {
        let path = match number {
            0 => parent.join(name),
            number => parent.join(format!("{name}-{number}")),
        };
        match maker.create(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}

fn mark(directory: &Path) -> io::Result<LockableFile> {
    let mut marker = LockableFile::from(File::create_new(directory.join(MARKER))?);
    // The lock precedes the content: without content, no process removes the directory.
    marker.try_lock()?;
    marker.write_all(MARKED)?;
    Ok(marker)
}

/// The marker of a directory that this user's dbdyno created, recognised by its content and owner.
fn marker_of(directory: &Path) -> Option<LockableFile> {
    let mut options = OpenOptions::new();
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let marker = options.read(true).open(directory.join(MARKER)).ok()?;
    let (found, around) = (
        marker.metadata().ok()?,
        fs::symlink_metadata(directory).ok()?,
    );
    let owners = [found.uid(), around.uid()];
    let is_own = found.is_file() && around.is_dir() && owners == [host::user_id(); 2];
    let mut text = Vec::new();
    let limit = MARKED.len() as u64 + 1;
    (&marker).take(limit).read_to_end(&mut text).ok()?;
    (is_own && text == MARKED).then(|| marker.into())
}

/// Removes the files of abandoned runs: unlocked, and unchanged for a long time.
fn remove_old(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let directory = entry.path();
        let Some(marker) = marker_of(&directory) else {
            continue;
        };
        if age(&directory).is_some_and(|age| age > WORK_AGE_MAX) && marker.try_lock().is_ok() {
            let _ = fs::remove_dir_all(directory);
        }
    }
}

/// Time since the last change to the directory or its content.
fn age(directory: &Path) -> Option<Duration> {
    let changed = |path: &Path| fs::symlink_metadata(path).and_then(|m| m.modified()).ok();
    let entries = fs::read_dir(directory).ok()?.flatten();
    let times = entries.filter_map(|entry| changed(&entry.path()));
    let newest = times.chain(changed(directory)).max()?;
    newest.elapsed().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    /// Sets the time of the last change to eight days ago.
    fn aged(directory: &Path) {
        let then = SystemTime::now() - WORK_AGE_MAX - Duration::from_secs(86_400);
        let entries = fs::read_dir(directory).unwrap().flatten();
        for path in entries.map(|e| e.path()).chain([directory.to_path_buf()]) {
            File::open(path).unwrap().set_modified(then).unwrap();
        }
    }

    #[test]
    fn a_work_directory_is_new_private_and_locked() {
        let parent = tempfile::tempdir().unwrap();
        let parent = fs::canonicalize(parent.path()).unwrap();
        let made = new_directory(&parent, "run-1").unwrap();
        let mode = fs::metadata(&made).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // A prepared directory or link is not used.
        std::os::unix::fs::symlink(&made, parent.join("run-2")).unwrap();
        assert_eq!(
            new_directory(&parent, "run-1").unwrap(),
            parent.join("run-1-1")
        );
        assert_eq!(
            new_directory(&parent, "run-2").unwrap(),
            parent.join("run-2-1")
        );
        let files = WorkFiles::create(Some(&parent)).unwrap();
        let directory = files.directory.clone();
        let marker = marker_of(&directory).unwrap();
        assert!(marker.try_lock().is_err());
        files.remove();
        assert!(!directory.exists());
    }

    #[test]
    fn only_unused_directories_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let [used, left, fresh] = [(); 3].map(|()| {
            let files = WorkFiles::create(Some(parent)).unwrap();
            fs::write(files.directory.join("bench.sqlite"), "rows").unwrap();
            files
        });
        let [used_at, left_at, fresh_at] = [&used, &left, &fresh].map(|f| f.directory.clone());
        for directory in [&used_at, &left_at, &fresh_at] {
            aged(directory);
        }
        drop((left, fresh));
        // Writing to a file does not change its directory.
        let file = File::options()
            .append(true)
            .open(fresh_at.join("bench.sqlite"));
        file.unwrap().write_all(b"more").unwrap();
        // Directories of others: with their marker, with another user's, or without one.
        let foreign = ["marker of others", "link", "pipe", "none"].map(|name| parent.join(name));
        for directory in &foreign {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join("mine"), "mine").unwrap();
        }
        fs::write(foreign[0].join(MARKER), "mine").unwrap();
        std::os::unix::fs::symlink(used_at.join(MARKER), foreign[1].join(MARKER)).unwrap();
        let pipe = Command::new("mkfifo").arg(foreign[2].join(MARKER)).status();
        assert!(pipe.unwrap().success());
        std::os::unix::fs::symlink(&foreign[3], parent.join("a link")).unwrap();
        for directory in &foreign {
            let then = SystemTime::now() - 2 * WORK_AGE_MAX;
            File::open(directory.join("mine"))
                .unwrap()
                .set_modified(then)
                .unwrap();
            File::open(directory).unwrap().set_modified(then).unwrap();
        }
        remove_old(parent);
        assert_eq!(
            [&used_at, &left_at, &fresh_at].map(|directory| directory.exists()),
            [true, false, true]
        );
        for directory in &foreign {
            assert_eq!(fs::read(directory.join("mine")).unwrap(), b"mine");
        }
    }
}
