//! Fills a table, batch by batch.

use std::sync::atomic::Ordering;

use super::memory_file::MemoryFile;
use super::store::{Store, create};
use duckdb::appender::Appender;
use duckdb::explain::explain;
use duckdb::handle::Connection;
use duckdb::instance::SessionGuard;
use duckdb::source::DIALECT;
use engine::Result;
use engine::catalogue::{Cell, SourceTable};
use engine::tied::Tied;

/// Bytes that all batches under way may take together; half as much again waits to be packed.
const BATCHES_BYTES: u64 = 160 << 20;
/// A batch is no smaller than this, so that packing it is worth while.
const BATCH_BYTES_MIN: u64 = 8 << 20;

/// One of those that fill a table.
pub struct Writer<'a> {
    tied: Tied<Option<Appender<'static>>, Connection>,
    _guard: SessionGuard,
    store: &'a Store,
    /// The table that is filled.
    table: String,
    /// Where its rows go first: the table itself, or one that becomes a file.
    into: String,
    /// The statement that makes the latter; `None` at the levels without files.
    make: Option<String>,
    batch_bytes: u64,
    bytes: u64,
}

impl Store {
    /// One of those that fill a table.
    pub fn writer(&self, table: &SourceTable, writers: u32) -> Result<Writer<'_>> {
        let batch = (BATCHES_BYTES / u64::from(writers.max(1))).max(BATCH_BYTES_MIN);
        Writer::new(self, table, batch)
    }
}

impl<'a> Writer<'a> {
    fn new(store: &'a Store, table: &SourceTable, batch_bytes: u64) -> Result<Self> {
        let (connection, guard) = store.instance.connect()?;
        let number = store.staged.fetch_add(1, Ordering::Relaxed);
        let (into, make) = match store.level.zstd() {
            None => (table.name.clone(), None),
            Some(_) => {
                let into = format!("dbdyno_staged_{number}");
                let make = create(&into, table)?;
                (into, Some(make))
            }
        };
        Ok(Self {
            tied: Tied::new(connection, None),
            _guard: guard,
            store,
            table: table.name.clone(),
            into,
            make,
            batch_bytes,
            bytes: 0,
        })
    }

    /// Adds a row; true when a batch has become full and was committed.
    #[inline]
    pub fn put(&mut self, row: &[Cell<'_>]) -> Result<bool> {
        if self.tied.dependent().is_none() {
            self.begin()?;
        }
        let appender = self.tied.dependent_mut().as_mut();
        let appender = appender.expect("the lines above have just filled this place");
        self.bytes += appender.put_cells(row)? as u64;
        // A batch of whole groups is packed once and for all: what is left of a group would be packed with the
        // rows of another batch again.
        let is_full = if appender.is_between_groups() {
            self.bytes >= self.batch_bytes / 2
        } else {
            self.bytes >= self.batch_bytes
        };
        if is_full {
            self.commit()?;
        }
        Ok(is_full)
    }

    /// Commits what is left.
    pub fn finish(mut self) -> Result<()> {
        self.commit()
    }

    fn begin(&mut self) -> Result<()> {
        if let Some(make) = &self.make {
            self.run(make)?;
        }
        self.run("BEGIN TRANSACTION")?;
        // SAFETY: the appender goes into the dependent, and is taken out of it only to be finished.
        let connection = unsafe { self.tied.lasting_owner() };
        *self.tied.dependent_mut() = Some(Appender::of_cells(connection, &self.into)?);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let Some(appender) = self.tied.dependent_mut().take() else {
            return Ok(());
        };
        appender.finish()?;
        self.run("COMMIT")?;
        self.bytes = 0;
        if self.make.is_some() {
            self.write_file()?;
        }
        Ok(())
    }

    /// Makes a file of the rows that wait.
    fn write_file(&self) -> Result<()> {
        let file = MemoryFile::new()?;
        let level = self.store.level.zstd().unwrap_or_default();
        let from = DIALECT.quoted(&self.into);
        self.run(&format!(
            "COPY {from} TO '{}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level}, \
             USE_TMP_FILE false)",
            file.path()
        ))?;
        self.run(&format!("DROP TABLE {from}"))?;
        let mut files = self.store.files();
        files.entry(self.table.clone()).or_default().push(file);
        Ok(())
    }

    fn run(&self, sql: &str) -> Result<()> {
        let answer = self.tied.owner().query(sql).map(drop);
        answer.map_err(|m| explain(&format!("populating {}", self.table), &m))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    /// A table of a text and of bytes, as a source describes it.
    fn described() -> SourceTable {
        let url = duckdb::ENGINES.parse("duckdb:").unwrap();
        let target = duckdb::ENGINES.open(&url).unwrap();
        let mut session = target.open_session().unwrap();
        session
            .batch("CREATE TABLE words (word TEXT, raw BLOB)")
            .unwrap();
        let tables = target.source().unwrap().tables().unwrap();
        (tables.into_iter().find(|table| table.name == "words")).unwrap()
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_where_text_belongs() {
        let (table, bytes) = (described(), b"thirteen bytes or more\xff".as_slice());
        let store = Store::open(Level::None, 200_000_000).unwrap();
        store.begin(&table, 1).unwrap();
        let mut writer = store.writer(&table, 1).unwrap();
        let right = [
            Cell::Bytes("größer als zwölf".as_bytes()),
            Cell::Bytes(bytes),
        ];
        for row in [right, [Cell::Null, Cell::Bytes(b"")]] {
            assert!(!writer.put(&row).unwrap());
        }
        writer.finish().unwrap();
        let mut back = Vec::new();
        let mut reader = store.source().open_reader().unwrap();
        let copy = store.source().tables().unwrap().remove(0);
        reader
            .read(&copy, &None, &mut |row| {
                back.push(format!("{row:?}"));
                Ok(())
            })
            .unwrap();
        let nulls = [Cell::Null, Cell::Bytes(b"")];
        assert_eq!(back, [format!("{right:?}"), format!("{nulls:?}")]);
        for wrong in [bytes, b"\xff"] {
            let mut writer = store.writer(&table, 1).unwrap();
            let error = writer.put(&[Cell::Bytes(wrong), Cell::Null]).unwrap_err();
            assert!(error.message.contains("column 1 are not valid"), "{error}");
        }
    }
}
