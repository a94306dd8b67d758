//! Scripts on real databases: SQLite on threads, servers in an event loop and on threads.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use engine::Target;
use load::{Clients, Drive, End, Outcome};
use testing::Says;
use testing::Shared;
use workload::exercise::Exercise;
use workload::{Bench, Library, Meter, Script, exercise_for};

static GO_ON: AtomicBool = AtomicBool::new(false);
/// Servers of all tests, by URL; tests use one at a time.
static RUNNING: Shared<Arc<dyn Target>> = Shared::new();
static TURN: Mutex<()> = Mutex::new(());

fn my_turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|e| e.into_inner())
}

fn server(url: &str) -> Arc<dyn Target> {
    RUNNING.get(url, || open(url))
}

fn open(url: &str) -> Arc<dyn Target> {
    engines::before_first_use();
    engines::open(&engines::parse(url).unwrap()).unwrap()
}

fn exercise(target: &Arc<dyn Target>, text: &str) -> Box<dyn Exercise> {
    let script = Script::parse(text, Path::new(".")).unwrap();
    let mut library = Library::embedded().unwrap();
    library.add_script("it", script).unwrap();
    let test = library.script_at("it").unwrap().clone();
    let size = library.size("quick").unwrap();
    let url = engines::parse(&format!("{}:", target.record().name)).unwrap();
    exercise_for(Bench {
        target: Arc::clone(target),
        engine: url.engine().to_owned(),
        amount: test.amount(size, url.engine()),
        test,
        library: Arc::new(library),
        size,
        seed: 3,
        meter: Arc::new(Meter::default()),
        shared: None,
        proven: Arc::default(),
    })
}

/// Those of the servers that are there: MySQL cannot be had everywhere.
fn servers() -> Vec<&'static str> {
    let is_there = |url: &&str| {
        engines::find(&engines::parse(url).unwrap())
            .unwrap()
            .version()
            .is_ok()
    };
    SERVERS.into_iter().filter(is_there).collect()
}

/// Servers that support an event loop. They do not wait for a disk.
const SERVERS: [&str; 3] = [
    "postgres+local:?fsync=off&deadlock_timeout=10ms",
    "mariadb+local:?innodb_buffer_pool_size=64M&innodb_log_file_size=64M&innodb_flush_log_at_trx_commit=0\
     &innodb_flush_method=nosync&innodb_doublewrite=OFF&performance_schema=OFF",
    "mysql+local:?innodb_buffer_pool_size=64M&innodb_redo_log_capacity=64M&innodb_flush_log_at_trx_commit=0\
     &innodb_flush_method=nosync&innodb_doublewrite=OFF&performance_schema=OFF",
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    Threads,
    Loop,
}

fn drive(exercise: &mut dyn Exercise, by: By, jobs: u32, per_job: u64) -> Outcome {
    exercise.prepare().unwrap();
    let how = Drive {
        interval: Duration::from_millis(100),
        ..Drive::of_jobs(End::Operations { per_job }, &GO_ON)
    };
    let clients = match by {
        By::Threads => Clients::Blocking(exercise.clients(jobs).unwrap()),
        By::Loop => {
            let nonblocking_clients = exercise.nonblocking_clients(jobs).unwrap();
            Clients::nonblocking(nonblocking_clients.expect("the engine can be awaited"))
        }
    };
    load::drive(clients, &how)
}

/// The one number that a query returns, as digest.
fn ask(target: &Arc<dyn Target>, sql: &str) -> u64 {
    let mut session = target.open_session().unwrap();
    let statement = session.prepare(sql).unwrap();
    session.fetch(statement, &[]).unwrap().digest
}

/// The example of the documentation, without its teardown, so that its data can be checked.
fn shop() -> String {
    let text = include_str!("../../../docs/examples/shop.toml");
    text.replace("[setup]\n", "[setup]\nwhen = \"run\"\n")
}

const SOLD: &str = "SELECT count(*) FROM dbdyno_sale";
const MISSING: &str = "SELECT 10000000000 - sum(stock) FROM dbdyno_item";
/// Every sale paid the price of its item.
const WRONG_PRICES: &str = "SELECT count(*) FROM dbdyno_sale s JOIN dbdyno_item i ON i.id = s.item WHERE s.paid <> i.price";

fn check_shop(target: &Arc<dyn Target>, by: By, jobs: u32) -> (u64, u64) {
    let mut exercise = exercise(target, &shop());
    let outcome = drive(exercise.as_mut(), by, jobs, 200);
    assert_eq!(outcome.fatal, None);
    assert_eq!(outcome.error_texts(), Vec::<String>::new());
    assert_eq!(outcome.operations(), 200 * u64::from(jobs));
    let sold = ask(target, SOLD);
    // Two of ten transactions buy: 200 jobs·0.2, six standard deviations around it.
    let (mean, spread) = (40.0 * f64::from(jobs), (32.0 * f64::from(jobs)).sqrt());
    assert!(
        (sold as f64 - mean).abs() < 6.0 * spread,
        "{sold} of {mean}"
    );
    assert_eq!((ask(target, MISSING), ask(target, WRONG_PRICES)), (sold, 0));
    let notes = exercise.notes(&outcome);
    assert_eq!(notes.len(), 3);
    let archive::Remark::TransactionTimes {
        name, completed, ..
    } = &notes[1]
    else {
        panic!("{notes:?}")
    };
    assert_eq!((name.as_str(), *completed), ("buy", sold));
    assert!(exercise.verify(&outcome).unwrap().is_empty());
    (sold, outcome.rows())
}

#[test]
fn the_example_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let target = open(&format!("sqlite:{}/t.db", directory.path().display()));
    check_shop(&target, By::Threads, 3);
    assert!(
        exercise(&target, &shop())
            .nonblocking_clients(1)
            .unwrap()
            .is_none()
    );
}

/// The loop and threads run the very same transactions: as many sales, as many rows.
#[test]
fn the_example_on_servers_by_loop_and_by_threads() {
    let _turn = my_turn();
    for url in servers() {
        let target = server(url);
        let by_loop = check_shop(&target, By::Loop, 5);
        assert_eq!(by_loop, check_shop(&target, By::Threads, 5));
        assert_eq!(by_loop.0, check_shop(&target, By::Loop, 5).0);
    }
}

/// A script of `statements` on one small table.
fn small(head: &str, statements: &str) -> String {
    format!(
        "name = 'small'\n{head}\n\
         [setup]\nsql = ['CREATE TABLE dbdyno_p (id integer PRIMARY KEY, n integer)',\
         'INSERT INTO dbdyno_p VALUES (1, 0), (2, 0), (3, null)']\n\
         [teardown]\nsql = 'DROP TABLE IF EXISTS dbdyno_p'\n\
         [[transaction]]\nname = 't'\n{statements}"
    )
}

fn statement(sql: &str, more: &str) -> String {
    format!("[[transaction.statement]]\nsql = \"{sql}\"\n{more}\n")
}

/// Runs `check` on an embedded database, and on servers on threads and in a loop.
fn on_every_kind(check: impl Fn(&Arc<dyn Target>, By)) {
    let directory = tempfile::tempdir().unwrap();
    let sqlite = open(&format!("sqlite:{}/t.db", directory.path().display()));
    check(&sqlite, By::Threads);
    for url in servers() {
        let target = server(url);
        check(&target, By::Threads);
        check(&target, By::Loop);
    }
}

#[test]
fn a_wrong_number_of_rows_is_a_failed_operation_and_is_rolled_back() {
    let _turn = my_turn();
    let text = small(
        "",
        &(statement("UPDATE dbdyno_p SET n = n + 1 WHERE id = 1", "rows = 1")
            + &statement("UPDATE dbdyno_p SET n = n + 1 WHERE id = 9", "rows = 1")
            + &statement("UPDATE dbdyno_p SET n = n + 1 WHERE id = 2", "rows = 1")),
    );
    on_every_kind(|target, by| {
        let outcome = drive(exercise(target, &text).as_mut(), by, 2, 5);
        assert_eq!((outcome.operations(), outcome.errors()), (0, 10));
        assert_eq!(
            outcome.error_texts(),
            ["wrong effect: statement 2 of \"t\" returned or changed 0 rows instead of 1"]
        );
        assert_eq!(ask(target, "SELECT sum(n) FROM dbdyno_p"), 0, "rolled back");
    });
}

#[test]
fn nulls_are_no_parameters_and_missing_columns_are_found_before() {
    let _turn = my_turn();
    let keep = |id: u32, column: u32| {
        small(
            "",
            &(statement(
                &format!("SELECT n FROM dbdyno_p WHERE id = {id}"),
                &format!("rows = [0, 1]\nkeep = {{ n = {column} }}"),
            ) + &statement("UPDATE dbdyno_p SET n = :n WHERE id = 1", "rows = 1")),
        )
    };
    on_every_kind(|target, by| {
        for id in [3, 9] {
            let outcome = drive(exercise(target, &keep(id, 1)).as_mut(), by, 1, 3);
            assert_eq!(outcome.errors(), 3);
            let message = outcome.error_texts()[0];
            message.says("needs :n, which is null or was kept from an empty result");
        }
        let mut exercise = exercise(target, &keep(1, 2));
        exercise.prepare().unwrap();
        let error = exercise.clients(1).err().unwrap();
        assert!(error.message.contains("statement 1 of \"t\""), "{error}");
        error.message.says("has 1 columns and no column 2");
    });
}

/// Eight jobs update two rows in random order, with a pause in which another job takes the other row: servers find
/// deadlocks. They are retried and counted, and nothing is done twice; without retries they are failed operations.
#[test]
fn deadlocks_are_retried_within_a_bound() {
    let _turn = my_turn();
    for url in servers() {
        let pause = if url.starts_with("postgres") {
            "SELECT pg_sleep(0.005)"
        } else {
            "SELECT SLEEP(0.005)"
        };
        let body = "[transaction.draw]\na = { uniform = [1, 2] }\n".to_owned()
            + &statement("UPDATE dbdyno_p SET n = n + 1 WHERE id = :a", "rows = 1")
            + &statement(pause, "rows = 1")
            + &statement(
                "UPDATE dbdyno_p SET n = n + 1 WHERE id = 3 - :a",
                "rows = 1",
            );
        let target = server(url);
        for by in [By::Loop, By::Threads] {
            check_deadlocks(&target, by, &body);
        }
    }
}

fn check_deadlocks(target: &Arc<dyn Target>, by: By, body: &str) {
    let patient = small("retries = 1000", body);
    let outcome = drive(exercise(target, &patient).as_mut(), by, 8, 15);
    assert_eq!(outcome.operations(), 120, "{:?}", outcome.error_texts());
    assert_eq!(outcome.errors(), 0, "{:?}", outcome.error_texts());
    assert!(outcome.retries() > 0);
    assert_eq!(ask(target, "SELECT sum(n) FROM dbdyno_p"), 240);
    let impatient = small("retries = 0", body);
    let outcome = drive(exercise(target, &impatient).as_mut(), by, 8, 15);
    assert!(outcome.errors() > 0 && outcome.retries() == 0);
    let message = outcome.error_texts()[0];
    assert!(
        message.contains("gave up after 0 retries") && message.to_lowercase().contains("deadlock"),
        "{message}"
    );
    assert_eq!(
        ask(target, "SELECT sum(n) FROM dbdyno_p"),
        2 * outcome.operations()
    );
}

/// A transaction that conflicts at every attempt: its pauses make up the time, on threads and in the loop.
#[test]
fn retries_come_after_pauses() {
    let _turn = my_turn();
    let target = server(SERVERS[0]);
    let mut session = target.open_session().unwrap();
    let function = "CREATE FUNCTION dbdyno_conflict() RETURNS integer LANGUAGE plpgsql AS \
        'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001'', MESSAGE = ''again''; END'";
    session.batch(function).unwrap();
    let text = small(
        "retries = 100",
        &statement("SELECT dbdyno_conflict()", "rows = 1"),
    );
    for by in [By::Loop, By::Threads] {
        for jobs in [1, 3] {
            let outcome = drive(exercise(&target, &text).as_mut(), by, jobs, 1);
            let errors = (outcome.errors(), outcome.error_texts());
            assert_eq!(errors.0, u64::from(jobs), "{errors:?}");
            errors.1[0].says("gave up after 100 retries");
            // 0.95 s on average, give or take 0.06.
            let (least, most) = (Duration::from_millis(500), Duration::from_secs(20));
            assert!(
                (least..most).contains(&outcome.elapsed),
                "{by:?} {jobs}: {:?}",
                outcome.elapsed
            );
        }
    }
    session.batch("DROP FUNCTION dbdyno_conflict()").unwrap();
}

/// The pipeline changes the round trips and nothing else.
#[test]
fn every_pipeline_does_the_same() {
    let _turn = my_turn();
    let ways = |url| ["off", "ends", "all"].map(|pipeline| (url, pipeline));
    for (url, pipeline) in servers().into_iter().flat_map(ways) {
        let target = server(url);
        let text = shop().replace(
            "retries = 10",
            &format!("retries = 10\npipeline = \"{pipeline}\""),
        );
        let mut exercise = exercise(&target, &text);
        let outcome = drive(exercise.as_mut(), By::Loop, 4, 100);
        assert_eq!(outcome.operations(), 400, "{:?}", outcome.error_texts());
        assert_eq!(outcome.errors(), 0, "{:?}", outcome.error_texts());
        assert_eq!(ask(&target, SOLD), ask(&target, MISSING), "{pipeline}");
    }
}

/// A result that is larger than the socket and every buffer, and such a request.
#[test]
fn long_requests_and_long_results_go_through() {
    let _turn = my_turn();
    let text = "name = 'long'\n[[transaction]]\nname = 't'\n\
        [transaction.draw]\ntext = { letters = 1000000 }\n"
        .to_owned()
        + &statement(
            "SELECT :text::text || i FROM generate_series(1, 3) i",
            "sql_for = { mysql = 'SELECT concat(:text, i) FROM (SELECT 1 AS i UNION SELECT 2 UNION SELECT 3) AS s' }\n\
             rows = 3\nkeep = { t = 1 }",
        )
        + &statement(
            "SELECT 1 WHERE length(:t::text) = 1000001",
            "sql_for = { mysql = 'SELECT 1 FROM (SELECT 1) AS s WHERE length(:t) = 1000001' }\nrows = 1",
        );
    for url in servers() {
        let target = server(url);
        let outcome = drive(exercise(&target, &text).as_mut(), By::Loop, 3, 5);
        assert_eq!(outcome.operations(), 15, "{:?}", outcome.error_texts());
        assert_eq!(outcome.errors(), 0, "{:?}", outcome.error_texts());
    }
}

#[test]
fn a_session_that_is_killed_ends_the_drive_with_a_sentence() {
    let _turn = my_turn();
    let text = "name = 'kill'\n[[transaction]]\nname = 't'\n".to_owned()
        + &statement(
            "SELECT pg_terminate_backend(pg_backend_pid())",
            "sql_for = { mysql = 'KILL connection_id()' }",
        );
    let ways = |url| [(url, By::Loop), (url, By::Threads)];
    for (url, by) in servers().into_iter().flat_map(ways) {
        let target = server(url);
        let outcome = drive(exercise(&target, &text).as_mut(), by, 3, 1000);
        let message = outcome.fatal.unwrap();
        let why = ["57P01", "closed the connection"];
        assert!(why.iter().any(|why| message.contains(why)), "{message}");
    }
}
