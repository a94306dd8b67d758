//! Figures of one line, set as in version 5.04.07, which today's wrappers read.

use crate::engine::{Cell, Operation, Tally};

const MIB: f64 = 1_048_576.0;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cpu {
    pub user_pct: f64,
    pub system_pct: f64,
    /// Percent idle while I/O was in progress.
    pub wait_pct: f64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub read: Tally,
    pub write: Tally,
    pub in_flight_ns: u64,
    pub seconds: f64,
    pub cpu: Option<Cpu>,
}

impl Sums {
    pub fn of(
        cells: &[Cell],
        seconds: f64,
        cpu: Option<Cpu>,
        wanted: impl Fn(&Cell) -> bool,
    ) -> Self {
        let mut sums = Self {
            seconds,
            cpu,
            ..Self::default()
        };
        for cell in cells.iter().filter(|cell| wanted(cell)) {
            sums.read.merge(cell.of(Operation::Read));
            sums.write.merge(cell.of(Operation::Write));
            sums.in_flight_ns += cell.in_flight_ns;
        }
        sums
    }

    pub fn all(&self) -> Tally {
        let mut all = self.read;
        all.merge(&self.write);
        all
    }

    fn per_second(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 {
            amount / self.seconds
        } else {
            0.0
        }
    }

    pub fn iops(&self) -> f64 {
        self.per_second(self.all().operations as f64)
    }

    pub fn mib_per_s(&self) -> f64 {
        self.per_second(self.all().bytes as f64 / MIB)
    }

    /// Mean bytes of an I/O, truncated.
    pub fn bytes(&self) -> u64 {
        let all = self.all();
        all.bytes.checked_div(all.operations).unwrap_or(0)
    }

    pub fn read_pct(&self) -> f64 {
        let all = self.all().operations;
        if all == 0 {
            0.0
        } else {
            self.read.operations as f64 * 100.0 / all as f64
        }
    }

    pub fn queue_depth(&self) -> f64 {
        self.per_second(self.in_flight_ns as f64 / 1e9)
    }
}

/// Mean response time by the original's definition, in milliseconds; 0 without I/Os.
pub(super) fn mean_ms(tally: &Tally) -> f64 {
    tally.issued_mean_ms().unwrap_or(0.0)
}

pub(super) fn deviation_ms(tally: &Tally) -> f64 {
    tally.issued_deviation_ms().unwrap_or(0.0)
}

pub(super) fn max_ms(tally: &Tally) -> f64 {
    tally.issued_max_ns as f64 / 1e6
}

pub(super) fn header(date: &str) -> String {
    format!(
        "{date:<12}{:>12}{} {:>5} {:>5}\n{:12}{:>12}{} {:>5} {:>5}\n",
        "interval", UPPER, "cpu%", "cpu%", "", "", LOWER, "sys+u", "sys"
    )
}

pub(super) const UPPER: &str = "        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue";
pub(super) const LOWER: &str = "       rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth";

/// One line of figures; `tod` is the time of day, `name` the number of the interval.
pub(super) fn line(tod: &str, name: &str, sums: &Sums) -> String {
    let cpu = match sums.cpu {
        Some(cpu) => format!(
            " {:>5.1} {:>5.1}",
            cpu.user_pct + cpu.system_pct,
            cpu.system_pct
        ),
        None => format!(" {:>5} {:>5}", "n/a", "n/a"),
    };
    format!("{tod}{name:>12}{}{cpu}\n", figures(sums))
}

/// Figures that lines of intervals, SDs and WDs have in common.
pub(super) fn figures(sums: &Sums) -> String {
    let all = sums.all();
    format!(
        " {:>10.1} {:>8.2} {:>7} {:>6.2} {:>8.3} {:>8.3} {:>8.3} {:>8.2} {:>8.2} {:>8.3} {:>6.1}",
        sums.iops(),
        sums.mib_per_s(),
        sums.bytes(),
        sums.read_pct(),
        mean_ms(&all),
        mean_ms(&sums.read),
        mean_ms(&sums.write),
        max_ms(&sums.read),
        max_ms(&sums.write),
        deviation_ms(&all),
        sums.queue_depth(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines are from public transcripts of version 5.04.07.
    #[test]
    fn lines_are_set_as_published() {
        let mut sums = Sums {
            seconds: 1.0,
            cpu: Some(Cpu {
                user_pct: 17.8,
                system_pct: 5.6,
                wait_pct: 0.0,
            }),
            ..Sums::default()
        };
        for _ in 0..40 {
            sums.read.operations += 1;
            sums.read.bytes += 1024;
            sums.read.issued_ns += 8_000;
            sums.read.issued_square_ns2 += 6.4e7;
        }
        sums.read.issued_max_ns = 20_000;
        for _ in 0..36 {
            sums.write.operations += 1;
            sums.write.bytes += 1024;
            sums.write.issued_ns += 15_000;
            sums.write.issued_square_ns2 += 2.25e8;
        }
        sums.write.issued_max_ns = 40_000;
        assert_eq!(
            header("Feb 18, 2019"),
            "Feb 18, 2019    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%\n\
             \x20                              rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys\n"
        );
        assert_eq!(
            line("16:46:15.102", "1", &sums),
            "16:46:15.102           1       76.0     0.07    1024  52.63    0.011    0.008    0.015     0.02     0.04    0.004    0.0  23.4   5.6\n"
        );
    }

    #[test]
    fn nothing_done_is_a_line_of_zeros() {
        let text = line("00:00:00.000", "avg_2-5", &Sums::default());
        assert!(
            text.ends_with("0.0   n/a   n/a\n")
                && text.contains("avg_2-5        0.0     0.00       0"),
            "{text}"
        );
    }
}
