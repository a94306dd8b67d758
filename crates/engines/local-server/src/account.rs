//! The user that a server runs as: never root.

use std::ffi::{CStr, CString};
use std::path::Path;

use rustix::process::{getegid, geteuid};

use engine::{Result, TargetError};

/// Takes the part of the servers' own user where that does not exist.
const FALLBACK: &str = "nobody";
/// Room for one entry of the user database.
const ENTRY_BYTES_MAX: usize = 16 * 1024;

/// A user of the operating system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name, the number where it has none.
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    /// True if processes must change to it, because dbdyno itself is root.
    pub is_changed_to: bool,
}

impl Account {
    /// The user for a server: dbdyno's own, or, when that is root, the first of `preferred` that
    /// exists, else `nobody`.
    ///
    /// # Errors
    /// When dbdyno is root and none of them exists.
    pub fn for_server(preferred: &[&str]) -> Result<Self> {
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        if uid != 0 {
            let name = name_of(uid).unwrap_or_else(|| uid.to_string());
            return Ok(Self {
                name,
                uid,
                gid,
                is_changed_to: false,
            });
        }
        let candidates = preferred.iter().chain([&FALLBACK]);
        candidates
            .filter_map(|name| named(name))
            .find(|account| account.uid != 0)
            .ok_or_else(|| {
                TargetError::unreachable(format!(
                        "a database server must not run as root, and none of the users {}, {FALLBACK} exists; create one \
                         of them, or run dbdyno as an ordinary user",
                        preferred.join(", ")
                    ),
                )
            })
    }

    /// True if the permissions of `path` and of every directory above it let the user reach it.
    /// Access lists are not looked at, so "no" may be wrong, "yes" hardly.
    pub fn reaches(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        path.ancestors().all(|place| {
            let Ok(metadata) = std::fs::metadata(place) else {
                return false;
            };
            let shift = match () {
                () if metadata.uid() == self.uid => 6,
                () if metadata.gid() == self.gid => 3,
                () => 0,
            };
            metadata.mode() >> shift & 1 == 1
        })
    }
}

/// The name of the user who runs dbdyno.
pub fn own_name() -> Option<String> {
    name_of(geteuid().as_raw())
}

fn named(name: &str) -> Option<Account> {
    let asked = CString::new(name).ok()?;
    entry(|p, buffer, result| {
        // SAFETY: all pointers are valid for the call, and the buffer's length is its own.
        unsafe {
            libc::getpwnam_r(
                asked.as_ptr(),
                p,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                result,
            )
        }
    })
}

fn name_of(uid: u32) -> Option<String> {
    entry(|p, buffer, result| {
        // SAFETY: all pointers are valid for the call, and the buffer's length is its own.
        unsafe { libc::getpwuid_r(uid, p, buffer.as_mut_ptr().cast(), buffer.len(), result) }
    })
    .map(|account| account.name)
}

fn entry(
    read: impl FnOnce(*mut libc::passwd, &mut [u8], *mut *mut libc::passwd) -> libc::c_int,
) -> Option<Account> {
    let mut buffer = vec![0_u8; ENTRY_BYTES_MAX];
    // SAFETY: passwd is plain data, for which zeros are valid.
    let mut passwd: libc::passwd = unsafe { std::mem::zeroed() };
    let mut result = std::ptr::null_mut();
    let code = read(&mut passwd, &mut buffer, &mut result);
    if code != 0 || result.is_null() {
        return None;
    }
    // SAFETY: the call succeeded, so the name points to a string inside the buffer, which is alive.
    let name = unsafe { CStr::from_ptr(passwd.pw_name) };
    Some(Account {
        name: name.to_string_lossy().into_owned(),
        uid: passwd.pw_uid,
        gid: passwd.pw_gid,
        is_changed_to: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_never_runs_as_root() {
        let account = Account::for_server(&["root", "no-such-user"]).unwrap();
        assert_ne!(account.uid, 0);
        let is_root = geteuid().is_root();
        assert_eq!(account.is_changed_to, is_root);
        if is_root {
            assert_eq!(account.name, "nobody");
        }
    }

    #[test]
    fn a_closed_directory_above_is_noticed() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a");
        std::fs::create_dir(&inner).unwrap();
        let stranger = Account {
            name: "stranger".into(),
            uid: 54_321,
            gid: 54_321,
            is_changed_to: true,
        };
        let open = |mode| std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode));
        std::fs::set_permissions(&inner, PermissionsExt::from_mode(0o755)).unwrap();
        open(0o700).unwrap();
        assert!(!stranger.reaches(&inner));
        open(0o711).unwrap();
        assert!(stranger.reaches(&inner));
    }
}
