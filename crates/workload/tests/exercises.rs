//! Every test of the library on every embedded engine, proof that a wrong database is detected, and that tables of
//! others stay untouched on every engine.

#![allow(clippy::unwrap_used, reason = "a test ends where its set-up fails")]

#[path = "common/database.rs"]
mod database;
#[path = "exercises/foreign.rs"]
mod foreign;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use archive::Remark;
use engine::Target;
use load::{Clients, Drive, End, Outcome};
use workload::library::{Amount, SizeClass};
use workload::{Bench, Library, Meter, Proven, exercise_for};

/// Small enough for a unit test, large enough for several pages, blocks and secondary keys.
const TINY: SizeClass = SizeClass {
    factor: 1,
    small: 3_200,
    large: 6_400,
    oltp: 3_200,
};

struct Workspace {
    _dir: tempfile::TempDir,
    path: PathBuf,
    engine: &'static str,
    target: Arc<dyn Target>,
    proven: Arc<Proven>,
}

fn open_workspace(engine: &'static str) -> Workspace {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let url = engines::parse(&format!("{engine}:{}", path.display())).unwrap();
    let target = engines::open(&url).unwrap_or_else(|e| panic!("{e}"));
    Workspace {
        _dir: dir,
        path,
        engine,
        target,
        proven: Arc::default(),
    }
}

fn bench(workspace: &Workspace, library: &Library, code: &str, amount: Amount) -> Bench {
    Bench {
        target: Arc::clone(&workspace.target),
        engine: workspace.engine.to_owned(),
        test: library.test(code).unwrap().clone(),
        library: Arc::new(library.clone()),
        size: TINY,
        amount,
        seed: 7,
        meter: Arc::new(Meter::default()),
        shared: None,
        proven: Arc::clone(&workspace.proven),
    }
}

fn drive(clients: Vec<Box<dyn load::BlockingClient>>, per_job: u64) -> Outcome {
    let stop = AtomicBool::new(false);
    let how = Drive {
        interval: Duration::from_millis(100),
        seed: 7,
        ..Drive::of_jobs(End::Operations { per_job }, &stop)
    };
    load::drive(Clients::Blocking(clients), &how)
}

/// Runs a test once; returns the outcome and all differences.
fn carry_out(
    workspace: &Workspace,
    library: &Library,
    code: &str,
    jobs: u32,
    amount: Amount,
) -> (Outcome, Vec<String>) {
    carry_out_with(workspace, library, code, jobs, amount, || {})
}

fn carry_out_with(
    workspace: &Workspace,
    library: &Library,
    code: &str,
    jobs: u32,
    amount: Amount,
    between: impl FnOnce(),
) -> (Outcome, Vec<String>) {
    let mut exercise = exercise_for(bench(workspace, library, code, amount));
    let prepared = exercise.prepare().unwrap();
    let mut wrong: Vec<String> = prepared.reasons.iter().map(Remark::to_string).collect();
    let clients = exercise.clients(jobs).unwrap();
    between();
    let outcome = drive(clients, amount.operations);
    assert_eq!(outcome.fatal, None);
    exercise.close().unwrap();
    wrong.extend(outcome.error_texts().into_iter().map(str::to_owned));
    let found = exercise.verify(&outcome).unwrap();
    wrong.extend(found.iter().map(Remark::to_string));
    (outcome, wrong)
}

/// Changes the database without the tool.
fn tamper(workspace: &Workspace, sql: &str) {
    workspace.target.open_session().unwrap().batch(sql).unwrap();
}

fn amount_for(code: &str) -> Amount {
    match code {
        "T311" => Amount {
            operations: 5,
            rows: 2,
        },
        "T331" | "T332" => Amount {
            operations: 1,
            rows: 2_000,
        },
        "T616" | "T716" => Amount {
            operations: 4,
            rows: 32,
        },
        "T721" => Amount {
            operations: 2,
            rows: 320,
        },
        "T626" => Amount {
            operations: 3,
            rows: 16,
        },
        _ => Amount {
            operations: 2,
            rows: 1,
        },
    }
}

fn everything_on(engine: &'static str) {
    let library = Library::embedded().unwrap();
    let workspace = open_workspace(engine);
    let mut done = 0;
    for test in library.tests() {
        let missing = test.needs.iter().find_map(|f| workspace.target.lacks(*f));
        // Tests below the database are no exercises.
        if missing.is_some() || test.definition.exercise.is_below_database() {
            continue;
        }
        let one_writer = workspace
            .target
            .lacks(engine::Feature::ConcurrentWriters)
            .is_some();
        let jobs = if test.definition.writes && one_writer {
            1
        } else {
            2
        };
        let code = test.code();
        let (outcome, wrong) = carry_out(&workspace, &library, code, jobs, amount_for(code));
        assert!(wrong.is_empty(), "{engine} {code}: {wrong:?}");
        assert!(outcome.operations() > 0, "{engine} {code} did nothing");
        assert_eq!(outcome.errors(), 0, "{engine} {code}");
        done += 1;
    }
    // Missing tests are declared, not forgotten: quicksort on both, and one more on each.
    assert_eq!(done, 21, "{engine}");
}

#[test]
fn the_whole_library_runs_on_sqlite() {
    everything_on("sqlite");
}

#[test]
fn the_whole_library_runs_on_duckdb() {
    everything_on("duckdb");
}

/// A row changed before the test: the proof that precedes every reading test finds it, and the table is reloaded.
#[test]
fn a_changed_row_is_noticed() {
    let library = Library::embedded().unwrap();
    for engine in ["sqlite", "duckdb"] {
        let mut workspace = open_workspace(engine);
        for (code, sql) in [
            (
                "T421",
                "UPDATE dbdyno_small SET amount = amount + 1 WHERE id = 77",
            ),
            (
                "T621",
                "UPDATE dbdyno_small SET pad = substr(pad, 2) WHERE id = 78",
            ),
            ("T521", "UPDATE dbdyno_large SET amount = 1 WHERE id = 500"),
            // Neither count nor sum nor length changes: only the comparison of every cell detects it.
            (
                "T426",
                "UPDATE dbdyno_large SET pad = upper(pad) WHERE id = 501",
            ),
        ] {
            let amount = amount_for(code);
            assert!(
                carry_out(&workspace, &library, code, 1, amount)
                    .1
                    .is_empty(),
                "{engine} {code} before"
            );
            tamper(&workspace, sql);
            workspace.proven = Arc::default();
            let (_, wrong) = carry_out(&workspace, &library, code, 1, amount);
            assert!(
                wrong
                    .iter()
                    .any(|w| w.contains("another program changed its rows")),
                "{engine} {code}: {wrong:?}"
            );
        }
    }
}

/// A row changed during the test, after the proof: the operations detect it.
#[test]
fn a_row_changed_during_the_test_is_noticed_by_the_operations() {
    let library = Library::embedded().unwrap();
    for (code, sql) in [
        ("T611", "UPDATE dbdyno_small SET day = day + 1"),
        ("T621", "UPDATE dbdyno_small SET day = day + 1"),
        (
            "T431",
            "UPDATE dbdyno_large SET amount = amount + 1 WHERE day BETWEEN 300 AND 600",
        ),
        ("T531", "UPDATE dbdyno_small SET day = 0"),
    ] {
        let workspace = open_workspace("sqlite");
        let (outcome, wrong) =
            carry_out_with(&workspace, &library, code, 1, amount_for(code), || {
                tamper(&workspace, sql)
            });
        assert!(outcome.errors() > 0, "{code}");
        assert!(
            wrong.iter().any(|w| w.starts_with("wrong answer")),
            "{code}: {wrong:?}"
        );
    }
}

/// The sum of versions reveals updates that the database forgot, or that somebody else added.
#[test]
fn lost_and_foreign_updates_are_noticed() {
    let library = Library::embedded().unwrap();
    for (sql, count) in [
        (
            "UPDATE dbdyno_changed SET version = version + 1 WHERE id = 5",
            "129 updates, but 128",
        ),
        (
            "UPDATE dbdyno_changed SET version = version - 1 WHERE id = 5",
            "127 updates, but 128",
        ),
    ] {
        let workspace = open_workspace("sqlite");
        let amount = amount_for("T716");
        let mut exercise = exercise_for(bench(&workspace, &library, "T716", amount));
        exercise.prepare().unwrap();
        let outcome = drive(exercise.clients(1).unwrap(), amount.operations);
        tamper(&workspace, sql);
        let wrong = exercise.verify(&outcome).unwrap();
        assert!(
            wrong.iter().any(|w| w.to_string().contains(count)),
            "{wrong:?}"
        );
    }
}

#[test]
fn lost_inserts_loads_and_blocks_are_noticed() {
    let library = Library::embedded().unwrap();
    for (code, sql) in [
        ("T311", "DELETE FROM dbdyno_insert WHERE id = 3"),
        (
            "T331",
            "UPDATE dbdyno_load SET amount = amount + 1 WHERE id = 17",
        ),
        (
            "T211",
            "UPDATE dbdyno_blob SET payload = zeroblob(1048576) WHERE id = 1",
        ),
    ] {
        let workspace = open_workspace("sqlite");
        let amount = amount_for(code);
        let mut exercise = exercise_for(bench(&workspace, &library, code, amount));
        exercise.prepare().unwrap();
        let outcome = drive(exercise.clients(1).unwrap(), amount.operations);
        exercise.close().unwrap();
        tamper(&workspace, sql);
        assert!(!exercise.verify(&outcome).unwrap().is_empty(), "{code}");
    }
}

#[test]
fn an_index_that_vanished_is_noticed() {
    let library = Library::embedded().unwrap();
    let workspace = open_workspace("sqlite");
    let mut exercise = exercise_for(bench(&workspace, &library, "T512", amount_for("T512")));
    exercise.prepare().unwrap();
    let outcome = drive(exercise.clients(1).unwrap(), 1);
    tamper(&workspace, "DROP INDEX dbdyno_large_made");
    let wrong = exercise.verify(&outcome).unwrap();
    let is_reported = |reason: &Remark| matches!(reason, Remark::IndexMissing { .. });
    assert!(wrong.iter().any(is_reported), "{wrong:?}");
}

#[test]
fn tables_are_loaded_again_when_they_are_gone() {
    let library = Library::embedded().unwrap();
    let workspace = open_workspace("sqlite");
    let amount = amount_for("T611");
    assert!(
        carry_out(&workspace, &library, "T611", 1, amount)
            .1
            .is_empty()
    );
    tamper(&workspace, "DROP TABLE dbdyno_small");
    assert!(
        carry_out(&workspace, &library, "T611", 1, amount)
            .1
            .is_empty()
    );
    assert!(workspace.path.exists());
}

/// Keys without replacement end when they are used up, and no block is read twice.
#[test]
fn random_reads_end_when_the_blocks_are_used_up() {
    let library = Library::embedded().unwrap();
    let workspace = open_workspace("sqlite");
    let blocks = TINY.large / 32;
    let (outcome, wrong) = carry_out(
        &workspace,
        &library,
        "T626",
        3,
        Amount {
            operations: 1_000,
            rows: 16,
        },
    );
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(outcome.rows(), blocks);
}
