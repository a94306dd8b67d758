//! Proofs on real databases, and the files of repositories.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use archive::Remark;
use engine::{BackupOptions, ErrorKind, Target};
use lab::{Plan, Registry};
use oltp::commit_log::Record;
use oltp::{Constants, LoadOptions, Pacing, WarehouseRows, World, reconcile};

use super::Backups;
use super::code::method_of;
use super::proof::{Digests, Evidence, digests};
use super::repository::Repository;
use super::restore::{Chosen, restore_and_prove};
use super::room::Needed;
use super::step::BackupStep;

fn loaded(engine: &str, directory: &Path, more: &str) -> Arc<dyn Target> {
    let path = directory.join("source");
    let url = engines::parse(&format!("{engine}:{}{more}", path.display())).unwrap();
    let target = match engines::find(&url).unwrap().open(&url) {
        Err(error) if error.kind == ErrorKind::NotInstalled => testing::lacking(&error.message),
        target => target.unwrap(),
    };
    let options = LoadOptions {
        warehouses: 1,
        rows: WarehouseRows::Tenth,
        jobs: None,
        seed: 1,
        foreign_keys: false,
        replace: false,
    };
    let never = AtomicBool::new(false);
    oltp::load(target.as_ref(), engine, &options, &never, &|_| ()).unwrap();
    target
}

fn begin_log(target: &dyn Target, repository: &Repository) -> oltp::CommitLog {
    let world = World {
        warehouses: 1,
        constants: Constants::draw(1, 77, WarehouseRows::Tenth),
        pacing: Pacing::None,
        run: 1,
    };
    let mut session = target.open_session().unwrap();
    reconcile::begin(session.as_mut(), &repository.journal("log"), &world).unwrap()
}

/// Backs up, restores and verifies. Returns the reasons, and `true` if everything was verified.
fn outcome(
    (engine, target): (&str, &dyn Target),
    name: &str,
    before: &Digests,
    tamper: impl FnOnce(&Repository, &oltp::CommitLog),
) -> Vec<Remark> {
    let parent = tempfile::tempdir().unwrap();
    let repository = Repository::create(parent.path()).unwrap();
    let log = begin_log(target, &repository);
    let backup = target.backup().unwrap();
    let (about, variant) = method_of(&backup.methods(), name).unwrap();
    let method = backup.method(about.name).unwrap();
    let options = BackupOptions {
        channels: 1,
        variant,
        ..BackupOptions::default()
    };
    method.prepare(options, &repository.backup()).unwrap();
    method.back_up(options, &repository.backup()).unwrap();
    method.finish().unwrap();
    let method = Chosen {
        name: name.to_owned(),
        about,
        options,
        method: method.as_ref(),
    };
    repository.seal(name).unwrap();
    tamper(&repository, &log);
    let evidence = Evidence::Same {
        digests: before.clone(),
        journal: repository.journal("log"),
    };
    match restore_and_prove(&method, &repository, engine, &evidence) {
        Ok(restored) => {
            assert!(restored.files >= 1);
            let rows: u64 = before.values().map(|digest| digest.rows).sum();
            assert!(before.len() >= 9 && rows > 10_000);
            restored.proven.reasons
        }
        Err(reasons) => reasons,
    }
}

const LOST: Record = Record::NewOrder {
    w: 1,
    d: 1,
    c_id: 1,
    o_id: 9000,
};

fn all_are_proven(target: (&str, &dyn Target), before: &Digests) {
    for method in target.1.backup().unwrap().methods() {
        let found = outcome(target, method.name, before, |_, _| ());
        assert!(found.is_empty(), "{}: {found:?}", method.name);
    }
}

fn flip(file: &Path) {
    flip_where(file, |bytes| {
        let at = bytes.len() / 2 / 8192 * 8192;
        bytes[at] ^= 0xff;
    });
}

fn flip_where(file: &Path, flip: impl FnOnce(&mut [u8])) {
    let mut bytes = fs::read(file).unwrap();
    flip(&mut bytes);
    fs::write(file, bytes).unwrap();
}

/// Flips a byte in every block of a column database but the first, because nobody reads some blocks, such as those of
/// indexes, until they are used.
fn flip_in_blocks(file: &Path) {
    const BLOCK_BYTES: usize = 256 << 10;
    flip_where(file, |bytes| {
        let blocks = bytes.chunks_mut(BLOCK_BYTES).skip(1);
        blocks.for_each(|block| block[block.len() / 2] ^= 0xff);
    });
}

/// Copies and exports of a column database, one file per copy.
#[test]
fn databases_of_columns_are_proven_and_what_is_planted_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let target = loaded("duckdb", directory.path(), "");
    let before = digests(target.as_ref()).unwrap();
    let target = ("duckdb", target.as_ref());
    all_are_proven(target, &before);
    let elsewhere = directory.path().join("elsewhere.csv");
    let mut session = target.1.open_session().unwrap();
    let closed = session.batch(&format!("COPY item TO '{}'", elsewhere.display()));
    assert!(closed.is_err() && !elsewhere.exists());
    drop(session);

    for (name, file) in [
        ("copy", "backup.duckdb"),
        ("export-parquet-zstd", "stock.parquet"),
    ] {
        let code = |found: Vec<Remark>| match found.as_slice() {
            [Remark::RestoredLost { .. }] => "lost",
            [Remark::BackupDamaged { .. }] => "damaged",
            [Remark::BackupNotVerified { .. }] => "not verified",
            [Remark::RestoredDiffers { .. }] => "differs",
            _ => panic!("{name}: {found:?}"),
        };
        let lost = outcome(target, name, &before, |_, log| {
            log.append(&LOST, true).unwrap();
        });
        assert_eq!(code(lost), "lost");
        let damaged = outcome(target, name, &before, |repository, _| {
            flip(&repository.backup().join(file));
        });
        assert_eq!(code(damaged), "damaged");
        // Parquet may still be readable after a byte of a value changed; then the rows reveal it.
        let forged = outcome(target, name, &before, |repository, _| {
            let file = repository.backup().join(file);
            match name {
                "copy" => flip_in_blocks(&file),
                _ => flip(&file),
            }
            repository.seal(name).unwrap();
        });
        assert!(["not verified", "differs"].contains(&code(forged)));
    }
}

#[test]
fn every_method_is_proven_and_what_is_planted_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let target = loaded("sqlite", directory.path(), "?synchronous=OFF");
    let before = digests(target.as_ref()).unwrap();
    let target = ("sqlite", target.as_ref());
    all_are_proven(target, &before);

    let lost = outcome(target, "online", &before, |_, log| {
        log.append(&LOST, true).unwrap();
    });
    let [Remark::RestoredLost { what }] = lost.as_slice() else {
        panic!("{lost:?}")
    };
    let Remark::AcknowledgedLost { orders, .. } = what.as_ref() else {
        panic!("{what:?}")
    };
    assert_eq!(orders.missing, 1);

    let mut other = before.clone();
    other.get_mut("item").unwrap().sum ^= 1;
    other.insert("gone".into(), Default::default());
    let found = outcome(target, "vacuum-into", &other, |_, _| ());
    assert!(
        matches!(found.as_slice(), [
            Remark::RestoredTables { only_source, only_restored },
            Remark::RestoredDiffers { table, rows, rows_restored, .. },
        ] if only_source == &["gone"] && only_restored.is_empty() && table == "item" && rows == rows_restored),
        "{found:?}"
    );

    // The checksum reveals a flipped byte; if the manifest was forged as well, the engine does.
    let flip = |repository: &Repository| flip(&repository.backup().join("backup.sqlite"));
    let found = outcome(target, "online", &before, |repository, _| flip(repository));
    assert!(
        matches!(found.as_slice(), [Remark::BackupDamaged { .. }]),
        "{found:?}"
    );
    let found = outcome(target, "online", &before, |repository, _| {
        flip(repository);
        repository.seal("online").unwrap();
    });
    assert!(
        matches!(found.as_slice(), [Remark::BackupNotVerified { .. }]),
        "{found:?}"
    );
}

#[test]
fn a_repository_knows_its_files_and_when_it_is_whole() {
    let parent = tempfile::tempdir().unwrap();
    let repository = Repository::create(parent.path()).unwrap();
    let file = |name: &str| repository.backup().join(name);
    fs::create_dir(file("log")).unwrap();
    fs::write(file("data"), "rows").unwrap();
    fs::write(file("log/1"), "changes").unwrap();
    // State after a process was killed before the end.
    let check = || repository.check().unwrap();
    assert_eq!(
        check(),
        Err("the backup was interrupted, it has no manifest".into())
    );
    let manifest = repository.seal("tar").unwrap();
    let bytes = |directory: &str| manifest.bytes_below(directory);
    assert_eq!((manifest.files.len(), bytes(""), bytes("log")), (2, 11, 7));
    assert_eq!(check(), Ok(2));
    fs::write(file("log/1"), "chances").unwrap();
    assert_eq!(
        check(),
        Err("the file log/1 is not as it was written".into())
    );
    fs::remove_file(file("log/1")).unwrap();
    assert_eq!(check(), Err("the file log/1 is missing".into()));
    fs::write(file("log/1"), "changes").unwrap();
    fs::write(file("more"), "").unwrap();
    assert_eq!(
        check(),
        Err("the file more is not as it was written".into())
    );
    let path = repository.path().to_owned();
    drop(repository);
    assert!(!path.exists());
}

#[test]
fn what_killed_runs_left_goes_with_the_next_backup() {
    let parent = tempfile::tempdir().unwrap();
    let living = Repository::create(parent.path()).unwrap();
    assert!(living.left_behind.is_empty());
    let made = |name: &str, files: &[&str]| {
        let path = living
            .path()
            .with_file_name(format!("dbdyno-backup-{name}"));
        fs::create_dir_all(path.join("backup")).unwrap();
        for file in files {
            fs::write(path.join(file), "").unwrap();
        }
        path
    };
    let killed = made("killed", &["owner", "backup/base.tar", "log.journal"]);
    let begun = made("begun", &[]);
    fs::remove_dir(begun.join("backup")).unwrap();
    let foreign = made("of-somebody", &["backup/base.tar"]);
    let next = Repository::create(parent.path()).unwrap();
    let mut left_behind = next.left_behind.clone();
    left_behind.sort();
    assert_eq!(left_behind, [begun.clone(), killed.clone()]);
    assert!(!begun.exists() && !killed.exists());
    assert!(foreign.join("backup/base.tar").exists() && living.backup().exists());
}

fn read(text: &str) -> std::result::Result<Plan, String> {
    let alone = Registry::new(vec![Box::new(Backups)]);
    Plan::parse(&alone, text, &[]).map_err(|error| error.to_string())
}

#[test]
fn a_method_needs_room_for_what_it_keeps() {
    let options = |backup: &str| {
        let text = format!("name = 'p'\n[[step]]\nuse = 'backup'\n[step.backup]\n{backup}");
        let plan = read(&text).unwrap();
        plan.step[0].table::<BackupStep>().clone()
    };
    let engines = ["postgres", "mariadb", "mysql"].map(engines::backup_methods);
    let methods = engines.concat();
    let needed = |name: &str, backup: &str| {
        let (method, _) = method_of(&methods, name).unwrap();
        Needed::by(&method, &options(backup), 1 << 30)
    };
    let each = (1 << 30) + (64 << 20);
    let tar = needed("basebackup-tar", "");
    assert_eq!(
        (tar.backup_bytes, tar.archive_bytes, tar.restored_bytes),
        (each, 0, each)
    );
    // Full backup, incremental changes, and both combined.
    assert_eq!(needed("basebackup-incremental", "").bytes(), 3 * each);
    assert_eq!(needed("basebackup-null", "").bytes(), 0);
    // The server to which it is restored has a log of its own.
    assert_eq!(
        needed("mariadb-backup", "").restored_bytes,
        each + (1 << 30)
    );
    // Log up to the backup, up to the restore point, and after it.
    let archive = needed("pgbackrest-none", "").archive_bytes;
    assert!(archive > 0);
    let to_a_point = needed("pgbackrest-none", "point_in_time = true");
    assert_eq!(to_a_point.archive_bytes, 3 * archive);
    assert_eq!(to_a_point.bytes(), 2 * each + 3 * archive);
}

#[test]
fn contradictions_are_refused() {
    let plan = |backup: &str| {
        let text = format!("name = 'p'\n[[step]]\nuse = 'backup'\n[step.backup]\n{backup}");
        read(&text)
    };
    let written = plan("methods = ['online']\nchannels = '1,2'\nrepository = '/backups'").unwrap();
    assert_eq!(read(&written.to_toml()).unwrap(), written);
    for (wrong, says) in [
        ("warehouses = 0", "warehouses is not between 1"),
        ("work_seconds = 0.0", "work_seconds is not between"),
        ("methods = ['online', 'online']", "methods names one twice"),
        ("channels = '1,x'", "is not a list such as 1,2,4"),
        ("channels = [2, 1]", "in increasing order"),
        ("channels = 0", "channels: 0 is not between 1 and 999"),
        ("max_mb_per_s = 0", "max_mb_per_s is not between 1 and 1073"),
        ("method = 'online'", "did you mean \"methods\""),
    ] {
        let error = plan(wrong).unwrap_err();
        assert!(error.contains(says), "{wrong}: {error}");
    }
}
