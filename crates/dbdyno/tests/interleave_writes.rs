//! `dbdyno ab --interleave` of tests that write, on one database: each side has separate tables, which are dropped after the pair.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;

mod common;

use std::process::Stdio;
use std::time::Duration;

use common::{Ended, Workspace, need_duckdb, points};
use local_server::LocalServer;

/// A slice holds five operations or more, even on a busy machine; ten slices are a point. Jobs with pauses leave the CPU to other tests.
/// tests.
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

fn ab(workspace: &Workspace, plan: &str, url: &str, more: &[&str]) -> Ended {
    let how = ["--interleave", SLICE, "--name", "s", "--yes"];
    workspace.dbdyno(&[&["ab", plan, "--target", url], &how[..], more].concat())
}

/// Every point of both sides is valid, which includes the proof of its writes, and records that the side had separate tables.
fn each_side_is_proven(workspace: &Workspace, ended: &Ended, tests: &[&str], pairs: usize) {
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
    for side in ["s-a", "s-b"] {
        let run = workspace.export(side);
        let all = points(&run);
        let there = all.iter().map(|p| p["test"].as_str().unwrap());
        assert_eq!(there.collect::<Vec<_>>(), tests.repeat(pairs), "{side}");
        for point in all {
            assert_eq!(point["valid"], true, "{side}: {}", point["reasons"]);
            let notes = point["notes"].to_string();
            let in_slices = notes.contains("in_slices");
            assert_eq!(notes.contains("tables_beside"), in_slices, "{notes}");
        }
    }
}

#[test]
fn updates_take_turns_in_two_schemas_of_one_postgres() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let plan = plan(&workspace, UPDATES);
    let url = postgres::url(&server, "dbdyno");
    let ended = ab(
        &workspace,
        &plan,
        &url,
        &["--pairs", "2", "--b", "target.work_mem=8MB"],
    );
    each_side_is_proven(&workspace, &ended, &["T716"], 2);
    assert_eq!(postgres::psql(&server, SCHEMAS), "dbdyno");
}

#[test]
fn updates_take_turns_in_two_databases_of_one_mariadb() {
    let (server, workspace) = (mysql::server(""), Workspace::new());
    let plan = plan(&workspace, UPDATES);
    let url = mysql::url(&server, "root");
    let setting = ["--pairs", "1", "--b", "target.sort_buffer_size=1048576"];
    let ended = ab(&workspace, &plan, &url, &setting);
    each_side_is_proven(&workspace, &ended, &["T716"], 1);
    assert_eq!(mysql::ask(&server, DATABASES), "dbdyno");
}

#[test]
fn updates_alternate_in_two_files_next_to_one_of_sqlite() {
    let workspace = Workspace::new();
    let plan = plan(&workspace, &UPDATES.replace("[2]", "[1]"));
    let url = workspace.url("sqlite", "bench.db");
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
    each_side_is_proven(&workspace, &ended, &["T716"], 1);
    let left = std::fs::read_dir(workspace.path("")).unwrap();
    let left = left.map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.contains("side_")).collect();
    assert!(left.iter().all(|name| name.ends_with("lock")), "{left:?}");
}

#[test]
fn order_entry_takes_turns_on_one_postgres() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let plan = plan(&workspace, ORDER_ENTRY);
    let url = postgres::url(&server, "dbdyno");
    let commit = ["--pairs", "1", "--b", "target.synchronous_commit=off"];
    let ended = ab(&workspace, &plan, &url, &commit);
    each_side_is_proven(&workspace, &ended, &ORDER_ENTRY_TESTS, 1);
    assert_eq!(postgres::psql(&server, SCHEMAS), "dbdyno");
}

#[test]
fn order_entry_takes_turns_on_one_mariadb() {
    let (server, workspace) = (mysql::server(""), Workspace::new());
    // Each side has separate stored procedures.
    let procedures = "users = \"2\"\nstatements = \"procedure\"";
    let plan = plan(
        &workspace,
        &ORDER_ENTRY.replace("users = \"2\"", procedures),
    );
    let ended = ab(
        &workspace,
        &plan,
        &mysql::url(&server, "root"),
        &["--pairs", "1"],
    );
    each_side_is_proven(&workspace, &ended, &ORDER_ENTRY_TESTS, 1);
    assert_eq!(mysql::ask(&server, DATABASES), "dbdyno");
}

#[test]
fn settings_of_sessions_take_turns_on_the_same_tables() {
    let (postgres, mariadb) = (postgres::server(""), mysql::server(""));
    let reads = UPDATES.replace("T716", "T611");
    for (url, setting) in [
        (postgres::url(&postgres, "dbdyno"), "target.work_mem=8MB"),
        (
            mysql::url(&mariadb, "root"),
            "target.sort_buffer_size=1048576",
        ),
    ] {
        let workspace = Workspace::new();
        let plan = plan(&workspace, &reads);
        let ended = ab(&workspace, &plan, &url, &["--pairs", "1", "--b", setting]);
        assert_eq!(ended.status, 0, "{url}: {}", ended.stderr);
        for side in ["s-a", "s-b"] {
            let run = workspace.export(side);
            let point = &points(&run)[0];
            assert_eq!(point["valid"], true, "{}", point["reasons"]);
            assert!(!point["notes"].to_string().contains("tables_beside"));
        }
    }
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

fn is_there(server: &LocalServer, what: &str) -> bool {
    postgres::psql(server, what) == "t"
}

#[test]
fn the_remains_of_a_killed_study_are_removed_by_the_next() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let long = UPDATES.replace("seconds = 3", "seconds = 600");
    let plan = plan(&workspace, &long);
    let url = postgres::url(&server, "dbdyno");
    let arguments = [
        "ab",
        &plan,
        "--target",
        &url,
        "--interleave",
        SLICE,
        "--pairs",
        "1",
        "--yes",
    ];
    let mut child = workspace
        .command(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Side B loads last.
    wait_for(|| {
        is_there(
            &server,
            "SELECT to_regclass('dbdyno_side_b.dbdyno_register') IS NOT NULL",
        )
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        postgres::psql(&server, SCHEMAS).split(' ').count(),
        3,
        "{}",
        postgres::psql(&server, SCHEMAS)
    );
    let plan = workspace.file(
        "short.toml",
        &format!("name = \"p\"\nsample_ms = 50\n{UPDATES}"),
    );
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
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
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("was not created by dbdyno"),
        "{}",
        ended.stderr
    );
    postgres::psql(
        &server,
        "COMMENT ON SCHEMA dbdyno_side_a IS 'dbdyno: made by dbdyno, may be dropped'; \
         CREATE VIEW public.mine AS SELECT one FROM dbdyno_side_a.dbdyno_x;",
    );
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("mine needs tables in it"),
        "{}",
        ended.stderr
    );
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
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("permission denied"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("measure them in blocks"),
        "{}",
        ended.stderr
    );
    postgres::psql(&server, &(made("dbdyno_side_a") + &made("dbdyno_side_b")));
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
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
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("Access denied"), "{}", ended.stderr);
    mysql::ask(
        &server,
        r"GRANT ALL ON `dbdyno\_side\__`.* TO bench@localhost",
    );
    let ended = ab(&workspace, &plan, &url, &["--pairs", "1"]);
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
    plan(
        workspace,
        &format!(
            "[[step]]\nuse = \"script\"\nscript = \"{script}\"\njobs = [2]\nmode = \"time\"\nseconds = 3\nthink_ms = 5\n"
        ),
    )
}

#[test]
fn the_set_up_of_shared_tables_is_done_once_for_both_sides() {
    for (when, steps) in [
        // After the removal of earlier tables, the set-up runs once.
        ("run", "teardown set-up"),
        ("point", "teardown set-up teardown"),
    ] {
        let (server, workspace) = (postgres::server(""), Workspace::new());
        postgres::psql(
            &server,
            "CREATE TABLE public.steps (what text, number serial)",
        );
        let script = script(&workspace, when, "", "SELECT n FROM dbdyno_t WHERE n = 7");
        let plan = scripts_plan(&workspace, &script);
        let ended = ab(
            &workspace,
            &plan,
            &postgres::url(&server, "dbdyno"),
            &["--pairs", "1"],
        );
        assert_eq!(ended.status, 0, "{when}: {}", ended.stderr);
        for side in ["s-a", "s-b"] {
            let run = workspace.export(side);
            assert_eq!(
                points(&run)[0]["valid"],
                true,
                "{}",
                points(&run)[0]["reasons"]
            );
        }
        let done = postgres::psql(
            &server,
            "SELECT string_agg(what, ' ' ORDER BY number) FROM public.steps",
        );
        assert_eq!(done, steps, "{when}");
    }
}

#[test]
fn set_ups_that_differ_and_scripts_that_write_have_tables_for_each_side() {
    for (index, statement) in [
        (
            ", \\\"CREATE INDEX ON dbdyno_t (n)\\\"",
            "SELECT n FROM dbdyno_t WHERE n = 7",
        ),
        ("", "UPDATE dbdyno_t SET n = n WHERE n = 7"),
    ] {
        let (server, workspace) = (postgres::server(""), Workspace::new());
        postgres::psql(
            &server,
            "CREATE TABLE public.steps (what text, number serial)",
        );
        let one = script(&workspace, "run", "", statement);
        let other = script(&workspace, "run", &index.replace('\\', ""), statement);
        let plan = scripts_plan(&workspace, &one);
        let b = format!("step.script={other}");
        let ended = ab(
            &workspace,
            &plan,
            &postgres::url(&server, "dbdyno"),
            &["--pairs", "1", "--b", &b],
        );
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
    let updates = workspace.file("updates.toml", &format!("name = \"p\"\n{UPDATES}"));
    let run = ORDER_ENTRY
        .split_at(ORDER_ENTRY.rfind("[[step]]").unwrap())
        .1;
    let not_loaded = workspace.file("not-loaded.toml", &format!("name = \"p\"\n{run}"));
    let of_script = |name: &str, set_up: &str, statement: &str| {
        let script = format!(
            "name = \"work\"\n{set_up}[[transaction]]\nname = \"t\"\n[[transaction.statement]]\nsql = \"{statement}\"\n"
        );
        workspace.file(&format!("{name}-script.toml"), &script);
        let step = "[[step]]\nuse = \"script\"\njobs = [1]\nmode = \"time\"\nseconds = 3\n";
        workspace.file(
            &format!("{name}.toml"),
            &format!("name = \"p\"\n{step}script = \"{name}-script.toml\"\n"),
        )
    };
    let without = of_script("without", "", "DELETE FROM t");
    let named = of_script(
        "named",
        "[setup]\nsql = \"CREATE TABLE IF NOT EXISTS shop.orders (n int)\"\n",
        "DELETE FROM t",
    );
    let changed = of_script(
        "changed",
        "[setup]\nsql = \"CREATE TABLE IF NOT EXISTS dbdyno_t (n int)\"\n",
        "UPDATE shop.orders SET n = 1",
    );
    let (sqlite, duckdb) = (
        workspace.url("sqlite", "x.db"),
        workspace.url("duckdb", "x.duckdb"),
    );
    let same = format!(
        "target={}",
        duckdb.replace("x.duckdb", "./x.duckdb?threads=1")
    );
    let available = host::memory::available_bytes().unwrap();
    let large = format!(
        "postgres+local:?shared_buffers={}kB",
        available / 10 * 7 / 1024
    );
    let more = "target.work_mem=8MB";
    for (plan, url, more, says) in [
        (
            &updates,
            duckdb.as_str(),
            vec![],
            "each side needs tables of its own",
        ),
        (
            &updates,
            &duckdb,
            vec!["--b", &same],
            "cannot be open twice with different settings",
        ),
        (
            &not_loaded,
            &sqlite,
            vec![],
            "add a step with do = \"load\"",
        ),
        (
            &without,
            &sqlite,
            vec![],
            "writes to tables that it does not make",
        ),
        (
            &named,
            &sqlite,
            vec![],
            "shop.orders in one place for both sides",
        ),
        (
            &changed,
            &sqlite,
            vec![],
            "writes to shop.orders, which is one table for both sides",
        ),
        (
            &updates,
            &large,
            vec!["--b", more],
            "of memory at once, but only",
        ),
        (
            &updates,
            "postgres+local:",
            vec!["--b", "target.port=5433"],
            "port cannot be set",
        ),
    ] {
        let ended = ab(&workspace, plan, url, &more);
        assert_eq!(ended.status, 2, "{says}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(says), "{says}: {}", ended.stderr);
        let how = ended.stderr.contains("measure them in blocks") || says.starts_with("port");
        assert!(how, "{}", ended.stderr);
    }
}
