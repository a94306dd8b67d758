//! Owners of a machine's processor time: the database, the driver, the kernel, and other programs.
//!
//! Measured only at the beginning and the end of a window: short-lived processes are charged to their parents by
//! then, and samples do not become more expensive.

use archive::{CPU_S_MIN, Figures};

use crate::family::Family;
use crate::rates::Rates;

/// Number of the parent of the kernel's own threads, which is the same everywhere except in containers.
pub(crate) const KERNEL: u32 = 2;
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    /// True if it works inside this process.
    pub is_inside: bool,
    /// Its servers: for each, the process whose children are the others.
    pub servers: Vec<u32>,
}

/// The times of all owners at one moment.
#[derive(Debug, Clone)]
pub struct Owners {
    is_inside: bool,
    servers: Vec<Family>,
    /// The kernel's own threads; `None` if they are not visible.
    kernel: Option<Family>,
}

/// Processor time of a window by owner, in percent of the time of all processors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuOwners {
    /// True if the database works inside this process, together with the driver.
    pub is_inside: bool,
    pub processors: f64,
    pub servers_pct: f64,
    pub process_pct: f64,
    /// Interrupts and the kernel's own threads; `None` if these are not visible.
    pub kernel_pct: Option<f64>,
    /// All others; `None` if the kernel's own threads are not distinguishable from them.
    pub others_pct: Option<f64>,
}

impl Owners {
    /// Reads the times of all owners.
    ///
    /// # Errors
    /// The reason, if a server is not visible.
    pub fn of(programs: &Programs) -> Result<Self, String> {
        let servers = programs.servers.iter();
        let servers = servers.map(|pid| Family::of(*pid).ok_or_else(|| unseen(*pid)));
        Ok(Self {
            is_inside: programs.is_inside,
            servers: servers.collect::<Result<_, _>>()?,
            kernel: is_kernel().then(|| Family::of(KERNEL)).flatten(),
        })
    }

    /// Processor time by owner from then to now, when the window of these rates has just ended.
    ///
    /// # Errors
    /// The reason why it cannot be determined.
    pub fn until_now(&self, rates: &Rates) -> Result<CpuOwners, String> {
        let mut servers_ns = 0;
        for then in &self.servers {
            let now = Family::of(then.pid()).ok_or_else(|| unseen(then.pid()))?;
            servers_ns += now
                .since(then)
                .ok_or("the server was restarted in the meantime")?;
        }
        let kernel = self.kernel.as_ref();
        let kernel_ns = kernel.and_then(|then| Family::of(KERNEL)?.since(then));
        CpuOwners::divide(self.is_inside, servers_ns, kernel_ns, rates)
    }
}

impl CpuOwners {
    fn divide(
        is_inside: bool,
        servers_ns: u64,
        kernel_ns: Option<u64>,
        rates: &Rates,
    ) -> Result<Self, String> {
        let known = (|| {
            let busy_pct = rates.cpu_pct? - rates.cpu_steal_pct?;
            Some((busy_pct, rates.cpu_interrupts_pct?, rates.process_cpu_pct?))
        })();
        let Some((busy_pct, interrupts_pct, process_pct)) =
            known.filter(|_| rates.elapsed_s >= CPU_S_MIN)
        else {
            return Err(format!(
                "the kernel counts processor time in ticks; the point must last at least {CPU_S_MIN} s"
            ));
        };
        let processors = processors();
        let of_all = |ns: u64| 100.0 * ns as f64 / 1e9 / rates.elapsed_s / processors;
        let (servers_pct, process_pct) = (of_all(servers_ns), process_pct / processors);
        let kernel_pct = kernel_ns.map(|ns| of_all(ns) + interrupts_pct);
        // Ticks and the clocks of processes do not agree exactly.
        let others_pct =
            kernel_pct.map(|kernel| (busy_pct - servers_pct - process_pct - kernel).max(0.0));
        Ok(Self {
            is_inside,
            processors,
            servers_pct,
            process_pct,
            kernel_pct,
            others_pct,
        })
    }

    /// Sets the figures. The driver's own time must be set before: inside one process it is the rest after the
    /// database.
    pub fn write_into(&self, figures: &mut Figures) {
        let (database, driver) = if self.is_inside {
            let driver = figures.driver_cpu_pct.map(|pct| pct / self.processors);
            let driver = driver.map(|pct| pct.min(self.process_pct));
            let database = driver.map(|pct| self.servers_pct + self.process_pct - pct);
            (database, driver)
        } else {
            (Some(self.servers_pct), Some(self.process_pct))
        };
        figures.cpu_by_database_pct = database;
        figures.cpu_by_driver_pct = driver;
        figures.cpu_by_kernel_pct = self.kernel_pct;
        figures.cpu_by_others_pct = self.others_pct;
    }
}

fn unseen(pid: u32) -> String {
    format!(
        "the server's process {pid} and its children cannot be seen in /proc; run dbdyno as root or as the server's user"
    )
}

/// True if the kernel's own threads, and with them all processes, are visible.
pub(crate) fn is_kernel() -> bool {
    std::fs::read_to_string(format!("/proc/{KERNEL}/comm")).is_ok_and(|name| name == "kthreadd\n")
}

fn processors() -> f64 {
    // SAFETY: sysconf has no preconditions.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    online.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Ten seconds of a machine as large as this one: 90 % busy, 4 % of it interrupts, 10 % stolen; this process took
    /// 5 % of all.
    fn rates() -> Rates {
        Rates {
            elapsed_s: 10.0,
            cpu_pct: Some(90.0),
            cpu_steal_pct: Some(10.0),
            cpu_interrupts_pct: Some(4.0),
            process_cpu_pct: Some(5.0 * processors()),
            ..Rates::default()
        }
    }

    fn ns(pct: f64) -> u64 {
        (pct / 100.0 * 10.0 * processors() * SECOND_NS as f64) as u64
    }

    #[test]
    fn what_nobody_else_took_is_that_of_others() {
        let owners = CpuOwners::divide(false, ns(40.0), Some(ns(3.0)), &rates()).unwrap();
        let mut figures = Figures::default();
        owners.write_into(&mut figures);
        let close = |figure: Option<f64>, golden: f64| {
            let value = figure.unwrap();
            assert!((value - golden).abs() < 1e-6, "{value} {golden}");
        };
        close(figures.cpu_by_database_pct, 40.0);
        close(figures.cpu_by_driver_pct, 5.0);
        close(figures.cpu_by_kernel_pct, 7.0);
        close(figures.cpu_by_others_pct, 28.0);
        let all = CpuOwners::divide(false, ns(99.0), Some(0), &rates()).unwrap();
        assert_eq!(all.others_pct, Some(0.0), "never less than nothing");
        let unseen = CpuOwners::divide(false, ns(40.0), None, &rates()).unwrap();
        assert_eq!((unseen.kernel_pct, unseen.others_pct), (None, None));
    }

    #[test]
    fn an_embedded_engine_took_what_the_driver_did_not() {
        let owners = CpuOwners::divide(true, 0, Some(0), &rates()).unwrap();
        let mut figures = Figures {
            driver_cpu_pct: Some(2.0 * processors()),
            ..Figures::default()
        };
        owners.write_into(&mut figures);
        assert!((figures.cpu_by_driver_pct.unwrap() - 2.0).abs() < 1e-6);
        assert!((figures.cpu_by_database_pct.unwrap() - 3.0).abs() < 1e-6);
        figures.driver_cpu_pct = None;
        owners.write_into(&mut figures);
        assert_eq!(figures.cpu_by_database_pct, None);
    }

    #[test]
    fn a_short_window_and_a_server_that_is_not_there_have_their_reasons() {
        let short = Rates {
            elapsed_s: 0.1,
            ..rates()
        };
        let reason = CpuOwners::divide(false, 0, Some(0), &short).unwrap_err();
        assert!(reason.contains("ticks"), "{reason}");
        let programs = Programs {
            is_inside: false,
            servers: vec![u32::MAX],
        };
        let reason = Owners::of(&programs).unwrap_err();
        assert!(reason.contains("cannot be seen"), "{reason}");
    }
}
