//! Where DuckDB's library is looked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::VERSION_TESTED;
use engine::{ErrorKind, Result, TargetError};

const VARIABLE: &str = "DBDYNO_DUCKDB_LIB";

/// Name of the library's file on this system.
const FILE_NAME: &str = if cfg!(target_os = "macos") {
    "libduckdb.dylib"
} else {
    "libduckdb.so"
};

#[derive(Debug, Default, Clone)]
pub(super) struct Surroundings {
    /// `$DBDYNO_DUCKDB_LIB`.
    pub library: Option<OsString>,
    pub program: Option<PathBuf>,
    /// `$XDG_CACHE_HOME`.
    pub cache_home: Option<OsString>,
    /// `$HOME`.
    pub home: Option<OsString>,
}

impl Surroundings {
    pub(super) fn of_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty());
        Self {
            library: variable(VARIABLE),
            // The file itself, where the program was started through a link.
            program: std::env::current_exe().ok(),
            cache_home: variable("XDG_CACHE_HOME"),
            home: variable("HOME"),
        }
    }

    fn cached(&self) -> Option<PathBuf> {
        let cache = match (&self.cache_home, &self.home) {
            (Some(cache), _) => PathBuf::from(cache),
            (None, Some(home)) => Path::new(home).join(".cache"),
            (None, None) => return None,
        };
        Some(
            cache
                .join("dbdyno/duckdb")
                .join(VERSION_TESTED)
                .join(FILE_NAME),
        )
    }
}

/// The library: the one that `$DBDYNO_DUCKDB_LIB` names, else the one beside the program, else that of
/// the package `dbdyno-duckdb` below the program's prefix, else the one in the user's cache.
///
/// # Errors
/// [`ErrorKind::NotInstalled`] when there is none, with the sentence that says how to get it.
pub(super) fn locate(surroundings: &Surroundings) -> Result<PathBuf> {
    if let Some(named) = &surroundings.library {
        let named = PathBuf::from(named);
        // Named but absent is a mistake to tell, not a reason to measure another library.
        return if named.is_file() {
            Ok(named)
        } else {
            Err(not_installed(format!(
                "{VARIABLE} names {}, but there is no such file; correct it or unset it",
                named.display()
            )))
        };
    }
    let folder = surroundings.program.as_deref().and_then(Path::parent);
    let beside = folder.map(|folder| folder.join(FILE_NAME));
    let packaged = folder
        .and_then(Path::parent)
        .map(|prefix| prefix.join("lib/dbdyno").join(FILE_NAME));
    let found = beside
        .into_iter()
        .chain(packaged)
        .chain(surroundings.cached())
        .find(|path| path.is_file())
        .ok_or_else(|| {
            not_installed(format!(
                "its library is not installed; install the package dbdyno-duckdb (`pip install 'dbdyno[duckdb]'`, in a clone \
                 `make duckdb`), or set {VARIABLE} to the path of {FILE_NAME} version {VERSION_TESTED}"
            ))
        })?;
    // A loaded library may do all that dbdyno may.
    match host::trusted(&found) {
        Ok(_) => Ok(found),
        Err(why) => Err(not_installed(format!(
            "its library {} is not loaded: {why}; or name the library in {VARIABLE}",
            found.display()
        ))),
    }
}

pub(super) fn not_installed(what: String) -> TargetError {
    TargetError::new(ErrorKind::NotInstalled, format!("DuckDB: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, b"").unwrap();
    }

    #[test]
    fn the_variable_wins_then_the_program_then_its_package_then_the_cache() {
        let dir = tempfile::tempdir().unwrap();
        let mut here = Surroundings {
            library: None,
            program: Some(dir.path().join("bin/dbdyno")),
            cache_home: Some(dir.path().join("cache").into()),
            home: Some("/nowhere".into()),
        };
        let cached = here.cached().unwrap();
        touch(&cached);
        assert_eq!(locate(&here).unwrap(), cached);
        let packaged = dir.path().join("lib/dbdyno").join(FILE_NAME);
        touch(&packaged);
        assert_eq!(locate(&here).unwrap(), packaged);
        let beside = dir.path().join("bin").join(FILE_NAME);
        touch(&beside);
        assert_eq!(locate(&here).unwrap(), beside);
        let named = dir.path().join("other.so");
        touch(&named);
        here.library = Some(named.clone().into());
        assert_eq!(locate(&here).unwrap(), named);
    }

    #[test]
    fn a_library_that_others_can_replace_is_not_loaded_unless_named() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let mut here = Surroundings {
            cache_home: Some(dir.path().into()),
            ..Surroundings::default()
        };
        let cached = here.cached().unwrap();
        touch(&cached);
        let folder = cached.parent().unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        let message = locate(&here).unwrap_err().message;
        assert!(
            message.contains("other users can write") && message.contains(VARIABLE),
            "{message}"
        );
        here.library = Some(cached.clone().into());
        assert_eq!(locate(&here).unwrap(), cached);
    }

    #[test]
    fn the_cache_lies_under_home_unless_moved() {
        let here = Surroundings {
            home: Some("/home/ada".into()),
            ..Surroundings::default()
        };
        let expected = format!("/home/ada/.cache/dbdyno/duckdb/{VERSION_TESTED}/{FILE_NAME}");
        assert_eq!(here.cached().unwrap(), Path::new(&expected));
    }

    #[test]
    fn an_absent_library_says_how_to_get_it() {
        let error = locate(&Surroundings::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotInstalled);
        assert!(error.message.contains("make duckdb"), "{error}");
        assert!(
            error.message.contains("pip install 'dbdyno[duckdb]'"),
            "{error}"
        );
        assert!(error.message.contains("DBDYNO_DUCKDB_LIB"), "{error}");
    }

    #[test]
    fn the_script_fetches_the_version_that_is_looked_for() {
        let script = include_str!("../../../../scripts/get-duckdb.sh");
        assert!(script.contains(&format!("version={VERSION_TESTED} ")));
    }

    #[test]
    fn a_wrong_variable_is_not_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let here = Surroundings {
            library: Some("/nowhere/libduckdb.so".into()),
            program: None,
            cache_home: Some(dir.path().into()),
            home: None,
        };
        touch(&here.cached().unwrap());
        let error = locate(&here).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotInstalled);
        assert!(error.message.contains("/nowhere/libduckdb.so"), "{error}");
    }
}
