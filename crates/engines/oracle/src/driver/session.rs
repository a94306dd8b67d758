//! One connection as a session.

use std::sync::Arc;
use std::time::Duration;

use super::bind::Array;
use super::client::Client;
use super::dialect::with_types;
use super::read::{add_row, keep_row};
use super::{guard, tables};
use crate::access::Access;
use engine::nonblocking::FirstRow;
use engine::plan_text::plan_text;
use engine::register;
use engine::value::{Identities, check_column};
use engine::{Fetched, Result, RowSource, Session, Statement, TargetError, Value};

/// An array is sent when it has so many rows, or bytes of texts.
const ROWS_OF_ARRAY: usize = 2000;
const BYTES_OF_ARRAY: usize = 1 << 17;

pub(super) struct OracleSession {
    client: Client,
    /// The user's schema.
    schema: String,
    access: Arc<Access>,
    /// Degree of parallelism of its statements.
    threads: u32,
}

impl OracleSession {
    pub(super) fn new(client: Client, access: Arc<Access>, threads: u32) -> Self {
        Self {
            client,
            schema: access.schema(),
            access,
            threads,
        }
    }

    /// Sends rows in arrays. By direct path, which more than one array takes, each is a transaction of its own: afterwards a transaction
    /// cannot touch the table.
    fn load(&mut self, table: &str, rows: &mut dyn RowSource, may_be_direct: bool) -> Result<u64> {
        let mut array = Array::default();
        let (mut sent, mut sql, mut is_direct) = (0, String::new(), false);
        loop {
            let mut put = |row: &[Value<'_>]| {
                array.push(row);
                Ok(())
            };
            let is_more = rows.next_row(&mut put)?;
            let is_full = array.rows() >= ROWS_OF_ARRAY || array.bytes() >= BYTES_OF_ARRAY;
            if array.rows() > 0 && (is_full || !is_more) {
                if sql.is_empty() {
                    let places: Vec<String> =
                        (1..=array.columns()).map(|n| format!(":{n}")).collect();
                    is_direct = may_be_direct && is_more;
                    let path = if is_direct {
                        "/*+ APPEND_VALUES */ "
                    } else {
                        ""
                    };
                    sql = format!(
                        "INSERT {path}INTO {}.{table} VALUES ({})",
                        self.schema,
                        places.join(", ")
                    );
                }
                sent += self.client.send(&sql, &mut array)?;
                if is_direct {
                    self.client.commit()?;
                    self.client.begin();
                }
            }
            if !is_more {
                return Ok(sent);
            }
        }
    }

    /// Where and how a table is stored that it makes.
    fn storage(&self) -> String {
        let named = self.access.tablespace.as_ref();
        named.map_or(String::new(), |name| format!(" TABLESPACE {name}"))
    }
}

impl Session for OracleSession {
    fn batch(&mut self, sql: &str) -> Result<()> {
        self.client.run(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.client.prepare(sql)
    }

    #[inline]
    fn execute(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<u64> {
        self.client.execute(statement, parameters, |_, _, _| Ok(()))
    }

    #[inline]
    fn fetch(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Fetched> {
        let mut fetched = Fetched::default();
        let rows = self
            .client
            .execute(statement, parameters, |row, kinds, scratch| {
                add_row(&mut fetched, row, kinds, scratch)
            })?;
        // A change returns none, and says how many it met.
        fetched.rows = fetched.rows.max(rows);
        Ok(fetched)
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.client.texts(sql)
    }

    fn plan(&mut self, sql: &str) -> Result<Option<String>> {
        let sql = self.client.spelled(sql);
        let rows = tables::explained(&mut self.client, &sql)?;
        Ok(rows.map(plan_text))
    }

    /// A parallel statement has two sets of servers where it sorts or joins, so only a serial one is known beforehand.
    fn workers(&mut self, _sql: &str) -> Result<Option<u32>> {
        Ok((self.threads <= 1).then_some(0))
    }

    fn columns(&self, statement: Statement) -> Option<usize> {
        let prepared = self.client.prepared(statement).ok()?;
        Some(prepared.kinds.len() + prepared.outs())
    }

    fn check_kept(&self, statement: Statement, column: usize) -> Result<()> {
        let prepared = self.client.prepared(statement)?;
        if prepared.outs() > 0 {
            return Ok(());
        }
        let is_kept = check_column(
            &prepared.kinds,
            column,
            |kind| kind.is_plain(),
            "NUMBER or VARCHAR2",
        );
        is_kept.map_err(|why| TargetError::statement(format!("oracle: {why}")))
    }

    fn fetch_first(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        first: &mut FirstRow,
    ) -> Result<u64> {
        first.clear();
        self.client
            .execute(statement, parameters, |row, kinds, scratch| {
                if first.is_empty() {
                    keep_row(row, kinds, first, scratch)?;
                }
                Ok(())
            })
    }

    fn limit_statements(&mut self, limit: Option<Duration>) -> Result<()> {
        self.client.limit(limit)
    }

    fn begin(&mut self) -> Result<()> {
        self.client.begin();
        Ok(())
    }

    fn begin_snapshot(&mut self) -> Result<()> {
        self.client.begin_snapshot()
    }

    fn commit(&mut self) -> Result<()> {
        self.client.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        self.client.rollback()
    }

    fn schema(&self) -> &str {
        &self.schema
    }

    fn relations(&mut self) -> Result<Identities> {
        guard::relations(&mut self.client, &self.schema)
    }

    fn create_table(&mut self, table: &str, sql: &str) -> Result<()> {
        let place = self.storage();
        let sql = format!("{}{place}", with_types(sql.trim().trim_end_matches(';')));
        tables::create(self, table, &sql)
    }

    fn create_table_as(&mut self, table: &str, query: &str) -> Result<()> {
        let place = self.storage();
        let schema = &self.schema;
        let sql = format!("CREATE TABLE {schema}.{table}{place} AS {query}");
        tables::create(self, table, &sql)
    }

    fn is_entered(&mut self, table: &str) -> Result<bool> {
        Ok(register::entered(self)?.contains_key(table))
    }

    fn drop_table(&mut self, table: &str) -> Result<bool> {
        tables::remove(self, table)
    }

    fn bulk_load(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        self.begin()?;
        let loaded = self.load(table, rows, true);
        match loaded {
            Ok(_) => self.commit()?,
            // The first error is the one to tell.
            Err(_) => drop(self.rollback()),
        }
        loaded
    }

    fn append(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        self.load(table, rows, false)
    }

    fn analyse(&mut self, table: &str) -> Result<()> {
        let schema = register::quoted(&self.schema);
        let table = register::quoted(&table.to_uppercase());
        self.client.run(&format!(
            "BEGIN dbms_stats.gather_table_stats({schema}, {table}); END;"
        ))
    }

    fn drop_index_if_exists(&mut self, table: &str, index: &str) -> Result<()> {
        let sql = format!(
            "SELECT count(*) FROM all_indexes WHERE owner = {} AND index_name = {}",
            register::quoted(&self.schema),
            register::quoted(&index.to_uppercase())
        );
        match self.client.text(&sql)?.as_deref() {
            Some("0") | None => Ok(()),
            Some(_) => self.drop_index(table, index),
        }
    }
}
