//! Files that a list names in addition to its SDs: a monitor file, a journal, a pattern. They are opened only if they
//! are regular files, because opening a FIFO waits for its other end, and opening a device may have an effect.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// These flags keep `open` from waiting if the file is replaced between the check and the call.
const AT_ONCE: i32 = libc::O_NONBLOCK | libc::O_NOCTTY;

pub(crate) fn read(path: &Path) -> io::Result<File> {
    check(&std::fs::metadata(path)?)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(AT_ONCE)
        .open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

pub(crate) fn may_write(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) => check(&found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn check(found: &Metadata) -> io::Result<()> {
    match other(found.file_type()) {
        None => Ok(()),
        Some(what) => Err(io::Error::other(format!("it is {what}; name a file"))),
    }
}

pub(crate) fn other(kind: FileType) -> Option<&'static str> {
    Some(match kind {
        _ if kind.is_file() => return None,
        _ if kind.is_dir() => "a directory",
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_opened_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let fifo = std::ffi::CString::new(path("fifo").to_str().unwrap()).unwrap();
        // SAFETY: a C string that outlives the call.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
        let _listening = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for (path, what) in [
            (path("fifo"), "it is a FIFO"),
            (path("socket"), "it is a socket"),
            (path(""), "it is a directory"),
            ("/dev/null".into(), "it is a device"),
        ] {
            let message = |opened: io::Result<File>| opened.unwrap_err().to_string();
            assert!(message(read(&path)).contains(what), "{}", path.display());
            let may = may_write(&path).unwrap_err().to_string();
            assert!(may.contains(what), "{}", path.display());
        }
        assert!(read(&path("new")).is_err() && may_write(&path("new")).is_ok());
        std::fs::write(path("old"), "old").unwrap();
        std::os::unix::fs::symlink(path("old"), path("link")).unwrap();
        for name in ["old", "link"] {
            may_write(&path(name)).unwrap();
            assert_eq!(read(&path(name)).unwrap().metadata().unwrap().len(), 3);
        }
    }
}
