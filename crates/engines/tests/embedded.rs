//! Tables of others in files, and everything that could lead dbdyno to them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;

use archive::{IoOperation, IoUnknown, Purpose};
use engine::{Counters, ErrorKind, FileIo, Result, Session, Target};
use engines::open;

/// DuckDB's statements are asked where its library is there.
const ENGINES: [&str; 2] = ["sqlite", "duckdb"];

fn opened(engine: &str, path: &Path) -> Result<Arc<dyn Target>> {
    open(&engines::parse(&format!("{engine}:{}", path.display())).unwrap())
}

const MAKE: &str = "CREATE TABLE {schema}.customer (x INTEGER)";

fn count(session: &mut dyn Session, table: &str) -> String {
    let rows = session
        .texts(&format!("SELECT count(*) FROM {table}"))
        .unwrap();
    rows[0][0].clone().unwrap()
}

/// The file is called as the schema is, which both engines could take for each other.
#[test]
fn a_table_is_ours_because_we_made_it_and_not_by_its_name() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("main.db");
        let target = opened(engine, &path).unwrap();
        let mut session = target.open_session().unwrap();
        let session = session.as_mut();
        session.create_table("customer", MAKE).unwrap();
        assert!(session.create_table("customer", MAKE).is_err());
        assert!(session.drop_table("customer").unwrap());
        assert!(!session.drop_table("customer").unwrap());

        for theirs in [
            "CREATE TABLE customer (x INTEGER, y INTEGER)",
            "CREATE VIEW customer AS SELECT 1 AS x",
        ] {
            session.create_table("customer", MAKE).unwrap();
            session
                .batch(&format!("DROP TABLE customer; {theirs}"))
                .unwrap();
            let error = session.drop_table("customer").unwrap_err();
            assert_eq!(error.kind, ErrorKind::Foreign, "{engine} {theirs}: {error}");
            let error = session.create_table("customer", MAKE).unwrap_err();
            assert!(
                error.message.contains("exists"),
                "{engine} {theirs}: {error}"
            );
            let kind = if theirs.contains("VIEW") {
                "VIEW"
            } else {
                "TABLE"
            };
            session.batch(&format!("DROP {kind} customer")).unwrap();
        }
        session.batch("CREATE TABLE orders (x INTEGER)").unwrap();
        let make = "CREATE TABLE {schema}.orders (x INTEGER)";
        assert!(session.create_table("orders", make).is_err());
        assert!(!session.is_entered("orders").unwrap());
        session.batch("DROP TABLE orders").unwrap();

        // A temporary table hides ours from statements without a schema.
        session.create_table("customer", MAKE).unwrap();
        session
            .batch("CREATE TEMP TABLE customer (x INTEGER); INSERT INTO temp.customer VALUES (1)")
            .unwrap();
        assert!(session.drop_table("customer").unwrap());
        assert_eq!(count(session, "temp.customer"), "1");
    }
}

#[test]
fn what_others_have_put_into_a_file_keeps_dbdyno_out() {
    for engine in ENGINES {
        for (theirs, what) in [
            (
                "CREATE VIEW dbdyno_tables AS SELECT 'customer' AS name, 'x' AS identity",
                "register",
            ),
            (
                "CREATE TABLE customer (x INTEGER); CREATE TABLE dbdyno_tables (name TEXT); \
                 INSERT INTO dbdyno_tables VALUES ('customer'), ('dbdyno_tables')",
                "dbdyno_tables",
            ),
            (
                "CREATE TABLE customer (x INTEGER); CREATE TABLE dbdyno_tables (name TEXT, identity TEXT); \
                 INSERT INTO dbdyno_tables VALUES ('customer', ''), ('dbdyno_tables', '')",
                "dbdyno_tables",
            ),
            ("CREATE VIEW payroll AS SELECT 1 AS x", "payroll"),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("t.db");
            let target = opened(engine, &path).unwrap();
            let mut session = target.open_session().unwrap();
            session.batch(theirs).unwrap();
            drop((session, target));
            let error = opened(engine, &path).err().unwrap();
            assert_eq!(error.kind, ErrorKind::Foreign, "{engine} {theirs}: {error}");
            assert!(error.message.contains(what), "{engine} {theirs}: {error}");
        }
    }
}

/// A table that was made is known again when its file is opened anew, and after the log went into the file.
#[test]
fn ours_are_known_again() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.db");
        let target = opened(engine, &path).unwrap();
        target
            .open_session()
            .unwrap()
            .create_table("customer", MAKE)
            .unwrap();
        target.checkpoint().unwrap();
        drop(target);
        let target = opened(engine, &path).unwrap();
        let mut session = target.open_session().unwrap();
        session.create_index("customer", "customer_x", "x").unwrap();
        session.drop_index("customer", "customer_x").unwrap();
        assert!(session.is_entered("customer").unwrap());
        assert!(session.drop_table("customer").unwrap());
    }
}

/// A connection's first look at a database that another one has written to brings the log into the file.
#[test]
fn the_first_checkpoint_does_not_wait_for_itself() {
    let directory = tempfile::tempdir().unwrap();
    let target = opened("sqlite", &directory.path().join("main.db")).unwrap();
    let mut session = target.open_session().unwrap();
    session.create_table("customer", MAKE).unwrap();
    target.checkpoint().unwrap();
    assert_eq!(count(session.as_mut(), "customer"), "0");
}

/// Pipes, devices, directories and links to nowhere are neither opened nor written, and a foreign lock file stays.
#[test]
fn what_is_no_file_is_no_database() {
    use std::os::unix::fs::symlink;
    for engine in ENGINES {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let pipe = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(pipe.unwrap().success());
        std::fs::create_dir(path("directory")).unwrap();
        symlink("nothing", path("dangling")).unwrap();
        symlink("/dev/null", path("device")).unwrap();
        for (name, says) in [
            ("pipe", "a pipe"),
            ("directory", "a directory"),
            ("dangling", "a dangling symbolic link"),
            ("device", "a device"),
        ] {
            let url = engines::parse(&format!("{engine}:{}", path(name).display())).unwrap();
            let errors = [open(&url).err(), engines::open_source(&url).err()];
            for error in errors.map(Option::unwrap) {
                assert_eq!(error.kind, ErrorKind::Unreachable, "{engine} {name}");
                assert!(error.message.contains(says), "{error}");
            }
        }
        let mut left: Vec<_> = std::fs::read_dir(directory.path())
            .unwrap()
            .flatten()
            .map(|e| e.file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["dangling", "device", "directory", "pipe"]);
    }
    let directory = tempfile::tempdir().unwrap();
    let lock = directory.path().join("t.db.dbdyno-lock");
    std::fs::write(&lock, "mine").unwrap();
    let error = opened("sqlite", &directory.path().join("t.db"))
        .err()
        .unwrap();
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    assert_eq!(std::fs::read(&lock).unwrap(), b"mine");
}

/// Both sides of a study work on one database, as one process.
#[test]
fn a_process_shares_its_own_lock() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.db");
    let lock = archive::lock_file::lock_path(&path, ".dbdyno-lock");
    let first = opened("sqlite", &path).unwrap();
    let second = opened("sqlite", &path).unwrap();
    drop(first);
    assert!(lock.exists());
    drop(second);
    assert!(!lock.exists());
    let other = archive::lock_file::LockFile::take(&lock).unwrap();
    let error = opened("sqlite", &path).err().unwrap();
    assert!(error.message.contains("another dbdyno process"), "{error}");
    drop(other);
    assert!(opened("sqlite", &path).is_ok());
    assert!(opened("sqlite", &directory.path().join("nowhere/t.db")).is_err());
}

/// Figures that an engine does not count are unknown with a reason, and never zero.
#[test]
fn an_account_of_io_tells_what_is_counted_and_no_more() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().unwrap();
        let target = opened(engine, &directory.path().join("a.db")).unwrap();
        let mut session = target.open_session().unwrap();
        let before = (session.counters(), target.counters());
        session
            .batch(
                "CREATE TABLE filled (n INTEGER, pad TEXT); \
                 INSERT INTO filled VALUES (1, '0123456789'), (2, '0123456789')",
            )
            .unwrap();
        let after = (session.counters(), target.counters());
        let (of_session, of_target) = (after.0.since(before.0), after.1.since(before.1));
        let counters = Counters {
            redo_bytes: of_session.redo_bytes.or(of_target.redo_bytes),
            pages_read: of_session.pages_read.or(of_target.pages_read),
            ..of_session
        };
        let account = target.file_io(&counters);
        assert_eq!(account.len(), 6, "{engine}");
        let of = |purpose, operation| {
            let mut own = account.iter();
            let is = |io: &&FileIo| (io.purpose, io.operation) == (purpose, operation);
            &own.find(is).unwrap().counted
        };
        let [read, write] = IoOperation::ALL;
        let log = of(Purpose::Log, write).as_ref().unwrap();
        assert_eq!(log.bytes, counters.redo_bytes, "{engine}");
        assert!(log.bytes.unwrap() > 0, "{engine}");
        for (purpose, operation) in [
            (Purpose::Data, write),
            (Purpose::Temporary, read),
            (Purpose::Temporary, write),
        ] {
            let unknown = Err(IoUnknown::NotCounted);
            assert_eq!(of(purpose, operation), &unknown, "{engine}");
        }
        match counters.pages_read {
            Some(pages) => {
                let reads = of(Purpose::Data, read).as_ref().unwrap();
                assert_eq!(reads.count, Some(pages));
                assert_eq!(reads.bytes, Some(pages * 8192));
                let of_log = Err(IoUnknown::CountedAsData);
                assert_eq!(of(Purpose::Log, read), &of_log);
            }
            None => assert!(of(Purpose::Data, read).is_err() && of(Purpose::Log, read).is_err()),
        }
        // Without a file there is no I/O to account for.
        let memory = open(&engines::parse(&format!("{engine}:")).unwrap()).unwrap();
        assert!(memory.file_io(&counters).is_empty(), "{engine}");
    }
}

/// The paths that this process has open and that begin so, also of files whose names are gone.
fn open_below(directory: &Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let links = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.filter(|path| path.starts_with(directory)).count()
}

#[test]
fn temporary_files_lie_where_the_url_says() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let url = format!(
        "duckdb:{}?memory_limit_mb=32&threads=1&place.temporary={}",
        at("t.db").display(),
        at("temporary").display()
    );
    let target = engines::open(&engines::parse(&url).unwrap()).unwrap();
    let paths = target.storage_paths().unwrap();
    let is_there = |(of, path): &(Purpose, std::path::PathBuf)| {
        *of == Purpose::Temporary && path.starts_with(at("temporary"))
    };
    assert!(paths.iter().any(is_there), "{paths:?}");
    let mut session = target.open_session().unwrap();
    // More than the cache holds.
    let large = "SELECT range AS n, repeat(md5(range::VARCHAR), 10) AS filler FROM range(400000)";
    session
        .batch(&format!("CREATE TEMP TABLE large AS {large}"))
        .unwrap();
    assert!(open_below(&at("temporary")) > 0);
}

#[test]
fn places_that_make_no_sense_are_refused() {
    for (url, why) in testing::rows(
        "
            duckdb:/x/t.db?place.temporary=temporary => place.temporary=temporary is not an absolute path
            duckdb:?place.temporary=/t => has no files to put apart; name a file after the colon
            duckdb:/x/t.db?place.log=/log            => place.log
        ",
    ) {
        let error = engines::open(&engines::parse(url).unwrap()).err().unwrap();
        assert!(error.message.contains(why), "{url}: {error}");
    }
}
