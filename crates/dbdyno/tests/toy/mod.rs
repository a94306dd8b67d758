//! An engine for tests: tables in the memory of a library, and all that a new engine has to say of itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use archive::TargetRecord;
use engine::{
    BulkRow, Cooled, Engine, EngineInfo, Engines, ErrorKind, Feature, Fetched, FirstRow,
    Identities, Inspection, Result, RowSource, Session, Statement, Target, TargetError, TargetUrl,
    Value, register,
};
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, ErrorCode, Rows};

/// The line with which a list of engines has it.
pub const ENGINES: Engines = Engines(&[&Toy]);

struct Toy;

impl Engine for Toy {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "toy",
            title: "tables in memory, for a test",
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        Ok("1".into())
    }

    fn check(&self, _url: &TargetUrl) -> Result<()> {
        Ok(())
    }

    fn inspect(&self, _url: &TargetUrl) -> Result<Inspection> {
        Ok(Inspection {
            engine: "Toy".into(),
            version: "1".into(),
            rules: "rule = []",
            ..Inspection::default()
        })
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("file:toy-{number}?mode=memory&cache=shared");
        Ok(Arc::new(Database {
            url: url.to_string(),
            kept: std::sync::Mutex::new(connected(&name)?),
            name,
        }))
    }
}

struct Database {
    url: String,
    name: String,
    /// The tables live as long as one connection to them.
    kept: std::sync::Mutex<Connection>,
}

fn connected(name: &str) -> Result<Connection> {
    Connection::open(name).map_err(|e| explain(&e))
}

fn explain(error: &rusqlite::Error) -> TargetError {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Conflict,
        _ => ErrorKind::Statement,
    };
    TargetError::new(kind, format!("toy: {error}"))
}

impl Target for Database {
    fn record(&self) -> TargetRecord {
        TargetRecord {
            name: "toy".into(),
            url: self.url.clone(),
            engine: "Toy".into(),
            engine_version: "1".into(),
            nodes: 1,
            device: None,
            settings: BTreeMap::new(),
            rights_missing: None,
        }
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        let has = matches!(
            feature,
            Feature::Tables | Feature::SmallTransactions | Feature::KeylessTables
        );
        (!has).then(|| format!("a toy has no {}", feature.words()))
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(Toyed {
            connection: connected(&self.name)?,
            statements: Vec::new(),
        }))
    }

    fn checkpoint(&self) -> Result<()> {
        let kept = self.kept.lock().unwrap();
        kept.cache_flush().map_err(|e| explain(&e))
    }

    fn cool(&self) -> Result<Cooled> {
        Ok(Cooled::Lukewarm("a toy is never cold".into()))
    }
}

struct Toyed {
    connection: Connection,
    statements: Vec<String>,
}

fn cell(value: &Value<'_>) -> Cell {
    match value {
        Value::Int(n) => Cell::Integer(*n),
        Value::Text(text) => Cell::Text((*text).to_owned()),
        Value::Blob(bytes) => Cell::Blob(bytes.to_vec()),
        Value::Decimal { unscaled, places } => {
            Cell::Real(*unscaled as f64 / 10_f64.powi(i32::from(*places)))
        }
        Value::Moment(us) => {
            let mut text = String::new();
            engine::plain::put_moment(*us, &mut text);
            Cell::Text(text)
        }
        Value::Date(days) => {
            let mut text = String::new();
            engine::plain::put_date(i64::from(*days), &mut text);
            Cell::Text(text)
        }
        Value::Null => Cell::Null,
    }
}

impl Toyed {
    fn query<T>(
        &self,
        sql: &str,
        parameters: &[Value<'_>],
        read: impl FnOnce(Rows<'_>, usize) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let run = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let columns = statement.column_count();
            let bound = rusqlite::params_from_iter(parameters.iter().map(cell));
            read(statement.query(bound)?, columns)
        };
        run().map_err(|e| explain(&e))
    }
}

impl Session for Toyed {
    fn batch(&mut self, sql: &str) -> Result<()> {
        self.connection.execute_batch(sql).map_err(|e| explain(&e))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.connection
            .prepare_cached(sql)
            .map_err(|e| explain(&e))?;
        self.statements.push(sql.to_owned());
        Ok(Statement(self.statements.len() - 1))
    }

    fn execute(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<u64> {
        let sql = &self.statements[statement.0];
        let run = || {
            let bound = rusqlite::params_from_iter(parameters.iter().map(cell));
            self.connection.prepare_cached(sql)?.execute(bound)
        };
        run().map(|rows| rows as u64).map_err(|e| explain(&e))
    }

    fn fetch(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Fetched> {
        let sql = &self.statements[statement.0];
        self.query(sql, parameters, |mut rows, columns| {
            let mut fetched = Fetched::default();
            while let Some(row) = rows.next()? {
                fetched.rows += 1;
                for column in 0..columns {
                    match row.get_ref(column)? {
                        ValueRef::Integer(n) => fetched.add_int(column, n),
                        ValueRef::Text(text) | ValueRef::Blob(text) => {
                            fetched.add_text(column, text);
                        }
                        ValueRef::Real(x) => fetched.add_int(column, x.to_bits() as i64),
                        ValueRef::Null => {}
                    }
                }
            }
            Ok(fetched)
        })
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.query(sql, &[], |mut rows, columns| {
            let mut texts = Vec::new();
            while let Some(row) = rows.next()? {
                let text = |column| {
                    Ok(match row.get_ref(column)? {
                        ValueRef::Null => None,
                        ValueRef::Integer(n) => Some(n.to_string()),
                        ValueRef::Real(x) => Some(x.to_string()),
                        ValueRef::Text(text) | ValueRef::Blob(text) => {
                            Some(String::from_utf8_lossy(text).into_owned())
                        }
                    })
                };
                texts.push((0..columns).map(text).collect::<rusqlite::Result<_>>()?);
            }
            Ok(texts)
        })
    }

    fn check_kept(&self, _statement: Statement, _column: usize) -> Result<()> {
        Ok(())
    }

    fn fetch_first(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        first: &mut FirstRow,
    ) -> Result<u64> {
        let sql = &self.statements[statement.0];
        first.clear();
        self.query(sql, parameters, |mut rows, columns| {
            let mut count = 0;
            while let Some(row) = rows.next()? {
                count += 1;
                for column in (0..columns).filter(|_| count == 1) {
                    match row.get_ref(column)? {
                        ValueRef::Integer(n) => first.push_int(n),
                        ValueRef::Text(text) | ValueRef::Blob(text) => first.push_text(text),
                        ValueRef::Real(x) => first.push_text(x.to_string().as_bytes()),
                        ValueRef::Null => first.push_null(),
                    }
                }
            }
            Ok(count)
        })
    }

    fn begin(&mut self) -> Result<()> {
        self.batch("BEGIN IMMEDIATE")
    }

    fn begin_read(&mut self) -> Result<()> {
        self.batch("BEGIN")
    }

    fn commit(&mut self) -> Result<()> {
        self.batch("COMMIT")
    }

    fn rollback(&mut self) -> Result<()> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.batch("ROLLBACK")
    }

    fn schema(&self) -> &str {
        "main"
    }

    fn relations(&mut self) -> Result<Identities> {
        let sql = "SELECT name, sql FROM main.sqlite_schema WHERE type = 'table'";
        self.texts(sql).map(register::identities)
    }

    fn create_table(&mut self, table: &str, sql: &str) -> Result<()> {
        register::create(self, table, sql, &|_| String::new())
    }

    fn drop_table(&mut self, table: &str) -> Result<bool> {
        register::drop(self, table, "")
    }

    fn is_entered(&mut self, table: &str) -> Result<bool> {
        Ok(register::entered(self)?.contains_key(table))
    }

    fn create_index(&mut self, table: &str, index: &str, columns: &str) -> Result<()> {
        self.batch(&format!("CREATE INDEX main.{index} ON {table} ({columns})"))
    }

    fn append(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        let mut loaded = 0;
        let mut put = |row: &BulkRow<'_>| {
            let marks = vec!["?"; row.len()].join(",");
            let sql = format!("INSERT INTO main.{table} VALUES ({marks})");
            loaded += 1;
            self.query(&sql, row, |mut rows, _| rows.next().map(|_| ()))
        };
        while rows.next_row(&mut put)? {}
        Ok(loaded)
    }
}
