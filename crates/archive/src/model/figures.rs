//! The figures of a result row, declared once: struct field, column, unit, direction and meaning.

use serde::{Deserialize, Serialize};

/// Which direction of a figure is the good one; a property of the figure, never guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better (rates).
    Higher,
    /// Less is better (times, errors).
    Lower,
    /// Describes, does not judge (utilisation, counts).
    Neither,
}

/// What is known about a figure besides its value.
#[derive(Debug, Clone, Copy)]
pub struct FigureInfo {
    /// Name in the archive and in every export; the unit stands last.
    pub name: &'static str,
    /// Unit as printed.
    pub unit: &'static str,
    /// Which direction is good.
    pub better: Better,
    /// One sentence: what is counted.
    pub meaning: &'static str,
}

/// A figure of a point, with its value.
pub type Figure = (&'static FigureInfo, Option<f64>);

macro_rules! figures {
    ($($name:ident, $unit:literal, $better:ident, $meaning:literal;)*) => {
        /// The figures of one point. What the platform could not tell is `None`, never 0.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Figures {
            $(#[doc = $meaning] pub $name: Option<f64>,)*
        }

        /// All figures in the order of the struct, the columns and the exports.
        pub const FIGURES: &[FigureInfo] = &[
            $(FigureInfo {
                name: stringify!($name), unit: $unit, better: Better::$better, meaning: $meaning,
            },)*
        ];

        impl Figures {
            /// Value of the figure called `name`; `None` also for an unknown name.
            pub fn get(&self, name: &str) -> Option<f64> {
                match name { $(stringify!($name) => self.$name,)* _ => None }
            }

            /// Sets the figure called `name`; false when there is none of that name.
            pub fn set(&mut self, name: &str, value: Option<f64>) -> bool {
                match name { $(stringify!($name) => self.$name = value,)* _ => return false }
                true
            }
        }
    };
}

figures! {
    rows_per_s, "rows/s", Higher, "Rows read or written by the jobs, per second of the time in which all jobs worked.";
    operations_per_s, "ops/s", Higher, "Operations (transactions, statements or loop passes) completed by the jobs, per second of the time in which all jobs worked.";
    queries_per_min, "queries/min", Higher, "Queries completed per minute, for tests whose operation is a query.";
    buffer_gets_per_s, "gets/s", Higher, "Pages that the engine requested from its own cache, per second.";
    payload_mb_per_s, "MB/s", Higher, "User data moved through the database, 10^6 bytes per second.";
    elapsed_s, "s", Lower, "From the common start of all jobs to the finish of the last one, including the closing checkpoint where it is part of the test.";
    first_finish_s, "s", Lower, "From the common start to the finish of the first job.";
    last_finish_s, "s", Lower, "From the common start to the finish of the last job; the rest of the elapsed time is the closing checkpoint.";
    operations, "ops", Neither, "Operations completed by all jobs.";
    rows, "rows", Neither, "Rows read or written by all jobs.";
    errors, "count", Lower, "Operations that failed for good.";
    retries, "count", Lower, "Operations retried after a conflict.";
    cpu_pct_avg, "%", Neither, "Processor time of the whole host that was not idle, average over the point.";
    cpu_pct_peak, "%", Neither, "Busiest sample of the host's processors.";
    cpu_pct_p95, "%", Neither, "95th percentile of the samples of the host's processors.";
    cpu_user_pct, "%", Neither, "Share of processor time in user mode (with nice).";
    cpu_system_pct, "%", Neither, "Share of processor time in the kernel (with interrupts).";
    cpu_iowait_pct, "%", Neither, "Share of processor time idle with I/O outstanding.";
    cpu_steal_pct, "%", Lower, "Share of processor time taken by the hypervisor.";
    read_iops, "IOPS", Neither, "Reads completed by the target's device, per second.";
    write_iops, "IOPS", Neither, "Writes completed by the target's device, per second.";
    total_iops, "IOPS", Neither, "Reads and writes completed by the target's device, per second.";
    read_mb_per_s, "MB/s", Neither, "Read from the target's device, 10^6 bytes per second.";
    write_mb_per_s, "MB/s", Neither, "Written to the target's device, 10^6 bytes per second.";
    total_mb_per_s, "MB/s", Neither, "Read from and written to the target's device, 10^6 bytes per second.";
    read_await_ms, "ms", Lower, "Mean time of a device read from queueing to completion.";
    write_await_ms, "ms", Lower, "Mean time of a device write from queueing to completion.";
    device_busy_pct, "%", Neither, "Share of time in which the target's device had a request to serve.";
    device_queue_mean, "requests", Neither, "Mean number of requests at the target's device, waiting or being served.";
    engine_read_iops, "IOPS", Neither, "Reads that the engine requested from the operating system for its data files, per second, by the engine's own counters.";
    engine_write_iops, "IOPS", Neither, "Writes that the engine passed to the operating system for its data files, per second, by the engine's own counters.";
    engine_read_mb_per_s, "MB/s", Neither, "Read by the engine from its data files by its own counters, 10^6 bytes per second, including what the page cache served.";
    engine_write_mb_per_s, "MB/s", Neither, "Written by the engine to its data files by its own counters, 10^6 bytes per second.";
    redo_mb_per_s, "MB/s", Neither, "Written to the engine's log, 10^6 bytes per second.";
    network_mb_per_s, "MB/s", Neither, "Received and sent by the host's interfaces without loopback, 10^6 bytes per second.";
    network_errors, "count", Lower, "Interface errors and drops during the point.";
    tcp_retransmits, "count", Lower, "TCP segments retransmitted during the point.";
    memory_used_mb_peak, "MB", Neither, "Largest sample of host memory not available to programs.";
    major_faults, "count", Neither, "Page faults that had to read from a device, whole host.";
    swap_in_mb, "MB", Lower, "Swapped in during the point.";
    swap_out_mb, "MB", Lower, "Swapped out during the point.";
    pressure_cpu_pct, "%", Lower, "Share of time in which some task waited for a processor (PSI).";
    pressure_memory_pct, "%", Lower, "Share of time in which some task waited for memory (PSI).";
    pressure_io_pct, "%", Lower, "Share of time in which some task waited for I/O (PSI).";
    in_flight_mean, "requests", Neither, "Mean number of requests in the target at once (sum of service times divided by elapsed time).";
    little_error_pct, "%", Lower, "Part of the jobs' active time not spent in the target (Little's law) but in the driver itself.";
    driver_cpu_pct, "% of a core", Lower, "Processor time of the driver: all of dbdyno's process, or where an embedded engine runs inside it, the sampler and the jobs outside calls of the engine.";
    process_cpu_pct, "% of a core", Neither, "Processor time of dbdyno's process; an embedded engine runs inside it.";
    process_rss_mb_peak, "MB", Neither, "Largest sample of the resident memory of dbdyno's process.";
    late_starts, "count", Lower, "Operations that the driver, although free, started more than 1 ms after their intended start.";
    late_start_us_max, "µs", Lower, "Latest of the late starts.";
    new_orders_per_min, "orders/min", Higher, "New orders entered by the order-entry workload per minute, including those rolled back on purpose.";
    rolled_back, "count", Neither, "Operations rolled back on purpose; they count as completed.";
    timeouts, "count", Lower, "Operations that exceeded their time limit; they count as errors.";
    unfinished, "count", Lower, "Operations that were due but not completed when the measured window ended, whether waiting or in progress.";
    connection_wait_us_mean, "µs", Lower, "Mean time from a user's request to a free connection; part of the response time.";
    connection_wait_us_p99, "µs", Lower, "99th percentile of the wait for a free connection.";
    round_trips_per_operation, "trips/op", Lower, "Times that the driver waited for an answer from the server, per operation, including retried attempts.";
    scaled_queries_per_h, "queries/h", Higher, "Queries of the analytical workload per hour, times the scale of its database: for one user from the geometric mean of the times, for several from their elapsed time, or the square root of the product of both.";
    workers, "workers", Neither, "Parallel workers that the engine gave a statement besides its session; 0 for a serial statement.";
    busy_cores_mean, "cores", Neither, "Hardware threads that were busy, average over the point: those of dbdyno's process if the engine runs inside it, otherwise all of the target's machine.";
    table_disk_mb, "MB", Neither, "Bytes of a table's rows on disk in the source database, without indexes, in 10^6.";
    table_memory_mb, "MB", Lower, "Bytes that the engine or the kernel has allocated for a table in the column store, in 10^6.";
    compress_factor, "times", Higher, "Size of a table on disk divided by its size in memory.";
    cpu_by_database_pct, "%", Neither, "Share of processor time used by the database: its servers with all their processes, or the engine inside dbdyno's process.";
    cpu_by_driver_pct, "%", Neither, "Share of processor time used by the driver: driver_cpu_pct as a share of all processors.";
    cpu_by_kernel_pct, "%", Neither, "Share of processor time used by interrupts and by the kernel's own threads.";
    cpu_by_others_pct, "%", Lower, "Share of processor time used by programs that are neither the database nor the driver.";
    read_by_others_mb_per_s, "MB/s", Lower, "Upper bound of what programs that are neither the database nor the driver read from the target's device, 10^6 bytes per second.";
    write_by_others_mb_per_s, "MB/s", Lower, "Upper bound of what programs that are neither the database nor the driver wrote to the target's device, 10^6 bytes per second.";
    read_await_ms_p99, "ms", Lower, "99th percentile of the times of device reads from queueing to completion; known where the kernel times each request.";
    write_await_ms_p99, "ms", Lower, "99th percentile of the times of device writes from queueing to completion; known where the kernel times each request.";
    backup_logical_mb, "MB", Neither, "Bytes of the database that a backup holds, free pages left out, in 10^6.";
    backup_repository_mb, "MB", Lower, "Bytes that a backup takes in its repository, in 10^6.";
    backup_ratio, "times", Higher, "Bytes of the database divided by the bytes of its backup.";
    backup_tb_per_h, "TB/h", Higher, "Bytes of the database backed up per hour of the backup's time, durable on the repository's device, in 10^12.";
    backup_tool_s, "s", Lower, "Time of the backup by the tool's own clock, where the tool tells; elapsed_s is that of dbdyno's.";
    backup_cpu_s_per_gb, "s/GB", Lower, "Processor time of the backup per 10^9 bytes of the database; of a server with everything that it did at the same time.";
    backup_tool_memory_mb, "MB", Lower, "Largest resident memory of one process of the programs that made the backup, in 10^6; of the library's own methods it is in that of dbdyno's process.";
    backup_log_mb, "MB", Neither, "Written to the engine's log while the backup was made, in 10^6.";
    backup_archived_mb, "MB", Neither, "Log archived in the repository since the users began, as it lies there, in 10^6; of methods that archive it.";
    restore_tb_per_h, "TB/h", Higher, "Bytes of the database restored per hour, from the first byte copied to the first commit, in 10^12.";
    restore_copy_s, "s", Lower, "Time to copy a backup to its new place, durable.";
    restore_replay_s, "s", Lower, "Time from the end of the copy until the restored database answers, including the replay of its log.";
    restore_first_commit_s, "s", Lower, "Time from the first answer of a restored database to its first commit.";
    restore_per_backup, "times", Lower, "Time of the restore divided by the time of the backup.";
    foreground_alone_per_s, "1/s", Higher, "Order-entry transactions per second of the users, before a backup.";
    foreground_beside_per_s, "1/s", Higher, "Order-entry transactions per second of the same users, while the backup was made.";
    foreground_alone_us_p95, "µs", Lower, "95th percentile of the users' response times before a backup.";
    foreground_beside_us_p95, "µs", Lower, "95th percentile of the users' response times while the backup was made.";
    session_memory_mb, "MB", Lower, "Memory that each session takes of its server, 10^6 bytes: growth of the own memory of the server's processes (anonymous pages and page tables, without the database's cache) since before the run's first sessions of users, divided by the open sessions. Known from 16 sessions on, for servers on the machine that runs dbdyno; of servers that keep the memory of closed sessions (MariaDB, MySQL) only where the most they had before is at most a tenth of the level's, and never was over a tenth more than these. Unknown with --shared.";
    copy_age_ms_p50, "ms", Lower, "Median age of a copy that follows the tables of order entry, when a query on it begins: time since the snapshot of the source that its rows are of.";
    copy_age_ms_p95, "ms", Lower, "95th percentile of the age of a copy when a query on it begins.";
    copy_age_ms_max, "ms", Lower, "Greatest age of a copy when a query on it begins.";
    copy_lag_transactions_p50, "transactions", Lower, "Median number of measured transactions that users completed between the snapshot that a copy is of and the begin of a query on it.";
    copy_lag_transactions_p95, "transactions", Lower, "95th percentile of the transactions that a copy lacks when a query on it begins.";
    copy_lag_transactions_max, "transactions", Lower, "Greatest number of transactions that a copy lacks when a query on it begins.";
    active_sessions_mean, "sessions", Lower, "Sessions on a processor, waiting for one, or waiting for something else within a statement, on average over an observation; dbdyno's own left out. By the kernel's or the server's own account where a note of the point says so, else by the looks.";
    active_sessions_max, "sessions", Lower, "Most sessions at work or waiting within a statement that one look of an observation saw.";
    waiting_sessions_mean, "sessions", Lower, "Sessions within a statement that waited for something else than a processor, on average over an observation.";
    blocked_sessions_mean, "sessions", Lower, "Sessions that waited for a lock, on average over an observation.";
    transaction_s_max, "s", Lower, "Age of the oldest transaction that an observation saw.";
    replication_lag_s_max, "s", Lower, "Most that a replica was behind its source during an observation, as the observed server tells it.";
    active_sessions_seen_mean, "sessions", Lower, "Sessions at work or waiting within a statement, on average over the looks of an observation, whatever an account says.";
}

impl Figures {
    /// All figures with their values, in the order of [`FIGURES`].
    pub fn iter(&self) -> impl Iterator<Item = Figure> + '_ {
        FIGURES.iter().map(|info| (info, self.get(info.name)))
    }
}

/// Shortest time over which a share of processor time is a figure: the kernel counts in ticks of some milliseconds, so that
/// over less the share is mostly rounding.
pub const CPU_S_MIN: f64 = 0.25;

/// Processor time of other programs from which a point is marked. As much may be missing from its throughput: more than
/// the 2 % within which two configurations count as equivalent, and more than two accounts of it disagree by.
pub const OTHERS_PCT_MAX: f64 = 5.0;

/// Part of the device's bytes that others may move before a point is marked: what they leave is what the database had.
pub const OTHERS_IO_PCT_MAX: f64 = 10.0;
/// Less than this is next to nothing for any device.
pub const OTHERS_IO_MB_PER_S_MIN: f64 = 1.0;

impl Figures {
    /// Forgets shares of processor time where the point was too short for them, however long its counters were read apart.
    pub fn forget_short_shares(&mut self) {
        if self.elapsed_s.is_some_and(|s| s < CPU_S_MIN) {
            let shares = FIGURES.iter().filter(|info| info.name.starts_with("cpu_"));
            for info in shares {
                self.set(info.name, None);
            }
        }
    }

    /// Whether other programs took more of the processors, or of the device, than a point should bear; `None` where
    /// neither is known.
    pub fn is_crowded(&self) -> Option<bool> {
        let io = self.io_by_others_pct().is_some();
        match (self.are_processors_crowded(), self.is_device_crowded()) {
            (Some(true), _) | (_, true) => Some(true),
            (None, false) => io.then_some(false),
            (known, false) => known,
        }
    }

    /// Whether other programs took more of the processors than a point should bear; `None` where that is not known.
    pub fn are_processors_crowded(&self) -> Option<bool> {
        self.cpu_by_others_pct.map(|pct| pct > OTHERS_PCT_MAX)
    }

    /// Whether it is known that other programs moved more of the device's bytes than a point should bear.
    pub fn is_device_crowded(&self) -> bool {
        let moved = self.io_by_others_mb_per_s().unwrap_or(0.0);
        let is_much = |pct: f64| pct > OTHERS_IO_PCT_MAX;
        moved > OTHERS_IO_MB_PER_S_MIN && self.io_by_others_pct().is_some_and(is_much)
    }

    /// What others read and wrote together, of all that the device did, in percent.
    pub fn io_by_others_pct(&self) -> Option<f64> {
        let others = self.io_by_others_mb_per_s()?;
        let total = self.read_mb_per_s? + self.write_mb_per_s?;
        Some(if total > 0.0 {
            100.0 * others / total
        } else {
            0.0
        })
    }

    fn io_by_others_mb_per_s(&self) -> Option<f64> {
        Some(self.read_by_others_mb_per_s? + self.write_by_others_mb_per_s?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_reached_by_its_exported_name() {
        let mut f = Figures::default();
        assert!(f.set("redo_mb_per_s", Some(1.5)));
        assert!(!f.set("redo", Some(1.5)));
        assert_eq!(f.get("redo_mb_per_s"), f.redo_mb_per_s);
        assert_eq!(f.iter().filter(|(_, v)| v.is_some()).count(), 1);
    }

    #[test]
    fn a_point_of_milliseconds_has_no_share_of_processors() {
        let point = |elapsed_s| {
            let mut figures = Figures {
                elapsed_s: Some(elapsed_s),
                cpu_pct_avg: Some(100.0),
                cpu_by_others_pct: Some(50.0),
                process_cpu_pct: Some(80.0),
                ..Figures::default()
            };
            figures.forget_short_shares();
            (
                figures.cpu_pct_avg,
                figures.cpu_by_others_pct,
                figures.process_cpu_pct,
            )
        };
        assert_eq!(point(0.249), (None, None, Some(80.0)));
        assert_eq!(point(0.25), (Some(100.0), Some(50.0), Some(80.0)));
    }

    #[test]
    fn a_point_is_crowded_by_either() {
        let figures = |cpu, others| Figures {
            cpu_by_others_pct: cpu,
            read_mb_per_s: Some(20.0),
            write_mb_per_s: Some(80.0),
            read_by_others_mb_per_s: others,
            write_by_others_mb_per_s: others,
            ..Figures::default()
        };
        for (cpu, others, crowded) in [
            (None, None, None),
            (Some(3.0), None, Some(false)),
            (Some(6.0), None, Some(true)),
            (None, Some(5.0), Some(false)),
            (Some(3.0), Some(5.1), Some(true)),
            (Some(6.0), Some(0.0), Some(true)),
        ] {
            assert_eq!(
                figures(cpu, others).is_crowded(),
                crowded,
                "{cpu:?} {others:?}"
            );
        }
        let idle = Figures {
            read_mb_per_s: Some(0.1),
            write_mb_per_s: Some(0.1),
            ..figures(None, Some(0.1))
        };
        assert_eq!(idle.io_by_others_pct(), Some(100.0));
        assert!(!idle.is_device_crowded(), "next to nothing");
    }

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        let mut names: Vec<_> = FIGURES.iter().map(|f| f.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FIGURES.len());
        assert!(
            FIGURES
                .iter()
                .filter(|f| f.unit == "MB/s")
                .all(|f| f.name.ends_with("_mb_per_s"))
        );
    }
}
