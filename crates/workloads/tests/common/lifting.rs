#![allow(dead_code)] // each test file uses some of it

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use archive::Remark;
use columnar::{Chosen, ColumnarError, Level, LiftOptions, Lifted, LiftedTable, Unfit, lift};
use engine::Target;
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

/// Flags of the columns for which a lift is refused as unfit, and the message.
pub fn unfit(source: &dyn Source, level: Level, chosen: Chosen) -> (String, String) {
    let refused = lifted(source, level, chosen).err().unwrap();
    let message = refused.to_string();
    match refused {
        ColumnarError::Unholdable { flags, .. } => (flags, message),
        _ => panic!("{message}"),
    }
}

/// Tables and columns that a lift omits, with the reasons.
pub fn out(lifted: &Lifted) -> Vec<String> {
    lifted.left_out.iter().map(ToString::to_string).collect()
}

pub fn notes(lifted: &Lifted, label: &str) -> Vec<String> {
    let notes = of(lifted, label).notes;
    notes.iter().map(Remark::to_string).collect()
}

/// A started server.
pub fn server(url: &str) -> Arc<dyn Target> {
    open(&engines::parse(url).unwrap()).unwrap_or_else(|error| match error.kind {
        engine::ErrorKind::NotInstalled => testing::lacking(&error.message),
        _ => panic!("{error}"),
    })
}

pub const POSTGRES: &str = "postgres+local:?version=15&shared_buffers=16MB";
pub const MYSQL: &str =
    "mysql+local:?innodb_buffer_pool_size=16M&innodb_redo_log_capacity=16M&performance_schema=OFF";
pub const MARIADB: &str =
    "mariadb+local:?innodb_buffer_pool_size=16M&innodb_log_file_size=16M&performance_schema=OFF";
