//! A database file of dbdyno's own, for figures that other programs take further: known by a mark in it, never somebody
//! else's, and changed in transactions.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::appender::Appender;
use super::cells::hand_out;
use super::claim::Claim;
use super::explain::explain;
use super::handle::{Connection, Database};
use super::library::library;
use super::set_up::{SetUp, options_read_only};
use engine::catalogue::Cell;
use engine::register::quoted;
use engine::{ErrorKind, Result, TargetError};

/// The mark of every database file of the engine, and its offset. Other files it would open by whatever fits their names.
const MAGIC: &[u8] = b"DUCK";
const MAGIC_AT: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Table that holds the mark, and nothing else.
    pub table: &'static str,
    pub application: &'static str,
    /// Version of its tables. A file of another version is refused.
    pub version: u32,
    /// Statements that make the tables of a new file.
    pub tables: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read and change it; an absent or empty one is made.
    Write,
    /// Read it; it stays as it is.
    Read,
}

/// An open file; fields are dropped in this order.
pub struct OwnFile {
    connection: Connection,
    _database: Database,
    claim: Claim,
}

impl OwnFile {
    /// Opens the file at `path`, or makes it.
    ///
    /// # Errors
    /// When the engine is not installed; when the file is absent ([`Access::Read`]), damaged or in use; when it is not of
    /// this mark and version ([`ErrorKind::Foreign`]), and then it is left as it was.
    pub fn open(path: &Path, mark: &Mark, access: Access) -> Result<Self> {
        let loaded = library()?;
        let claim = Claim::take(path)?;
        let is_there = std::fs::metadata(claim.path()).is_ok_and(|found| found.len() > 0);
        if access == Access::Read && !is_there {
            let what = format!("there is no file {}", path.display());
            return Err(TargetError::unreachable(what));
        }
        let context = format!("cannot open {}", path.display());
        let open = |options: &[(&str, String)]| {
            let database = Database::open(&loaded.api, Some(claim.path()), options);
            let database = database.map_err(|m| explain(&context, &m))?;
            let connection = database.connect().map_err(|m| explain(&context, &m))?;
            Ok::<_, TargetError>((connection, database))
        };
        if is_there {
            refuse_others(claim.path(), path)?;
            // Read-only at first, so that somebody else's is left as it is, log and all.
            let (connection, _database) = open(&options_read_only())?;
            known(&connection, mark, path)?;
        }
        let options = match access {
            Access::Write => SetUp::default().options(),
            Access::Read => options_read_only(),
        };
        let (connection, database) = open(&options)?;
        let file = Self {
            connection,
            _database: database,
            claim,
        };
        if !is_there {
            file.change(|file| {
                let [table, application] = [mark.table.to_owned(), quoted(mark.application)];
                file.run(&format!(
                    "CREATE TABLE {table} (application VARCHAR NOT NULL, version INTEGER NOT NULL); \
                     INSERT INTO {table} VALUES ({application}, {}); {}",
                    mark.version, mark.tables
                ))
            })?;
            // By some names the engine opens a database in memory, whose rows would be gone. The file is not opened to look:
            // closing it would release the engine's lock.
            if !std::fs::metadata(file.claim.path()).is_ok_and(|found| found.len() > 0) {
                let name = path.display();
                let what = format!(
                    "DuckDB makes no database called {name}; choose a name that ends in .duckdb"
                );
                return Err(TargetError::unreachable(what));
            }
        }
        Ok(file)
    }

    /// Does something in one transaction, which ends with the first error as if nothing had been done.
    pub fn change<T, E: From<TargetError>>(
        &self,
        work: impl FnOnce(&Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.run("BEGIN TRANSACTION")?;
        match work(self) {
            Ok(value) => {
                self.run("COMMIT")?;
                // The log is not needed any longer, and the file is whole for whoever copies it.
                self.run("CHECKPOINT")?;
                Ok(value)
            }
            Err(error) => {
                // The first error is the one to tell.
                let _ = self.run("ROLLBACK");
                Err(error)
            }
        }
    }

    /// Runs statements without a result.
    pub fn run(&self, sql: &str) -> Result<()> {
        self.run_as(sql, "a statement failed")
    }

    fn run_as(&self, sql: &str, context: &str) -> Result<()> {
        let done = self.connection.query(sql).map(drop);
        done.map_err(|message| explain(context, &message))
    }

    /// Hands out every row of a query.
    pub fn read(&self, sql: &str, take: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let answer = self.connection.query(sql);
        let mut answer = answer.map_err(|message| explain("a query failed", &message))?;
        hand_out(&mut answer, take)
    }

    /// A bulk load into one table, in the transaction that is open; [`Rows::finish`] ends it.
    pub fn rows(&self, table: &str) -> Result<Rows<'_>> {
        Appender::of_cells(&self.connection, table).map(Rows)
    }

    /// Writes the rows of a query to a Parquet file.
    pub fn write_parquet(&self, query: &str, path: &Path) -> Result<()> {
        let Some(name) = path.to_str() else {
            let what = format!("the name {} is not UTF-8", path.display());
            return Err(TargetError::statement(what));
        };
        let to = quoted(name);
        let sql = format!("COPY ({query}) TO {to} (FORMAT parquet, COMPRESSION zstd)");
        self.run_as(&sql, &format!("cannot write {name}"))
    }
}

/// A bulk load under way.
pub struct Rows<'a>(Appender<'a>);

impl Rows<'_> {
    /// Adds one row, with a cell for each column of the table.
    pub fn put(&mut self, row: &[Cell<'_>]) -> Result<()> {
        self.0.put_cells(row).map(|_| ())
    }

    /// Hands over what is left.
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

/// Refuses a file that is no database of the engine, before the engine sees it.
fn refuse_others(file: &Path, path: &Path) -> Result<()> {
    let mut begin = Vec::new();
    let read = File::open(file).and_then(|file| {
        let begin_bytes = (MAGIC_AT + MAGIC.len()) as u64;
        file.take(begin_bytes).read_to_end(&mut begin)
    });
    let (kind, what) = match read {
        Ok(_) if begin.get(MAGIC_AT..) == Some(MAGIC) => return Ok(()),
        Ok(_) => {
            let what = "is not a DuckDB database; choose another file; this one was not changed";
            (ErrorKind::Foreign, format!("{} {what}", path.display()))
        }
        Err(error) => {
            let what = format!("cannot read {}: {error}", path.display());
            (ErrorKind::Unreachable, what)
        }
    };
    Err(TargetError::new(kind, what))
}

/// Refuses a file that does not carry the mark.
fn known(connection: &Connection, mark: &Mark, path: &Path) -> Result<()> {
    let foreign = |what: String| {
        let advice = "choose another file; this one was not changed";
        let message = format!("{} {what}; {advice}", path.display());
        Err(TargetError::foreign(message))
    };
    let table = mark.table;
    let sql = format!("SELECT application, version::VARCHAR FROM main.{table}");
    // Without the table, or with another one of its name, there is no answer.
    let rows = connection.texts(&sql).unwrap_or_default();
    let Some([application, version]) = rows.first().map(Vec::as_slice) else {
        return foreign(format!("is not a file of {}", mark.application));
    };
    if rows.len() != 1 || application != mark.application {
        return foreign(format!("is not a file of {}", mark.application));
    }
    if *version == mark.version.to_string() {
        Ok(())
    } else {
        foreign(format!(
            "has tables of version {version}, this dbdyno writes version {}",
            mark.version
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Mark = Mark {
        table: "dbdyno_test",
        application: "dbdyno test",
        version: 1,
        tables: "CREATE TABLE figure (name VARCHAR, value DOUBLE)",
    };

    fn values(file: &OwnFile) -> Vec<f64> {
        let mut values = Vec::new();
        let mut take = |row: &[Cell<'_>]| {
            if let [Cell::Double(value)] = row {
                values.push(*value);
            }
            Ok(())
        };
        file.read("SELECT value FROM figure ORDER BY value", &mut take)
            .unwrap();
        values
    }

    fn put(file: &OwnFile, value: f64) -> Result<()> {
        let mut rows = file.rows("figure")?;
        rows.put(&[Cell::Bytes(b"x"), Cell::Double(value)])?;
        rows.finish()
    }

    #[test]
    fn it_is_made_changed_whole_or_not_at_all_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.duckdb");
        assert!(OwnFile::open(&path, &MARK, Access::Read).is_err());
        let file = OwnFile::open(&path, &MARK, Access::Write).unwrap();
        file.change(|file| put(file, 1.5)).unwrap();
        let failed: Result<()> = file.change(|file| {
            put(file, 2.5)?;
            Err(TargetError::statement("no"))
        });
        assert_eq!(failed.unwrap_err().message, "no");
        drop(file);
        let before = std::fs::read(&path).unwrap();
        let file = OwnFile::open(&path, &MARK, Access::Read).unwrap();
        assert_eq!(values(&file), [1.5]);
        assert!(file.change(|file| put(file, 3.5)).is_err());
        let parquet = dir.path().join("it's.parquet");
        file.write_parquet("SELECT * FROM figure", &parquet)
            .unwrap();
        assert!(std::fs::read(&parquet).unwrap().starts_with(b"PAR1"));
        drop(file);
        let after = std::fs::read(&path).unwrap();
        assert_eq!(after, before, "reading changes nothing");
    }

    #[test]
    fn what_is_not_ours_is_refused_and_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let [ours, text, csv] = ["ours.duckdb", "text", "a.csv"].map(|name| dir.path().join(name));
        std::fs::write(&csv, "a,b\n1,2\n").unwrap();
        drop(OwnFile::open(&ours, &MARK, Access::Write).unwrap());
        let lines = "this is no database, whatever its name\n".repeat(400);
        std::fs::write(&text, lines).unwrap();
        let [mut other, mut newer, mut elsewhere] = [MARK; 3];
        (other.application, newer.version, elsewhere.table) = ("other", 2, "figure");
        for (path, mark) in [
            (&ours, other),
            (&ours, newer),
            (&ours, elsewhere),
            (&text, MARK),
            (&csv, MARK),
        ] {
            let before = std::fs::read(path).unwrap();
            let refused = OwnFile::open(path, &mark, Access::Write).err().unwrap();
            assert_eq!(refused.kind, ErrorKind::Foreign, "{refused}");
            assert_eq!(std::fs::read(path).unwrap(), before);
        }
    }
}
