//! Other contents of a database stay unchanged by any measurement: a database with everything that dbdyno can load goes through the verbs
//! and studies, and every row of it is compared.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/postgres.rs"]
mod postgres;

use std::collections::BTreeMap;

use common::{SCRIPT_STEP, Workspace, need_duckdb};
use local_server::LocalServer;
use testing::Says;

/// Tables of the library that stay, and one whose rows a test changes.
const LIBRARY: &str = r#"name = "components"
sample_ms = 50
[[step]]
use = "library"
tests = ["T611", "T716"]
jobs = [1]
mode = "time"
seconds = 0.2
"#;
/// Loads that would replace existing data: order entry of another size, the analytical database of another scale.
const LARGER: [(&str, &str); 2] = [
    (
        "larger.toml",
        "name = \"larger\"\n[[step]]\nuse = \"oltp\"\n[step.oltp]\ndo = \"load\"\nwarehouses = 2\nwarehouse_rows = \"tenth\"\n",
    ),
    (
        "scaled.toml",
        "name = \"scaled\"\n[[step]]\nuse = \"olap\"\n[step.olap]\ndo = \"load\"\nscale = 0.02\n",
    ),
];

/// Verbs that measure in such a database: ORDERS stands for its URL, QUERIES for that of the analytical tables.
const VERBS: [&str; 13] = [
    "ab components.toml --target ORDERS --aa --repeat 1 --yes",
    "ab script.toml --target ORDERS --aa --repeat 1 --yes",
    "ab script.toml --target ORDERS --aa --repeat 1 --yes --interleave 20ms",
    "ab components.toml --target ORDERS --b step.jobs=[2] --repeat 1 --yes --interleave 20ms",
    "ab components.toml --target QUERIES --aa --repeat 1 --yes",
    "ab script.toml --target QUERIES --aa --repeat 1 --yes",
    "check QUERIES",
    "study platform --size quick --target QUERIES --yes --set step.tests=[\"T611\"] --set step.jobs=[1] --set step.threads=[1]",
    "data load columnar --target QUERIES --levels query-high --memory 200MB",
    "data estimate --target QUERIES --memory 200MB",
    "data check oltp --target ORDERS",
    "data check olap --target QUERIES --queries 6",
    "run olap --target QUERIES --queries 6 --yes",
];
/// The workload that changes the rows of its own tables.
const OF_ORDER_ENTRY: &str = "run oltp --target ORDERS --clients 1 --time 0.3 --ramp-up 0.1 --set warm_up_max_seconds=0 --set check=none --yes";
const ORDER_ENTRY: [&str; 10] = [
    "dbdyno_oltp",
    "warehouse",
    "district",
    "customer",
    "history",
    "orders",
    "new_order",
    "order_line",
    "item",
    "stock",
];
/// The cheapest places for the same: a file, and a server's database.
const IN_A_FILE: &str = "check --compatibility --yes ORDERS";
const IN_A_SERVER: [&str; 2] = [
    "run columnar --target QUERIES --scale 0.01 --levels query-high --dop 1 --clients 1 --queries 6 --memory 200MB --yes",
    "observe ORDERS --time 1s",
];

/// A database with order entry, and the URL of its analytical tables.
struct Loaded {
    workspace: Workspace,
    url: String,
    queries: String,
}

impl Loaded {
    fn new(workspace: Workspace, url: String, queries: String) -> Self {
        workspace.file("components.toml", LIBRARY);
        let script = format!("name = \"script\"\nsample_ms = 50\n{SCRIPT_STEP}");
        workspace.file("script.toml", &script);
        for (file, plan) in LARGER {
            workspace.file(file, plan);
        }
        workspace.load_order_entry(&url);
        workspace.fine(&[
            "data", "load", "olap", "--target", &queries, "--scale", "0.01",
        ]);
        workspace.fine(&["run", "components.toml", "--target", &url]);
        workspace.fine(&["run", "script.toml", "--target", &url]);
        Self {
            workspace,
            url,
            queries,
        }
    }

    fn run(&self, verb: &str) {
        let words = verb.split_whitespace().map(|word| match word {
            "ORDERS" => &self.url,
            "QUERIES" => &self.queries,
            word => word,
        });
        let ended = self.workspace.dbdyno(&words.collect::<Vec<_>>());
        // The verdict does not matter here.
        assert!(matches!(ended.status, 0 | 3), "{verb}: {}", ended.stderr);
    }

    /// Runs every verb and study in it; those that would replace data are refused.
    fn go_through(&self, more: &[&str], after_each: &dyn Fn(&str)) {
        for verb in VERBS.iter().chain(more) {
            self.run(verb);
            after_each(verb);
        }
        for ((plan, _), url) in LARGER.iter().zip([&self.url, &self.queries]) {
            let refused = self
                .workspace
                .dbdyno(&["run", plan, "--target", url, "--yes"]);
            assert_eq!(refused.status, 2, "{plan}: {}", refused.stderr);
            refused.sentence().says("--replace");
            after_each(plan);
        }
    }
}

type Tables = BTreeMap<String, String>;

#[test]
fn a_database_of_a_server_keeps_everything() {
    need_duckdb();
    let server = postgres::server("");
    postgres::psql(
        &server,
        "CREATE TABLE public.mine AS SELECT generate_series(1, 100) AS id",
    );
    let url = postgres::url(&server, server.superuser());
    let queries = format!("{url}?schema=queries");
    let loaded = Loaded::new(Workspace::new(), url, queries);
    let before = of_server(&server);
    assert!(before.len() > 20, "{before:?}");
    // Comparing every row after each verb would take most of the time.
    loaded.go_through(&IN_A_SERVER, &|_| {});
    assert_kept(&before, &of_server(&server), "all of them");
}

#[test]
fn files_keep_everything() {
    need_duckdb();
    let workspace = Workspace::new();
    let files = ["orders.db", "queries.db"];
    let [url, queries] = files.map(|file| workspace.url("sqlite", file));
    let paths = files.map(|file| workspace.path(file));
    let loaded = Loaded::new(workspace, url, queries);
    let tables = || paths.each_ref().map(|path| of_file(path));
    let before = tables();
    assert!(before.iter().all(|tables| tables.len() > 8), "{before:?}");
    loaded.go_through(&[IN_A_FILE], &|verb| {
        for (before, after) in before.iter().zip(tables()) {
            assert_kept(before, &after, verb);
        }
    });
    loaded.run(OF_ORDER_ENTRY);
    for (before, after) in before.iter().zip(tables()) {
        let others = before
            .iter()
            .filter(|(table, _)| !ORDER_ENTRY.contains(&table.as_str()));
        let others = others
            .map(|(table, rows)| (table.clone(), rows.clone()))
            .collect();
        assert_kept(&others, &after, OF_ORDER_ENTRY);
    }
}

/// True except for the working tables of this test's plan, and the register of table identities, which a reload changes.
fn is_compared(table: &str) -> bool {
    !["dbdyno_changed", "dbdyno_tables"].contains(&table)
}

/// Every earlier table still exists with its rows; plans may have created others.
fn assert_kept(before: &Tables, after: &Tables, verb: &str) {
    for (table, rows) in before {
        assert_eq!(after.get(table), Some(rows), "{table}, after {verb}");
    }
}

fn of_server(server: &LocalServer) -> Tables {
    let tables = "SELECT schemaname || '.' || tablename FROM pg_tables \
                  WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    let names = postgres::psql(server, tables);
    let names: Vec<&str> = names
        .lines()
        .filter(|name| is_compared(name.rsplit('.').next().unwrap()))
        .collect();
    let digest = |name: &&str| {
        format!("SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM {name} t;")
    };
    let digests = postgres::psql(server, &names.iter().map(digest).collect::<String>());
    let names = names.into_iter().map(str::to_owned);
    names.zip(digests.lines().map(str::to_owned)).collect()
}

/// Every table of a SQLite file, with a digest of its rows.
fn of_file(path: &std::path::Path) -> Tables {
    let database = rusqlite::Connection::open(path).unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        let texts = statement.query_map([], |row| row.get(0)).unwrap();
        texts.map(Result::unwrap).collect()
    };
    let names =
        texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    let names = names.into_iter().filter(|name| is_compared(name));
    let digest = |name: String| {
        let columns = texts(&format!("SELECT name FROM pragma_table_info('{name}')"));
        let sums = columns
            .iter()
            .map(|c| format!("|| ' ' || ifnull(sum(length({c})), '') || ' ' || total({c})"));
        let sql = format!("SELECT count(*) {} FROM {name}", sums.collect::<String>());
        (name, texts(&sql).concat())
    };
    names.map(digest).collect()
}
