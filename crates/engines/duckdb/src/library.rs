//! Loads DuckDB's library, once per process and for good.

use std::ffi::CStr;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::capi::Api;
use super::locate::{Surroundings, locate, not_installed};
use engine::Result;

pub struct Loaded {
    pub api: Api,
    /// Its version without the leading v, as it says itself.
    pub version: String,
    // Keeps the code mapped that the functions point to.
    _library: Library,
}

/// The library, loaded at the first call.
///
/// # Errors
/// [`engine::ErrorKind::NotInstalled`] when it is absent or not a DuckDB library; every later call
/// says the same.
pub fn library() -> Result<&'static Loaded> {
    static LOADED: OnceLock<Result<Loaded>> = OnceLock::new();
    LOADED
        .get_or_init(|| load(&Surroundings::of_process()))
        .as_ref()
        .map_err(Clone::clone)
}

fn load(surroundings: &Surroundings) -> Result<Loaded> {
    let path = locate(surroundings)?;
    let refuse = |error: libloading::Error| {
        let reason =
            std::error::Error::source(&error).map_or_else(|| error.to_string(), |s| s.to_string());
        not_installed(format!(
            "cannot use {} as its library ({reason}); run `make duckdb` to get the tested one",
            path.display()
        ))
    };
    // SAFETY: the library's constructors only set up its own allocator; symbols stay local, so
    // that nothing of ours is replaced.
    let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }.map_err(refuse)?;
    // SAFETY: the table is stored beside the library and never outlives it.
    let api = unsafe { Api::look_up(&library) }.map_err(refuse)?;
    // SAFETY: the function takes nothing and returns a string constant of the library.
    let version = unsafe { CStr::from_ptr((api.library_version)()) }.to_string_lossy();
    let version = version.trim_start_matches('v').to_owned();
    Ok(Loaded {
        api,
        version,
        _library: library,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ErrorKind;

    #[test]
    fn the_library_has_a_version() {
        // Fails with the sentence that says how to get it: nothing else here can be tested without.
        let loaded = library().unwrap_or_else(|e| panic!("{e}"));
        assert!(loaded.version.starts_with(|c: char| c.is_ascii_digit()));
    }

    #[test]
    fn what_is_no_duckdb_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libduckdb.so");
        std::fs::write(&path, b"not a library").unwrap();
        let here = Surroundings {
            library: Some(path.into()),
            ..Surroundings::default()
        };
        let error = load(&here).err().unwrap();
        assert_eq!(error.kind, ErrorKind::NotInstalled);
        assert!(error.message.contains("make duckdb"), "{error}");
    }
}
