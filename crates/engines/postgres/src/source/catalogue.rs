//! The tables of a database, described without waiting for the lock of anybody.

use std::collections::HashMap;

use super::super::connection::Connection;
use super::super::overrides::OF_SESSIONS;
use super::{DIALECT, PostgresSource, kind_of};
use engine::catalogue::{SourceColumn, SourceTable, Stored, enter};
use engine::{Result, Value};

/// Reason for a table with policies that hold for this user.
const ROW_SECURITY: &str = "row security is active for this user: hidden rows are not read, and the size on disk is unknown";

/// Every column of every table, without what only a lock on the table would tell. A domain is its base type.
const CATALOGUE: &str = "SELECT c.oid::text, n.nspname, c.relname, c.relkind::text, c.reltuples::bigint::text, \
     CASE WHEN NOT has_schema_privilege(n.oid, 'USAGE') THEN 'schema' \
       WHEN NOT has_any_column_privilege(c.oid, 'SELECT') THEN 'table' \
       WHEN c.relkind = 'm' AND NOT c.relispopulated THEN 'rows' END, \
     has_table_privilege(c.oid, 'SELECT')::text, (c.relrowsecurity AND row_security_active(c.oid))::text, \
     a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text, \
     CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, NULL) \
       ELSE format_type(a.atttypid, NULL) END, \
     CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END::text, \
     has_column_privilege(c.oid, a.attnum, 'SELECT')::text \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
     LEFT JOIN pg_type t ON t.oid = a.atttypid \
     WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND NOT c.relispartition \
     AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
     ORDER BY n.nspname, c.relname, a.attnum";

/// Bytes of the rows of a table with what is stored aside of them, and its blocks: of one, or of all that have rows of
/// their own. The server locks each table for it.
const SIZES: &str = "SELECT c.oid::text, CASE c.relkind WHEN 'p' THEN \
       (SELECT sum(pg_table_size(relid)) FROM pg_partition_tree(c.oid)) ELSE pg_table_size(c.oid) END::text, \
     (pg_relation_size(c.oid) / current_setting('block_size')::int)::text \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition AND c.oid = coalesce($1::text::oid, c.oid) \
     AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
     AND has_any_column_privilege(c.oid, 'SELECT')";
/// Milliseconds that sizes wait for a lock: of all tables, and of one.
const PATIENCE_MS: [u32; 2] = [1000, 100];

/// Bytes and blocks of tables, by their numbers.
type Sizes = HashMap<String, (Option<u64>, u64)>;

impl PostgresSource {
    pub(super) fn catalogue(&self) -> Result<Vec<SourceTable>> {
        let rows = self.launcher().texts(CATALOGUE, &[])?;
        let sizes = self.sizes(rows.iter().filter_map(|row| row.first()?.as_deref()))?;
        let mut tables: Vec<SourceTable> = Vec::new();
        for row in rows {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut cell = || cells.next().unwrap_or_default();
            let (number, schema, name, kind) = (cell(), cell(), cell(), cell());
            if self.only.as_ref().is_some_and(|only| *only != schema) {
                continue;
            }
            let (rows, lacks) = (cell(), cell());
            let [may_read_rows, is_secured] = [(); 2].map(|()| cell() == "true");
            let column = self.column(cell(), cell(), &cell(), &cell(), &cell());
            let (columns, omitted) = match cell() == "true" {
                _ if column.name.is_empty() => (Vec::new(), Vec::new()),
                true => (vec![column], Vec::new()),
                false => (Vec::new(), vec![(column.name, "this user may not read it")]),
            };
            let stored = match kind.as_str() {
                "v" => Stored::Elsewhere("a view"),
                "f" => Stored::Elsewhere("a foreign table"),
                _ => Stored::Here,
            };
            // The rows of those that inherit from a table are theirs, and they are tables of their own.
            let only = if kind == "r" { "ONLY " } else { "" };
            let from = format!("{}.{}", DIALECT.quoted(&schema), DIALECT.quoted(&name));
            let (bytes, blocks) = sizes.get(&number).copied().unwrap_or_default();
            let table = SourceTable {
                unreadable: unreadable(&lacks, &schema, &from),
                from: format!("{only}{from}"),
                // A partitioned table has no blocks of its own; addresses of rows are for who may read whole rows.
                address: String::new(),
                extent: if kind == "p" || !may_read_rows {
                    0
                } else {
                    blocks
                },
                // Less than 0 when it was never analysed.
                rows_estimated: rows.parse().ok(),
                disk_bytes: bytes.filter(|_| may_read_rows && !is_secured),
                stored,
                note: is_secured.then_some(ROW_SECURITY),
                omitted,
                has_statistics: false,
                columns,
                schema,
                name,
            };
            enter(&mut tables, table)?;
        }
        Ok(tables)
    }

    /// Sizes of tables, all at once; where one is locked, those of the others one by one.
    fn sizes<'a>(&self, numbers: impl Iterator<Item = &'a str>) -> Result<Sizes> {
        let mut connection = Connection::open(&self.endpoint, OF_SESSIONS)?;
        let [of_all, of_one] = PATIENCE_MS.map(|ms| format!("SET lock_timeout = {ms}"));
        connection.batch(&of_all)?;
        if let Ok(rows) = connection.texts(SIZES, &[Value::Null]) {
            return Ok(rows.into_iter().filter_map(sized).collect());
        }
        connection.batch(&of_one)?;
        let mut sizes = Sizes::new();
        let mut last = "";
        for number in numbers {
            if number != last {
                // Of a locked table no size is known.
                let rows = connection.texts(SIZES, &[Value::Text(number)]);
                sizes.extend(rows.into_iter().flatten().filter_map(sized));
                last = number;
            }
        }
        Ok(sizes)
    }

    fn column(
        &self,
        name: String,
        declared: String,
        is_not_null: &str,
        base: &str,
        modifier: &str,
    ) -> SourceColumn {
        let quoted = DIALECT.quoted(&name);
        let (kind, cast) = kind_of(base, modifier.parse().unwrap_or(-1));
        SourceColumn {
            note: cast.map(|cast| format!("{declared}, kept as {cast}")),
            as_text: self.text_of(&quoted),
            expression: match cast {
                Some(cast) => format!("{quoted}::{cast}"),
                None => quoted,
            },
            name,
            declared,
            kind,
            is_nullable: is_not_null != "true",
        }
    }
}

fn sized(row: Vec<Option<String>>) -> Option<(String, (Option<u64>, u64))> {
    let [number, bytes, blocks] = <[Option<String>; 3]>::try_from(row).ok()?;
    let number_of = |text: Option<String>| text.and_then(|text| text.parse().ok());
    Some((number?, (number_of(bytes), number_of(blocks).unwrap_or(0))))
}

/// Why a table that lacks something cannot be read, with what mends it.
fn unreadable(lacks: &str, schema: &str, from: &str) -> Option<String> {
    Some(match lacks {
        "schema" => format!(
            "this user may not use its schema; GRANT USAGE ON SCHEMA {}",
            DIALECT.quoted(schema)
        ),
        "table" => format!("this user may not read it; GRANT SELECT ON {from}"),
        "rows" => format!("it is not populated; REFRESH MATERIALIZED VIEW {from}"),
        _ => return None,
    })
}
