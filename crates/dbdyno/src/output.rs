//! Files that the command writes.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

use crate::console::{leave_output_to_page, say};

/// Header of every SQLite database, and so of every archive.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// The way of writing to an existing path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    /// Nothing, or a file: a new file takes the name.
    File,
    /// Written in place, because it is a pipe, a device or a link.
    Through,
    /// Never written, for this reason.
    Refused(&'static str),
}

/// Writes a file completely or not at all, so that a full disk leaves an old one unchanged; a pipe, a terminal or /dev/null is written to
/// and never replaced. `what` and `option` name the content and the argument with the path, for the error.
pub fn write(path: &Path, text: &str, what: &str, option: &str) -> Result<()> {
    if is_standard_output(path) {
        leave_output_to_page();
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(std::io::stdout().flush()?);
    }
    let write = || match destination(path)? {
        Destination::File => replace(path, text),
        Destination::Through => write_through(path, text),
        Destination::Refused(reason) => bail!("{reason}"),
    };
    write().with_context(|| cannot(path, what, option))
}

/// Refuses a path that [`write()`] cannot write to, before a measurement; changes nothing.
pub fn check(path: &Path, what: &str, option: &str) -> Result<()> {
    if is_standard_output(path) {
        return Ok(());
    }
    let check = || match destination(path)? {
        Destination::File => temporary(path).map(drop),
        Destination::Through => check_through(path),
        Destination::Refused(reason) => bail!("{reason}"),
    };
    check().with_context(|| cannot(path, what, option))
}

fn cannot(path: &Path, what: &str, option: &str) -> String {
    let path = path.display();
    format!("the {what} {path} cannot be written; choose another file with {option}")
}

/// Writes like [`write()`], and reports the file on standard error unless it is standard output.
pub fn write_and_tell(path: &Path, text: &str, what: &str, option: &str) -> Result<()> {
    write(path, text, what, option)?;
    if !is_standard_output(path) {
        say(&format!("{} written", path.display()));
    }
    Ok(())
}

/// True if a path means standard output. Opened by its name, a redirected file would be overwritten from its beginning.
pub fn is_standard_output(path: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| path == Path::new(name))
}

/// Size of a beginning that identifies a file.
const BEGINNING_BYTES: u64 = 4096;

/// Opens a file that dbdyno or its user wrote before: an empty file, or one whose beginning `is_own` recognises, is truncated; any other is
/// refused. Pipes, terminals and /dev/null are written to.
pub fn renew(path: &Path, is_own: impl Fn(&[u8]) -> bool) -> Result<File> {
    if !is_there_to_renew(path, is_own)? {
        return Ok(File::create_new(path)?);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// True if [`renew`] would overwrite an existing file; changes nothing.
pub fn is_there_to_renew(path: &Path, is_own: impl Fn(&[u8]) -> bool) -> Result<bool> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let directory = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            if let Some(directory) = directory {
                std::fs::metadata(directory)
                    .with_context(|| format!("its directory {}", directory.display()))?;
            }
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
        Ok(_) => {}
    }
    let found = path.metadata().context("it is a dangling symbolic link")?;
    if let Destination::Refused(reason) = place_of(found.mode()) {
        bail!("{reason}");
    }
    if found.is_file() {
        let mut begin = Vec::new();
        let mut there = File::open(path)?;
        refuse_database(&mut there)?;
        there.seek(SeekFrom::Start(0))?;
        there.take(BEGINNING_BYTES).read_to_end(&mut begin)?;
        if !begin.is_empty() && !is_own(&begin) {
            bail!("it exists, was not written by dbdyno, and was not changed");
        }
    }
    Ok(true)
}

fn destination(path: &Path) -> Result<Destination> {
    match path.symlink_metadata() {
        Ok(found) => Ok(place_of(found.mode())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Destination::File),
        Err(error) => Err(error.into()),
    }
}

fn place_of(mode: u32) -> Destination {
    match mode & libc::S_IFMT {
        libc::S_IFREG => Destination::File,
        // The kernel follows the link, because it protects links in world-writable directories.
        libc::S_IFLNK | libc::S_IFIFO | libc::S_IFCHR => Destination::Through,
        libc::S_IFDIR => Destination::Refused("it is a directory"),
        libc::S_IFBLK => Destination::Refused("it is a block device"),
        _ => Destination::Refused("it is neither a file nor a pipe"),
    }
}

/// A new file that takes the place of an old one, unless that is a database.
fn temporary(path: &Path) -> Result<NamedTempFile> {
    match File::open(path) {
        Ok(mut there) => refuse_database(&mut there)?,
        Err(error) if error.kind() == ErrorKind::NotFound => (),
        Err(error) => return Err(error.into()),
    }
    let file = tempfile::Builder::new()
        .prefix(".dbdyno-output-")
        // A temporary file is private to its user, but this one is for others.
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(directory_of(path))?;
    Ok(file)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn replace(path: &Path, text: &str) -> Result<()> {
    let mut file = temporary(path)?;
    file.write_all(text.as_bytes())?;
    // After a crash the name must not refer to an empty file.
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(directory_of(path))?.sync_all()?;
    Ok(())
}

/// Examines the target of a link before it is opened, because opening a device may have an effect.
fn check_through(path: &Path) -> Result<()> {
    let found = path.metadata().context("it is a dangling symbolic link")?;
    if let Destination::Refused(reason) = place_of(found.mode()) {
        bail!("{reason}");
    }
    if found.is_file() {
        refuse_database(&mut File::open(path)?)?;
        OpenOptions::new().write(true).open(path)?;
    }
    Ok(())
}

fn write_through(path: &Path, text: &str) -> Result<()> {
    check_through(path)?;
    let mut there = OpenOptions::new().write(true).open(path)?;
    if there.metadata()?.is_file() {
        there.set_len(0)?;
        there.write_all(text.as_bytes())?;
        return Ok(there.sync_all()?);
    }
    Ok(there.write_all(text.as_bytes())?)
}

fn refuse_database(there: &mut File) -> Result<()> {
    let mut begin = Vec::new();
    there.seek(SeekFrom::Start(0))?;
    there.take(DATABASE.len() as u64).read_to_end(&mut begin)?;
    if begin == DATABASE {
        bail!("it is an archive or another database");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn put(path: &Path) -> Result<()> {
        write(path, "text", "report", "-o")
    }

    fn refusal(path: &Path) -> String {
        format!("{:#}", put(path).unwrap_err())
    }

    fn fifo(folder: &Path) -> PathBuf {
        let path = folder.join("fifo");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the name ends with its zero and lives through the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        path
    }

    /// A terminal: a character device that any user can open and no file can replace.
    fn terminal() -> (File, PathBuf) {
        use std::os::fd::FromRawFd;
        // SAFETY: posix_openpt has no preconditions; what it gives is owned here.
        let (descriptor, file) = unsafe {
            let descriptor = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY);
            assert!(descriptor >= 0);
            (descriptor, File::from_raw_fd(descriptor))
        };
        let mut name = [0; 64];
        // SAFETY: the descriptor is open, and the buffer as long as is said.
        unsafe {
            assert_eq!(libc::grantpt(descriptor), 0);
            assert_eq!(libc::unlockpt(descriptor), 0);
            assert_eq!(
                libc::ptsname_r(descriptor, name.as_mut_ptr(), name.len()),
                0
            );
        }
        // SAFETY: ptsname_r ended the name with a zero.
        let name = unsafe { std::ffi::CStr::from_ptr(name.as_ptr()) };
        (file, PathBuf::from(name.to_str().unwrap()))
    }

    #[test]
    fn a_file_is_replaced_whole_and_can_be_read_by_others() {
        let folder = folder();
        let path = folder.path().join("page.html");
        for _ in 0..2 {
            put(&path).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
        }
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_pipe_gets_the_text_and_stays_a_pipe() {
        let folder = folder();
        let path = fifo(folder.path());
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || std::fs::read_to_string(path).unwrap())
        };
        put(&path).unwrap();
        assert_eq!(reader.join().unwrap(), "text");
        assert_eq!(
            path.symlink_metadata().unwrap().mode() & libc::S_IFMT,
            libc::S_IFIFO
        );
    }

    #[test]
    fn a_device_gets_the_text_and_stays_a_device() {
        let folder = folder();
        let (mut screen, device) = terminal();
        let link = folder.path().join("link");
        symlink(&device, &link).unwrap();
        for path in [&device, &link] {
            put(path).unwrap();
            let mut shown = [0; 4];
            screen.read_exact(&mut shown).unwrap();
            assert_eq!(&shown, b"text");
        }
        assert_eq!(
            device.symlink_metadata().unwrap().mode() & libc::S_IFMT,
            libc::S_IFCHR
        );
        assert!(link.is_symlink());
    }

    #[test]
    fn a_link_stays_and_its_target_is_written() {
        let folder = folder();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        symlink(&file, &link).unwrap();
        assert!(
            refusal(&link).contains("No such file"),
            "{}",
            refusal(&link)
        );
        std::fs::write(&file, "a longer text than the new one").unwrap();
        put(&link).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
        assert!(link.is_symlink());
    }

    #[test]
    fn a_database_is_left_as_it_is_by_whatever_name() {
        let folder = folder();
        let (link, file) = (folder.path().join("link"), folder.path().join("archive"));
        let content = [DATABASE, b"rows"].concat();
        std::fs::write(&file, &content).unwrap();
        symlink(&file, &link).unwrap();
        for path in [&file, &link] {
            let said = refusal(path);
            assert!(said.contains("choose another file with -o"), "{said}");
            assert!(
                said.ends_with("it is an archive or another database"),
                "{said}"
            );
            assert!(renew(path, |_| true).is_err());
            assert_eq!(std::fs::read(&file).unwrap(), content);
        }
    }

    #[test]
    fn a_log_empties_a_file_and_nothing_else() {
        let folder = folder();
        let file = folder.path().join("log");
        for text in ["longer", "short"] {
            renew(&file, |_| true)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        assert!(renew(folder.path(), |_| true).is_err());
        let (mut screen, device) = terminal();
        renew(&device, |_| true)
            .unwrap()
            .write_all(b"text")
            .unwrap();
        let mut shown = [0; 4];
        screen.read_exact(&mut shown).unwrap();
        assert_eq!(&shown, b"text");
    }

    #[test]
    fn directories_sockets_and_block_devices_are_refused() {
        let folder = folder();
        assert!(refusal(folder.path()).ends_with("it is a directory"));
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(refusal(&socket).ends_with("it is neither a file nor a pipe"));
        let link = folder.path().join("link");
        symlink(folder.path(), &link).unwrap();
        assert!(refusal(&link).ends_with("it is a directory"));
        let block = place_of(libc::S_IFBLK | 0o660);
        assert_eq!(block, Destination::Refused("it is a block device"));
    }
}
