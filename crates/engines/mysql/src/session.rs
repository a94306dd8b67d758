//! One connection as a session.

mod group;
mod nonblocking;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use super::access::Access;
use super::client::Client;
use super::overrides::set_up;
use super::read::{add_row, keep_row};
use super::wire::StatementId;
use super::{guard, load, name};
use engine::nonblocking::{FirstRow, Nonblocking};
use engine::plan_text::plan_text;
use engine::register;
use engine::value::{Identities, check_column};
use engine::{BulkRow, Fetched, Result, RowSource, Session, Statement, TargetError, Value};
use group::Group;

const BEGIN: &str = "START TRANSACTION";
const BEGIN_READ: &str = "START TRANSACTION READ ONLY";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

pub(super) struct MySqlSession {
    client: Client,
    /// The database that is dbdyno's own, as it stands in statements.
    schema: String,
    group: Group,
    access: Arc<Access>,
    /// The clause that compresses a new table; empty where it stays as it is or a setting does it.
    compression: &'static str,
}

/// Connects and sets what all sessions share.
pub(super) fn connect(access: &Access) -> Result<Client> {
    connect_with(access, false)
}

/// Connects for a user's own SQL, which keeps what the server has set where it can be measured with that.
pub(super) fn connect_for_script(access: &Access) -> Result<Client> {
    connect_with(access, true)
}

fn connect_with(access: &Access, for_script: bool) -> Result<Client> {
    let (tls, login) = (access.tls.as_ref(), access.login());
    let mut client = Client::connect(&access.place, tls, login, access.owner)?;
    let flavour = client.flavour();
    client.run(&set_up(flavour, for_script, access.writes_anyway))?;
    guard::refuse_proxy(&mut client, access)?;
    guard::check_database(&mut client, access)?;
    Ok(client)
}

impl MySqlSession {
    pub(super) fn new(client: Client, access: Arc<Access>, compression: &'static str) -> Self {
        Self {
            client,
            schema: name::identifier(&access.database),
            group: Group::default(),
            access,
            compression,
        }
    }

    /// The clauses that compress a table and place it in its own directory.
    fn table_options(&self, table: &str) -> String {
        let place = self.access.table_directories.get(table);
        let place = place.map_or(String::new(), |place| {
            let place = register::quoted(&place.display().to_string());
            format!(" DATA DIRECTORY = {place}")
        });
        format!("{}{place}", self.compression)
    }

    fn load(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        let mut sent = 0;
        let place = format!("{}.{table}", self.schema);
        let finished = self.client.load(&load::statement(&place), |packet| {
            let begin = packet.len();
            // The last row may go beyond that; packets may be far longer.
            while packet.len() - begin < load::PACKET_BYTES {
                let mut put = |row: &BulkRow<'_>| {
                    load::put_row(row, packet);
                    sent += 1;
                    Ok(())
                };
                if !rows.next_row(&mut put)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        // LOCAL turns errors of single rows into warnings and passes over the rows.
        if finished.changed != sent || finished.warnings > 0 {
            return Err(self.refused_rows(table, sent, finished.changed));
        }
        Ok(sent)
    }

    fn refused_rows(&mut self, table: &str, sent: u64, loaded: u64) -> TargetError {
        let why = self
            .client
            .read("SHOW WARNINGS LIMIT 1")
            .ok()
            .and_then(|rows| rows.into_iter().next()?.into_iter().nth(2)?)
            .unwrap_or_else(|| "no reason given".into());
        TargetError::statement(format!(
            "mysql: bulk load failed: only {loaded} of {sent} rows were loaded into {table} unchanged: {why}"
        ))
    }
}

impl Session for MySqlSession {
    fn batch(&mut self, sql: &str) -> Result<()> {
        self.client.run(sql).map(|_| ())
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.client.prepare(sql).map(|id| Statement(id.0))
    }

    #[inline]
    fn execute(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<u64> {
        let id = StatementId(statement.0);
        let finished = self.client.execute(id, parameters, |_| Ok(()))?;
        Ok(finished.changed)
    }

    #[inline]
    fn fetch(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Fetched> {
        let mut fetched = Fetched::default();
        self.client
            .execute(StatementId(statement.0), parameters, |row| {
                add_row(&mut fetched, row)
            })?;
        Ok(fetched)
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.client.read(sql)
    }

    fn plan(&mut self, sql: &str) -> Result<Option<String>> {
        let rows = self.client.read(&format!("EXPLAIN {sql}"))?;
        Ok(Some(plan_text(rows)))
    }

    /// A statement runs on one thread.
    fn workers(&mut self, _sql: &str) -> Result<Option<u32>> {
        Ok(Some(0))
    }

    fn columns(&self, statement: Statement) -> Option<usize> {
        Some(self.client.columns(StatementId(statement.0)).len())
    }

    fn check_kept(&self, statement: Statement, column: usize) -> Result<()> {
        let columns = self.client.columns(StatementId(statement.0));
        let is_kept = check_column(columns, column, |of| of.is_plain(), "SIGNED or CHAR");
        is_kept.map_err(|why| TargetError::statement(format!("mysql: {why}")))
    }

    fn fetch_first(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        first: &mut FirstRow,
    ) -> Result<u64> {
        let mut rows = 0;
        first.clear();
        self.client
            .execute(StatementId(statement.0), parameters, |row| {
                rows += 1;
                match rows {
                    1 => keep_row(row, first),
                    _ => Ok(()),
                }
            })?;
        Ok(rows)
    }

    fn nonblocking(&mut self) -> Option<&mut dyn Nonblocking> {
        Some(self)
    }

    fn limit_statements(&mut self, limit: Option<Duration>) -> Result<()> {
        // 0 is none.
        let limit_ms = limit.map_or(0, |limit| limit.as_millis().max(1));
        let (name, units) = self.client.flavour().statement_limit;
        let limit = limit_ms as f64 * units / 1e3;
        let sql = format!("SET SESSION {name} = {limit}");
        self.client.run(&sql).map(drop)
    }

    fn begin(&mut self) -> Result<()> {
        self.client.run(BEGIN).map(drop)
    }

    fn begin_read(&mut self) -> Result<()> {
        self.client.run(BEGIN_READ).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.client.run(COMMIT).map(drop)
    }

    fn rollback(&mut self) -> Result<()> {
        // After a deadlock the server has rolled back already, which a second time does not hurt.
        if self.client.in_transaction() {
            self.client.run(ROLLBACK).map(drop)
        } else {
            Ok(())
        }
    }

    fn schema(&self) -> &str {
        &self.schema
    }

    fn relations(&mut self) -> Result<Identities> {
        guard::relations(&mut self.client, self.access.database.as_str())
    }

    fn create_table(&mut self, table: &str, sql: &str) -> Result<()> {
        let options = self.table_options(table);
        tables::create(self, table, sql, &options)
    }

    fn create_table_as(&mut self, table: &str, query: &str) -> Result<()> {
        let options = self.table_options(table);
        tables::create_as(self, table, query, &options)
    }

    fn is_entered(&mut self, table: &str) -> Result<bool> {
        Ok(register::entered(self)?.contains_key(table))
    }

    fn drop_table(&mut self, table: &str) -> Result<bool> {
        tables::remove(self, table)
    }

    fn append(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        self.load(table, rows)
    }

    fn analyse(&mut self, table: &str) -> Result<()> {
        let schema = &self.schema;
        self.client
            .run(&format!("ANALYZE TABLE {schema}.{table}"))
            .map(drop)
    }

    fn drop_index(&mut self, table: &str, index: &str) -> Result<()> {
        let schema = &self.schema;
        self.client
            .run(&format!("DROP INDEX {index} ON {schema}.{table}"))
            .map(drop)
    }

    fn drop_index_if_exists(&mut self, table: &str, index: &str) -> Result<()> {
        let count = self.prepare(
            "SELECT count(*) FROM information_schema.statistics \
             WHERE table_schema = database() AND table_name = ? AND index_name = ?",
        )?;
        let found = self.fetch(count, &[Value::Text(table), Value::Text(index)])?;
        if found.digest == 0 {
            return Ok(());
        }
        self.drop_index(table, index)
    }
}
