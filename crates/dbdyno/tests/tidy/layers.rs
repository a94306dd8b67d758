//! The order of the crates: each imports only from those below it.

use crate::holds;
use crate::repository::{File, imports, in_crate};

/// The house from the ground up: a crate imports only from those before it.
const HOUSE: &[&str] = &[
    "stats",
    "archive",
    "verdict",
    "host",
    "load",
    "engine",
    "engines/net",
    "engines/local-server",
    "engines/mock",
    "engines/sqlite",
    "engines/duckdb",
    "engines/postgres",
    "engines/mysql",
    "engines/oracle",
    "column-store",
    "engines",
    "storage",
    "lab",
    "workload",
    "workloads/oltp",
    "workloads/olap",
    "workloads/observe",
    "workloads/backup",
    "workloads/columnar",
    "workloads/mixed",
    "workloads",
    "fleet",
    "chart",
    "report",
    "live",
    "readmes",
    "dbdyno",
];
/// Crates outside the house, which import none of it.
const BESIDE: &[&str] = &["testing", "workspace-hack"];
/// Crates that may import less than what lies below them: the loop knows no SQL, no engine another one, and the report
/// must be able to render an archive without a database.
const NARROW: &[(&str, &[&str])] = &[
    ("stats", &[]),
    ("load", &["stats"]),
    ("chart", &[]),
    ("report", &["stats", "archive", "verdict", "chart"]),
    ("verdict", &["stats", "archive"]),
    ("live", &["stats", "archive", "report"]),
    ("host", &["stats", "archive"]),
    ("storage", &["stats", "archive", "host", "load"]),
    (
        "fleet",
        &["stats", "archive", "verdict", "engine", "engines"],
    ),
    ("engine", &["archive", "host"]),
    ("engines/net", &["engine"]),
    ("engines/local-server", &["archive", "host", "engine"]),
    ("engines/mock", &["stats", "archive", "engine"]),
    ("engines/sqlite", &["archive", "engine"]),
    ("engines/duckdb", &["archive", "host", "engine"]),
    ("engines/postgres", SERVERS),
    ("engines/mysql", SERVERS),
    ("engines/oracle", SERVERS),
    ("column-store", &["archive", "engine", "engines/duckdb"]),
    ("workloads/olap", WORKLOAD),
    ("workloads/observe", WORKLOAD),
];
/// For a client over the network, whose servers are started as well.
const SERVERS: &[&str] = &[
    "archive",
    "host",
    "engine",
    "engines/net",
    "engines/local-server",
];
/// For a workload that uses no other one.
const WORKLOAD: &[&str] = &[
    "stats", "archive", "host", "load", "engine", "engines", "lab", "workload",
];

/// Where a crate that is imported by its name stands in [`HOUSE`].
fn floor(import: &str) -> Option<usize> {
    let is_it = |house: &&str| house.rsplit('/').next() == Some(import);
    HOUSE.iter().position(is_it)
}

fn crates_import_from_below(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|f| f.path.ends_with("/Cargo.toml")) {
        let Some((name, _)) = in_crate(&file.path) else {
            continue;
        };
        if BESIDE.contains(&name) {
            let house = imports(&file.text).into_iter();
            let house = house.filter(|import| floor(import).is_some());
            complaints
                .extend(house.map(|import| format!("{}: must not import {import}", file.path)));
            continue;
        }
        let Some(own) = HOUSE.iter().position(|house| *house == name) else {
            complaints.push(format!("{}: the crate has no place in HOUSE", file.path));
            continue;
        };
        let narrow = NARROW.iter().find(|(narrow, _)| *narrow == name);
        let allowed = narrow.map_or(&HOUSE[..own], |(_, allowed)| allowed);
        for import in imports(&file.text) {
            // A fuzzer beside a crate imports that crate.
            let imported = floor(&import).filter(|imported| *imported != own);
            if imported.is_some_and(|imported| !allowed.contains(&HOUSE[imported])) {
                complaints.push(format!("{}: must not import {import}", file.path));
            }
        }
    }
    complaints
}

#[test]
fn a_crate_imports_only_from_those_below() {
    holds(
        crates_import_from_below,
        r#"
            crates/stats/Cargo.toml: [dependencies]\narchive.workspace = true
            crates/report/Cargo.toml: [dependencies]\nlab = { path = "../lab" }
            crates/load/Cargo.toml: [dependencies.engine]\nworkspace = true
            crates/archive/Cargo.toml: [dev-dependencies]\nreport.workspace = true
            crates/engines/mock/Cargo.toml: [target.'cfg(unix)'.dependencies]\nlab.workspace = true
            crates/attic/Cargo.toml: [package]\nname = "attic"
        "#,
        r#"
            crates/lab/Cargo.toml: [dependencies]\nstats.workspace = true\n# report\n\n[lints]\nworkspace = true
            crates/report/Cargo.toml: [dependencies]\narchive.workspace = true\naskama.workspace = true
        "#,
    );
}
