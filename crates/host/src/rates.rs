//! Rates between two snapshots of the counters.

use archive::{CPU_S_MIN, Figures, Requests, Sample};

use crate::counters::{Counters, CpuTicks, DiskCounters, Disks};

const SECTOR_BYTES: f64 = crate::counters::SECTOR_BYTES as f64;
const MB: f64 = 1e6;

/// Declares the metrics of the host, each once: its name with its unit, the file of its counters, how it follows from two
/// snapshots, and its names among the figures of a point and in the time series.
macro_rules! metrics {
    ($span:ident; $(
        $(#[$about:meta])* $name:ident, $source:literal, $value:expr
            $(, figure $figure:ident)? $(, series $series:ident)?;
    )*) => {
        /// Rates and counts between two snapshots. Rates of counters that one of them lacks are `None`.
        ///
        /// Counters may go backwards (iowait does on real kernels, so does a replaced interface): such a difference counts
        /// as 0, never as negative.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct Rates {
            pub elapsed_s: f64,
            $($(#[$about])* #[doc = concat!("\n\nSource: /proc/", $source)] pub $name: Option<f64>,)*
        }

        impl Rates {
            /// Rates from `start` to `end`; all unknown if no time passed.
            pub fn between(start: &Counters, end: &Counters) -> Self {
                match Span::of(start, end) {
                    Some($span) => Self { elapsed_s: $span.elapsed_s, $($name: $value,)* },
                    None => Self::default(),
                }
            }

            /// Sets the figures of the host that are averages and counts over the whole time.
            pub(crate) fn write_into(&self, figures: &mut Figures) {
                $($(figures.$figure = self.$name;)?)*
                figures.total_iops = self.total_iops();
                figures.total_mb_per_s = self.total_mb_per_s();
            }

            /// One sample of the series, without the driver's own columns.
            pub(crate) fn sample(&self, at_s: f64) -> Sample {
                Sample { at_s, $($($series: self.$name,)?)* ..Sample::default() }
            }
        }
    };
}

metrics! { span;
    /// Processor time neither idle nor waiting for I/O; includes stolen time.
    cpu_pct, "stat", span.cpu(|t| t.user + t.system + t.steal), figure cpu_pct_avg, series cpu_pct;
    /// User mode, with nice.
    cpu_user_pct, "stat", span.cpu(|t| t.user), figure cpu_user_pct, series cpu_user_pct;
    /// Kernel mode, with interrupts.
    cpu_system_pct, "stat", span.cpu(|t| t.system), figure cpu_system_pct, series cpu_system_pct;
    cpu_interrupts_pct, "stat", span.cpu(|t| t.interrupts);
    /// Processor time idle with I/O outstanding.
    cpu_iowait_pct, "stat", span.cpu(|t| t.iowait), figure cpu_iowait_pct, series cpu_iowait_pct;
    cpu_steal_pct, "stat", span.cpu(|t| t.steal), figure cpu_steal_pct;
    read_iops, "diskstats", span.disk_per_s(|d| d.reads.count as f64), figure read_iops, series read_iops;
    write_iops, "diskstats", span.disk_per_s(|d| d.writes.count as f64), figure write_iops, series write_iops;
    read_mb_per_s, "diskstats", span.disk_per_s(|d| d.reads.mb), figure read_mb_per_s, series read_mb_per_s;
    write_mb_per_s, "diskstats", span.disk_per_s(|d| d.writes.mb), figure write_mb_per_s, series write_mb_per_s;
    /// Mean time of a device read; `None` without reads.
    read_await_ms, "diskstats", span.disks.and_then(|d| d.reads.await_ms), figure read_await_ms;
    /// Mean time of a device write; `None` without writes.
    write_await_ms, "diskstats", span.disks.and_then(|d| d.writes.await_ms), figure write_await_ms;
    /// Of the busiest device.
    device_busy_pct, "diskstats", span.disks.map(|d| d.busy_pct), figure device_busy_pct;
    device_queue_mean, "diskstats", span.disks.map(|d| d.queue_mean), figure device_queue_mean;
    /// Received and sent, 10^6 bytes per second.
    network_mb_per_s, "net/dev", span.rise(|c| Some(c.network?.bytes)).map(|bytes| bytes / MB / span.elapsed_s),
        figure network_mb_per_s, series network_mb_per_s;
    network_errors, "net/dev", span.rise(|c| Some(c.network?.errors)), figure network_errors;
    tcp_retransmits, "net/snmp", span.rise(|c| c.tcp_retransmits), figure tcp_retransmits, series tcp_retransmits;
    /// Open at the end.
    tcp_sockets, "net/sockstat", span.end.tcp_sockets.map(|sockets| sockets as f64), series tcp_sockets;
    /// Not available to programs at the end.
    memory_used_mb, "meminfo", span.end.memory.map(|m| m.total.saturating_sub(m.available) as f64 / MB), series memory_used_mb;
    /// At the end.
    page_cache_mb, "meminfo", span.end.page_cache_bytes.map(|bytes| bytes as f64 / MB), series page_cache_mb;
    major_faults, "vmstat", span.rise(|c| c.paging.major_faults), figure major_faults, series major_faults;
    swap_in_mb, "vmstat", span.rise(|c| c.paging.swap_in_bytes).map(|bytes| bytes / MB), figure swap_in_mb;
    swap_out_mb, "vmstat", span.rise(|c| c.paging.swap_out_bytes).map(|bytes| bytes / MB), figure swap_out_mb;
    /// In and out.
    swap_mb, "vmstat", span.rise(|c| c.paging.swap_in_bytes).zip(span.rise(|c| c.paging.swap_out_bytes)).map(|(i, o)| (i + o) / MB),
        series swap_mb;
    /// Share of time in which some task waited for a processor.
    pressure_cpu_pct, "pressure/cpu", span.pressure(|c| c.pressure_us.cpu), figure pressure_cpu_pct, series pressure_cpu_pct;
    pressure_memory_pct, "pressure/memory", span.pressure(|c| c.pressure_us.memory), figure pressure_memory_pct, series pressure_memory_pct;
    pressure_io_pct, "pressure/io", span.pressure(|c| c.pressure_us.io), figure pressure_io_pct, series pressure_io_pct;
    /// Processor time of this process, in percent of one core.
    process_cpu_pct, "self", span.rise(|c| c.process_cpu_ns).map(|ns| 100.0 * ns / 1e9 / span.elapsed_s), figure process_cpu_pct;
}

impl Rates {
    pub fn total_iops(&self) -> Option<f64> {
        Some(self.read_iops? + self.write_iops?)
    }

    pub fn total_mb_per_s(&self) -> Option<f64> {
        Some(self.read_mb_per_s? + self.write_mb_per_s?)
    }
}

/// Two snapshots, and what passed between them.
struct Span<'c> {
    start: &'c Counters,
    end: &'c Counters,
    elapsed_s: f64,
    /// Ticks by kind, and all of them; `None` if none passed, or so little time that the shares would be rounding noise.
    ticks: Option<(CpuTicks, u64)>,
    /// Sums over the devices, times weighted with their requests, and the longest busy time.
    disks: Option<DiskRates>,
}

impl<'c> Span<'c> {
    fn of(start: &'c Counters, end: &'c Counters) -> Option<Self> {
        let elapsed_ns = end.at_ns.checked_sub(start.at_ns).filter(|ns| *ns > 0)?;
        let elapsed_s = elapsed_ns as f64 / 1e9;
        let ticks = start.cpu.zip(end.cpu).filter(|_| elapsed_s >= CPU_S_MIN);
        Some(Self {
            start,
            end,
            elapsed_s,
            ticks: ticks.and_then(|(start, end)| risen(&start, &end)),
            disks: DiskRates::summed(&start.disks, &end.disks, elapsed_s),
        })
    }

    /// Share of the ticks that passed, so that the shares add up to 100 % for any elapsed time.
    fn cpu(&self, of: fn(&CpuTicks) -> u64) -> Option<f64> {
        let (risen, all) = self.ticks.as_ref()?;
        Some(100.0 * of(risen) as f64 / *all as f64)
    }

    fn disk_per_s(&self, of: fn(&DiskRates) -> f64) -> Option<f64> {
        Some(of(self.disks.as_ref()?) / self.elapsed_s)
    }

    fn rise(&self, of: fn(&Counters) -> Option<u64>) -> Option<f64> {
        Some(rise(of(self.start)?, of(self.end)?))
    }

    /// The kernel accounts a stall in progress a moment late, so that a short window may show slightly more stall
    /// than time: the maximum is 100.
    fn pressure(&self, of: fn(&Counters) -> Option<u64>) -> Option<f64> {
        let stalled_us = self.rise(of)?;
        Some((100.0 * stalled_us / (self.elapsed_s * 1e6)).min(100.0))
    }
}

fn risen(start: &CpuTicks, end: &CpuTicks) -> Option<(CpuTicks, u64)> {
    let rise = |of: fn(&CpuTicks) -> u64| of(end).saturating_sub(of(start));
    let risen = CpuTicks {
        user: rise(|t| t.user),
        system: rise(|t| t.system),
        interrupts: rise(|t| t.interrupts),
        idle: rise(|t| t.idle),
        iowait: rise(|t| t.iowait),
        steal: rise(|t| t.steal),
    };
    let all = risen.user + risen.system + risen.idle + risen.iowait + risen.steal;
    (all > 0).then_some((risen, all))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DiskRates {
    pub reads: Requests,
    pub writes: Requests,
    pub busy_pct: f64,
    pub queue_mean: f64,
}

impl DiskRates {
    fn summed(start: &Disks, end: &Disks, elapsed_s: f64) -> Option<Self> {
        let each: Option<Vec<Self>> = (start.summed().zip(end.summed()))
            .map(|(start, end)| Some(Self::between(start?, end?, elapsed_s)))
            .collect();
        let each = each.filter(|each| !each.is_empty())?;
        Some(Self {
            reads: sum(each.iter().map(|disk| disk.reads)),
            writes: sum(each.iter().map(|disk| disk.writes)),
            busy_pct: each.iter().map(|disk| disk.busy_pct).fold(0.0, f64::max),
            queue_mean: each.iter().map(|disk| disk.queue_mean).sum(),
        })
    }

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
    use crate::counters::{NetworkCounters, PagingCounters, PressureUs};

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
            swap_mb: Some(3.0),
            pressure_cpu_pct: Some(25.0),
            pressure_memory_pct: Some(0.0),
            pressure_io_pct: Some(100.0),
            process_cpu_pct: Some(150.0),
            ..Rates::default()
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
