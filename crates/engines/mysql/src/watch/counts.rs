//! Counters of the server itself.

use archive::WaitHistogram;

use super::super::client::Client;
use super::super::facts::{status, variable};
use super::files;
use engine::{Counted, Result, ServerCounts, WaitClass};

const NO_HISTOGRAM: &str = "the server keeps sums of its waits but no distribution; the distribution of device requests \
                            is shown instead";

/// Status variables that are read; versions have some of them only.
const COUNTED: &str = "Innodb_row_lock_time Innodb_row_lock_waits Innodb_data_reads Innodb_data_read Innodb_data_writes Innodb_data_written \
     Innodb_data_fsyncs Innodb_os_log_fsyncs Innodb_os_log_written Innodb_log_writes Innodb_log_waits Innodb_buffer_pool_pages_flushed \
     Innodb_buffer_pool_pages_lru_flushed Innodb_buffer_pool_wait_free Innodb_page_size Innodb_dblwr_pages_written";

pub(crate) struct Source {
    has_waits: bool,
}

impl Source {
    pub fn of(client: &mut Client) -> Self {
        Self {
            has_waits: is_on(client) && log_syncs(client).is_ok(),
        }
    }

    /// Name of the statements' time beyond processors and counted waits.
    pub fn unexplained(&self) -> &'static str {
        match self.has_waits {
            true => "blocked in the server (latches, pages that others read)",
            // Nothing distinguishes reads from other waits.
            false => "blocked in the server (reads of data, latches)",
        }
    }

    /// A statement that waits for nothing that is reported, where the processors' time is not known.
    pub fn at_work(&self) -> &'static str {
        if self.has_waits {
            "DB CPU"
        } else {
            "active, reads of data included"
        }
    }

    pub fn read(&self, client: &mut Client) -> Result<ServerCounts> {
        let counted = status(client, COUNTED)?;
        let of = |name: &str| counted.get(&name.to_ascii_lowercase()).copied();
        let mut counts = server_counts(&of);
        if self.has_waits {
            counts.waits.extend(reads_of_sessions(client)?);
            let log = log_syncs(client)?;
            if log.count.is_some_and(|count| count > 0) {
                counts.background.retain(|(_, event, _)| *event != SYNCS);
                counts.background.push(("log", SYNCS, log));
            }
        }
        Ok(counts)
    }
}

impl Source {
    /// The same for an observer: waits for data files are those of all clients, and row locks are none of them where they are seen.
    pub fn read_of_all(&self, client: &mut Client, sees_row_locks: bool) -> Result<ServerCounts> {
        let mut counts = self.read(client)?;
        counts.waits.retain(|(class, ..)| match class {
            WaitClass::Lock => !sees_row_locks,
            class => *class != WaitClass::DataRead,
        });
        if self.has_waits {
            counts.waits.extend(reads_of(client, "USER IS NOT NULL")?);
        }
        Ok(counts)
    }
}

const SYNCS: &str = "log syncs";

fn is_on(client: &mut Client) -> bool {
    let value = variable(client, "performance_schema");
    value.is_ok_and(|value| value.as_deref() == Some("ON"))
}

/// True if waits are counted that this user may not see.
pub(crate) fn is_denied(client: &mut Client) -> bool {
    is_on(client) && log_syncs(client).is_err()
}

/// Waits of this user's sessions for files of tables. Sessions mostly read them: what they change is
/// written by the page cleaner.
fn reads_of_sessions(client: &mut Client) -> Result<Option<(WaitClass, String, Counted)>> {
    reads_of(client, "USER = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)")
}

/// The same of these users' sessions.
fn reads_of(client: &mut Client, users: &str) -> Result<Option<(WaitClass, String, Counted)>> {
    let rows = client.read(&format!(
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) DIV 1000 FROM \
         performance_schema.events_waits_summary_by_user_by_event_name \
         WHERE {users} AND EVENT_NAME = 'wait/io/file/innodb/innodb_data_file'"
    ))?;
    let counted = rows.into_iter().next().map(counted);
    Ok(counted.map(|counted| (WaitClass::DataRead, "data files".into(), counted)))
}

/// Syncs of the log; MariaDB 10.11 has no such instrument.
fn log_syncs(client: &mut Client) -> Result<Counted> {
    let rows = client.read(
        "SELECT COUNT_MISC, SUM_TIMER_MISC DIV 1000 FROM \
         performance_schema.file_summary_by_event_name \
         WHERE EVENT_NAME = 'wait/io/file/innodb/innodb_log_file'",
    )?;
    Ok(rows.into_iter().next().map(counted).unwrap_or_default())
}

fn counted(row: Vec<Option<String>>) -> Counted {
    let mut cells = row.into_iter().map(|cell| cell?.parse().ok());
    Counted {
        count: cells.next().flatten(),
        time_ns: cells.next().flatten(),
        bytes: None,
    }
}

fn server_counts(of: &dyn Fn(&str) -> Option<u64>) -> ServerCounts {
    let count = |name: &str| Counted::count(of(name));
    let page = of("Innodb_page_size");
    let pages = |name: &str| Counted {
        bytes: of(name).zip(page).map(|(n, page)| n * page),
        ..count(name)
    };
    let io = |count: &str, bytes: &str| Counted {
        count: of(count),
        time_ns: None,
        bytes: of(bytes),
    };
    let row_locks = Counted {
        // The server counts milliseconds.
        time_ns: of("Innodb_row_lock_time").map(|ms| ms * 1_000_000),
        ..count("Innodb_row_lock_waits")
    };
    let log_writes = io("Innodb_log_writes", "Innodb_os_log_written");
    ServerCounts {
        background: vec![
            (
                "page cleaner",
                "pages written",
                pages("Innodb_buffer_pool_pages_flushed"),
            ),
            (
                "page cleaner",
                "pages written to make room",
                pages("Innodb_buffer_pool_pages_lru_flushed"),
            ),
            (
                "sessions",
                "waits for a free page",
                count("Innodb_buffer_pool_wait_free"),
            ),
            (
                "doublewrite",
                "pages written",
                pages("Innodb_dblwr_pages_written"),
            ),
            ("log", "log writes", log_writes),
            ("log", SYNCS, count("Innodb_os_log_fsyncs")),
            (
                "log",
                "waits for room in the log buffer",
                count("Innodb_log_waits"),
            ),
            ("data files and log", "syncs", count("Innodb_data_fsyncs")),
        ],
        waits: vec![(WaitClass::Lock, "row locks".into(), row_locks)],
        files: files::files(of),
        histograms: ["data read", "log sync"]
            .map(|class| WaitHistogram::unknown(class, NO_HISTOGRAM))
            .into(),
    }
}
