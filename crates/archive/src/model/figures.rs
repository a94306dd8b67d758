//! The figures of a result row, declared once: struct field, column, unit, direction and meaning.

use serde::{Deserialize, Serialize};

/// Which direction of a figure is the good one; a property of the figure, never guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Higher,
    Lower,
    /// Describes, does not judge (utilisation, counts).
    Neither,
}

/// A figure without its value.
#[derive(Debug, Clone, Copy)]
pub struct FigureInfo {
    /// Name in the archive and in every export; the unit stands last.
    pub name: &'static str,
    pub unit: &'static str,
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
    rows_per_s, "rows/s", Higher, "Rows read or written, per second.";
    operations_per_s, "ops/s", Higher, "Operations (transactions, statements or loop passes), per second.";
    queries_per_min, "queries/min", Higher, "Queries per minute, for tests whose operation is a query.";
    buffer_gets_per_s, "gets/s", Higher, "Pages requested from the engine's own cache, per second.";
    payload_mb_per_s, "MB/s", Higher, "User data moved through the database.";
    elapsed_s, "s", Lower, "From the common start to the last finish, closing checkpoint included.";
    first_finish_s, "s", Lower, "From the common start to the first finish.";
    last_finish_s, "s", Lower, "From the common start to the last finish.";
    operations, "ops", Neither, "Operations completed.";
    rows, "rows", Neither, "Rows read or written.";
    errors, "count", Lower, "Operations that failed for good.";
    retries, "count", Lower, "Operations retried after a conflict.";
    cpu_pct_avg, "%", Neither, "CPU time of the host that was not idle, mean.";
    cpu_pct_peak, "%", Neither, "The same in the busiest sample.";
    cpu_pct_p95, "%", Neither, "The same, 95th percentile of the samples.";
    cpu_user_pct, "%", Neither, "CPU time in user mode, with nice.";
    cpu_system_pct, "%", Neither, "CPU time in the kernel, with interrupts.";
    cpu_iowait_pct, "%", Neither, "CPU time idle with I/O outstanding.";
    cpu_steal_pct, "%", Lower, "CPU time taken by the hypervisor.";
    read_iops, "IOPS", Neither, "Reads of the target's device.";
    write_iops, "IOPS", Neither, "Writes of the target's device.";
    total_iops, "IOPS", Neither, "Reads and writes of the target's device.";
    read_mb_per_s, "MB/s", Neither, "Read from the target's device.";
    write_mb_per_s, "MB/s", Neither, "Written to the target's device.";
    total_mb_per_s, "MB/s", Neither, "Read from and written to the target's device.";
    read_await_ms, "ms", Lower, "Mean time of a device read, queueing included.";
    write_await_ms, "ms", Lower, "Mean time of a device write, queueing included.";
    device_busy_pct, "%", Neither, "Time in which the target's device had a request to serve.";
    device_queue_mean, "requests", Neither, "Mean queue depth of the target's device, requests in service included.";
    engine_read_iops, "IOPS", Neither, "Reads of data files, by the engine's counters.";
    engine_write_iops, "IOPS", Neither, "Writes of data files, by the engine's counters.";
    engine_read_mb_per_s, "MB/s", Neither, "Read from data files, page cache included, by the engine's counters.";
    engine_write_mb_per_s, "MB/s", Neither, "Written to data files, by the engine's counters.";
    redo_mb_per_s, "MB/s", Neither, "Written to the WAL or redo log.";
    network_mb_per_s, "MB/s", Neither, "Received and sent by the host, without loopback.";
    network_errors, "count", Lower, "Interface errors and drops.";
    tcp_retransmits, "count", Lower, "TCP segments retransmitted.";
    memory_used_mb_peak, "MB", Neither, "Host memory not available to programs, largest sample.";
    major_faults, "count", Neither, "Page faults of the host that read from a device.";
    swap_in_mb, "MB", Lower, "Swapped in.";
    swap_out_mb, "MB", Lower, "Swapped out.";
    pressure_cpu_pct, "%", Lower, "Time in which some task waited for a CPU (PSI).";
    pressure_memory_pct, "%", Lower, "Time in which some task waited for memory (PSI).";
    pressure_io_pct, "%", Lower, "Time in which some task waited for I/O (PSI).";
    in_flight_mean, "requests", Neither, "Mean number of requests in the target: service times ÷ elapsed time.";
    little_error_pct, "%", Lower, "Share of the sessions' active time spent in the driver (Little's law).";
    driver_cpu_pct, "% of a core", Lower, "CPU time of dbdyno's process; of an embedded engine, without the engine's calls.";
    process_cpu_pct, "% of a core", Neither, "CPU time of dbdyno's process, an embedded engine included.";
    process_rss_mb_peak, "MB", Neither, "Resident memory of dbdyno's process, largest sample.";
    late_starts, "count", Lower, "Operations started more than 1 ms late although the driver was free.";
    late_start_us_max, "µs", Lower, "Latest of the late starts.";
    new_orders_per_min, "orders/min", Higher, "New orders entered, including those rolled back on purpose.";
    rolled_back, "count", Neither, "Operations rolled back on purpose; they count as completed.";
    timeouts, "count", Lower, "Operations beyond their time limit; they count as errors.";
    unfinished, "count", Lower, "Operations due but not completed at the end of the measured window.";
    connection_wait_us_mean, "µs", Lower, "Mean wait for a free connection; part of the response time.";
    connection_wait_us_p99, "µs", Lower, "99th percentile of that wait.";
    round_trips_per_operation, "trips/op", Lower, "Waits for an answer from the server, per operation, retries included.";
    scaled_queries_per_h, "queries/h", Higher, "Analytical queries per hour × scale: of one user, several, or the root of their product.";
    workers, "workers", Neither, "Parallel workers of a statement besides its session.";
    busy_cores_mean, "cores", Neither, "Busy hardware threads, mean; with an embedded engine those of dbdyno's process.";
    table_disk_mb, "MB", Neither, "A table's rows on disk in the source, without indexes.";
    table_memory_mb, "MB", Lower, "Memory allocated for a table in the column store.";
    compress_factor, "times", Higher, "Size of a table on disk ÷ in memory.";
    cpu_by_database_pct, "%", Neither, "CPU time of the database: all processes of its servers, or the embedded engine.";
    cpu_by_driver_pct, "%", Neither, "CPU time of the driver, as a share of all CPUs.";
    cpu_by_kernel_pct, "%", Neither, "CPU time of interrupts and kernel threads.";
    cpu_by_others_pct, "%", Lower, "CPU time of programs other than database and driver.";
    read_by_others_mb_per_s, "MB/s", Lower, "Read from the target's device by other programs, upper bound.";
    write_by_others_mb_per_s, "MB/s", Lower, "Written to the target's device by other programs, upper bound.";
    read_await_ms_p99, "ms", Lower, "99th percentile of device reads, where the kernel times each.";
    write_await_ms_p99, "ms", Lower, "99th percentile of device writes, where the kernel times each.";
    backup_logical_mb, "MB", Neither, "Database in the backup, without free pages.";
    backup_repository_mb, "MB", Lower, "Size of the backup in its repository.";
    backup_ratio, "times", Higher, "Size of the database ÷ size of its backup.";
    backup_tb_per_h, "TB/h", Higher, "Database backed up per hour, durable in the repository.";
    backup_tool_s, "s", Lower, "Time of the backup by the tool's own clock, if it reports one.";
    backup_cpu_s_per_gb, "s/GB", Lower, "CPU time per 10^9 bytes of the database; of a server, all of it.";
    backup_tool_memory_mb, "MB", Lower, "Largest resident memory of one process of the backup program.";
    backup_log_mb, "MB", Neither, "WAL or redo log written during the backup.";
    backup_archived_mb, "MB", Neither, "WAL archived in the repository since the users started.";
    restore_tb_per_h, "TB/h", Higher, "Database restored per hour, until the first commit.";
    restore_copy_s, "s", Lower, "Time to copy a backup to its new location, durable.";
    restore_replay_s, "s", Lower, "From the end of the copy until the restored database answers, WAL replay included.";
    restore_first_commit_s, "s", Lower, "From the first answer of a restored database to its first commit.";
    restore_per_backup, "times", Lower, "Time of the restore ÷ time of the backup.";
    foreground_alone_per_s, "1/s", Higher, "Order-entry transactions before a backup.";
    foreground_during_per_s, "1/s", Higher, "Order-entry transactions during the backup.";
    foreground_alone_us_p95, "µs", Lower, "95th percentile of response times before a backup.";
    foreground_during_us_p95, "µs", Lower, "95th percentile of response times during the backup.";
    session_memory_mb, "MB", Lower, "Growth of the server's private memory, without its cache, ÷ open sessions; with at least 16 sessions, on dbdyno's machine, without --allow-busy.";
    copy_age_ms_p50, "ms", Lower, "Median age of a copy's snapshot when a query on it starts.";
    copy_age_ms_p95, "ms", Lower, "95th percentile of that age.";
    copy_age_ms_max, "ms", Lower, "Largest of that age.";
    copy_lag_transactions_p50, "transactions", Lower, "Median number of transactions completed since the copy's snapshot when a query on it starts.";
    copy_lag_transactions_p95, "transactions", Lower, "95th percentile of that number.";
    copy_lag_transactions_max, "transactions", Lower, "Largest of that number.";
    active_sessions_mean, "sessions", Lower, "Sessions on a CPU, waiting for one, or in another wait within a statement, mean, without dbdyno's.";
    active_sessions_max, "sessions", Lower, "Most active sessions in one sample.";
    waiting_sessions_mean, "sessions", Lower, "Sessions in a wait within a statement, other than for a CPU, mean.";
    blocked_sessions_mean, "sessions", Lower, "Sessions waiting for a lock, mean.";
    transaction_s_max, "s", Lower, "Age of the oldest transaction observed.";
    replication_lag_s_max, "s", Lower, "Largest lag of a replica, as the server reports it.";
    active_sessions_sampled_mean, "sessions", Lower, "Active sessions by samples alone, mean.";
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

    /// True if other programs used more of the processors or the device than a point tolerates; `None` if neither is known.
    pub fn is_crowded(&self) -> Option<bool> {
        let io = self.io_by_others_pct().is_some();
        match (self.are_processors_crowded(), self.is_device_crowded()) {
            (Some(true), _) | (_, true) => Some(true),
            (None, false) => io.then_some(false),
            (known, false) => known,
        }
    }

    pub fn are_processors_crowded(&self) -> Option<bool> {
        self.cpu_by_others_pct.map(|pct| pct > OTHERS_PCT_MAX)
    }

    /// False also if the bytes of other programs are unknown.
    pub fn is_device_crowded(&self) -> bool {
        let moved = self.io_by_others_mb_per_s().unwrap_or(0.0);
        let is_much = |pct: f64| pct > OTHERS_IO_PCT_MAX;
        moved > OTHERS_IO_MB_PER_S_MIN && self.io_by_others_pct().is_some_and(is_much)
    }

    /// Bytes read and written by other programs, in percent of all of the device.
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
