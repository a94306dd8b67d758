//! Tests against the real library; without it they fail and say how to get it.

mod device;
mod errors;
mod figures;
mod loads;
mod rows;

use std::sync::Arc;

use engine::{Session, Target};
use rows::{CREATE, Rows, loaded};

/// The database file in `dir` as a target.
fn file_target(dir: &tempfile::TempDir) -> Arc<dyn Target> {
    target(&format!("duckdb:{}/t.db", dir.path().display()))
}

fn target(url: &str) -> Arc<dyn Target> {
    crate::ENGINES
        .open(&crate::ENGINES.parse(url).unwrap())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn error_of(url: &str) -> engine::TargetError {
    crate::ENGINES
        .open(&crate::ENGINES.parse(url).unwrap())
        .err()
        .unwrap()
}

/// Digest of a query without parameters.
fn digest(session: &mut dyn Session, sql: &str) -> u64 {
    let statement = session.prepare(sql).unwrap();
    session.fetch(statement, &[]).unwrap().digest
}
