//! PostgreSQL's counters of its own work. Its views change with the versions, so that each is read whole
//! and asked for columns by name: one that a version does not have is unknown.

use super::super::connection::Connection;
use super::row::{Row, VERSION_OF_IO, VERSION_OF_IO_BYTES};
use engine::{Counted, Result, ServerCounts};

/// The checkpointer has its own view from this version on.
const VERSION_OF_CHECKPOINTER: u32 = 17;
const VERSION_OF_LOG: u32 = 14;

fn sql(major: u32) -> String {
    let whole = |view: &str| {
        format!(
            "SELECT /* dbdyno */ '{view}.' || key, value FROM {view} s, jsonb_each_text(to_jsonb(s))"
        )
    };
    let mut parts = vec![
        whole("pg_stat_bgwriter"),
        "SELECT 'database.' || key, value FROM pg_stat_database s, jsonb_each_text(to_jsonb(s)) \
         WHERE datname = current_database() \
         AND key IN ('blks_read', 'blk_read_time', 'temp_bytes')"
            .to_owned(),
        "SELECT 'setting.' || name, current_setting(name) FROM pg_settings \
         WHERE name IN ('track_io_timing', 'track_wal_io_timing', 'block_size')"
            .to_owned(),
        "SELECT 'log.flushed_bytes', CASE WHEN NOT pg_is_in_recovery() \
         THEN pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::text END"
            .to_owned(),
    ];
    if major >= VERSION_OF_LOG {
        parts.push(whole("pg_stat_wal"));
    }
    if major >= VERSION_OF_CHECKPOINTER {
        parts.push(whole("pg_stat_checkpointer"));
    }
    if major >= VERSION_OF_IO {
        let bytes = |of: &str, plural: &str| match major {
            VERSION_OF_IO_BYTES.. => format!("sum({of}_bytes)"),
            _ => format!("sum({plural} * op_bytes)"),
        };
        parts.push(format!(
            "SELECT 'io.' || object || '.' || key, value FROM (SELECT CASE object WHEN 'wal' \
             THEN 'wal' WHEN 'temp relation' THEN 'temporary' ELSE 'data' END AS object, sum(reads) AS reads, \
             sum(writes) + coalesce(sum(extends), 0) AS writes, {} AS read_bytes, \
             {} + coalesce({}, 0) AS write_bytes, sum(read_time) AS read_time, \
             sum(write_time) AS write_time, sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time \
             FROM pg_stat_io GROUP BY 1) s, jsonb_each_text(to_jsonb(s))",
            bytes("read", "reads"),
            bytes("write", "writes"),
            bytes("extend", "extends"),
        ));
    }
    parts.join(" UNION ALL ")
}

pub(crate) fn read(connection: &mut Connection, major: u32) -> Result<ServerCounts> {
    if major >= VERSION_OF_CHECKPOINTER - 2 {
        // A snapshot of statistics would hide the others' new counts.
        connection.batch("SELECT /* dbdyno */ pg_stat_clear_snapshot()")?;
    }
    let rows = connection.texts_about("the server's counters", &sql(major))?;
    let pair = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter();
        cells.next()?.zip(cells.next()?)
    };
    let row = Row::of(rows.into_iter().filter_map(pair));
    let mut background = checkpoints(&row, major);
    background.extend(log(&row, major));
    Ok(ServerCounts {
        background,
        files: super::files::files(&row, major),
        ..ServerCounts::default()
    })
}

type Background = (&'static str, &'static str, Counted);

fn checkpoints(row: &Row, major: u32) -> Vec<Background> {
    let of_old = ["checkpoints_timed", "checkpoints_req", "buffers_checkpoint"];
    let of_old_times = ["checkpoint_write_time", "checkpoint_sync_time"];
    let (view, [timed, requested, buffers], [write, sync]) = match major {
        VERSION_OF_CHECKPOINTER.. => (
            "pg_stat_checkpointer",
            ["num_timed", "num_requested", "buffers_written"],
            ["write_time", "sync_time"],
        ),
        _ => ("pg_stat_bgwriter", of_old, of_old_times),
    };
    let block = row.count("setting", "block_size");
    let pages = |view: &str, column: &str, time_ns: Option<u64>| {
        let count = row.count(view, column);
        Counted {
            count,
            time_ns,
            bytes: count.zip(block).map(|(n, block)| n * block),
        }
    };
    let old = "pg_stat_bgwriter";
    vec![
        (
            "checkpointer",
            "checkpoints by time",
            Counted::count(row.count(view, timed)),
        ),
        (
            "checkpointer",
            "checkpoints asked for or forced by log",
            Counted::count(row.count(view, requested)),
        ),
        (
            "checkpointer",
            "pages written",
            pages(view, buffers, row.ms(view, write)),
        ),
        (
            "checkpointer",
            "files synced",
            Counted {
                time_ns: row.ms(view, sync),
                ..Counted::default()
            },
        ),
        (
            "background writer",
            "pages written",
            pages(old, "buffers_clean", None),
        ),
        (
            "background writer",
            "stops after too many pages",
            Counted::count(row.count(old, "maxwritten_clean")),
        ),
        (
            "sessions",
            "pages written by themselves",
            pages(old, "buffers_backend", None),
        ),
    ]
}

/// Writes and syncs of the log by whoever did them; their times only with `track_wal_io_timing`, because
/// without it the server shows zeros.
fn log(row: &Row, major: u32) -> Vec<Background> {
    let wal = "pg_stat_wal";
    let is_timed = row.is_on("track_wal_io_timing");
    let columns = match major {
        VERSION_OF_IO_BYTES.. => ("io.wal", ["writes", "write_time", "fsyncs", "fsync_time"]),
        _ => (
            wal,
            ["wal_write", "wal_write_time", "wal_sync", "wal_sync_time"],
        ),
    };
    let (view, [writes, write_time, syncs, sync_time]) = columns;
    let timed = |column: &str| row.ms(view, column).filter(|_| is_timed);
    vec![
        (
            "log",
            "log writes",
            Counted {
                count: row.count(view, writes),
                time_ns: timed(write_time),
                bytes: row.count(wal, "wal_bytes"),
            },
        ),
        (
            "log",
            "log syncs",
            Counted {
                count: row.count(view, syncs),
                time_ns: timed(sync_time),
                bytes: None,
            },
        ),
        (
            "log",
            "full page images",
            Counted::count(row.count(wal, "wal_fpi")),
        ),
        (
            "log",
            "waits for a free log buffer",
            Counted::count(row.count(wal, "wal_buffers_full")),
        ),
    ]
}
