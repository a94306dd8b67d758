//! Removes what servers leave behind, above all those of a dbdyno that was killed.
//!
//! Everything that it removes is known from notes, never guessed: the directory by its
//! locked file, processes by program and working directory, the control group and shared memory by name.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::group;
use super::process::{self, SHARED_MEMORY};

/// Marks the directories that dbdyno made, locked by whoever owns one.
pub const OWNER: &str = ".dbdyno-owner";

/// Notes read of one directory: those of some ten thousand restarts.
const NOTES_BYTES_MAX: u64 = 4 << 20;

/// Size of a file of shared memory that may list others.
const LIST_BYTES_MAX: u64 = 16 << 20;

/// Time for what lost its owner to end by itself, which then removes more than anybody else could.
const GRACE: Duration = Duration::from_secs(3);

/// Time that a killed process needs at most to let go of memory that it shares.
const DETACH_MAX: Duration = Duration::from_secs(10);
/// How often it is looked at.
const POLL: Duration = Duration::from_millis(10);

pub const PROGRAM: &str = "program";
pub const DATA: &str = "data";
pub const GROUP: &str = "group";
/// A segment of System V shared memory: number and key.
pub(super) const SEGMENT: &str = "segment";
/// A file of shared memory.
pub(super) const SHARED: &str = "shared";

/// Removes the directories below `parent` whose owners are gone.
pub fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let owner = entry.path().join(OWNER);
        // Opened, never created: without the file the directory is none of ours.
        let Ok(owner) = OpenOptions::new().read(true).append(true).open(owner) else {
            continue;
        };
        if owner.try_lock().is_ok() {
            remove(&entry.path());
        }
    }
}

/// Ends what still runs for the directory and removes it with everything noted in it.
///
/// Problems are not reported: there is nobody who could do more, and the next start tries again.
pub fn remove(directory: &Path) {
    let notes = read_notes(&directory.join(OWNER));
    let values = |key: &'static str| {
        let is_asked = move |note: &&(String, String)| note.0 == key;
        notes
            .iter()
            .filter(is_asked)
            .map(|(_, value)| value.as_str())
    };
    let programs: Vec<PathBuf> = values(PROGRAM).map(PathBuf::from).collect();
    let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
    let places: Vec<&Path> = values(DATA).map(Path::new).chain([directory]).collect();
    let mut shared: Vec<PathBuf> = values(SHARED).map(PathBuf::from).collect();
    let all_ended = process::kill_all(GRACE, || {
        let pids = process::working_in(&places, &programs);
        shared.extend(pids.iter().flat_map(|pid| process::shared_files(*pid)));
        pids
    });
    if !all_ended {
        return;
    }
    let mut is_clean = true;
    for path in values(GROUP) {
        is_clean &= group::remove(Path::new(path)).is_ok();
    }
    for value in values(SEGMENT) {
        let mut numbers = value.split(' ').map(str::parse);
        if let (Some(Ok(id)), Some(Ok(key))) = (numbers.next(), numbers.next()) {
            remove_segment(id, key);
        }
    }
    let related: Vec<PathBuf> = shared.iter().flat_map(|file| related(file)).collect();
    shared.extend(related);
    for file in shared
        .iter()
        .filter(|file| file.parent() == Some(Path::new(SHARED_MEMORY)))
    {
        let _ = fs::remove_file(file);
    }
    // The notes go last: without them nobody would know of a group that is still there.
    if is_clean {
        remove_but_owner(directory);
        let _ = fs::remove_dir_all(directory);
    }
}

fn remove_but_owner(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name() != OWNER {
            let path = entry.path();
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
}

fn read_notes(path: &Path) -> Vec<(String, String)> {
    let is_sane = fs::metadata(path).is_ok_and(|m| m.len() <= NOTES_BYTES_MAX);
    let text = if is_sane {
        fs::read_to_string(path).unwrap_or_default()
    } else {
        String::new()
    };
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// Files of shared memory that `file` lists: those of its owner and stem whose number, the part behind
/// the last point, stands in it. PostgreSQL's control segment names the segments that its sessions made
/// later, of which nobody could have taken a note.
fn related(file: &Path) -> Vec<PathBuf> {
    let parts = |path: &Path| {
        let (stem, number) = path.file_name()?.to_str()?.rsplit_once('.')?;
        Some((stem.to_owned(), number.parse::<u32>().ok()?))
    };
    let state = |path: &Path| fs::symlink_metadata(path).ok();
    let (Some((stem, _)), Some(own)) = (parts(file), state(file)) else {
        return Vec::new();
    };
    if own.len() > LIST_BYTES_MAX || !own.is_file() {
        return Vec::new();
    }
    let bytes = fs::read(file).unwrap_or_default();
    let (words, _) = bytes.as_chunks::<4>();
    let numbers: BTreeSet<u32> = words.iter().map(|word| u32::from_ne_bytes(*word)).collect();
    let entries = fs::read_dir(SHARED_MEMORY).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| parts(path).is_some_and(|(s, n)| s == stem && numbers.contains(&n)))
        .filter(|path| state(path).is_some_and(|other| other.uid() == own.uid()))
        .collect()
}

/// Removes a System V segment when it is still the one noted.
///
/// A process that is about to end has lost its program, by which it is known, before it lets go of its memory; a
/// server that is started on the same data meanwhile refuses it as still in use. So the last one is awaited.
fn remove_segment(id: i32, key: i32) {
    let begin = Instant::now();
    while attached(id, key).is_some_and(|processes| processes > 0) && begin.elapsed() < DETACH_MAX {
        std::thread::sleep(POLL);
    }
    if attached(id, key).is_some() {
        // SAFETY: removing takes no structure, and only a number goes in.
        unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// How many processes are attached to a segment; `None` when it is gone, or is another one by now.
fn attached(id: i32, key: i32) -> Option<u64> {
    // SAFETY: the struct is plain data of ours that outlives the call.
    let (is_there, state) = unsafe {
        let mut state: libc::shmid_ds = std::mem::zeroed();
        (libc::shmctl(id, libc::IPC_STAT, &mut state) == 0, state)
    };
    (is_there && state.shm_perm.__key == key).then_some(state.shm_nattch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment is removed when its last user has let go of it, and not before; another one of its number never.
    #[test]
    fn the_last_user_of_a_segment_is_awaited() {
        const KEY: i32 = 0x64_62_64_79;
        // SAFETY: a private mapping of a segment that only this test knows.
        let (id, address) = unsafe {
            let id = libc::shmget(KEY, 4096, libc::IPC_CREAT | libc::IPC_EXCL | 0o600);
            (id, libc::shmat(id, std::ptr::null(), 0) as usize)
        };
        assert!(id >= 0 && address as isize != -1);
        remove_segment(id, KEY + 1);
        assert_eq!(attached(id, KEY), Some(1), "another key is another segment");
        let begin = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(100));
                // SAFETY: the address came from shmat and is let go of once.
                assert_eq!(unsafe { libc::shmdt(address as *const libc::c_void) }, 0);
            });
            remove_segment(id, KEY);
        });
        assert_eq!(attached(id, KEY), None);
        assert!(begin.elapsed() >= Duration::from_millis(100));
    }
}
