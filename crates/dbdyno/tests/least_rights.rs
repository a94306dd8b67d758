//! Users with exactly the rights that SERVERS lists, and every verb that works in a database with them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;

mod common;

use common::{Workspace, points};
use local_server::LocalServer;
use serde_json::Value;

/// Component tests with stored code, bulk loads, compression and large objects, then order entry by stored procedures.
const PLAN: &str = "name = \"rights\"\nsample_ms = 50\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\", \"T152\", \"T153\", \"T211\", \"T311\", \"T331\", \"T332\", \"T421\", \"T611\", \
    \"T621\", \"T716\"]\njobs = [2]\nmode = \"time\"\nseconds = 0.3\n\
    [[step]]\nuse = \"oltp\"\n[step.oltp]\ndo = \"load\"\nwarehouses = 1\nwarehouse_rows = \"tenth\"\nforeign_keys = true\n\
    [[step]]\nuse = \"oltp\"\nseconds = 1.0\nramp_up_seconds = 0.2\n\
    [step.oltp]\ndo = \"run\"\nusers = 2\nstatements = \"procedure\"\nwarm_up_max_seconds = 0.0\n";

/// Runs every verb; returns the run of the plan.
fn all_verbs(workspace: &Workspace, url: &str) -> Value {
    let plan = workspace.file("plan.toml", PLAN);
    workspace.fine(&["run", &plan, "--target", url, "--yes"]);
    let run = workspace.export("last");
    let target = &run["targets"][0];
    assert_eq!(target["rights_missing"], Value::Null, "{target}");
    for point in points(&run) {
        assert_eq!(point["valid"], true, "{point}");
    }
    // Counters and waits are known.
    let level = points(&run)
        .iter()
        .find(|point| point["test"] == "OLTP")
        .unwrap();
    assert!(level["redo_mb_per_s"].as_f64().unwrap() > 0.0, "{level}");
    assert!(
        level["buffer_gets_per_s"].as_f64().unwrap() > 0.0,
        "{level}"
    );
    assert!(!level["timed_events"].as_array().unwrap().is_empty());
    for verb in [
        &["data", "check", "oltp"][..],
        &["data", "drop", "oltp"],
        &["data", "load", "olap", "--scale", "0.01"],
        &["data", "drop", "olap"],
    ] {
        workspace.fine(&[verb, &["--target", url]].concat());
    }
    run
}

#[test]
fn postgresql() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    // Default privileges of PUBLIC are revoked.
    postgres::psql(
        &server,
        "REVOKE ALL ON DATABASE postgres FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC; \
         CREATE ROLE bench LOGIN; GRANT CONNECT, CREATE ON DATABASE postgres TO bench; \
         GRANT pg_checkpoint, pg_monitor TO bench",
    );
    let run = all_verbs(&workspace, &postgres::url(&server, "bench"));
    let missing = run["missing"].to_string();
    assert!(missing.contains("T332"), "only compression: {missing}");
    postgres::psql(
        &server,
        "CREATE TABLE public.shop (id INT); INSERT INTO public.shop VALUES (1); CREATE ROLE reader LOGIN; \
         GRANT CONNECT ON DATABASE postgres TO reader; GRANT USAGE ON SCHEMA public TO reader; \
         GRANT SELECT ON public.shop TO reader",
    );
    populate(&workspace, &postgres::url(&server, "reader"));
}

/// A user with only read access can populate a column store.
fn populate(workspace: &Workspace, url: &str) {
    common::need_duckdb();
    let lifted = workspace.fine(&[
        "data", "load", "columnar", "--target", url, "--levels", "none",
    ]);
    assert!(lifted.stdout.contains("shop"), "{}", lifted.stdout);
}

/// An administrator creates the schema if nobody has CREATE.
#[test]
fn postgresql_in_a_schema_that_was_made_for_dbdyno() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    postgres::psql(
        &server,
        "CREATE ROLE bench LOGIN; GRANT pg_checkpoint TO bench; CREATE SCHEMA dbdyno AUTHORIZATION bench; \
         COMMENT ON SCHEMA dbdyno IS 'dbdyno: made by dbdyno, may be dropped'",
    );
    let plan = workspace.file("plan.toml", common::TINY);
    let url = postgres::url(&server, "bench");
    workspace.fine(&["run", &plan, "--target", &url]);
    workspace.fine(&["check", &url]);
}

#[test]
fn mariadb() {
    every_verb(&mysql::server("&performance_schema=ON"), "", "SUPER");
}

#[test]
fn mysql_server() {
    let server = mysql::mysql_server("&performance_schema=ON");
    every_verb(&server, ", REFERENCES", "SYSTEM_VARIABLES_ADMIN");
}

/// With the rights of both servers, one more on the database, and the one for checkpoints.
fn every_verb(server: &LocalServer, more: &str, checkpoints: &str) {
    let workspace = Workspace::new();
    mysql::ask(
        server,
        &format!(
            "CREATE USER bench@localhost; \
             GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER, LOCK TABLES, CREATE ROUTINE, \
             ALTER ROUTINE{more} ON dbdyno.* TO bench@localhost; \
             GRANT {checkpoints}, PROCESS ON *.* TO bench@localhost; \
             GRANT SELECT ON performance_schema.* TO bench@localhost"
        ),
    );
    all_verbs(&workspace, &mysql::url(server, "bench"));
    mysql::ask(
        server,
        "CREATE DATABASE shop; CREATE TABLE shop.shop (id INT); INSERT INTO shop.shop VALUES (1); \
         CREATE USER reader@localhost; GRANT SELECT ON shop.* TO reader@localhost",
    );
    populate(
        &workspace,
        &mysql::url(server, "reader").replace("/dbdyno?", "/shop?"),
    );
}
