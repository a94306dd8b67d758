//! Directory of a backup: created by dbdyno, complete once it has a manifest, and removed with the point. The next
//! backup in the same parent removes directories whose dbdyno was killed.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const PREFIX: &str = "dbdyno-backup-";
/// File that is locked while the backup has an owner.
const OWNER: &str = "owner";
/// Servers and programs of a killed dbdyno end a moment later and write until then.
const REMOVAL_TRIES: u32 = 100;
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);
/// The manifest is written last and durably: a backup without one was interrupted.
const MANIFEST: &str = "manifest.toml";
const FORMAT: u32 = 1;
const BUFFER_BYTES: usize = 1 << 20;

pub struct Repository {
    directory: TempDir,
    /// Removed directories of killed owners in the same parent.
    pub left_behind: Vec<PathBuf>,
    // The lock is released after the directory is removed.
    _owner: File,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: u32,
    method: String,
    #[serde(default, rename = "file")]
    pub files: Vec<Entry>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    path: String,
    bytes: u64,
    sha256: String,
}

impl Manifest {
    /// Bytes of the files below a directory; of all files if the name is empty.
    pub fn bytes_below(&self, directory: &str) -> u64 {
        let files = self.files.iter();
        let below = files.filter(|file| Path::new(&file.path).starts_with(directory));
        below.map(|file| file.bytes).sum()
    }
}

impl Repository {
    /// Creates a new directory. Others may traverse it but not list it, so that a server that runs as another user can
    /// be given the restored files.
    pub fn create(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        // A relative path or a link would depend on who uses it.
        let parent = parent.canonicalize()?;
        // The lock keeps others from creating or removing a directory meanwhile, so one without an owner was left
        // behind by a killed process.
        let lock = File::open(&parent)?;
        lock.lock()?;
        let left_behind = remove_left_behind(&parent)?;
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o711))
            .tempdir_in(parent)?;
        let owner = File::create_new(directory.path().join(OWNER))?;
        owner.lock()?;
        let repository = Self {
            directory,
            left_behind,
            _owner: owner,
        };
        for own in [repository.backup(), repository.restored()] {
            DirBuilder::new().mode(0o700).create(own)?;
        }
        Ok(repository)
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn backup(&self) -> PathBuf {
        self.path().join("backup")
    }

    pub fn restored(&self) -> PathBuf {
        self.path().join("restored")
    }

    pub fn journal(&self, name: &str) -> PathBuf {
        self.path().join(format!("{name}.journal"))
    }

    fn manifest(&self) -> PathBuf {
        self.path().join(MANIFEST)
    }

    pub fn seal(&self, method: &str) -> io::Result<Manifest> {
        let manifest = Manifest {
            format: FORMAT,
            method: method.to_owned(),
            files: entries(&self.backup())?,
        };
        let text = toml::to_string(&manifest).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(self.path())?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(self.manifest())?;
        File::open(self.path())?.sync_all()?;
        Ok(manifest)
    }

    /// Checks the files against the manifest. Returns their number, or a sentence about the difference.
    pub fn check(&self) -> io::Result<Result<u64, String>> {
        let text = match fs::read_to_string(self.manifest()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(Err("the backup was interrupted, it has no manifest".into()));
            }
            text => text?,
        };
        let Ok(manifest) = toml::from_str::<Manifest>(&text) else {
            return Ok(Err("its manifest is damaged".into()));
        };
        let found = entries(&self.backup())?;
        let wrote = &manifest.files;
        let missing = wrote
            .iter()
            .find(|file| !found.iter().any(|f| f.path == file.path));
        if let Some(missing) = missing {
            return Ok(Err(format!("the file {} is missing", missing.path)));
        }
        let differs = found.iter().find(|file| !wrote.contains(file));
        Ok(match differs {
            Some(file) => Err(format!("the file {} is not as it was written", file.path)),
            None => Ok(found.len() as u64),
        })
    }
}

fn remove_left_behind(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let path = entry.path();
        let is_named = (entry.file_name().to_str()).is_some_and(|name| name.starts_with(PREFIX));
        let is_own = |found: fs::Metadata| found.is_dir() && found.uid() == host::user_id();
        if !is_named || !fs::symlink_metadata(&path).is_ok_and(is_own) {
            continue;
        }
        let is_gone = match File::open(path.join(OWNER)) {
            Ok(owner) => owner.try_lock().is_ok() && remove_but_owner(&path).is_ok(),
            // The owner was killed before it wrote anything, or the directory is not dbdyno's and stays.
            Err(_) => fs::remove_dir(&path).is_ok(),
        };
        if is_gone {
            let _ = fs::remove_dir_all(&path);
            removed.push(path);
        }
    }
    Ok(removed)
}

/// Keeps the files that identify the directory unless everything else could be removed.
fn remove_but_owner(directory: &Path) -> io::Result<()> {
    let remove = || {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false if entry.file_name() != OWNER => fs::remove_file(entry.path())?,
                false => {}
            }
        }
        Ok(())
    };
    let mut removed = remove();
    for _ in 0..REMOVAL_TRIES {
        if removed.is_ok() {
            break;
        }
        std::thread::sleep(REMOVAL_PAUSE);
        removed = remove();
    }
    removed
}

fn entries(directory: &Path) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(&at)? {
            let entry = entry?;
            let path = entry.path();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                left.push(path);
                continue;
            }
            // The content of a link is its target path.
            let (bytes, sha256) = if kind.is_symlink() {
                (0, of_link(&path)?)
            } else {
                checksum(&path)?
            };
            let name = path.strip_prefix(directory).unwrap_or(&path);
            found.push(Entry {
                path: name.display().to_string(),
                bytes,
                sha256,
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn checksum(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
    Ok((bytes, hex(hash)))
}

fn of_link(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(fs::read_link(path)?.as_os_str().as_encoded_bytes());
    Ok(hex(hash))
}

fn hex(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
