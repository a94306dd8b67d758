//! How many bytes a test makes a database write: foretold, so that the owner of a disk can be asked
//! before anything is touched.
//!
//! The figures are upper bounds of what the engines were seen to write for the rows of this library;
//! each says what it is made of. A wrong guess costs a question, never a figure.

use lab::volume::Volume;

use crate::data::ROW_BYTES;
use crate::expectation::Expectation;
use crate::library::{Amount, Kind, SizeClass, Table, Test};

/// Bytes that an engine adds to a row of the bench shape: its header, room left in pages, the entry of its
/// primary key. 62 bytes on PostgreSQL 15, less on the others.
const ROW_OVERHEAD_BYTES: u64 = 72;
/// An entry of a secondary index, with the room that a page leaves.
const INDEX_ENTRY_BYTES: u64 = 32;
/// The largest page of the engines. A changed row may bring its whole page into the log.
const PAGE_BYTES: u64 = 16 << 10;
/// The block that a blob test appends.
const BLOB_BYTES: u64 = 1 << 20;
/// Stored data are written twice: to the log, and to the files.
const TIMES_WRITTEN: u64 = 2;
/// A point that ends by time is taken to write no more than this when it writes in bulk …
const BULK_BYTES_PER_S: f64 = 500e6;
/// … and than this when it writes in small transactions.
const SMALL_BYTES_PER_S: f64 = 100e6;

/// How long or how much a point works.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Extent {
    /// Amount of each job.
    Work(Amount),
    Seconds(f64),
}

/// Bytes that small transactions write at most in this time.
pub fn of_small_transactions(seconds: f64) -> Volume {
    let bytes = (SMALL_BYTES_PER_S * seconds) as u64;
    Volume {
        written_bytes: bytes,
        room_bytes: bytes,
    }
}

/// Bytes that a table of this size class takes, with its index.
pub fn table_bytes(size: SizeClass, table: Table) -> u64 {
    let index = match table {
        Table::Small => INDEX_ENTRY_BYTES,
        Table::Large | Table::Oltp => 0,
    };
    let row = ROW_BYTES + ROW_OVERHEAD_BYTES + index;
    size.rows(table).saturating_mul(row)
}

/// The tables that a test reads or changes; none for one that only computes or fills its own.
pub fn tables_of(test: &Test) -> Vec<Table> {
    match &test.definition.exercise {
        Kind::Query { table, answer } => tables_of_query(*table, *answer),
        Kind::Lookup { table, .. }
        | Kind::Update { table, .. }
        | Kind::CreateIndex { table }
        | Kind::CreateTableAs { table } => vec![*table],
        // A script loads tables of its own, which its author knows and nobody can foretell.
        Kind::Expression { .. }
        | Kind::Insert {}
        | Kind::BulkLoad { .. }
        | Kind::BlobWrite {}
        | Kind::Below { .. }
        | Kind::Script(_) => Vec::new(),
    }
}

pub fn tables_of_query(table: Table, answer: Expectation) -> Vec<Table> {
    match answer {
        Expectation::Report if table != Table::Small => vec![table, Table::Small],
        _ => vec![table],
    }
}

pub fn of_table(size: SizeClass, table: Table) -> Volume {
    stored(table_bytes(size, table))
}

/// Bytes that one point of a test writes besides the table that it works on.
pub fn of_point(test: &Test, size: SizeClass, extent: Extent, jobs: u32) -> Volume {
    let row = ROW_BYTES + ROW_OVERHEAD_BYTES;
    if let Kind::Below {
        file_mib, seconds, ..
    } = &test.definition.exercise
    {
        return below(test, *file_mib, extent, f64::from(*seconds));
    }
    let amount = match extent {
        Extent::Work(amount) => amount,
        Extent::Seconds(seconds) if test.definition.writes => {
            let bytes_per_s = match &test.definition.exercise {
                Kind::BulkLoad { .. } | Kind::BlobWrite {} => BULK_BYTES_PER_S,
                _ => SMALL_BYTES_PER_S,
            };
            return stored((seconds * bytes_per_s) as u64 / TIMES_WRITTEN);
        }
        Extent::Seconds(_) => Amount {
            operations: 1,
            rows: 1,
        },
    };
    let ramp_up = (amount.operations as f64 * test.definition.work.ramp_up).ceil() as u64;
    let operations = (amount.operations.saturating_add(ramp_up)).saturating_mul(u64::from(jobs));
    let rows = operations.saturating_mul(amount.rows);
    stored(match &test.definition.exercise {
        Kind::Expression { .. } | Kind::Lookup { .. } | Kind::Query { .. } => 0,
        Kind::Insert {} | Kind::BulkLoad { .. } => rows.saturating_mul(row),
        Kind::BlobWrite {} => operations.saturating_mul(BLOB_BYTES),
        Kind::Script(_) if test.definition.writes => operations.saturating_mul(PAGE_BYTES),
        Kind::Script(_) | Kind::Below { .. } => 0,
        // Between two checkpoints each page goes to the log whole at most once.
        Kind::Update { table, .. } => {
            let pages = rows
                .saturating_mul(PAGE_BYTES)
                .min(table_bytes(size, *table));
            rows.saturating_mul(row).saturating_add(pages)
        }
        Kind::CreateIndex { table } => operations
            .saturating_mul(size.rows(*table))
            .saturating_mul(INDEX_ENTRY_BYTES),
        // All jobs together copy it once.
        Kind::CreateTableAs { table } => table_bytes(size, *table),
    })
}

/// The file, and what is written over it meanwhile; no log, and no engine that keeps to an amount.
fn below(test: &Test, file_mib: u64, extent: Extent, own_seconds: f64) -> Volume {
    let file_bytes = file_mib << 20;
    let seconds = match extent {
        Extent::Seconds(seconds) => seconds,
        Extent::Work(_) => own_seconds,
    };
    // A second more: that of the warm-up.
    let over_bytes = if test.definition.writes {
        ((seconds + 1.0) * BULK_BYTES_PER_S) as u64
    } else {
        0
    };
    Volume {
        written_bytes: file_bytes.saturating_add(over_bytes),
        room_bytes: file_bytes,
    }
}

/// Volume of stored bytes, which are written to the log as well.
pub fn stored(bytes: u64) -> Volume {
    let written_bytes = bytes.saturating_mul(TIMES_WRITTEN);
    Volume {
        written_bytes,
        room_bytes: written_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Library;

    fn point(code: &str, jobs: u32) -> Volume {
        let library = Library::embedded().unwrap();
        let size = library.size("quick").unwrap();
        let test = library.test(code).unwrap();
        let amount = test.amount(size, "postgres");
        of_point(test, size, Extent::Work(amount), jobs)
    }

    #[test]
    fn what_is_written_follows_from_rows_and_jobs() {
        // 240,000 rows of 288 + 72 bytes, to the log and to the files.
        assert_eq!(point("T331", 1).written_bytes, 240_000 * 360 * 2);
        assert_eq!(point("T331", 4).written_bytes, 4 * 240_000 * 360 * 2);
        assert_eq!(point("T611", 4), Volume::default());
        assert_eq!(point("T132", 4), Volume::default());
        assert_eq!(point("T211", 2).room_bytes, 2 * 64 * (1 << 20) * 2);
        let update = point("T716", 1).written_bytes;
        assert!(
            (10_000_000..2 * 2 * 160_000 * 360).contains(&update),
            "{update}"
        );
    }

    #[test]
    fn below_the_database_the_file_takes_room_and_is_written_over() {
        assert_eq!(point("D111", 8).written_bytes, 256 << 20);
        let random = point("D122", 8);
        assert_eq!(random.room_bytes, 256 << 20);
        assert_eq!(random.written_bytes, (256 << 20) + 2_000_000_000);
    }

    #[test]
    fn a_point_by_time_is_bounded_by_its_seconds() {
        let library = Library::embedded().unwrap();
        let size = library.size("quick").unwrap();
        let of = |code: &str| of_point(library.test(code).unwrap(), size, Extent::Seconds(2.0), 64);
        assert_eq!(of("T311").written_bytes, 200_000_000);
        assert_eq!(of("T331").written_bytes, 1_000_000_000);
        assert_eq!(of("T611").written_bytes, 0);
    }

    #[test]
    fn the_tables_of_a_size_are_what_its_file_says() {
        let library = Library::embedded().unwrap();
        let quick = library.size("quick").unwrap();
        let all: u64 = Table::ALL
            .map(|table| table_bytes(quick, table))
            .iter()
            .sum();
        // "quick keeps everything below 400 MB": the tables alone.
        assert!((250_000_000..400_000_000).contains(&all), "{all}");
    }
}
