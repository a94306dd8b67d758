//! Predicted and actual sizes: a short version of scripts/columnar-size-coverage.sh.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use columnar::size::{Budget, SizeOptions, Sizes, size};
use columnar::{Chosen, Level, LiftOptions, lift};
use engine::ErrorKind;
use engine::source::Source;
use engines::{open, open_source};

#[path = "columnar_size/coverage.rs"]
mod coverage;
#[path = "columnar_size/fifty.rs"]
mod fifty;
#[path = "columnar_size/shapes.rs"]
mod shapes;

/// More than two whole groups of rows, so that there is something to sample.
const ROWS: u64 = 260_000;

const GRAIN_BYTES: f64 = 262_144.0;

fn source(url: &str) -> Box<dyn Source> {
    open_source(&engines::parse(url).unwrap()).unwrap()
}

fn sized(source: &dyn Source, levels: &[Level], budget: Budget, seed: u64) -> Sizes {
    let options = SizeOptions {
        chosen: Chosen::default(),
        levels: levels.to_vec(),
        budget,
        seed,
    };
    size(source, &options, &AtomicBool::new(false), &|_| {}).unwrap()
}

fn truth(source: &dyn Source, level: Level) -> f64 {
    let options = LiftOptions {
        chosen: Chosen::default(),
        level,
        memory_bytes: Some(2_000_000_000),
        // With several streams, the rows that are packed together depend on their speed.
        jobs: Some(1),
    };
    let lifted = lift(source, &options, &AtomicBool::new(false), &|_| {}).unwrap();
    assert!(lifted.is_valid());
    lifted.bytes().unwrap() as f64
}

fn in_file(url: &str, make: impl FnOnce(&mut dyn engine::Session)) {
    let target = open(&engines::parse(url).unwrap()).unwrap();
    let mut session = target.open_session().unwrap();
    make(session.as_mut());
    drop(session);
    target.checkpoint().unwrap();
}

/// Every row lies in one piece of the table `dbdyno_p` of 30000 rows, and no piece holds many.
fn pieces_hold_every_row_once(source: &dyn Source, unit: &str) {
    const ALL: u64 = 30_000;
    let tables = source.tables().unwrap();
    let table = tables.iter().find(|t| t.name == "dbdyno_p").unwrap();
    let space = source.space(table).unwrap().unwrap();
    assert_eq!(space.unit, unit);
    let width = space.extent().div_ceil(10);
    let mut reader = source.open_reader().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..space.pieces(width) {
        let before = seen.len() as u64;
        let read = reader.read(table, &Some(space.piece(number, width)), &mut |row| {
            let engine::source::Cell::Int(id) = row[0] else {
                panic!("{row:?}")
            };
            assert!(seen.insert(id), "{id} twice");
            Ok(())
        });
        read.unwrap();
        assert!(seen.len() as u64 - before <= ALL / 5, "piece {number}");
    }
    assert_eq!(seen.len() as u64, ALL);
    let keyless = tables.iter().find(|t| t.name == "dbdyno_empty").unwrap();
    assert_eq!(source.space(keyless).unwrap(), None);
}

#[test]
fn pieces_of_embedded_databases() {
    let directory = tempfile::tempdir().unwrap();
    for engine in ["sqlite", "duckdb"] {
        let url = format!("{engine}:{}/{engine}.db", directory.path().display());
        in_file(&url, |session| {
            session
                .batch(
                    "CREATE TABLE dbdyno_p (id bigint, t varchar(40)); \
                     INSERT INTO dbdyno_p WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r \
                     WHERE n < 29999) SELECT n, 'some text' FROM r; \
                     CREATE TABLE dbdyno_empty (id bigint)",
                )
                .unwrap();
        });
        pieces_hold_every_row_once(source(&url).as_ref(), "row numbers");
    }
}

#[test]
fn pieces_of_servers() {
    let many = "(WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 29999) SELECT n FROM n) AS r";
    for (url, unit) in [
        ("postgres+local:?version=15&shared_buffers=16MB", "blocks"),
        (
            "mariadb+local:?innodb_buffer_pool_size=16M&innodb_log_file_size=16M&performance_schema=OFF",
            "values of `id`",
        ),
        (
            "mysql+local:?innodb_buffer_pool_size=16M&innodb_redo_log_capacity=16M&performance_schema=OFF",
            "values of `id`",
        ),
    ] {
        let target = match open(&engines::parse(url).unwrap()) {
            // The others are measured where this one cannot be had; its own tests are skipped then.
            Err(error) if url.starts_with("mysql") && error.kind == ErrorKind::NotInstalled => {
                continue;
            }
            opened => opened.unwrap(),
        };
        let mut session = target.open_session().unwrap();
        session
            .batch(&format!(
                "CREATE TABLE dbdyno_p (id bigint PRIMARY KEY, t varchar(40)); \
                 INSERT INTO dbdyno_p SELECT n * 3, 'some text' FROM {many}; \
                 CREATE TABLE dbdyno_empty (id bigint)"
            ))
            .unwrap();
        pieces_hold_every_row_once(target.source().unwrap().as_ref(), unit);
    }
}

#[test]
fn the_truth_lies_inside_the_interval_and_near_the_estimate() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/shape.db", directory.path().display());
    in_file(&url, |session| shapes::UNTUNED[1].load(session, ROWS, 1));
    let source = source(&url);
    let levels = [Level::QueryHigh, Level::CapacityLow];
    let truths = levels.map(|level| truth(source.as_ref(), level));
    for seed in 0..2 {
        let sizes = sized(source.as_ref(), &levels, Budget::default(), seed);
        let table = sizes.tables.iter().find(|t| t.label == "sensors").unwrap();
        let sampled = &table.sampled;
        assert!(
            !sampled.is_whole && sampled.share() < 0.6,
            "{}",
            sampled.share()
        );
        assert_eq!(sampled.pieces.len(), 15);
        let mut addresses = sampled.pieces.iter().map(|p| p.addresses.clone().unwrap());
        let mut before = addresses.next().unwrap();
        for piece in addresses {
            assert!(before.end <= piece.start, "in order, and none twice");
            before = piece;
        }
        assert!(table.rows.unwrap().covers(ROWS as f64));
        for (level, truth) in levels.into_iter().zip(truths) {
            let found = sizes.total(level).unwrap();
            assert!(found.covers(truth), "{level}: {found:?}, and it is {truth}");
            // The store allocates in pieces, and these are few of them.
            let most = 0.1 * truth + GRAIN_BYTES;
            let error = (found.estimate - truth).abs();
            assert!(error <= most, "{level}: {found:?}, and it is {truth}");
        }
    }
}

#[test]
fn small_and_empty_tables_are_read_whole_and_known() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/small.db", directory.path().display());
    in_file(&url, |session| {
        shapes::TUNED[0].load(session, 5000, 2);
        session
            .batch("CREATE TABLE empty (id bigint, t varchar(9))")
            .unwrap();
    });
    let source = source(&url);
    let sizes = sized(source.as_ref(), &Level::ALL, Budget::default(), 1);
    for level in Level::ALL {
        let found = sizes.total(level).unwrap();
        let truth = truth(source.as_ref(), level);
        assert!(found.covers(truth), "{level}: {found:?}, and it is {truth}");
    }
    let empty = sizes.tables.iter().find(|t| t.label == "empty").unwrap();
    assert!(empty.sampled.is_whole && empty.rows.unwrap().estimate == 0.0);
    let strings = sizes.tables.iter().find(|t| t.label == "wide_strings");
    assert!(strings.unwrap().sampled.is_whole);
}

#[test]
fn a_budget_that_is_too_small_says_so_and_stays_honest() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/hurry.db", directory.path().display());
    in_file(&url, |session| shapes::UNTUNED[0].load(session, ROWS, 3));
    let source = source(&url);
    let hurry = Budget {
        share: None,
        time: Some(Duration::from_nanos(1)),
    };
    let sizes = sized(source.as_ref(), &[Level::QueryHigh], hurry, 1);
    let table = sizes.tables.iter().find(|t| t.label == "events").unwrap();
    assert_eq!(table.sampled.pieces.len(), 1);
    let why = table.levels[0].1.clone().unwrap_err();
    assert!(why.contains("budget was too small"), "{why}");
    assert_eq!(sizes.total(Level::QueryHigh), None);
    assert!(
        table
            .notes
            .iter()
            .any(|note| matches!(note, archive::Remark::SampleCut { pieces: 1 }))
    );
}

#[test]
fn keys_with_gaps_are_sampled_by_rows() {
    let directory = tempfile::tempdir().unwrap();
    for (name, key) in [
        ("halves", "n + (n >= 130000) * 1000000000000"),
        ("squares", "n * n * 3"),
    ] {
        let url = format!("sqlite:{}/{name}.db", directory.path().display());
        in_file(&url, |session| {
            let rows =
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 260000)";
            session
                .batch(&format!(
                    "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, w TEXT); \
                     INSERT INTO t {rows} SELECT {key}, n % 1000, 'word ' || n % 77 FROM r"
                ))
                .unwrap();
        });
        let source = source(&url);
        let levels = [Level::None, Level::CapacityLow];
        let sizes = sized(source.as_ref(), &levels, Budget::default(), 1);
        let table = &sizes.tables[0];
        let sampled = &table.sampled;
        assert!(!sampled.is_whole && sampled.pieces.len() >= 15, "{name}");
        let full = sampled.pieces.iter().filter(|piece| piece.count() == 8192);
        assert!(
            full.count() + 1 >= sampled.pieces.len(),
            "{name}: {:?}",
            sampled.pieces
        );
        assert!(
            (0.4..0.6).contains(&sampled.share()),
            "{name}: {}",
            sampled.share()
        );
        for level in levels {
            let (found, truth) = (sizes.total(level).unwrap(), truth(source.as_ref(), level));
            assert!(
                found.covers(truth),
                "{name} {level}: {found:?}, and it is {truth}"
            );
        }
    }
}
