//! Kinds of work of a job, one module each.
//!
//! An exercise prepares the data as the test declares, creates one client per job, and afterwards checks the clients'
//! work against the content of the database.

mod blob_write;
mod bulk_load;
mod create_index;
mod create_table_as;
mod expression;
mod insert;
mod lookup;
mod prepared;
mod query;
mod scripted;
mod update;
mod worker;

pub use prepared::{Exercise, Prepared};
pub(crate) use prepared::{prepare_empty, prepare_tables};
pub use worker::{Worker, failure};

use crate::bench::Bench;
use crate::library::{Computation, Kind, Table};
use crate::tables::REGISTER;

/// True for a table that the library's tests recreate by themselves.
pub fn is_of_library(name: &str) -> bool {
    let tables = Table::ALL.map(Table::name);
    let filled = [bulk_load::TABLE, insert::TABLE, blob_write::TABLE, REGISTER];
    tables.contains(&name) || filled.contains(&name)
}

pub fn exercise_for(bench: Bench) -> Box<dyn Exercise> {
    match bench.test.definition.exercise.clone() {
        Kind::Expression {
            parameter,
            passes,
            answer,
            smaller,
        } => {
            let published = Computation {
                parameter,
                passes,
                answer,
            };
            Box::new(expression::Expression::new(bench, published, smaller))
        }
        Kind::Lookup {
            table,
            keys,
            rows_per_block,
            rows_per_block_on,
            transaction,
        } => {
            let of_engine = rows_per_block_on.get(&bench.engine).copied();
            let rows_per_block = of_engine.or(rows_per_block);
            Box::new(lookup::Lookup::new(
                bench,
                table,
                keys,
                rows_per_block,
                transaction,
            ))
        }
        Kind::Query { table, answer } => Box::new(query::Query::new(bench, table, answer)),
        Kind::Update { table, checkpoint } => {
            Box::new(update::Update::new(bench, table, checkpoint))
        }
        Kind::Insert {} => Box::new(insert::Insert::new(bench)),
        Kind::BulkLoad { compressed } => Box::new(bulk_load::BulkLoad::new(bench, compressed)),
        Kind::BlobWrite {} => Box::new(blob_write::BlobWrite::new(bench)),
        Kind::Script(script) => Box::new(scripted::Scripted::new(bench, script)),
        Kind::Below { .. } => {
            unreachable!(
                "what is below the database is measured without an exercise, and never benched"
            )
        }
        Kind::CreateIndex { table } => Box::new(create_index::CreateIndex::new(bench, table)),
        Kind::CreateTableAs { table } => {
            Box::new(create_table_as::CreateTableAs::new(bench, table))
        }
    }
}
