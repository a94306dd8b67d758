//! SQLite's own file system with its log, its temporary files, or both in other directories.
//!
//! The library names the log after the database and asks its file system (a "VFS") to open that name; temporary files it asks
//! for without a name. What is registered here differs from the file system that SQLite usually uses in nothing but where those
//! two go. Where the log would have been lies a link to it: SQLite refuses to follow one, so no program that does not know of the
//! other directory opens the database without its log and takes what is left for all of it.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use archive::Purpose;
use rusqlite::ffi;

use engine::database_file::as_one_name;
use engine::{ErrorKind, Result, TargetError, TargetUrl};

/// Ending of the log's name.
const LOG: &[u8] = b"-wal";
/// Of a name within a directory.
const FILE_NAME_BYTES_MAX: usize = 255;
/// Room for a name behind each open file, which SQLite wants to live as long as the file.
const NAME_BYTES_MAX: usize = 1024;

/// Where files lie that are not beside the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Apart {
    pub log: Option<PathBuf>,
    pub temporary: Option<PathBuf>,
}

impl Apart {
    /// What a URL says of it.
    ///
    /// # Errors
    /// When a directory is not an absolute path.
    pub fn from_url(url: &TargetUrl) -> Result<Self> {
        Ok(Self {
            log: url.apart(Purpose::Log)?,
            temporary: url.apart(Purpose::Temporary)?,
        })
    }

    /// The name of a file system that puts files there, after making the directories; `None` where all lie beside the database.
    ///
    /// # Errors
    /// When a directory cannot be made, or SQLite takes no further file system.
    pub(super) fn file_system(&self) -> Result<Option<&'static CStr>> {
        static REGISTERED: Mutex<BTreeMap<Apart, &'static CStr>> = Mutex::new(BTreeMap::new());
        if *self == Self::default() {
            return Ok(None);
        }
        for directory in self.log.iter().chain(&self.temporary) {
            make(directory)?;
        }
        let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = registered.get(self) {
            return Ok(Some(name));
        }
        let name = register(self.clone(), registered.len())?;
        registered.insert(self.clone(), name);
        Ok(Some(name))
    }

    /// Whether this is where the log of a database would be, and a link to where it is.
    pub(super) fn is_link_to_log(&self, link: &Path) -> bool {
        let file = self.log_file(link);
        file.is_some() && file == link.read_link().ok()
    }

    /// The file that is the log of a database, with all directories in its name: databases may share the directory.
    pub(super) fn log_file(&self, log: &Path) -> Option<PathBuf> {
        Some(self.log.as_ref()?.join(as_one_name(log)))
    }

    /// What is wrong with where the log of a database would be: SQLite would only say that it cannot be opened.
    pub(super) fn obstacle(&self, log: &Path) -> Option<String> {
        let file = self.log_file(log)?;
        if file.file_name()?.len() > FILE_NAME_BYTES_MAX {
            return Some(format!(
                "the path {} is too long for place.log",
                log.display()
            ));
        }
        match Link::of(log, &file) {
            Ok(Link::Absent) => None,
            Ok(Link::ToLog) if file.is_file() => None,
            Ok(Link::ToLog) => Some(format!(
                "{} leads to {}, which is not there: mount what it lies on, or remove database and link",
                log.display(),
                file.display()
            )),
            Ok(Link::Other) => Some(format!(
                "{} is a log that lies with the database: open it once without place.log, which brings it into the file",
                log.display()
            )),
            Err(error) => Some(format!("{}: {error}", log.display())),
        }
    }
}

/// What is where the log would be.
enum Link {
    Absent,
    ToLog,
    Other,
}

impl Link {
    fn of(link: &Path, file: &Path) -> io::Result<Self> {
        match fs::read_link(link) {
            Ok(to) if to == file => Ok(Self::ToLog),
            Ok(_) => Ok(Self::Other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::Absent),
            // Not a link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(Self::Other),
            Err(error) => Err(error),
        }
    }
}

/// A file system as SQLite knows it, with what it adds to the usual one.
struct Redirection {
    apart: Apart,
    usual: *mut ffi::sqlite3_vfs,
}

fn register(apart: Apart, number: usize) -> Result<&'static CStr> {
    let name = CString::new(format!("dbdyno-apart-{number}"))
        .expect("letters, hyphens and digits have no zero among them");
    // SQLite keeps what is registered until the process ends.
    let name: &'static CStr = Box::leak(name.into_boxed_c_str());
    // SAFETY: a null name asks for the usual file system, which lives as long as the process.
    let usual = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
    // SAFETY: it is null or points to a file system that nobody changes; it is a plain record, and is copied.
    let Some(copy) = (unsafe { usual.as_ref() }).copied() else {
        return Err(refused("it has no file system"));
    };
    let redirection = Box::leak(Box::new(Redirection { apart, usual }));
    let own = Box::leak(Box::new(ffi::sqlite3_vfs {
        szOsFile: copy.szOsFile + NAME_BYTES_MAX as c_int,
        pNext: std::ptr::null_mut(),
        zName: name.as_ptr(),
        pAppData: std::ptr::from_mut(redirection).cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        ..copy
    }));
    // SAFETY: the record and its name are leaked, so they live as long as SQLite uses them.
    match unsafe { ffi::sqlite3_vfs_register(own, 0) } {
        ffi::SQLITE_OK => Ok(name),
        code => Err(refused(&format!(
            "it takes no further file system: code {code}"
        ))),
    }
}

/// # Safety
/// `vfs` was made by [`register`].
unsafe fn redirection<'a>(vfs: *mut ffi::sqlite3_vfs) -> &'a Redirection {
    // SAFETY: `register` leaked what `pAppData` points to.
    unsafe { &*(*vfs).pAppData.cast::<Redirection>() }
}

impl Redirection {
    /// The link at the usual place of a log and the log itself; `None` for any other file.
    ///
    /// # Safety
    /// `name` is null or ends with a zero.
    unsafe fn log(&self, name: *const c_char) -> Option<(PathBuf, PathBuf)> {
        if name.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        let link = PathBuf::from(OsStr::from_bytes(name));
        let file = self.apart.log_file(&link).filter(|_| name.ends_with(LOG))?;
        Some((link, file))
    }

    /// Makes the log with its link, where they are not there. A log that no link leads to is of a database that is gone or has
    /// all of it: the link is durable before anything is in the log, and goes first.
    fn opened(&self, link: &Path, file: &Path) -> io::Result<()> {
        let _alone = self.alone()?;
        match Link::of(link, file)? {
            Link::ToLog if file.is_file() => Ok(()),
            Link::ToLog | Link::Other => Err(io::ErrorKind::NotFound.into()),
            Link::Absent => {
                remove_if_there(file)?;
                let mut options = fs::OpenOptions::new();
                options
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(file)?;
                symlink(file, link)?;
                sync_directory(file)?;
                sync_directory(link)
            }
        }
    }

    fn deleted(&self, link: &Path, file: &Path) -> io::Result<()> {
        let _alone = self.alone()?;
        match Link::of(link, file)? {
            Link::Absent => Ok(()),
            Link::Other => Err(io::ErrorKind::AlreadyExists.into()),
            Link::ToLog => {
                remove_if_there(link)?;
                sync_directory(link)?;
                remove_if_there(file)
            }
        }
    }

    /// One thread of one process at a time makes or removes logs in the directory.
    fn alone(&self) -> io::Result<(MutexGuard<'static, ()>, Option<File>)> {
        static LOGS: Mutex<()> = Mutex::new(());
        let of_process = LOGS.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = self.apart.log.as_ref().map(File::open).transpose()?;
        if let Some(directory) = &directory {
            directory.lock()?;
        }
        Ok((of_process, directory))
    }
}

fn sync_directory(of: &Path) -> io::Result<()> {
    of.parent()
        .map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}

/// SQLite makes the file for itself alone, and removes its name at once.
fn name_of_temporary() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("dbdyno-{}-{number}", std::process::id())
}

/// Makes a directory that is this user's alone, where it is not there.
fn make(directory: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(directory);
    made.map_err(|error| refused(&format!("cannot create {}: {error}", directory.display())))
}

fn refused(why: &str) -> TargetError {
    TargetError::new(ErrorKind::Unreachable, format!("SQLite: {why}"))
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Puts a name behind the file that it belongs to; `None` when it is too long.
///
/// # Safety
/// `file` has the room that the file system `vfs` asks for.
unsafe fn keep_name(
    usual: *mut ffi::sqlite3_vfs,
    file: *mut ffi::sqlite3_file,
    name: &Path,
) -> Option<*const c_char> {
    let name = name.as_os_str().as_bytes();
    // SQLite reads a second zero behind names.
    if name.len() + 2 > NAME_BYTES_MAX || name.contains(&0) {
        return None;
    }
    // SAFETY: `register` asked for NAME_BYTES_MAX bytes behind those of the usual file system.
    unsafe {
        let place = file.cast::<u8>().add((*usual).szOsFile as usize);
        place.copy_from_nonoverlapping(name.as_ptr(), name.len());
        place.add(name.len()).write_bytes(0, 2);
        Some(place.cast())
    }
}

/// Opens a file where it lies.
unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls it with its own file system, with a name that ends with a zero, and with room for the file.
    unsafe {
        // Nothing is to be closed where nothing is opened.
        (*file).pMethods = std::ptr::null();
        let own = redirection(vfs);
        let open_usual = (*own.usual).xOpen.expect("every file system opens files");
        let mut flags = flags;
        let place = match (own.log(name), &own.apart.temporary) {
            (Some((link, log)), _) => match own.opened(&link, &log) {
                Ok(()) => {
                    // It would look beside the log for the database, to give the log the same mode.
                    flags = flags & !ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
                    Some(log)
                }
                Err(_) => return ffi::SQLITE_CANTOPEN,
            },
            (None, Some(directory)) if name.is_null() => Some(directory.join(name_of_temporary())),
            _ => None,
        };
        let name = match &place {
            None => name,
            Some(place) => match keep_name(own.usual, file, place) {
                Some(name) => name,
                None => return ffi::SQLITE_CANTOPEN,
            },
        };
        open_usual(own.usual, name, file, flags, flags_out)
    }
}

/// Deletes a file where it lies, and the link that leads to it.
unsafe extern "C" fn delete(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_directory: c_int,
) -> c_int {
    // SAFETY: as for `open`.
    unsafe {
        let own = redirection(vfs);
        let delete_usual = (*own.usual)
            .xDelete
            .expect("every file system deletes files");
        let Some((link, log)) = own.log(name) else {
            return delete_usual(own.usual, name, sync_directory);
        };
        match own.deleted(&link, &log) {
            Ok(()) => ffi::SQLITE_OK,
            Err(_) => ffi::SQLITE_IOERR_DELETE,
        }
    }
}

/// Looks for a file where it lies.
unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    found: *mut c_int,
) -> c_int {
    // SAFETY: as for `open`.
    unsafe {
        let own = redirection(vfs);
        let access_usual = (*own.usual).xAccess.expect("every file system finds files");
        let Some((link, log)) = own.log(name) else {
            return access_usual(own.usual, name, flags, found);
        };
        match (
            Link::of(&link, &log),
            CString::new(log.as_os_str().as_bytes()),
        ) {
            (Ok(Link::Absent), _) => {
                *found = 0;
                ffi::SQLITE_OK
            }
            (Ok(Link::ToLog), Ok(name)) if log.is_file() => {
                access_usual(own.usual, name.as_ptr(), flags, found)
            }
            _ => ffi::SQLITE_IOERR_ACCESS,
        }
    }
}
