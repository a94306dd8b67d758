//! The directory of a backup: made by dbdyno, removed with the point, and whole only once its manifest is there.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// What the directories are called by.
const PREFIX: &str = "dbdyno-backup-";
/// Written last, and durable: a backup without one was interrupted.
const MANIFEST: &str = "manifest.toml";
const FORMAT: u32 = 1;
const BUFFER_BYTES: usize = 1 << 20;

/// The directory of one backup and its restored copy.
pub struct Repository(TempDir);

/// What the backup wrote.
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
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

impl Repository {
    /// Makes a directory that was not there before. Others can pass through it, so that a server with a user of its own can be
    /// given the restored files, and read nothing in it.
    pub fn create(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        // By its name without links: a relative path would depend on who uses it.
        let parent = parent.canonicalize()?;
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o711))
            .tempdir_in(parent)?;
        let repository = Self(directory);
        for own in [repository.backup(), repository.restored()] {
            DirBuilder::new().mode(0o700).create(own)?;
        }
        Ok(repository)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the backup goes.
    pub fn backup(&self) -> PathBuf {
        self.path().join("backup")
    }

    /// Where it is restored.
    pub fn restored(&self) -> PathBuf {
        self.path().join("restored")
    }

    /// Where a log of acknowledged transactions goes.
    pub fn journal(&self, name: &str) -> PathBuf {
        self.path().join(format!("{name}.journal"))
    }

    fn manifest(&self) -> PathBuf {
        self.path().join(MANIFEST)
    }

    /// Says that the backup is whole, and what it consists of.
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

    /// Holds the files against the manifest; what is wrong, in words, or their number.
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

/// All files below a directory, by their paths.
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
            // Of a link, where it leads to is what it holds.
            let (bytes, sha256) = match kind.is_symlink() {
                true => (0, of_link(&path)?),
                false => checksum(&path)?,
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
