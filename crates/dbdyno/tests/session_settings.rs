//! `dbdyno ab` of two settings of a running server: set for the sessions of each side, read back, and gone with them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;

mod common;

use common::{Ended, Workspace, points};
use local_server::LocalServer;
use serde_json::Value;
use testing::Says;

const PLAN: &str = "name = \"p\"\nsample_ms = 50\n[[step]]\nuse = \"script\"\nscript = \"look.toml\"\njobs = [2]\n\
    mode = \"time\"\nseconds = 0.2\n";

/// A study with two settings per side. Its script expects one row with the settings of A, two with those of B, and fails with any others.
fn study(workspace: &Workspace, url: &str, a: ([&str; 2], &str), b: ([&str; 2], &str)) -> Ended {
    let script = format!(
        "name = \"look\"\n[[transaction]]\nname = \"look\"\n[[transaction.statement]]\nrows = [1, 2]\n\
         sql = \"SELECT n FROM (SELECT 1 AS n UNION ALL SELECT 2) AS x \
         WHERE n <= CASE WHEN {} THEN 1 WHEN {} THEN 2 ELSE 0 END\"\n",
        a.1, b.1
    );
    workspace.file("look.toml", &script);
    let plan = workspace.file("plan.toml", PLAN);
    let sides = ["--a", a.0[0], a.0[1], "--b", b.0[0], b.0[1]];
    let study = [
        "--repeat", "2", "--name", "study", "--format", "json", "--yes",
    ];
    workspace.dbdyno(&[&["ab", &plan, "--target", url], &study[..], &sides].concat())
}

fn difference(compared: &Value, subject: &str) -> (String, String) {
    let all = compared["differences"].as_array().unwrap();
    let found = all
        .iter()
        .find(|d| d["subject"].as_str().unwrap().ends_with(subject));
    let found = found.unwrap_or_else(|| panic!("no {subject} in {all:?}"));
    let of = |side: &str| found[side].as_str().unwrap().to_owned();
    (of("a"), of("b"))
}

/// A side's setting as recorded, and the number of rows that shows its effect.
fn holds(workspace: &Workspace, side: &str, (name, value): (&str, &str), rows: f64) {
    let run = workspace.export(&format!("study-{side}"));
    assert_eq!(run["targets"][0]["settings"][name], value, "{side}");
    for point in points(&run) {
        assert_eq!(point["valid"], true, "{side}: {}", point["reasons"]);
        let figure = |name: &str| point[name].as_f64().unwrap();
        let each = figure("rows_per_s") / figure("operations_per_s");
        assert!((each - rows).abs() < 1e-6, "{side}: {each}");
    }
}

#[test]
fn postgres_is_measured_with_the_settings_of_each_side() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let url = postgres::url(&server, "dbdyno");
    let in_force = |commit: &str, memory: &str| {
        format!(
            "current_setting('synchronous_commit') = '{commit}' AND current_setting('work_mem') = '{memory}'"
        )
    };
    let ended = study(
        &workspace,
        &url,
        (
            ["target.synchronous_commit=on", "target.work_mem=7MB"],
            &in_force("on", "7MB"),
        ),
        (
            ["target.synchronous_commit=off", "target.work_mem=9216"],
            &in_force("off", "9MB"),
        ),
    );
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
    let compared = ended.json();
    let is = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        difference(&compared, "setting synchronous_commit"),
        is("on", "off")
    );
    assert_eq!(difference(&compared, "setting work_mem"), is("7MB", "9MB"));
    holds(&workspace, "a", ("synchronous_commit", "on"), 1.0);
    holds(&workspace, "b", ("work_mem", "9MB"), 2.0);
    let own = "SHOW synchronous_commit; SHOW work_mem; SELECT count(*) FROM pg_db_role_setting";
    assert_eq!(postgres::psql(&server, own), "on\n4MB\n0");
    // The printed comparison names them as well.
    let text = workspace.fine("compare study-a study-b").stdout;
    text.says_all(&["setting work_mem", "9MB"]);
}

#[test]
fn mariadb_is_measured_with_the_settings_of_each_side() {
    is_measured_with_the_settings_of_each_side(&mysql::server(""));
}

#[test]
fn mysql_is_measured_with_the_settings_of_each_side() {
    is_measured_with_the_settings_of_each_side(&mysql::mysql_server(""));
}

fn is_measured_with_the_settings_of_each_side(server: &LocalServer) {
    let workspace = Workspace::new();
    let url = mysql::url(server, "root");
    let globals = "SELECT @@GLOBAL.sort_buffer_size, @@GLOBAL.join_buffer_size";
    let before = mysql::ask(server, globals);
    let in_force = |sort: u32, join: u32| {
        format!("@@SESSION.sort_buffer_size = {sort} AND @@SESSION.join_buffer_size = {join}")
    };
    let ended = study(
        &workspace,
        &url,
        (
            ["target.sort_buffer_size=1M", "target.join_buffer_size=512K"],
            &in_force(1 << 20, 512 << 10),
        ),
        (
            [
                "target.sort_buffer_size=3145728",
                "target.join_buffer_size=4M",
            ],
            &in_force(3 << 20, 4 << 20),
        ),
    );
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
    let compared = ended.json();
    let is = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        difference(&compared, "setting sort_buffer_size"),
        is("1048576", "3145728")
    );
    holds(&workspace, "a", ("join_buffer_size", "524288"), 1.0);
    holds(&workspace, "b", ("join_buffer_size", "4194304"), 2.0);
    assert_eq!(mysql::ask(server, globals), before);
}

#[test]
fn an_unsupported_setting_is_invalid_input() {
    let (server, maria, workspace) = (postgres::server(""), mysql::server(""), Workspace::new());
    workspace.file("plan.toml", common::TINY);
    let running = postgres::url(&server, "dbdyno");
    let mariadb = mysql::url(&maria, "root");
    let cases = "
        --target PG --b target.work_mem=lots                    => work_mem
        --target postgres+local: --b target.work_mem=lots       => work_mem
        --target mariadb+local: --b target.no_such_setting=1      => no_such_setting
        --target PG --b target.shared_buffers=1GB               => compare a run before with one after
        --target PG --b target.search_path=public               => schema=NAME
        --target MY --b target.innodb_flush_log_at_trx_commit=2 => compare a run before with one after
    ";
    let cases = cases.replace("PG", &running).replace("MY", &mariadb);
    for (sides, says) in testing::rows(&cases) {
        let row = format!("ab plan.toml {sides} --repeat 2 --yes => {says}");
        workspace.refuses(2, &row);
        if workspace.archive().exists() {
            let runs = workspace.fine("runs list").stdout;
            assert!(!runs.contains("running"), "{sides}: {runs}");
        }
    }
}
