//! PostgreSQL's account of its own I/O. Where it does not measure times it shows zeros, which are left out.

use archive::{IoOperation, IoUnknown, Purpose};

use super::row::{Row, VERSION_OF_IO, VERSION_OF_IO_BYTES};
use engine::{Counted, FileIo};

/// One entry for each purpose and direction.
pub(super) fn files(row: &Row, major: u32) -> Vec<FileIo> {
    let [reads, writes] = match major {
        VERSION_OF_IO.. => data(row),
        _ => data_without_io_view(row),
    };
    let [log_reads, log_writes] = match major {
        VERSION_OF_IO_BYTES.. => log(row),
        _ => log_without_io_view(row),
    };
    let of_indexes = IoOperation::ALL
        .map(|operation| FileIo::unknown(Purpose::Indexes, operation, IoUnknown::CountedAsData));
    let [index_reads, index_writes] = of_indexes;
    vec![
        reads,
        writes,
        index_reads,
        index_writes,
        log_reads,
        log_writes,
        // Reads of what sorts and hashes have spilled are counted nowhere.
        FileIo::unknown(Purpose::Temporary, IoOperation::Read, IoUnknown::NotCounted),
        temporary_writes(row, major),
    ]
}

/// By all processes, whatever the database; pages that extend a file are among the writes.
fn data(row: &Row) -> [FileIo; 2] {
    let is_timed = row.is_on("track_io_timing");
    [
        (IoOperation::Read, ["reads", "read_time", "read_bytes"]),
        (IoOperation::Write, ["writes", "write_time", "write_bytes"]),
    ]
    .map(|(operation, [count, time, bytes])| {
        let counted = Counted {
            count: row.count("io.data", count),
            time_ns: row.ms("io.data", time).filter(|_| is_timed),
            bytes: row.count("io.data", bytes),
        };
        FileIo::counted(Purpose::Data, operation, "pg_stat_io", counted)
    })
}

/// Before version 16: reads by sessions of this database, and writes by all, but for the pages that extend a file.
fn data_without_io_view(row: &Row) -> [FileIo; 2] {
    let block = row.count("setting", "block_size");
    let pages = |count: Option<u64>, time_ns| Counted {
        count,
        time_ns,
        bytes: count.zip(block).map(|(n, block)| n * block),
    };
    let is_timed = row.is_on("track_io_timing");
    let read_ns = row.ms("database", "blk_read_time");
    let reads = pages(
        row.count("database", "blks_read"),
        read_ns.filter(|_| is_timed),
    );
    let written = ["buffers_checkpoint", "buffers_clean", "buffers_backend"];
    let written = written.map(|column| row.count("pg_stat_bgwriter", column));
    let writes = pages(written.into_iter().sum(), None);
    [
        FileIo::counted(Purpose::Data, IoOperation::Read, "pg_stat_database", reads),
        FileIo::counted(
            Purpose::Data,
            IoOperation::Write,
            "pg_stat_bgwriter",
            writes,
        ),
    ]
}

/// Writes of whole pages, of which the last one of a flush is written again by the next, and of zeros into new files.
fn log(row: &Row) -> [FileIo; 2] {
    let is_timed = row.is_on("track_wal_io_timing");
    [
        (IoOperation::Read, ["reads", "read_time", "read_bytes"]),
        (IoOperation::Write, ["writes", "write_time", "write_bytes"]),
    ]
    .map(|(operation, [count, time, bytes])| {
        let counted = Counted {
            count: row.count("io.wal", count),
            time_ns: row.ms("io.wal", time).filter(|_| is_timed),
            bytes: row.count("io.wal", bytes),
        };
        FileIo::counted(Purpose::Log, operation, "pg_stat_io", counted)
    })
}

/// Before version 18: how far the log has been flushed; who writes pages that are not full, writes them again.
fn log_without_io_view(row: &Row) -> [FileIo; 2] {
    let is_timed = row.is_on("track_wal_io_timing");
    let time_ns = row.ms("pg_stat_wal", "wal_write_time");
    let writes = Counted {
        count: row.count("pg_stat_wal", "wal_write"),
        time_ns: time_ns.filter(|_| is_timed),
        bytes: row.count("log", "flushed_bytes"),
    };
    let source = match writes.count {
        Some(_) => "pg_stat_wal, pg_current_wal_flush_lsn",
        // The view is of version 14.
        None => "pg_current_wal_flush_lsn",
    };
    [
        FileIo::unknown(Purpose::Log, IoOperation::Read, IoUnknown::NotCounted),
        FileIo::counted(Purpose::Log, IoOperation::Write, source, writes),
    ]
}

/// Spills of sorts and hashes in this database, counted when their files are closed; and pages of temporary tables, which
/// are told apart from version 16 on.
fn temporary_writes(row: &Row, major: u32) -> FileIo {
    let spilled = row.count("database", "temp_bytes");
    let (of_tables, source) = match major {
        VERSION_OF_IO.. => (
            row.count("io.temporary", "write_bytes"),
            "pg_stat_database, pg_stat_io",
        ),
        _ => (Some(0), "pg_stat_database"),
    };
    let counted = Counted {
        bytes: spilled.zip(of_tables).map(|(a, b)| a + b),
        ..Counted::default()
    };
    FileIo::counted(Purpose::Temporary, IoOperation::Write, source, counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, &str)]) -> Row {
        Row::of(
            cells
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    fn of(files: &[FileIo], purpose: Purpose, operation: IoOperation) -> &FileIo {
        let mut found = files.iter();
        found
            .find(|io| (io.purpose, io.operation) == (purpose, operation))
            .unwrap()
    }

    fn bytes(files: &[FileIo], purpose: Purpose, operation: IoOperation) -> Option<u64> {
        let counted = of(files, purpose, operation).counted.as_ref();
        counted.ok().and_then(|counted| counted.bytes)
    }

    #[test]
    fn every_version_has_an_entry_for_each_purpose_and_direction() {
        for major in 12..=18 {
            let files = files(&row(&[]), major);
            for purpose in [Purpose::Data, Purpose::Log, Purpose::Temporary] {
                for operation in IoOperation::ALL {
                    let unknown = &of(&files, purpose, operation).counted;
                    assert_eq!(unknown, &Err(IoUnknown::NotCounted), "{major}");
                }
            }
            for operation in IoOperation::ALL {
                let of_indexes = &of(&files, Purpose::Indexes, operation).counted;
                assert_eq!(of_indexes, &Err(IoUnknown::CountedAsData), "{major}");
            }
            assert_eq!(files.len(), 8);
        }
    }

    #[test]
    fn version_15_has_four_views() {
        let row = row(&[
            ("setting.block_size", "8192"),
            ("setting.track_io_timing", "off"),
            ("database.blks_read", "10"),
            ("database.blk_read_time", "0"),
            ("database.temp_bytes", "4096"),
            ("pg_stat_bgwriter.buffers_checkpoint", "1"),
            ("pg_stat_bgwriter.buffers_clean", "2"),
            ("pg_stat_bgwriter.buffers_backend", "3"),
            ("pg_stat_wal.wal_write", "7"),
            ("pg_stat_wal.wal_write_time", "0"),
            ("log.flushed_bytes", "16777216"),
        ]);
        let files = files(&row, 15);
        use IoOperation::{Read, Write};
        assert_eq!(bytes(&files, Purpose::Data, Read), Some(81_920));
        assert_eq!(bytes(&files, Purpose::Data, Write), Some(6 * 8192));
        assert_eq!(bytes(&files, Purpose::Log, Write), Some(16 << 20));
        assert_eq!(bytes(&files, Purpose::Temporary, Write), Some(4096));
        let reads = of(&files, Purpose::Data, Read);
        assert_eq!(reads.source, "pg_stat_database");
        // Nobody measures: the server's zeros are no times.
        assert_eq!(reads.counted.as_ref().unwrap().time_ns, None);
        let log = of(&files, Purpose::Log, Write);
        assert_eq!(log.source, "pg_stat_wal, pg_current_wal_flush_lsn");
        assert_eq!(log.counted.as_ref().unwrap().time_ns, None);
    }

    #[test]
    fn version_18_has_one_view_that_tells_all_but_what_is_spilled() {
        let row = row(&[
            ("setting.track_io_timing", "on"),
            ("setting.track_wal_io_timing", "on"),
            ("io.data.reads", "4"),
            ("io.data.read_bytes", "65536"),
            ("io.data.read_time", "1.5"),
            ("io.data.writes", "2"),
            ("io.data.write_bytes", "16384"),
            ("io.wal.reads", "0"),
            ("io.wal.read_bytes", "0"),
            ("io.wal.writes", "3"),
            ("io.wal.write_bytes", "24576"),
            ("io.wal.write_time", "0.25"),
            ("io.temporary.write_bytes", "8192"),
            ("database.temp_bytes", "1000"),
        ]);
        let files = files(&row, 18);
        use IoOperation::{Read, Write};
        let reads = of(&files, Purpose::Data, Read).counted.as_ref().unwrap();
        assert_eq!((reads.count, reads.time_ns), (Some(4), Some(1_500_000)));
        assert_eq!(bytes(&files, Purpose::Data, Write), Some(16_384));
        assert_eq!(bytes(&files, Purpose::Log, Read), Some(0));
        let log = of(&files, Purpose::Log, Write).counted.as_ref().unwrap();
        assert_eq!((log.bytes, log.time_ns), (Some(24_576), Some(250_000)));
        assert_eq!(bytes(&files, Purpose::Temporary, Write), Some(9_192));
    }
}
