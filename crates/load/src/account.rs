//! The account of one client: the use of its measured time, to the nanosecond.

use std::time::Duration;

use crate::clock::Usage;
use crate::outcome::ClientOutcome;
use crate::schedule::Window;
use crate::timing::Timing;

/// The sums of one client; all times since the common start. Only its measured time counts.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    window_ns: u64,
    ends_ns: u64,
    from_ns: u64,
    until_ns: u64,
    is_drained: bool,
    operations: u64,
    begun: f64,
    begun_ns: u64,
    rows: u64,
    service_ns: u64,
    idle_ns: u64,
    /// Time in which a user waited, the client was free, and the driver had not begun yet.
    driver_ns: u64,
    finish_ns: u64,
}

impl Account {
    pub fn new(window: &Window) -> Self {
        Self {
            window_ns: window.from_ns,
            ends_ns: window.ends_ns(),
            from_ns: window.from_ns,
            until_ns: window.counts_until_ns(),
            is_drained: window.is_drained,
            operations: 0,
            begun: 0.0,
            begun_ns: 0,
            rows: 0,
            service_ns: 0,
            idle_ns: 0,
            driver_ns: 0,
            finish_ns: window.from_ns,
        }
    }

    /// The client enters the measured window: time before `free_ns` is not its own measured time.
    pub fn begin(&mut self, free_ns: u64) {
        self.from_ns = free_ns.max(self.window_ns);
    }

    /// Adds an operation to the sums of the rate, whenever it was due: in a window that is drained, as a whole if it
    /// began within; else the part that lies in the window. The free time before it is added as far as it lies there.
    #[inline]
    pub fn begun(&mut self, timing: &Timing, is_completed: bool) {
        self.free(timing.free_ns, timing.start_ns);
        let (begins, took_ns) = (
            (self.window_ns..self.ends_ns).contains(&timing.start_ns),
            timing.end_ns - timing.start_ns,
        );
        let is_whole = begins && (self.is_drained || timing.end_ns <= self.ends_ns);
        let counted_ns = if is_whole {
            took_ns
        } else if self.is_drained {
            0
        } else {
            self.within(timing.end_ns) - self.within(timing.start_ns)
        };
        self.begun_ns += counted_ns;
        if is_completed {
            self.begun += if is_whole {
                1.0
            } else {
                counted_ns as f64 / took_ns.max(1) as f64
            };
        }
    }

    #[inline]
    fn within(&self, at_ns: u64) -> u64 {
        at_ns.clamp(self.window_ns, self.ends_ns)
    }

    #[inline]
    pub fn free(&mut self, since_ns: u64, until_ns: u64) {
        self.begun_ns += self.within(until_ns).saturating_sub(self.within(since_ns));
    }

    #[inline]
    pub fn completed(&mut self, timing: &Timing, rows: u64) {
        self.add(timing);
        if (self.from_ns..self.until_ns).contains(&timing.end_ns) {
            self.operations += 1;
            self.rows += rows;
        }
    }

    #[cold]
    pub fn failed(&mut self, timing: &Timing) {
        self.add(timing);
    }

    #[inline]
    fn add(&mut self, timing: &Timing) {
        let within = |at_ns: u64| at_ns.min(self.until_ns).max(self.from_ns);
        let free_ns = within(timing.free_ns);
        let could_ns = within(timing.intended_ns).max(free_ns);
        let start_ns = within(timing.start_ns).max(could_ns);
        let end_ns = within(timing.end_ns).max(start_ns);
        self.idle_ns += could_ns - free_ns;
        self.driver_ns += start_ns - could_ns;
        self.service_ns += end_ns - start_ns;
        if timing.end_ns < self.until_ns {
            self.finish_ns = timing.end_ns.max(self.finish_ns);
        }
    }

    /// The client was free from `free_ns`, and no operation was due until the drive ended.
    pub fn idle(&mut self, free_ns: u64, ended_ns: u64) {
        let ended_ns = ended_ns.min(self.until_ns);
        self.idle_ns += ended_ns.saturating_sub(free_ns.max(self.from_ns));
    }

    pub fn outcome(&self, thread: Option<Usage>) -> ClientOutcome {
        let active_ns = self.service_ns + self.idle_ns + self.driver_ns;
        ClientOutcome {
            finish: Duration::from_nanos(self.finish_ns - self.window_ns),
            operations: self.operations,
            begun: self.begun,
            begun_time: Duration::from_nanos(self.begun_ns),
            rows: self.rows,
            active: Duration::from_nanos(active_ns),
            service: Duration::from_nanos(self.service_ns),
            idle: Duration::from_nanos(self.idle_ns),
            thread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn timing(free: u64, intended: u64, start: u64, end: u64) -> Timing {
        let [free_ns, intended_ns, start_ns, end_ns] =
            [free, intended, start, end].map(|ms| ms * 1_000_000);
        Timing {
            free_ns,
            intended_ns,
            start_ns,
            end_ns,
        }
    }

    fn window(is_drained: bool) -> Window {
        Window {
            from_ns: 100_000_000,
            until_ns: Some(200_000_000),
            is_drained,
        }
    }

    /// Free at 110 ms, due at 130, begun at 133, done at 140: 20 ms idle, 3 the driver's, 7 of service.
    #[test]
    fn an_operation_is_taken_apart() {
        let mut account = Account::new(&window(false));
        account.begin(110_000_000);
        account.completed(&timing(110, 130, 133, 140), 4);
        let client = account.outcome(None);
        assert_eq!((client.operations, client.rows), (1, 4));
        assert_eq!((client.idle, client.service), (ms(20), ms(7)));
        assert_eq!((client.active, client.finish), (ms(30), ms(40)));
    }

    /// Time before and after the window does not count: 20 ms of an operation, 10 idle, 50 of the next, which waited
    /// for the client and ends after the window.
    #[test]
    fn only_what_lies_in_the_window_counts() {
        let mut account = Account::new(&window(false));
        account.completed(&timing(40, 50, 60, 120), 1);
        account.failed(&timing(120, 130, 130, 150));
        account.completed(&timing(150, 140, 150, 230), 1);
        account.idle(230_000_000, 500_000_000);
        let client = account.outcome(None);
        assert_eq!((client.operations, client.rows), (1, 1));
        assert_eq!((client.idle, client.service), (ms(10), ms(90)));
        assert_eq!((client.active, client.finish), (ms(100), ms(50)));
    }

    #[test]
    fn a_client_without_requests_is_idle_all_the_time() {
        let mut account = Account::new(&window(false));
        account.idle(0, 200_000_000);
        let client = account.outcome(None);
        assert_eq!((client.active, client.idle), (ms(100), ms(100)));
        assert_eq!((client.operations, client.finish), (0, ms(0)));
    }

    /// Operations that were due in a drained window count to their end.
    #[test]
    fn a_window_that_is_drained_counts_to_the_last_end() {
        let mut account = Account::new(&window(true));
        account.completed(&timing(100, 150, 150, 230), 1);
        let client = account.outcome(None);
        assert_eq!((client.operations, client.finish), (1, ms(130)));
        assert_eq!((client.idle, client.service), (ms(50), ms(80)));
    }

    /// A pause that began before the client entered the window counts from its start.
    #[test]
    fn a_pause_that_began_in_the_ramp_up_counts_from_the_window() {
        let mut account = Account::new(&window(true));
        account.begin(60_000_000);
        account.completed(&timing(60, 120, 120, 130), 0);
        assert_eq!(account.outcome(None).idle, ms(20));
    }
}
