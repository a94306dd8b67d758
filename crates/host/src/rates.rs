//! Rates between two snapshots of the counters.

use archive::{CPU_S_MIN, Requests};

use crate::counters::{Counters, CpuTicks, DiskCounters, Disks, PagingCounters, PressureUs};

const SECTOR_BYTES: f64 = crate::counters::SECTOR_BYTES as f64;
const MB: f64 = 1e6;

/// Rates and counts between two snapshots. Rates of counters that one of them lacks are `None`.
///
/// Counters may go backwards (iowait does on real kernels, so does a replaced interface): such a difference counts as
/// 0, never as negative.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    pub elapsed_s: f64,
    /// Processor time neither idle nor waiting for I/O; includes stolen time.
    pub cpu_pct: Option<f64>,
    /// User mode, with nice.
    pub cpu_user_pct: Option<f64>,
    /// Kernel mode, with interrupts.
    pub cpu_system_pct: Option<f64>,
    pub cpu_interrupts_pct: Option<f64>,
    /// Processor time idle with I/O outstanding.
    pub cpu_iowait_pct: Option<f64>,
    pub cpu_steal_pct: Option<f64>,
    pub read_iops: Option<f64>,
    pub write_iops: Option<f64>,
    pub read_mb_per_s: Option<f64>,
    pub write_mb_per_s: Option<f64>,
    /// Mean time of a device read; `None` without reads.
    pub read_await_ms: Option<f64>,
    /// Mean time of a device write; `None` without writes.
    pub write_await_ms: Option<f64>,
    pub device_busy_pct: Option<f64>,
    pub device_queue_mean: Option<f64>,
    /// Received and sent, 10^6 bytes per second.
    pub network_mb_per_s: Option<f64>,
    pub network_errors: Option<f64>,
    pub tcp_retransmits: Option<f64>,
    pub major_faults: Option<f64>,
    pub swap_in_mb: Option<f64>,
    pub swap_out_mb: Option<f64>,
    /// Share of time in which some task waited for a processor.
    pub pressure_cpu_pct: Option<f64>,
    pub pressure_memory_pct: Option<f64>,
    pub pressure_io_pct: Option<f64>,
    /// Processor time of this process, in percent of one core.
    pub process_cpu_pct: Option<f64>,
}

impl Rates {
    /// Rates from `start` to `end`; all unknown if no time passed.
    pub fn between(start: &Counters, end: &Counters) -> Self {
        let elapsed_ns = end.at_ns.saturating_sub(start.at_ns);
        if elapsed_ns == 0 {
            return Self::default();
        }
        let elapsed_s = elapsed_ns as f64 / 1e9;
        let mut rates = Self {
            elapsed_s,
            ..Self::default()
        };
        if let Some((start, end)) = start.cpu.zip(end.cpu).filter(|_| elapsed_s >= CPU_S_MIN) {
            rates.set_cpu(&start, &end);
        }
        rates.set_disks(&start.disks, &end.disks);
        if let Some((start, end)) = start.network.zip(end.network) {
            rates.network_mb_per_s = Some(rise(start.bytes, end.bytes) / MB / elapsed_s);
            rates.network_errors = Some(rise(start.errors, end.errors));
        }
        rates.tcp_retransmits = rise_of(start.tcp_retransmits, end.tcp_retransmits);
        rates.set_paging(&start.paging, &end.paging);
        rates.set_pressure(&start.pressure_us, &end.pressure_us);
        rates.process_cpu_pct = rise_of(start.process_cpu_ns, end.process_cpu_ns)
            .map(|cpu_ns| 100.0 * cpu_ns / elapsed_ns as f64);
        rates
    }

    pub fn total_iops(&self) -> Option<f64> {
        Some(self.read_iops? + self.write_iops?)
    }

    pub fn total_mb_per_s(&self) -> Option<f64> {
        Some(self.read_mb_per_s? + self.write_mb_per_s?)
    }

    /// Sets shares of the ticks that passed, so that they add up to 100 % for any elapsed time; none if no tick
    /// passed.
    fn set_cpu(&mut self, start: &CpuTicks, end: &CpuTicks) {
        let user = rise(start.user, end.user);
        let system = rise(start.system, end.system);
        let idle = rise(start.idle, end.idle);
        let iowait = rise(start.iowait, end.iowait);
        let steal = rise(start.steal, end.steal);
        let total = user + system + idle + iowait + steal;
        if total == 0.0 {
            return;
        }
        let share = |ticks: f64| Some(100.0 * ticks / total);
        self.cpu_pct = share(user + system + steal);
        self.cpu_user_pct = share(user);
        self.cpu_system_pct = share(system);
        self.cpu_interrupts_pct = share(rise(start.interrupts, end.interrupts));
        self.cpu_iowait_pct = share(iowait);
        self.cpu_steal_pct = share(steal);
    }

    /// Sets sums over the devices, times weighted with their requests, and the longest busy time.
    fn set_disks(&mut self, start: &Disks, end: &Disks) {
        let elapsed_s = self.elapsed_s;
        let each: Option<Vec<DiskRates>> = (start.summed().zip(end.summed()))
            .map(|(start, end)| Some(DiskRates::between(start?, end?, elapsed_s)))
            .collect();
        let Some(each) = each.filter(|each| !each.is_empty()) else {
            return;
        };
        let reads = sum(each.iter().map(|disk| disk.reads));
        let writes = sum(each.iter().map(|disk| disk.writes));
        self.read_iops = Some(reads.count as f64 / elapsed_s);
        self.write_iops = Some(writes.count as f64 / elapsed_s);
        self.read_mb_per_s = Some(reads.mb / elapsed_s);
        self.write_mb_per_s = Some(writes.mb / elapsed_s);
        self.read_await_ms = reads.await_ms;
        self.write_await_ms = writes.await_ms;
        self.device_busy_pct = each.iter().map(|disk| disk.busy_pct).reduce(f64::max);
        self.device_queue_mean = Some(each.iter().map(|disk| disk.queue_mean).sum());
    }

    fn set_paging(&mut self, start: &PagingCounters, end: &PagingCounters) {
        let mb = |bytes: f64| bytes / MB;
        self.major_faults = rise_of(start.major_faults, end.major_faults);
        self.swap_in_mb = rise_of(start.swap_in_bytes, end.swap_in_bytes).map(mb);
        self.swap_out_mb = rise_of(start.swap_out_bytes, end.swap_out_bytes).map(mb);
    }

    /// The kernel accounts a stall in progress a moment late, so that a short window may show slightly more stall
    /// than time: the maximum is 100.
    fn set_pressure(&mut self, start: &PressureUs, end: &PressureUs) {
        let elapsed_us = self.elapsed_s * 1e6;
        let share = |stalled_us: f64| (100.0 * stalled_us / elapsed_us).min(100.0);
        self.pressure_cpu_pct = rise_of(start.cpu, end.cpu).map(share);
        self.pressure_memory_pct = rise_of(start.memory, end.memory).map(share);
        self.pressure_io_pct = rise_of(start.io, end.io).map(share);
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DiskRates {
    pub reads: Requests,
    pub writes: Requests,
    pub busy_pct: f64,
    pub queue_mean: f64,
}

impl DiskRates {
    pub(crate) fn between(start: &DiskCounters, end: &DiskCounters, elapsed_s: f64) -> Self {
        let requests = |count: (u64, u64), sectors: (u64, u64), ms: (u64, u64)| {
            let count = count.1.saturating_sub(count.0);
            Requests {
                count,
                mb: rise(sectors.0, sectors.1) * SECTOR_BYTES / MB,
                await_ms: (count > 0).then(|| rise_wrapping(ms.0, ms.1) / count as f64),
            }
        };
        let elapsed_ms = elapsed_s * 1e3;
        // The kernel rounds to ticks, so a short window may show slightly more than all of it.
        let busy_pct = 100.0 * rise_wrapping(start.busy_ms, end.busy_ms) / elapsed_ms;
        Self {
            reads: requests(
                (start.reads, end.reads),
                (start.read_sectors, end.read_sectors),
                (start.read_ms, end.read_ms),
            ),
            writes: requests(
                (start.writes, end.writes),
                (start.write_sectors, end.write_sectors),
                (start.write_ms, end.write_ms),
            ),
            busy_pct: busy_pct.min(100.0),
            queue_mean: rise_wrapping(start.weighted_ms, end.weighted_ms) / elapsed_ms,
        }
    }
}

fn sum(each: impl Iterator<Item = Requests>) -> Requests {
    let mut all = Requests::default();
    let mut ms = 0.0;
    for requests in each {
        all.count += requests.count;
        all.mb += requests.mb;
        ms += requests.await_ms.unwrap_or_default() * requests.count as f64;
    }
    all.await_ms = (all.count > 0).then(|| ms / all.count as f64);
    all
}

fn rise(start: u64, end: u64) -> f64 {
    end.saturating_sub(start) as f64
}

fn rise_of(start: Option<u64>, end: Option<u64>) -> Option<f64> {
    Some(rise(start?, end?))
}

/// Rise of a counter that wraps at 32 bits. More than half the range means that it went back.
fn rise_wrapping(start: u64, end: u64) -> f64 {
    let rise = (end as u32).wrapping_sub(start as u32);
    if rise > u32::MAX / 2 {
        0.0
    } else {
        f64::from(rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::NetworkCounters;

    fn start() -> Counters {
        Counters {
            at_ns: 5_000_000_000,
            cpu: Some(CpuTicks {
                user: 100,
                system: 50,
                interrupts: 5,
                idle: 1000,
                iowait: 20,
                steal: 1,
            }),
            disks: Disks::one(DiskCounters {
                reads: 10,
                read_sectors: 1000,
                read_ms: 40,
                writes: 7,
                write_sectors: 500,
                write_ms: u64::from(u32::MAX) - 1,
                busy_ms: 100,
                weighted_ms: 300,
            }),
            network: Some(NetworkCounters {
                bytes: 1000,
                errors: 3,
            }),
            tcp_retransmits: Some(2),
            tcp_sockets: None,
            memory: None,
            page_cache_bytes: None,
            paging: PagingCounters {
                major_faults: Some(9),
                swap_in_bytes: Some(0),
                swap_out_bytes: Some(4096),
            },
            pressure_us: PressureUs {
                cpu: Some(100),
                memory: Some(0),
                io: Some(50),
            },
            process_cpu_ns: Some(1_000_000_000),
            process_rss_bytes: None,
        }
    }

    fn end() -> Counters {
        Counters {
            at_ns: 7_000_000_000,
            cpu: Some(CpuTicks {
                user: 200,
                system: 90,
                interrupts: 13,
                idle: 1200,
                iowait: 60,
                steal: 21,
            }),
            disks: Disks::one(DiskCounters {
                reads: 210,
                read_sectors: 5000,
                read_ms: 140,
                writes: 107,
                write_sectors: 8500,
                write_ms: 248,
                busy_ms: 1100,
                weighted_ms: 3300,
            }),
            network: Some(NetworkCounters {
                bytes: 3_001_000,
                errors: 8,
            }),
            tcp_retransmits: Some(6),
            tcp_sockets: None,
            memory: None,
            page_cache_bytes: None,
            paging: PagingCounters {
                major_faults: Some(29),
                swap_in_bytes: Some(2_000_000),
                swap_out_bytes: Some(1_004_096),
            },
            pressure_us: PressureUs {
                cpu: Some(500_100),
                memory: Some(0),
                io: Some(9_000_050),
            },
            process_cpu_ns: Some(4_000_000_000),
            process_rss_bytes: None,
        }
    }

    #[test]
    fn golden_rates() {
        let golden = Rates {
            elapsed_s: 2.0,
            cpu_pct: Some(40.0),
            cpu_user_pct: Some(25.0),
            cpu_system_pct: Some(10.0),
            cpu_interrupts_pct: Some(2.0),
            cpu_iowait_pct: Some(10.0),
            cpu_steal_pct: Some(5.0),
            read_iops: Some(100.0),
            write_iops: Some(50.0),
            read_mb_per_s: Some(1.024),
            write_mb_per_s: Some(2.048),
            read_await_ms: Some(0.5),
            write_await_ms: Some(2.5),
            device_busy_pct: Some(50.0),
            device_queue_mean: Some(1.5),
            network_mb_per_s: Some(1.5),
            network_errors: Some(5.0),
            tcp_retransmits: Some(4.0),
            major_faults: Some(20.0),
            swap_in_mb: Some(2.0),
            swap_out_mb: Some(1.0),
            pressure_cpu_pct: Some(25.0),
            pressure_memory_pct: Some(0.0),
            pressure_io_pct: Some(100.0),
            process_cpu_pct: Some(150.0),
        };
        let rates = Rates::between(&start(), &end());
        assert_eq!(rates, golden);
        assert_eq!(rates.total_iops(), Some(150.0));
        assert_eq!(rates.total_mb_per_s(), Some(3.072));
    }

    /// Two devices add up; a third one below them is left out.
    #[test]
    fn devices_are_added_up_once() {
        let at = |at_ns, reads, read_ms, busy_ms, weighted_ms| {
            let disk = DiskCounters {
                reads,
                read_sectors: 8 * reads,
                read_ms,
                busy_ms,
                weighted_ms,
                ..DiskCounters::default()
            };
            let half = DiskCounters {
                reads: reads / 2,
                busy_ms: busy_ms / 2,
                ..disk
            };
            Counters {
                at_ns,
                disks: Disks::of([(Some(disk), true), (Some(half), true), (Some(disk), false)]),
                ..Counters::default()
            }
        };
        let end = at(1_000_000_000, 1000, 3000, 800, 2000);
        let rates = Rates::between(&at(0, 0, 0, 0, 0), &end);
        assert_eq!(rates.read_iops, Some(1500.0));
        assert_eq!(rates.read_mb_per_s, Some(2.0 * 8.0 * 0.512));
        assert_eq!(rates.read_await_ms, Some(4.0), "6000 ms over 1500 reads");
        assert_eq!(rates.device_busy_pct, Some(80.0), "the busiest");
        assert_eq!(rates.device_queue_mean, Some(4.0));
        let gone = Counters {
            disks: Disks::of([(Some(DiskCounters::default()), true), (None, true)]),
            ..end
        };
        assert_eq!(
            Rates::between(&at(0, 0, 0, 0, 0), &gone).read_iops,
            None,
            "one of them is gone"
        );
    }

    #[test]
    fn a_counter_that_went_back_counts_as_zero() {
        let mut after = end();
        if let Some(cpu) = &mut after.cpu {
            cpu.iowait = 10;
        }
        after.tcp_retransmits = Some(0);
        let rates = Rates::between(&start(), &after);
        assert_eq!(rates.cpu_iowait_pct, Some(0.0));
        assert_eq!(rates.cpu_user_pct, Some(100.0 * 100.0 / 360.0));
        assert_eq!(rates.tcp_retransmits, Some(0.0));
        let (earlier, later) = (
            start(),
            Counters {
                at_ns: end().at_ns,
                ..start()
            },
        );
        let backwards = Rates::between(
            &end(),
            &Counters {
                at_ns: 9_000_000_000,
                ..earlier
            },
        );
        assert_eq!(backwards.read_iops, Some(0.0));
        assert_eq!(backwards.cpu_pct, None, "no tick passed");
        assert_eq!(
            Rates::between(&start(), &later).read_await_ms,
            None,
            "no read, no mean time"
        );
        assert_eq!(
            (rise_wrapping(100, 90), rise_wrapping(90, 100)),
            (0.0, 10.0)
        );
    }

    /// The same ticks are a figure over a quarter of a second, and rounding noise over less.
    #[test]
    fn processor_time_of_a_short_window_is_unknown() {
        let within_ns = |ns| {
            let end = Counters {
                at_ns: start().at_ns + ns,
                ..end()
            };
            let rates = Rates::between(&start(), &end);
            [
                rates.cpu_pct,
                rates.cpu_user_pct,
                rates.cpu_system_pct,
                rates.cpu_interrupts_pct,
                rates.cpu_iowait_pct,
                rates.cpu_steal_pct,
            ]
        };
        let known = [40.0, 25.0, 10.0, 2.0, 10.0, 5.0];
        assert_eq!(within_ns(250_000_000), known.map(Some));
        assert_eq!(within_ns(249_999_999), [None; 6]);
    }

    #[test]
    fn what_one_snapshot_lacks_is_none() {
        let nothing = Counters {
            at_ns: 1,
            ..Counters::default()
        };
        let rates = Rates::between(&nothing, &end());
        assert_eq!(
            rates,
            Rates {
                elapsed_s: rates.elapsed_s,
                ..Rates::default()
            }
        );
        assert_eq!((rates.total_iops(), rates.total_mb_per_s()), (None, None));
        assert_eq!(
            Rates::between(&end(), &end()),
            Rates::default(),
            "no time passed"
        );
    }
}
