//! The examples in the READMEs of all crates, compiled as one program.
//!
//! In its own crate, each example would make cargo compile that crate once more to search it.

#![cfg(doctest)]

macro_rules! readmes {
    ($($name:ident $path:literal),* $(,)?) => {
        $(
            #[doc = include_str!(concat!("../../", $path, "/README.md"))]
            struct $name;
        )*
    };
}

readmes!(
    Archive "archive",
    ColumnStore "column-store",
    Engine "engine",
    Engines "engines",
    Duckdb "engines/duckdb",
    Mock "engines/mock",
    Mysql "engines/mysql",
    Oracle "engines/oracle",
    Postgres "engines/postgres",
    Sqlite "engines/sqlite",
    Fleet "fleet",
    Host "host",
    Lab "lab",
    Live "live",
    Report "report",
    Stats "stats",
    Storage "storage",
    Testing "testing",
    Verdict "verdict",
    Workload "workload",
    Workloads "workloads",
    Backup "workloads/backup",
    Chart "chart",
    Columnar "workloads/columnar",
    Mixed "workloads/mixed",
    Observe "workloads/observe",
    Olap "workloads/olap",
    Oltp "workloads/oltp",
);
