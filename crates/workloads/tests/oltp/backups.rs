//! Faults in backups of real servers are detected: a flipped byte, a missing log segment, a lost transaction; and an
//! interrupted backup is invalid.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use archive::Remark;
use backup::{Chosen, Evidence, Repository, digests, restore_and_prove};
use engine::BackupOptions;
use oltp::CommitLog;
use oltp::commit_log::Record;
use tempfile::TempDir;

use crate::common::*;
use crate::users::{RUN, world};

const LOST: Record = Record::NewOrder {
    w: 1,
    d: 1,
    c_id: 1,
    o_id: 9000,
};

/// A backup of a server, with the required state of its restored copy.
struct Trial<'d> {
    database: &'d Database,
    method: Chosen<'d>,
    repository: Repository,
    evidence: Evidence,
    log: CommitLog,
    _parent: TempDir,
}

impl<'d> Trial<'d> {
    /// Backs up a loaded database, without its manifest.
    fn of(database: &'d Database, method: &'d dyn engine::Method, name: &str) -> Self {
        let parent = tempfile::tempdir().unwrap();
        // The server runs as another user if this is root.
        fs::set_permissions(parent.path(), PermissionsExt::from_mode(0o711)).unwrap();
        let repository = Repository::create(parent.path()).unwrap();
        let journal = repository.journal("acknowledged");
        let world = world(database, RUN);
        let log = oltp::reconcile::begin(database.session().as_mut(), &journal, &world).unwrap();
        let options = BackupOptions {
            channels: 2,
            ..BackupOptions::default()
        };
        let into = repository.backup();
        method.prepare(options, &into).unwrap();
        let digests = digests(database.target.as_ref()).unwrap();
        method.back_up(options, &into).unwrap();
        method.finish().unwrap();
        let methods = database.target.backup().unwrap().methods();
        Self {
            database,
            method: Chosen {
                name: name.to_owned(),
                about: *methods.iter().find(|about| about.name == name).unwrap(),
                options,
                method,
            },
            repository,
            evidence: Evidence::Same { digests, journal },
            log,
            _parent: parent,
        }
    }

    fn seal(&self) {
        self.repository.seal(&self.method.name).unwrap();
    }

    fn wrong(&self) -> Vec<String> {
        let restored = self.repository.restored();
        fs::remove_dir_all(&restored).unwrap();
        fs::create_dir(&restored).unwrap();
        let engine = self.database.engine;
        let restored = restore_and_prove(&self.method, &self.repository, engine, &self.evidence);
        let reasons = match restored {
            Ok(restored) => restored.proven.reasons,
            Err(reasons) => reasons,
        };
        reasons.iter().map(code).collect()
    }

    /// Checks that apply to every backup, with a file of which a byte is flipped.
    fn stands(&self, file: &Path) {
        // State after a process was killed.
        assert_eq!(self.wrong(), ["backup_damaged"]);
        self.seal();
        // Only this: all other checks pass.
        self.log.append(&LOST, true).unwrap();
        assert_eq!(self.wrong(), ["restored_lost"]);
        flip(file);
        assert_eq!(self.wrong(), ["backup_damaged"]);
        // The engine's tool alone detects it if the manifest was forged.
        self.seal();
        assert_eq!(self.wrong(), ["backup_not_verified"]);
        flip(file);
        self.seal();
    }
}

fn code(reason: &Remark) -> String {
    let code = match reason {
        Remark::BackupDamaged { .. } => "backup_damaged",
        Remark::BackupNotVerified { .. } => "backup_not_verified",
        Remark::RestoreFailed { .. } => "restore_failed",
        Remark::RestoredLost { .. } => "restored_lost",
        other => return other.to_string(),
    };
    code.to_owned()
}

/// Flips a byte in the middle of a used page: InnoDB has free space at the end.
fn flip(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let at = bytes.len() / 8 / 16384 * 16384 + 8000;
    bytes[at] ^= 0xff;
    fs::write(file, bytes).unwrap();
}

/// The largest file below a directory with a matching name.
fn largest(directory: &Path, is_match: &dyn Fn(&str) -> bool) -> PathBuf {
    let mut files = walk(directory);
    files.retain(|path| is_match(path.file_name().unwrap().to_str().unwrap()));
    files.sort_by_key(|path| fs::metadata(path).unwrap().len());
    files.pop().unwrap()
}

#[test]
fn what_is_planted_in_a_repository_of_postgres_is_found() {
    let database = Database::loaded("postgres", 1);
    let name = "pgbackrest-none";
    let method = database.target.backup().unwrap().method(name).unwrap();
    let trial = Trial::of(&database, method.as_ref(), name);
    let backup = trial.repository.backup();
    trial.stands(&largest(&backup.join("backup"), &|name| name != "latest"));
    // Log segment that the restore needs: the last one, which has the end of the backup.
    let archived = backup.join("archive");
    let is_segment = |name: &str| name.len() > 24 && !name.contains(".backup");
    let mut segments: Vec<PathBuf> = walk(&archived);
    segments.retain(|path| is_segment(path.file_name().unwrap().to_str().unwrap()));
    segments.sort();
    // At most one segment follows, which the server began when it stopped.
    for segment in segments.iter().rev().take(2) {
        fs::remove_file(segment).unwrap();
    }
    assert_eq!(trial.wrong(), ["backup_damaged"]);
    trial.seal();
    assert_eq!(trial.wrong(), ["restore_failed"]);
}

#[test]
fn what_is_planted_in_a_backup_of_mariadb_is_found() {
    what_is_planted_in_files_is_found(
        "mariadb",
        "mariadb-backup",
        &["ib_logfile0"],
        "restore_failed",
    );
}

#[test]
fn what_is_planted_in_a_clone_of_mysql_is_found() {
    // The server starts without them, on what the files alone hold.
    let needed = ["#ib_redo", "undo_00"];
    what_is_planted_in_files_is_found("mysql", "clone", &needed, "restored_lost");
}

fn what_is_planted_in_files_is_found(
    scheme: &'static str,
    name: &str,
    needed: &[&str],
    found: &str,
) {
    let database = Database::loaded(scheme, 1);
    let method = database.target.backup().unwrap().method(name).unwrap();
    assert_eq!(method.lacks(), None);
    let trial = Trial::of(&database, method.as_ref(), name);
    let backup = trial.repository.backup();
    trial.stands(&largest(&backup, &|name| name == "stock.ibd"));
    // Without the log the files are inconsistent.
    for file in walk(&backup) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if needed.iter().any(|needed| name.starts_with(needed)) {
            fs::remove_file(file).unwrap();
        }
    }
    assert_eq!(trial.wrong(), ["backup_damaged"]);
    trial.seal();
    assert_eq!(trial.wrong(), [found]);
}

fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(walk(&path))
        } else {
            found.push(path)
        }
    }
    found
}
