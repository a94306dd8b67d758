//! State of an SD, stored over a crash: a map of generations, and a journal of the writes since the map.
//!
//! `SD.map` has a head and a byte for each block. `SD.jnl` has 16 bytes for each block of each write: one entry that
//! is on stable storage before the write begins, and one when it has completed. A block with only the first may hold
//! its old or its new content.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use stats::random::mix;

use super::error::EngineError;
use super::proof::{GENERATION_MAX, Proof};
use crate::regular;
use crate::run::Journal as Settings;

const MAGIC: &[u8; 8] = b"dbdynoV1";
const HEAD_BYTES: usize = 40;
const ENTRY_BYTES: usize = 16;
const MAP: &str = "the map of a journal";
const JOURNAL: &str = "a journal";
const NAMES_MAX: u32 = 100;
/// A journal of this size is folded into a new map.
const JOURNAL_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Journal {
    map_path: PathBuf,
    path: PathBuf,
    file: File,
    /// Entries that are not yet in the file.
    pending: Vec<u8>,
    /// Writes in progress: block and its new generation.
    under_way: HashMap<u64, u8>,
    length: u64,
    settings: Settings,
}

/// State that an earlier run left: the generations, and the new generation of blocks whose write was in progress.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub proof: Proof,
    pub under_way: HashMap<u64, u8>,
}

fn refused(path: &Path, purpose: &'static str) -> impl Fn(io::Error) -> EngineError + use<> {
    let path = path.to_owned();
    move |reason| EngineError::SideFile {
        path: path.clone(),
        purpose,
        reason,
    }
}

fn paths(settings: &Settings, sd: &str) -> (PathBuf, PathBuf) {
    let folder = settings
        .directory
        .clone()
        .unwrap_or_else(|| PathBuf::from("."));
    (
        folder.join(format!("{sd}.map")),
        folder.join(format!("{sd}.jnl")),
    )
}

/// Checks that the files of a journal can be written, and read if they exist.
pub(crate) fn look(settings: &Settings, sd: &str) -> Result<(), EngineError> {
    let (map_path, path) = paths(settings, sd);
    for (path, purpose) in [(&map_path, MAP), (&path, JOURNAL)] {
        spare_foreign(path).map_err(refused(path, purpose))?;
    }
    if settings.recover {
        regular::read(&map_path).map_err(refused(&map_path, MAP))?;
    }
    Ok(())
}

impl Journal {
    pub fn begin(settings: &Settings, sd: &str, proof: &Proof) -> Result<Self, EngineError> {
        let (map_path, path) = paths(settings, sd);
        // Both are written before either is replaced: a new map would turn the journal next to it into a torn one.
        for (path, purpose) in [(&map_path, MAP), (&path, JOURNAL)] {
            spare_foreign(path).map_err(refused(path, purpose))?;
        }
        write_map(&map_path, proof).map_err(refused(&map_path, MAP))?;
        let file = replace(&path, &[]).map_err(refused(&path, JOURNAL))?;
        Ok(Self {
            map_path,
            path,
            file,
            pending: Vec::new(),
            under_way: HashMap::new(),
            length: 0,
            settings: settings.clone(),
        })
    }

    pub fn before(&mut self, block: u64, generation: u8) {
        if !self.settings.map_only {
            self.under_way.insert(block, generation);
            self.pending.extend(entry(block, generation, false));
        }
    }

    pub fn after(&mut self, block: u64, generation: u8) {
        if !self.settings.map_only {
            self.under_way.remove(&block);
            self.pending.extend(entry(block, generation, true));
        }
    }

    /// Brings all entries to stable storage, before the writes that they announce begin.
    pub fn flush(&mut self, proof: &Proof) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let refused = refused(&self.path, JOURNAL);
        self.file.write_all(&self.pending).map_err(&refused)?;
        self.length += self.pending.len() as u64;
        self.pending.clear();
        if !self.settings.no_flush {
            self.file.sync_data().map_err(&refused)?;
        }
        if self.length >= JOURNAL_BYTES_MAX {
            self.fold(proof)?;
        }
        Ok(())
    }

    /// Writes a new map, and a journal of the writes in progress. Until the journal is replaced the old one describes
    /// the same state.
    fn fold(&mut self, proof: &Proof) -> Result<(), EngineError> {
        write_map(&self.map_path, proof).map_err(refused(&self.map_path, MAP))?;
        let refused = refused(&self.path, JOURNAL);
        let kept: Vec<u8> = self
            .under_way
            .iter()
            .flat_map(|(block, generation)| entry(*block, *generation, false))
            .collect();
        self.file = replace(&self.path, &[&kept]).map_err(refused)?;
        self.length = kept.len() as u64;
        Ok(())
    }

    /// Ends the journal with a map that contains everything.
    pub fn finish(mut self, proof: &Proof) -> Result<(), EngineError> {
        self.flush(proof)?;
        self.fold(proof)
    }
}

/// Reads the state that an earlier run left; a block with a torn entry counts as in progress.
pub(crate) fn recover(settings: &Settings, sd: &str, empty: &Proof) -> Result<Left, EngineError> {
    let (map_path, path) = paths(settings, sd);
    let mut proof = empty.clone();
    read_map(&map_path, &mut proof).map_err(refused(&map_path, MAP))?;
    let mut text = Vec::new();
    match regular::read(&path) {
        Ok(file) => {
            let mut limited = file.take(2 * JOURNAL_BYTES_MAX);
            limited
                .read_to_end(&mut text)
                .map_err(refused(&path, JOURNAL))?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refused(&path, JOURNAL)(error)),
    }
    let mut under_way = HashMap::new();
    // Entries after a torn one were never on stable storage.
    for (block, generation, is_done) in text.chunks_exact(ENTRY_BYTES).map_while(parse_entry) {
        if is_done {
            under_way.remove(&block);
            proof.set(block, generation);
        } else {
            under_way.insert(block, generation);
        }
    }
    Ok(Left { proof, under_way })
}

fn entry(block: u64, generation: u8, is_done: bool) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    bytes[..8].copy_from_slice(&block.to_le_bytes());
    bytes[8] = generation;
    bytes[9] = u8::from(is_done);
    let sealed = seal(&bytes[..12]);
    bytes[12..].copy_from_slice(&sealed);
    bytes
}

fn parse_entry(bytes: &[u8]) -> Option<(u64, u8, bool)> {
    let (content, sealed) = bytes.split_at_checked(12)?;
    if seal(content) != *sealed {
        return None;
    }
    let block = u64::from_le_bytes(content[..8].try_into().ok()?);
    Some((block, content[8], content[9] == 1))
}

/// Checksum of four bytes, which torn or foreign bytes do not have.
fn seal(bytes: &[u8]) -> [u8; 4] {
    let mut digest = u64::from_le_bytes(*MAGIC);
    for piece in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        digest = mix(digest ^ u64::from_le_bytes(word));
    }
    (digest as u32).to_le_bytes()
}

fn head(proof: &Proof, content: &[u8]) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(MAGIC);
    head[8..16].copy_from_slice(&proof.block_bytes.to_le_bytes());
    head[16..24].copy_from_slice(&proof.owner().to_le_bytes());
    head[24..32].copy_from_slice(&proof.blocks().to_le_bytes());
    head[32..36].copy_from_slice(&seal(content));
    head
}

fn write_map(path: &Path, proof: &Proof) -> io::Result<()> {
    let content: Vec<u8> = proof.generations().collect();
    replace(path, &[&head(proof, &content), &content]).map(drop)
}

/// Refuses files that are neither a map nor a journal of dbdyno, because others use such names as well.
fn spare_foreign(path: &Path) -> io::Result<()> {
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let odd = |what: &str| {
        let what = format!("it is {what}; move it, or name another folder with journal=");
        Err(io::Error::other(what))
    };
    if found.is_symlink() {
        return odd("a symbolic link");
    }
    let mut begins = Vec::new();
    let mut file = regular::read(path)?.take(ENTRY_BYTES as u64);
    file.read_to_end(&mut begins)?;
    let is_map = path.extension().is_some_and(|end| end == "map");
    let is_own = if is_map {
        begins.starts_with(MAGIC)
    } else {
        begins.is_empty() || parse_entry(&begins).is_some() || is_torn(&begins, path)
    };
    if is_own {
        Ok(())
    } else {
        odd("no file of dbdyno")
    }
}

/// True for a journal that was broken off in its first entry: it is shorter than one or was never filled, and the map
/// next to it is dbdyno's.
fn is_torn(begins: &[u8], path: &Path) -> bool {
    let is_short = begins.len() < ENTRY_BYTES || begins.iter().all(|byte| *byte == 0);
    let mut magic = [0; MAGIC.len()];
    let map = regular::read(&path.with_extension("map"));
    is_short && map.is_ok_and(|mut map| map.read_exact(&mut magic).is_ok() && magic == *MAGIC)
}

fn replacement(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut last = io::ErrorKind::AlreadyExists.into();
    for number in 0..NAMES_MAX {
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{}-{number}.new", std::process::id()));
        match File::create_new(&new) {
            Ok(file) => return Ok((new.into(), file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Replaces a file with new content in one step, and returns the new file, open for appending.
fn replace(path: &Path, parts: &[&[u8]]) -> io::Result<File> {
    spare_foreign(path)?;
    let (new, mut file) = replacement(path)?;
    let mut put = || -> io::Result<()> {
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()?;
        std::fs::rename(&new, path)
    };
    put().inspect_err(|_| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&new);
    })?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(file)
}

fn read_map(path: &Path, proof: &mut Proof) -> io::Result<()> {
    let odd = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let length = HEAD_BYTES as u64 + proof.blocks();
    let file = regular::read(path)?;
    if file.metadata()?.len() != length {
        return Err(odd(
            "it belongs to an SD of another size or with other transfer sizes",
        ));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes)?;
    let (found, content) = bytes.split_at(HEAD_BYTES.min(bytes.len()));
    if *found != head(proof, content) {
        return Err(odd("it is damaged, or belongs to another SD"));
    }
    for (block, generation) in content.iter().enumerate() {
        proof.set(block as u64, (*generation).min(GENERATION_MAX));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(folder: &Path) -> Settings {
        Settings {
            directory: Some(folder.to_owned()),
            ..Settings::default()
        }
    }

    fn proof() -> Proof {
        Proof::new("sd1", 64 * 4096, 4096, 0)
    }

    #[test]
    fn writes_in_progress_are_recovered_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        let mut proof = proof();
        proof.set(7, 3);
        let mut journal = Journal::begin(&settings, "sd1", &proof).unwrap();
        journal.before(1, 1);
        journal.before(2, 1);
        journal.after(1, 1);
        journal.flush(&proof).unwrap();
        // A crash leaves a piece of an entry.
        let mut file = File::options()
            .append(true)
            .open(folder.path().join("sd1.jnl"))
            .unwrap();
        file.write_all(&entry(5, 1, true)[..13]).unwrap();
        let left = recover(&settings, "sd1", &self::proof()).unwrap();
        let generations: Vec<u8> = [1, 2, 5, 7].map(|b| left.proof.generation(b)).to_vec();
        assert_eq!(generations, [1, 0, 0, 3]);
        assert_eq!(left.under_way, HashMap::from([(2, 1)]));
    }

    #[test]
    fn a_run_that_ended_leaves_a_map_and_nothing_under_way() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        let mut proof = proof();
        let mut journal = Journal::begin(&settings, "sd1", &proof).unwrap();
        for block in 0..64 {
            journal.before(block, 1);
            journal.after(block, 1);
            proof.set(block, 1);
        }
        journal.finish(&proof).unwrap();
        let left = recover(&settings, "sd1", &self::proof()).unwrap();
        assert_eq!((left.proof, left.under_way.len()), (proof, 0));
        assert_eq!(
            std::fs::metadata(folder.path().join("sd1.jnl"))
                .unwrap()
                .len(),
            0
        );
    }

    #[test]
    fn files_of_others_are_neither_replaced_nor_written() {
        for name in ["sd1.map", "sd1.jnl"] {
            let folder = tempfile::tempdir().unwrap();
            let settings = settings(folder.path());
            let foreign = folder.path().join(name);
            let target = folder.path().join("target");
            std::fs::write(&target, "precious").unwrap();
            for text in ["precious", "precious, and longer", &"\0".repeat(64)] {
                std::fs::write(&foreign, text).unwrap();
                let looked = look(&settings, "sd1").unwrap_err().to_string();
                let begun = Journal::begin(&settings, "sd1", &proof()).unwrap_err();
                assert!(looked.contains("no file of dbdyno"), "{looked}");
                assert_eq!(looked, begun.to_string());
                assert_eq!(std::fs::read_to_string(&foreign).unwrap(), text);
                let _ = std::fs::remove_file(folder.path().join("sd1.map"));
            }
            let _ = std::fs::remove_file(&foreign);
            for to in [&target, &folder.path().join("absent")] {
                std::os::unix::fs::symlink(to, &foreign).unwrap();
                let message = Journal::begin(&settings, "sd1", &proof()).unwrap_err();
                assert!(message.to_string().contains("a symbolic link"), "{message}");
                assert_eq!(std::fs::read_link(&foreign).unwrap(), *to);
                std::fs::remove_file(&foreign).unwrap();
            }
            assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
            assert!(!folder.path().join("absent").exists());
        }
    }

    /// A run continues from a crash that left a torn or empty first entry next to a map.
    #[test]
    fn what_a_crash_left_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        for left in [&b""[..], &[7; 9], &[0; 4096], &entry(5, 1, false)] {
            drop(Journal::begin(&settings, "sd1", &proof()).unwrap());
            std::fs::write(folder.path().join("sd1.jnl"), left).unwrap();
            look(&settings, "sd1").unwrap();
        }
        drop(Journal::begin(&settings, "sd1", &proof()).unwrap());
        let names = std::fs::read_dir(folder.path()).unwrap().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["sd1.jnl", "sd1.map"]);
    }

    #[test]
    fn a_map_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        Journal::begin(&settings, "sd1", &proof()).unwrap();
        let other = Proof::new("sd1", 32 * 4096, 4096, 0);
        let message = recover(&settings, "sd1", &other).unwrap_err().to_string();
        assert!(message.contains("another size"), "{message}");
        let mut bytes = std::fs::read(folder.path().join("sd1.map")).unwrap();
        bytes[HEAD_BYTES + 3] = 9;
        std::fs::write(folder.path().join("sd1.map"), bytes).unwrap();
        let message = recover(&settings, "sd1", &proof()).unwrap_err().to_string();
        assert!(message.contains("damaged"), "{message}");
        let nothing = recover(&settings, "sd9", &proof()).unwrap_err().to_string();
        assert!(nothing.contains("sd9.map"), "{nothing}");
    }
}
