//! `dbdyno ab --interleave` of tests that write, on one database: each side has separate tables, which are dropped after the pair.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;

mod common;

use std::time::Duration;

use crate::common::words;
use common::{Arguments, Ended, Workspace, need_duckdb, points};
use local_server::LocalServer;
use serde_json::Value;
use testing::Says;

/// A slice holds five operations or more, even on a busy machine; ten slices are a point. Jobs with pauses leave the CPU to other tests.
const SLICE: &str = "300ms";
const UPDATES: &str = "[[step]]\nuse = \"library\"\ntests = [\"T716\"]\njobs = [2]\nmode = \"time\"\nseconds = 3\nthink_ms = 5\n";
const ORDER_ENTRY: &str = "[[step]]\nuse = \"oltp\"\n[step.oltp]\ndo = \"load\"\nwarehouses = 1\nwarehouse_rows = \"tenth\"\n\
     [[step]]\nuse = \"oltp\"\nseconds = 3\nramp_up_seconds = 0.1\n[step.oltp]\ndo = \"run\"\nusers = \"2\"\npauses = false\n";
const ORDER_ENTRY_TESTS: [&str; 9] = [
    "OLTP-LOAD",
    "OLTP-BEFORE",
    "OLTP",
    "NEW-ORDER",
    "PAYMENT",
    "ORDER-STATUS",
    "DELIVERY",
    "STOCK-LEVEL",
    "OLTP-AFTER",
];
const SCHEMAS: &str =
    "SELECT string_agg(nspname, ' ') FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";
const DATABASES: &str = "SELECT group_concat(schema_name) FROM information_schema.schemata WHERE schema_name LIKE 'dbdyno%'";

fn plan(workspace: &Workspace, steps: &str) -> String {
    workspace.file(
        "plan.toml",
        &format!("name = \"p\"\nsample_ms = 50\n{steps}"),
    )
}

fn ab(workspace: &Workspace, plan: &str, url: &str, more: impl Arguments) -> Ended {
    let more = more.list();
    let sides = if more.contains(&"--b") { "" } else { "--aa" };
    let how = format!("ab {{}} --target {{}} {sides} --interleave {{}} --name s --yes --repeat");
    let how = words(&how, &[plan, url, SLICE]);
    workspace.dbdyno(&[&how[..], &more].concat())
}

#[track_caller]
fn refused(workspace: &Workspace, plan: &str, url: &str, says: &[&str]) {
    let ended = ab(workspace, plan, url, "1");
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    ended.stderr.says_all(says);
}

#[track_caller]
fn is_done(ended: &Ended) {
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
}

/// Every point of both sides is valid, which includes the proof of its writes, and records that the side had separate tables.
fn each_side_is_proven(workspace: &Workspace, ended: &Ended, tests: &[&str], pairs: usize) {
    is_done(ended);
    for side in ["s-a", "s-b"] {
        let run = workspace.export(side);
        let all = points(&run);
        let there = all.iter().map(|p| p["test"].as_str().unwrap());
        assert_eq!(there.collect::<Vec<_>>(), tests.repeat(pairs), "{side}");
        for point in all {
            assert_eq!(point["valid"], true, "{side}: {}", point["reasons"]);
            let notes = point["notes"].to_string();
            let in_slices = notes.contains("in_slices");
            assert_eq!(notes.contains("tables_separate"), in_slices, "{notes}");
        }
    }
}

/// Tests that write have tables for each side, and reads with a setting of the session have the same ones.
fn all_take_turns_on(
    url: &str,
    pairs: usize,
    setting: &str,
    (order_entry, how): (&str, &str),
    left: impl Fn() -> String,
) {
    let workspace = Workspace::new();
    let updates = plan(&workspace, UPDATES);
    let ended = ab(
        &workspace,
        &updates,
        url,
        &*format!("{pairs} --b {setting}"),
    );
    each_side_is_proven(&workspace, &ended, &["T716"], pairs);
    assert_eq!(left(), "dbdyno");

    let workspace = Workspace::new();
    let ended = ab(&workspace, &plan(&workspace, order_entry), url, how);
    each_side_is_proven(&workspace, &ended, &ORDER_ENTRY_TESTS, 1);
    assert_eq!(left(), "dbdyno");

    let workspace = Workspace::new();
    let reads = plan(&workspace, &UPDATES.replace("T716", "T611"));
    let ended = ab(&workspace, &reads, url, &*format!("1 --b {setting}"));
    is_done(&ended);
    for point in of_both_sides(&workspace) {
        point["notes"].to_string().omits("tables_separate");
    }
}

/// The first point of each side, which is valid.
fn of_both_sides(workspace: &Workspace) -> [Value; 2] {
    ["s-a", "s-b"].map(|side| {
        let point = points(&workspace.export(side))[0].clone();
        assert_eq!(point["valid"], true, "{side}: {}", point["reasons"]);
        point
    })
}

#[test]
fn all_take_turns_on_one_postgres() {
    let server = postgres::server("");
    let url = postgres::url(&server, "dbdyno");
    let left = || postgres::psql(&server, SCHEMAS);
    let order_entry = (ORDER_ENTRY, "1 --b target.synchronous_commit=off");
    all_take_turns_on(&url, 2, "target.work_mem=8MB", order_entry, left);
}

#[test]
fn all_take_turns_on_one_mariadb() {
    let server = mysql::server("");
    let url = mysql::url(&server, "root");
    // Each side has separate stored procedures.
    let procedures = "users = \"2\"\nstatements = \"procedure\"";
    let order_entry = ORDER_ENTRY.replace("users = \"2\"", procedures);
    let left = || mysql::ask(&server, DATABASES);
    let setting = "target.sort_buffer_size=1048576";
    all_take_turns_on(&url, 1, setting, (&order_entry, "1"), left);
}

#[test]
fn updates_alternate_in_two_files_next_to_one_of_sqlite() {
    let workspace = Workspace::new();
    let plan = plan(&workspace, &UPDATES.replace("[2]", "[1]"));
    let url = workspace.url("sqlite", "bench.db");
    let ended = ab(&workspace, &plan, &url, "1");
    each_side_is_proven(&workspace, &ended, &["T716"], 1);
    let left = std::fs::read_dir(workspace.path("")).unwrap();
    let left = left.map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.contains("side_")).collect();
    assert!(left.iter().all(|name| name.ends_with("lock")), "{left:?}");
}

fn wait_for(mut shows: impl FnMut() -> bool) {
    for _ in 0..2400 {
        if shows() {
            return;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("it never came");
}

#[test]
fn the_remains_of_a_killed_study_are_removed_by_the_next() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let long = UPDATES.replace("seconds = 3", "seconds = 600");
    let plan = plan(&workspace, &long);
    let url = postgres::url(&server, "dbdyno");
    let arguments = words(
        "ab {} --target {} --aa --interleave {} --repeat 1 --yes",
        &[&plan, &url, SLICE],
    );
    let mut child = workspace.begin(&arguments);
    // Side B loads last.
    let loaded = "SELECT to_regclass('dbdyno_side_b.dbdyno_register') IS NOT NULL";
    wait_for(|| postgres::psql(&server, loaded) == "t");
    child.kill().unwrap();
    child.wait().unwrap();
    let schemas = postgres::psql(&server, SCHEMAS);
    assert_eq!(schemas.split(' ').count(), 3, "{schemas}");
    let ended = ab(&workspace, &self::plan(&workspace, UPDATES), &url, "1");
    each_side_is_proven(&workspace, &ended, &["T716"], 1);
    assert_eq!(postgres::psql(&server, SCHEMAS), "dbdyno");
}

/// Another user's schema with the name of a side's, or one that others depend on, stays and stops the study.
#[test]
fn foreign_schemas_are_not_removed() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let plan = plan(&workspace, UPDATES);
    let url = postgres::url(&server, "dbdyno");
    let made =
        "CREATE SCHEMA dbdyno_side_a; CREATE TABLE dbdyno_side_a.dbdyno_x AS SELECT 1 AS one;";
    postgres::psql(&server, made);
    refused(&workspace, &plan, &url, &["was not created by dbdyno"]);
    postgres::psql(
        &server,
        "COMMENT ON SCHEMA dbdyno_side_a IS 'dbdyno: made by dbdyno, may be dropped'; \
         CREATE VIEW public.mine AS SELECT one FROM dbdyno_side_a.dbdyno_x;",
    );
    refused(&workspace, &plan, &url, &["mine needs tables in it"]);
    assert_eq!(postgres::psql(&server, "SELECT one FROM public.mine"), "1");
}

/// The rights listed in SERVERS suffice; without them, nothing is entered.
#[test]
fn a_user_without_the_right_to_create_schemas_uses_existing_ones() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let made = |schema: &str| {
        format!(
            "CREATE SCHEMA {schema} AUTHORIZATION bench; \
             COMMENT ON SCHEMA {schema} IS 'dbdyno: made by dbdyno, may be dropped';"
        )
    };
    let user = "CREATE ROLE bench LOGIN; GRANT pg_checkpoint, pg_monitor TO bench;";
    postgres::psql(&server, &format!("{user}{}", made("dbdyno")));
    let plan = plan(&workspace, UPDATES);
    let url = postgres::url(&server, "bench");
    let says = ["permission denied", "measure them in blocks"];
    refused(&workspace, &plan, &url, &says);
    postgres::psql(&server, &(made("dbdyno_side_a") + &made("dbdyno_side_b")));
    let ended = ab(&workspace, &plan, &url, "1");
    each_side_is_proven(&workspace, &ended, &["T716"], 1);
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname LIKE 'dbdyno_side%'";
    assert_eq!(postgres::psql(&server, tables), "0");
    assert_eq!(postgres::psql(&server, SCHEMAS).split(' ').count(), 3);
}

#[test]
fn a_user_of_mariadb_needs_rights_on_the_databases_of_both_sides() {
    let (server, workspace) = (mysql::server(""), Workspace::new());
    mysql::ask(
        &server,
        "CREATE USER bench@localhost; GRANT ALL ON dbdyno.* TO bench@localhost; \
         GRANT SUPER, PROCESS ON *.* TO bench@localhost; GRANT SELECT ON performance_schema.* TO bench@localhost",
    );
    let plan = plan(&workspace, UPDATES);
    let url = mysql::url(&server, "bench");
    refused(&workspace, &plan, &url, &["Access denied"]);
    let both = r"GRANT ALL ON `dbdyno\_side\__`.* TO bench@localhost";
    mysql::ask(&server, both);
    let ended = ab(&workspace, &plan, &url, "1");
    each_side_is_proven(&workspace, &ended, &["T716"], 1);
    assert_eq!(mysql::ask(&server, DATABASES), "dbdyno");
}

/// A script that records its set-up, and a plan for it.
fn script(workspace: &Workspace, when: &str, index: &str, statement: &str) -> String {
    let script = format!(
        "name = \"work\"\n[setup]\nwhen = \"{when}\"\nsql = [\"INSERT INTO public.steps VALUES ('set-up')\", \
         \"CREATE TABLE dbdyno_t AS SELECT n FROM generate_series(1, 100) n\"{index}]\n\
         [teardown]\nsql = [\"DROP TABLE IF EXISTS dbdyno_t\", \"INSERT INTO public.steps VALUES ('teardown')\"]\n\
         [[transaction]]\nname = \"t\"\n[[transaction.statement]]\nsql = \"{statement}\"\nrows = 1\n"
    );
    let name = format!("script-{}.toml", index.len());
    workspace.file(&name, &script)
}

fn scripts_plan(workspace: &Workspace, script: &str) -> String {
    let step = "jobs = [2]\nmode = \"time\"\nseconds = 3\nthink_ms = 5\n";
    let step = format!("[[step]]\nuse = \"script\"\nscript = \"{script}\"\n{step}");
    plan(workspace, &step)
}

/// A server without tables of dbdyno, and with none in its record of set-ups.
fn records_steps(server: &LocalServer) -> Workspace {
    postgres::psql(
        server,
        "DROP SCHEMA IF EXISTS dbdyno CASCADE; DROP TABLE IF EXISTS public.steps; \
         CREATE TABLE public.steps (what text, number serial)",
    );
    Workspace::new()
}

#[test]
fn the_set_up_of_shared_tables_is_done_once_for_both_sides() {
    let server = postgres::server("");
    let url = postgres::url(&server, "dbdyno");
    for (when, steps) in [
        // After the removal of earlier tables, the set-up runs once.
        ("run", "teardown set-up"),
        ("point", "teardown set-up teardown"),
    ] {
        let workspace = records_steps(&server);
        let script = script(&workspace, when, "", "SELECT n FROM dbdyno_t WHERE n = 7");
        let plan = scripts_plan(&workspace, &script);
        let ended = ab(&workspace, &plan, &url, "1");
        is_done(&ended);
        of_both_sides(&workspace);
        let done = "SELECT string_agg(what, ' ' ORDER BY number) FROM public.steps";
        assert_eq!(postgres::psql(&server, done), steps, "{when}");
    }
}

#[test]
fn set_ups_that_differ_and_scripts_that_write_have_tables_for_each_side() {
    let server = postgres::server("");
    let url = postgres::url(&server, "dbdyno");
    let index = ", \"CREATE INDEX ON dbdyno_t (n)\"";
    for (index, statement) in [
        (index, "SELECT n FROM dbdyno_t WHERE n = 7"),
        ("", "UPDATE dbdyno_t SET n = n WHERE n = 7"),
    ] {
        let workspace = records_steps(&server);
        let one = script(&workspace, "run", "", statement);
        let other = script(&workspace, "run", index, statement);
        let plan = scripts_plan(&workspace, &one);
        let b = format!("step.script={other}");
        let ended = ab(&workspace, &plan, &url, &["1", "--b", &b]);
        each_side_is_proven(&workspace, &ended, &["S-work"], 1);
        let set_ups = "SELECT count(*) FROM public.steps WHERE what = 'set-up'";
        assert_eq!(postgres::psql(&server, set_ups), "2");
        assert_eq!(postgres::psql(&server, SCHEMAS), "dbdyno");
    }
}

#[test]
fn sides_that_cannot_exist_at_once_are_refused_with_advice() {
    need_duckdb();
    let workspace = Workspace::new();
    workspace.file("updates.toml", &format!("name = \"p\"\n{UPDATES}"));
    let run = &ORDER_ENTRY[ORDER_ENTRY.rfind("[[step]]").unwrap()..];
    workspace.file("not-loaded.toml", &format!("name = \"p\"\n{run}"));
    let of_script = |name: &str, set_up: &str, statement: &str| {
        let script = format!(
            "name = \"work\"\n{set_up}[[transaction]]\nname = \"t\"\n[[transaction.statement]]\nsql = \"{statement}\"\n"
        );
        workspace.file(&format!("{name}-script.toml"), &script);
        let step = "[[step]]\nuse = \"script\"\njobs = [1]\nmode = \"time\"\nseconds = 3\n";
        let plan = format!("name = \"p\"\n{step}script = \"{name}-script.toml\"\n");
        workspace.file(&format!("{name}.toml"), &plan);
    };
    of_script("without", "", "DELETE FROM t");
    of_script(
        "named",
        "[setup]\nsql = \"CREATE TABLE IF NOT EXISTS shop.orders (n int)\"\n",
        "DELETE FROM t",
    );
    of_script(
        "changed",
        "[setup]\nsql = \"CREATE TABLE IF NOT EXISTS dbdyno_t (n int)\"\n",
        "UPDATE shop.orders SET n = 1",
    );
    let available = host::memory::available_bytes().unwrap();
    let large = (available / 10 * 7 / 1024).to_string();
    let table = "
        updates duckdb:x.duckdb => each side needs tables of its own
        updates duckdb:x.duckdb --b target=duckdb:./x.duckdb?threads=1 => cannot be open twice with different settings
        not-loaded sqlite:x.db  => add a step with do = \"load\"
        without sqlite:x.db     => writes to tables that it does not make
        named sqlite:x.db       => shop.orders in one place for both sides
        changed sqlite:x.db     => writes to shop.orders, which is one table for both sides
        updates postgres+local:?shared_buffers=LARGEkB --b target.work_mem=8MB => of memory at once, but only
        updates postgres+local: --b target.port=5433 => port cannot be set
    ";
    for (study, says) in testing::rows(&table.replace("LARGE", &large)) {
        let (plan, rest) = study.split_once(' ').unwrap();
        let (url, b) = rest.split_once(' ').unwrap_or((rest, ""));
        let plan = format!("{plan}.toml");
        let ended = ab(&workspace, &plan, url, format!("1 {b}").as_str());
        assert_eq!(ended.status, 2, "{study}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(says), "{study}: {}", ended.stderr);
        let how = ended.stderr.contains("measure them in blocks") || says.starts_with("port");
        assert!(how, "{}", ended.stderr);
    }
}
