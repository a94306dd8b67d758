//! Figures of the host in one window.

use archive::{DeviceSample, DeviceUse, Figures, InterfaceUse, Remark, Sample};

use crate::block::{DeviceTimes, Operation};
use crate::bystanders::IoByOthers;
use crate::counters::Counters;
use crate::owners::CpuOwners;
use crate::rates::{DiskRates, Rates};
use crate::stack::Stack;

/// An interval as long as this part of the nominal one counts as whole: ticks come slightly late, so the next
/// interval is slightly short.
const WHOLE: f64 = 0.9;

/// An interval shorter than this part of the nominal one is left out of the series: over a few ticks of the kernel's
/// clock its rates would be noise.
const SHORTEST: f64 = 0.5;

const MB: f64 = 1e6;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostUse {
    /// Exact averages and counts between the boundaries of the window.
    pub rates: Rates,
    /// Busiest whole interval; `None` without a whole interval.
    pub cpu_pct_peak: Option<f64>,
    /// 95th percentile of the whole intervals; `None` without a whole interval.
    pub cpu_pct_p95: Option<f64>,
    /// Most memory in use at the end of a whole interval, 10^6 bytes.
    pub memory_used_mb_peak: Option<f64>,
    /// Most resident memory of this process at the end of a whole interval, 10^6 bytes.
    pub process_rss_mb_peak: Option<f64>,
    /// The time series; [`Sample::at_s`] counts from the start of the window.
    pub samples: Vec<Sample>,
    pub io_reason: Option<Remark>,
    /// Use of each device, in the order of the stack.
    pub devices: Vec<DeviceUse>,
    pub interfaces: Vec<InterfaceUse>,
    /// Times of the requests of each device; empty if they are not timed.
    pub requests: Vec<DeviceTimes>,
    /// Devices whose requests the figures contain, each request once.
    pub requests_of: Vec<String>,
    pub requests_reason: Option<String>,
    pub owners: Option<CpuOwners>,
    pub owners_reason: Option<String>,
    /// Reads and writes of other programs on the device.
    pub io_by_others: Option<IoByOthers>,
    /// Why `io_by_others` is unknown; `None` without a device.
    pub io_by_others_reason: Option<String>,
    /// Relevant changes of the processors' speed on the driver's machine.
    pub speed: Vec<Remark>,
    pub unknown: Option<Remark>,
    /// A note for the reader about the origin of the figures.
    pub remark: Option<Remark>,
    pub sampler_cpu_s: f64,
    /// Samples that came more than half an interval late, or were left out for it.
    pub late_samples: u64,
    /// Samples of the window that are no longer stored: their peaks and series are missing.
    pub samples_lost: u64,
}

impl HostUse {
    /// Figures from the snapshots of a window with the counters of these devices; the first and last are its
    /// boundaries.
    pub(crate) fn of_window(snapshots: &[Counters], interval_ns: u64, devices: &Stack) -> Self {
        let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else {
            return Self::default();
        };
        let mut used = Self {
            rates: Rates::between(first, last),
            devices: used_devices(first, last, devices),
            io_reason: gone(first, last, devices),
            ..Self::default()
        };
        let (mut cpu, mut memory, mut rss) = (Vec::new(), Vec::new(), Vec::new());
        for pair in snapshots.windows(2) {
            let (start, end) = (&pair[0], &pair[1]);
            let part = end.at_ns.saturating_sub(start.at_ns) as f64 / interval_ns as f64;
            if part < SHORTEST {
                continue;
            }
            let rates = Rates::between(start, end);
            let at_s = end.at_ns.saturating_sub(first.at_ns) as f64 / 1e9;
            used.samples.push(rates.sample(at_s));
            for (index, device) in used.devices.iter_mut().enumerate() {
                device
                    .samples
                    .extend(device_samples(at_s, start, end, index));
            }
            if part >= WHOLE {
                cpu.extend(rates.cpu_pct);
                memory.extend(rates.memory_used_mb);
                rss.extend(end.process_rss_bytes.map(|bytes| bytes as f64 / MB));
            }
        }
        used.cpu_pct_peak = stats::summary::max(&cpu);
        used.cpu_pct_p95 = stats::summary::quantile(&cpu, 0.95);
        used.memory_used_mb_peak = stats::summary::max(&memory);
        used.process_rss_mb_peak = stats::summary::max(&rss);
        used
    }

    /// The driver's own use, with everything else from the machine of the database. If that is unknown, the series
    /// keeps its times, for the driver's own counts.
    pub(crate) fn with_machine(self, machine: Self) -> Self {
        let moments = self.samples.iter().map(|sample| Sample {
            at_s: sample.at_s,
            ..Sample::default()
        });
        let samples = if machine.samples.is_empty() {
            moments.collect()
        } else {
            machine.samples
        };
        Self {
            rates: Rates {
                process_cpu_pct: self.rates.process_cpu_pct,
                ..machine.rates
            },
            samples,
            process_rss_mb_peak: self.process_rss_mb_peak,
            sampler_cpu_s: self.sampler_cpu_s,
            ..machine
        }
    }

    /// Sets the figures of processor time by owner, and of the device's I/O by others; the driver's own must be set
    /// before.
    pub fn write_owners_into(&self, figures: &mut Figures) {
        if let Some(owners) = &self.owners {
            owners.write_into(figures);
        }
        if let Some(others) = &self.io_by_others {
            others.write_into(figures);
        }
    }

    /// 99th percentile of the figures' requests, as the kernel timed them.
    fn await_ms_p99(&self, operation: Operation) -> Option<f64> {
        let timed = self.requests.iter();
        let of_figures = timed.filter(|times| self.requests_of.contains(&times.device));
        DeviceTimes::p99_ms(of_figures, operation)
    }

    /// Sets all other figures of the host; leaves those of the driver and the engine.
    pub fn write_into(&self, figures: &mut Figures) {
        self.rates.write_into(figures);
        figures.cpu_pct_peak = self.cpu_pct_peak;
        figures.cpu_pct_p95 = self.cpu_pct_p95;
        figures.read_await_ms_p99 = self.await_ms_p99(Operation::Read);
        figures.write_await_ms_p99 = self.await_ms_p99(Operation::Write);
        figures.memory_used_mb_peak = self.memory_used_mb_peak;
        figures.process_rss_mb_peak = self.process_rss_mb_peak;
    }
}

fn used_devices(first: &Counters, last: &Counters, devices: &Stack) -> Vec<DeviceUse> {
    let used = devices.layers().iter().enumerate().map(|(index, layer)| {
        let rates = disk_rates(first, last, index);
        DeviceUse {
            name: layer.name.clone(),
            holds: layer.holds.clone(),
            carries: layer.carries.clone(),
            elapsed_s: rates.map(|(elapsed_s, _)| elapsed_s),
            reads: rates.map(|(_, rates)| rates.reads),
            writes: rates.map(|(_, rates)| rates.writes),
            busy_pct: rates.map(|(_, rates)| rates.busy_pct),
            queue_mean: rates.map(|(_, rates)| rates.queue_mean),
            samples: Vec::new(),
        }
    });
    used.collect()
}

fn disk_rates(start: &Counters, end: &Counters, index: usize) -> Option<(f64, DiskRates)> {
    let elapsed_s = end.at_ns.saturating_sub(start.at_ns) as f64 / 1e9;
    let (before, after) = (start.disks.get(index)?, end.disks.get(index)?);
    (elapsed_s > 0.0).then(|| (elapsed_s, DiskRates::between(before, after, elapsed_s)))
}

/// Means of the kernel's counters; timed requests give more.
fn device_samples(at_s: f64, start: &Counters, end: &Counters, index: usize) -> Vec<DeviceSample> {
    let Some((_, rates)) = disk_rates(start, end, index) else {
        return Vec::new();
    };
    let operations = [("read", rates.reads), ("write", rates.writes)];
    let samples = operations.map(|(operation, requests)| DeviceSample {
        at_s,
        operation: operation.to_owned(),
        requests: requests.count,
        service_us_mean: requests.await_ms.map(|ms| ms * 1e3),
        ..DeviceSample::default()
    });
    samples.into()
}

fn gone(first: &Counters, last: &Counters, devices: &Stack) -> Option<Remark> {
    let was_lost =
        |index: usize| first.disks.get(index).is_some() && last.disks.get(index).is_none();
    let mut layers = devices.layers().iter().enumerate();
    let (_, layer) = layers.find(|(index, _)| was_lost(*index))?;
    Some(Remark::DeviceGone {
        device: layer.name.clone(),
    })
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::counters::{CpuTicks, MemoryBytes};

    const SECOND_NS: u64 = 1_000_000_000;

    /// A snapshot at `at_s` with `busy` of `all` ticks and `used_mb` in use.
    fn at(at_s: f64, busy: u64, all: u64, used_mb: u64) -> Counters {
        Counters {
            at_ns: 77 * SECOND_NS + (at_s * 1e9) as u64,
            cpu: Some(CpuTicks {
                user: busy,
                idle: all - busy,
                ..CpuTicks::default()
            }),
            memory: Some(MemoryBytes {
                total: 9_000_000_000,
                available: 9_000_000_000 - used_mb * 1_000_000,
            }),
            process_rss_bytes: Some(used_mb * 500_000),
            ..Counters::default()
        }
    }

    #[test]
    fn golden_window() {
        // A mark at 0, ticks at 1, 2 and 3 s, the end 0.6 s and the end of another 0.3 s later.
        let ticks = [
            at(0.0, 0, 0, 10),
            at(1.0, 20, 100, 40),
            at(2.0, 110, 200, 30),
        ];
        let long_tail = [&ticks[..], &[at(3.0, 160, 300, 20), at(3.6, 220, 360, 99)]].concat();
        let used = HostUse::of_window(&long_tail, SECOND_NS, &Stack::default());
        assert_eq!(used.rates.elapsed_s, 3.6);
        assert_eq!(used.rates.cpu_pct, Some(100.0 * 220.0 / 360.0));
        assert_eq!(
            used.cpu_pct_peak,
            Some(90.0),
            "the tail of 100 % is no whole interval"
        );
        assert_eq!(used.cpu_pct_p95, Some(86.0), "of 20, 50 and 90");
        assert_eq!(used.memory_used_mb_peak, Some(40.0));
        assert_eq!(used.process_rss_mb_peak, Some(20.0));
        let series: Vec<_> = used.samples.iter().map(|s| (s.at_s, s.cpu_pct)).collect();
        let golden = [(1.0, 20.0), (2.0, 90.0), (3.0, 50.0), (3.6, 100.0)];
        assert_eq!(series, golden.map(|(at_s, pct)| (at_s, Some(pct))));
        assert_eq!(used.samples[1].memory_used_mb, Some(30.0));

        let short_tail = [&ticks[..], &[at(2.3, 140, 230, 99)]].concat();
        let used = HostUse::of_window(&short_tail, SECOND_NS, &Stack::default());
        assert_eq!(
            used.samples.len(),
            2,
            "0.3 s are too short for a line of the series"
        );
        assert_eq!(
            used.rates.cpu_pct,
            Some(100.0 * 140.0 / 230.0),
            "and yet in the average"
        );
    }

    #[test]
    fn a_window_without_a_whole_interval_has_no_peaks() {
        let used = HostUse::of_window(
            &[at(0.0, 0, 0, 1), at(0.4, 20, 40, 2)],
            SECOND_NS,
            &Stack::default(),
        );
        assert_eq!(used.rates.cpu_pct, Some(50.0));
        assert_eq!((used.cpu_pct_peak, used.cpu_pct_p95), (None, None));
        assert_eq!(
            (used.memory_used_mb_peak, used.process_rss_mb_peak),
            (None, None)
        );
        assert!(used.samples.is_empty());
    }

    #[test]
    fn the_machine_of_the_database_never_gets_the_drivers_figures() {
        let ticks = [
            at(0.0, 0, 0, 10),
            at(1.0, 20, 100, 40),
            at(2.0, 110, 200, 30),
        ];
        let mut driver = HostUse::of_window(&ticks, SECOND_NS, &Stack::default());
        driver.rates.process_cpu_pct = Some(7.0);
        driver.sampler_cpu_s = 0.5;
        let unknown = HostUse {
            unknown: Some(Remark::MachineUnknown {
                why: "no idea".into(),
            }),
            ..HostUse::default()
        };
        let merged = driver.clone().with_machine(unknown);
        let mut figures = Figures::default();
        merged.write_into(&mut figures);
        let known: Vec<_> = figures
            .iter()
            .filter_map(|(info, value)| value.map(|_| info.name))
            .collect();
        assert_eq!(known, ["process_cpu_pct", "process_rss_mb_peak"]);
        assert_eq!(merged.sampler_cpu_s, 0.5);
        assert_eq!(merged.samples.len(), 2);
        assert!(
            merged
                .samples
                .iter()
                .all(|s| s.cpu_pct.is_none() && s.at_s > 0.0)
        );

        let other = [at(0.0, 0, 0, 1), at(1.0, 50, 100, 2), at(2.0, 100, 200, 3)];
        let merged = driver.with_machine(HostUse::of_window(&other, SECOND_NS, &Stack::default()));
        assert_eq!(merged.rates.cpu_pct, Some(50.0));
        assert_eq!(merged.rates.process_cpu_pct, Some(7.0));
        assert_eq!(merged.process_rss_mb_peak, Some(20.0));
    }

    /// Each figure of the host gets its own value, and no other figure changes.
    #[test]
    fn every_figure_of_the_host_is_written() {
        let some = Some;
        let rates = Rates {
            elapsed_s: 1.0,
            cpu_pct: some(1.0),
            cpu_user_pct: some(2.0),
            cpu_system_pct: some(3.0),
            cpu_interrupts_pct: some(31.0),
            cpu_iowait_pct: some(4.0),
            cpu_steal_pct: some(5.0),
            read_iops: some(6.0),
            write_iops: some(7.0),
            read_mb_per_s: some(8.0),
            write_mb_per_s: some(9.0),
            read_await_ms: some(10.0),
            write_await_ms: some(11.0),
            device_busy_pct: some(29.0),
            device_queue_mean: some(30.0),
            network_mb_per_s: some(12.0),
            network_errors: some(14.0),
            tcp_retransmits: some(16.0),
            major_faults: some(18.0),
            swap_in_mb: some(19.0),
            swap_out_mb: some(20.0),
            pressure_cpu_pct: some(21.0),
            pressure_memory_pct: some(22.0),
            pressure_io_pct: some(23.0),
            process_cpu_pct: some(24.0),
            ..Rates::default()
        };
        let used = HostUse {
            rates,
            cpu_pct_peak: some(25.0),
            cpu_pct_p95: some(26.0),
            memory_used_mb_peak: some(27.0),
            process_rss_mb_peak: some(28.0),
            ..HostUse::default()
        };
        let mut figures = Figures::default();
        used.write_into(&mut figures);
        let mut values: Vec<f64> = figures.iter().filter_map(|(_, value)| value).collect();
        assert_eq!(values.len(), 29, "no figure of others is written");
        assert_eq!(
            (figures.total_iops, figures.total_mb_per_s),
            (some(13.0), some(17.0))
        );
        values.sort_by(f64::total_cmp);
        values.dedup();
        assert_eq!(values.len(), 29, "no value is written twice");
        assert_eq!(figures.cpu_pct_avg, some(1.0));
        assert_eq!(figures.write_await_ms, some(11.0));
    }
}
