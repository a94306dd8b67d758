//! Makes the kernel forget the files of a data directory, and proves that it did.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use engine::Cooled;
use engine::files::{cached_bytes, forget_clean_pages};

/// Directories inside each other in a data directory.
const DEPTH_MAX: u32 = 16;
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Writes everything on the file system of `directory` to its device.
pub fn sync(directory: &Path) -> io::Result<()> {
    let directory = File::open(directory)?;
    // SAFETY: the descriptor is open for the whole call.
    match unsafe { libc::syncfs(directory.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Empties the page cache of all files below `directory`; to be called when the server is down.
///
/// File by file, which leaves the rest of the machine alone. What that does not reach is dropped with
/// the caches of the whole machine, when dbdyno may do so; what then remains makes it lukewarm.
///
/// # Errors
/// When the files cannot be read.
pub fn forget(directory: &Path) -> io::Result<Cooled> {
    sync(directory)?;
    let forget = |file: &File| forget_clean_pages(file).map(|()| 0);
    for_each_file(directory, DEPTH_MAX, &forget)?;
    let mut bytes = for_each_file(directory, DEPTH_MAX, &cached_bytes)?;
    if bytes > 0 && !is_memory(directory)? && drop_caches().is_ok() {
        bytes = for_each_file(directory, DEPTH_MAX, &cached_bytes)?;
    }
    if bytes == 0 {
        return Ok(Cooled::Cold);
    }
    Ok(Cooled::Lukewarm(format!(
        "{} KiB of the files in {} are still in the page cache",
        bytes >> 10,
        directory.display()
    )))
}

/// Reads all files below `directory`. One that the server removes meanwhile is none.
///
/// # Errors
/// When they cannot be read.
pub fn warm(directory: &Path) -> io::Result<()> {
    let read = |file: &File| io::copy(&mut &*file, &mut io::sink());
    for_each_file(directory, DEPTH_MAX, &read).map(drop)
}

/// True if the file system keeps its files in the page cache and nowhere else: then all the machine's
/// caches would be dropped for nothing.
fn is_memory(directory: &Path) -> io::Result<bool> {
    let state = rustix::fs::statfs(directory)?;
    Ok(state.f_type == libc::TMPFS_MAGIC)
}

fn drop_caches() -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(DROP_CACHES)?;
    io::Write::write_all(&mut file, b"1")
}

/// Sum of `work` over all files below `directory`, links not followed.
fn for_each_file(
    directory: &Path,
    depth: u32,
    work: &dyn Fn(&File) -> io::Result<u64>,
) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            sum += for_each_file(&entry.path(), depth - 1, work)?;
        } else if kind.is_file() {
            match File::open(entry.path()) {
                Ok(file) => sum += work(&file)?,
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_forgotten_and_proven_so() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::create_dir(dir.path().join("base")).unwrap();
        fs::write(dir.path().join("base/1"), vec![7; 3_000_000]).unwrap();
        write_out(dir.path());
        assert!(for_each_file(dir.path(), DEPTH_MAX, &cached_bytes).unwrap() >= 3_000_000);
        assert_eq!(forget(dir.path()).unwrap(), Cooled::Cold);
        assert_eq!(
            for_each_file(dir.path(), DEPTH_MAX, &cached_bytes).unwrap(),
            0
        );
        warm(dir.path()).unwrap();
        assert!(for_each_file(dir.path(), DEPTH_MAX, &cached_bytes).unwrap() >= 3_000_000);
    }

    /// Past the C library, in whose place something may stand that makes syncs do nothing.
    fn write_out(directory: &Path) {
        let directory = File::open(directory).unwrap();
        // SAFETY: the descriptor is open for the whole call.
        let code = unsafe { libc::syscall(libc::SYS_syncfs, directory.as_raw_fd()) };
        assert_eq!(code, 0);
    }

    #[test]
    fn files_in_memory_are_lukewarm() {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        fs::write(dir.path().join("1"), vec![7; 8192]).unwrap();
        let Cooled::Lukewarm(reason) = forget(dir.path()).unwrap() else {
            panic!("files of a tmpfs cannot be cold");
        };
        assert!(reason.contains("8 KiB"), "{reason}");
    }
}
