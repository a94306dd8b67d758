//! Speed of the processors at the two ends of a window, and the cost of reading the clock.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use archive::Remark;

use crate::facts::{first_line, first_number};

/// Most processors that are read, the first ones: the start of a window waits for it, and reading a frequency may
/// involve the processor itself.
const PROCESSORS_MAX: u32 = 8;
/// Relative difference of the frequencies at the two ends of a window above which it is reported.
const FREQUENCY_MOVED: f64 = 0.1;
/// Time of reading the clock, ns, above which it is reported: an operation reads it twice or more.
const CLOCK_READ_NS_MAX: f64 = 200.0;
/// Clock readings per round, and rounds, of which the fastest counts.
const CLOCK_READS: u32 = 1_000;
const CLOCK_ROUNDS: u32 = 5;

/// The processors at a moment. Values that the kernel does not show, as in most virtual machines, are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Speed {
    /// Frequency of the fastest of the first processors, which is an active one.
    pub mhz: Option<f64>,
    /// Number of thermal throttlings since the machine started.
    pub throttled: Option<u64>,
    pub hottest_c: Option<f64>,
}

impl Speed {
    pub fn below(root: &Path) -> Self {
        let of_processors = |file: &str| -> Vec<f64> {
            let path = |n: u32| format!("sys/devices/system/cpu/cpu{n}/{file}");
            let numbers = (0..PROCESSORS_MAX).map_while(|n| first_number(root, &path(n)));
            numbers.collect()
        };
        let khz = of_processors("cpufreq/scaling_cur_freq");
        let throttled = of_processors("thermal_throttle/core_throttle_count");
        Self {
            mhz: stats::summary::max(&khz).map(|khz| khz / 1e3),
            throttled: (!throttled.is_empty()).then(|| throttled.iter().sum::<f64>() as u64),
            hottest_c: hottest_c(root),
        }
    }

    pub fn changes_to(&self, after: &Self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        if let Some((from_mhz, to_mhz)) = self.mhz.zip(after.mhz)
            && (to_mhz / from_mhz - 1.0).abs() > FREQUENCY_MOVED
        {
            remarks.push(Remark::FrequencyMoved { from_mhz, to_mhz });
        }
        let times = self.throttled.zip(after.throttled);
        if let Some(times) = times.map(|(from, to)| to.saturating_sub(from))
            && times > 0
        {
            remarks.push(Remark::Throttled {
                times,
                hottest_c: after.hottest_c,
            });
        }
        remarks
    }
}

fn hottest_c(root: &Path) -> Option<f64> {
    let zones = fs::read_dir(root.join("sys/class/thermal")).ok()?;
    let names = zones
        .flatten()
        .filter_map(|zone| zone.file_name().into_string().ok());
    let read = |name: String| -> Option<f64> {
        let milli: f64 = first_number(root, &format!("sys/class/thermal/{name}/temp"))?;
        Some(milli / 1e3)
    };
    let temperatures: Vec<f64> = names
        .filter(|name| name.starts_with("thermal_zone"))
        .filter_map(read)
        .collect();
    stats::summary::max(&temperatures)
}

/// A remark if reading the clock takes so long that it is part of the measurement; measured once.
pub fn slow_clock() -> Option<Remark> {
    static READ_NS: OnceLock<f64> = OnceLock::new();
    let read_ns = *READ_NS.get_or_init(clock_read_ns);
    clock_remark(Path::new("/"), read_ns)
}

fn clock_remark(root: &Path, read_ns: f64) -> Option<Remark> {
    let file = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    (read_ns > CLOCK_READ_NS_MAX).then(|| Remark::SlowClock {
        source: first_line(root, file).unwrap_or_else(|| "unknown".into()),
        read_ns,
    })
}

fn clock_read_ns() -> f64 {
    let rounds = (0..CLOCK_ROUNDS).map(|_| {
        let begin = Instant::now();
        for _ in 0..CLOCK_READS {
            std::hint::black_box(Instant::now());
        }
        begin.elapsed().as_nanos() as f64 / f64::from(CLOCK_READS)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_fastest_processor_the_throttling_and_the_heat_are_read() {
        let root = machine(&[
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
                "800000\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq",
                "3400000\n",
            ),
            (
                "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
                "3\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count",
                "4\n",
            ),
            ("sys/class/thermal/thermal_zone0/temp", "45000\n"),
            ("sys/class/thermal/thermal_zone1/temp", "71500\n"),
        ]);
        let read = Speed::below(root.path());
        let expected = Speed {
            mhz: Some(3400.0),
            throttled: Some(7),
            hottest_c: Some(71.5),
        };
        assert_eq!(read, expected);
        // A virtual machine shows nothing, so there is no remark.
        let nothing = Speed::below(machine(&[]).path());
        assert_eq!(nothing, Speed::default());
        assert!(nothing.changes_to(&read).is_empty() && read.changes_to(&nothing).is_empty());
    }

    #[test]
    fn only_changes_are_reported() {
        let before = Speed {
            mhz: Some(3000.0),
            throttled: Some(7),
            hottest_c: Some(60.0),
        };
        let at = |mhz, throttled| Speed {
            mhz: Some(mhz),
            throttled: Some(throttled),
            hottest_c: Some(96.0),
        };
        assert!(before.changes_to(&at(2750.0, 7)).is_empty());
        let remarks: Vec<String> = before
            .changes_to(&at(2400.0, 9))
            .iter()
            .map(Remark::to_string)
            .collect();
        assert_eq!(
            remarks,
            [
                "the CPU frequency moved from 3000 to 2400 MHz during the measurement: fix it, or measure longer",
                "the CPUs were throttled 2 times during the measurement, for heat (96 °C)"
            ]
        );
    }

    #[test]
    fn a_clock_that_is_slow_to_read_is_reported_with_its_source() {
        let source = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        let root = machine(&[(source, "hpet\n")]);
        assert_eq!(clock_remark(root.path(), 35.0), None);
        assert_eq!(
            clock_remark(root.path(), 1240.0).unwrap().to_string(),
            "reading the clock (hpet) takes 1240 ns, which each operation pays at least twice: let the kernel use the \
             processor's own (tsc) if it can"
        );
        assert!(clock_read_ns() > 0.0);
    }
}
