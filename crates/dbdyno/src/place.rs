//! Where things lie: the archive, and the files of the default targets.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use archive::Run;
use target::TargetUrl;

/// Stands in every directory that dbdyno made and may therefore remove.
const MARKER: &str = ".dbdyno-work";
/// Age at which the files of a run that nobody resumed are removed.
const WORK_AGE_MAX: Duration = Duration::from_secs(7 * 86_400);

/// The archive: as asked, else `$DBDYNO_ARCHIVE`, else in the user's data directory.
pub fn archive(asked: &Option<PathBuf>) -> PathBuf {
    let from_environment = || {
        env::var_os("DBDYNO_ARCHIVE")
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    asked
        .clone()
        .or_else(from_environment)
        .unwrap_or_else(|| user_directory("XDG_DATA_HOME", ".local/share").join("archive.dbdyno"))
}

fn user_directory(variable: &str, below_home: &str) -> PathBuf {
    let absolute = env::var_os(variable)
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    absolute
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(below_home)))
        .unwrap_or_else(env::temp_dir)
        .join("dbdyno")
}

/// The files of the default targets: a directory of their own per run, gone when the run is complete.
pub struct WorkFiles {
    directory: PathBuf,
}

impl WorkFiles {
    /// Makes the directory, below `asked` or the user's cache.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(asked: Option<&Path>) -> Result<Self> {
        let parent = asked.map_or_else(
            || user_directory("XDG_CACHE_HOME", ".cache").join("work"),
            Path::to_path_buf,
        );
        remove_old(&parent);
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let directory = parent.join(format!("run-{}-{}", now.as_secs(), std::process::id()));
        fs::create_dir_all(&directory).with_context(|| {
            format!(
                "the directory {} for the databases cannot be created; choose another with --work-dir",
                directory.display()
            )
        })?;
        fs::write(
            directory.join(MARKER),
            "databases of a dbdyno run; removed when it is complete\n",
        )
        .with_context(|| {
            format!(
                "the directory {} cannot be written; choose another with --work-dir",
                directory.display()
            )
        })?;
        Ok(Self {
            directory: fs::canonicalize(directory)?,
        })
    }

    /// URLs of a database file for every embedded engine that is there; `missing` is told the rest.
    pub fn targets(&self, missing: impl FnMut(&str)) -> Vec<TargetUrl> {
        self.targets_named("bench", missing)
    }

    /// The same with files of another name, for the sides of a study.
    pub fn targets_named(&self, name: &str, mut missing: impl FnMut(&str)) -> Vec<TargetUrl> {
        let mut urls = Vec::new();
        let embedded = |engine: &&&dyn target::Engine| engine.reach() == target::Reach::Embedded;
        for engine in target::engines().iter().filter(embedded) {
            match engine.info().version {
                Ok(_) => {
                    let scheme = engine.scheme();
                    let path = self.directory.join(format!("{name}.{scheme}"));
                    urls.push(TargetUrl {
                        scheme: scheme.to_owned(),
                        path: path.display().to_string(),
                        settings: BTreeMap::new(),
                        password: None,
                    });
                }
                Err(how_to_get_it) => missing(&how_to_get_it),
            }
        }
        urls
    }

    /// Removes the databases of a complete run.
    pub fn remove(self) {
        // Left-over files are no failure of the measurement; the next run removes them.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The work directory of a resumed run, when its targets lie in one that dbdyno made.
pub fn work_files_of(begun: &Run) -> Option<WorkFiles> {
    let urls = lab::nodes::urls_of(begun.targets.first()?).ok()?;
    let file = urls.first()?.file()?;
    let directory = file.parent()?.to_path_buf();
    is_work_directory(&directory).then_some(WorkFiles { directory })
}

/// Whether dbdyno made the directory: by its marker, never by its name alone.
fn is_work_directory(path: &Path) -> bool {
    path.join(MARKER).is_file()
}

fn remove_old(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten().filter(|e| is_work_directory(&e.path())) {
        let age = entry
            .metadata()
            .and_then(|m| m.modified())
            .ok()
            .and_then(|t| t.elapsed().ok());
        if age.is_some_and(|age| age > WORK_AGE_MAX) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
