#![allow(dead_code)] // each test file uses some of it

use std::sync::atomic::AtomicBool;

use columnar::{Chosen, ColumnarError, Level, LiftOptions, Lifted, LiftedTable, Unfit, lift};
use engine::source::Source;
use engines::{open, open_source};

pub fn options(level: Level, chosen: Chosen) -> LiftOptions {
    LiftOptions {
        chosen,
        level,
        memory_bytes: Some(2_000_000_000),
        jobs: Some(2),
    }
}

pub fn lifted(source: &dyn Source, level: Level, chosen: Chosen) -> Result<Lifted, ColumnarError> {
    let stop = AtomicBool::new(false);
    lift(source, &options(level, chosen), &stop, &|_| {})
}

pub fn valid(source: &dyn Source, level: Level, chosen: Chosen) -> Lifted {
    let lifted = lifted(source, level, chosen).unwrap_or_else(|e| panic!("{level}: {e}"));
    for table in &lifted.tables {
        assert_eq!(table.reasons, [], "{} at {level}", table.label);
    }
    lifted
}

pub fn of(lifted: &Lifted, label: &str) -> LiftedTable {
    let found = lifted.tables.iter().find(|table| table.label == label);
    found.unwrap_or_else(|| panic!("no {label}")).clone()
}

pub fn labels(lifted: &Lifted) -> Vec<&str> {
    let mut labels: Vec<&str> = lifted.tables.iter().map(|t| t.label.as_str()).collect();
    labels.sort_unstable();
    labels
}

pub fn named(tables: &[&str]) -> Chosen {
    Chosen {
        tables: tables.iter().map(|name| (*name).to_owned()).collect(),
        ..Chosen::default()
    }
}

pub fn with(unfit: Unfit) -> Chosen {
    Chosen {
        unfit,
        ..Chosen::default()
    }
}

/// A file of an engine with these statements run in it.
pub struct File {
    pub directory: tempfile::TempDir,
    pub source: Box<dyn Source>,
}

pub fn file(engine: &str, statements: &str) -> File {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("{engine}:{}/t.db", directory.path().display());
    let target = open(&engines::parse(&url).unwrap()).unwrap();
    let mut session = target.open_session().unwrap();
    session.batch(statements).unwrap();
    drop(session);
    target.checkpoint().unwrap();
    drop(target);
    File {
        source: open_source(&engines::parse(&url).unwrap()).unwrap(),
        directory,
    }
}
