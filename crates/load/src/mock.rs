//! A target with programmed latency and stalls, for tests of everything that measures.

mod nonblocking;

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::clock::ns;
use crate::{BlockingClient, Clock, Done, Failure, Interrupt, Request};

const CHECK_EVERY: Duration = Duration::from_millis(1);

/// A programmed target. It has no limit of concurrency: every session gets its latency, unless the target stalls.
///
/// ```
/// use std::time::Duration;
/// let mock = load::mock::Mock::new()
///     .latency(Duration::from_millis(1))
///     .stall(Duration::from_secs(1), Duration::from_secs(2));
/// let sessions = mock.sessions(4);
/// assert_eq!(sessions.len(), 4);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Mock {
    latency: Duration,
    slow_down: Option<f64>,
    stalls: Vec<(Duration, Duration)>,
    slow_start: Option<(u64, Duration)>,
    error_every: Option<u64>,
    fatal_at: Option<u64>,
    panic_at: Option<u64>,
    exhausted_after: Option<u64>,
    kinds: Vec<Duration>,
    rolled_back_every: Option<u64>,
    hang: Option<(u64, Duration)>,
    clock: Clock,
}

#[derive(Debug)]
pub struct Session {
    mock: Mock,
    /// Time of the target's first operation; shared, because a stall affects all sessions at once.
    first_ns: Arc<OnceLock<u64>>,
    interrupted: Arc<AtomicBool>,
}

impl Mock {
    /// A target that answers at once, with one row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses this clock instead of the machine's.
    pub fn on(mut self, clock: &Clock) -> Self {
        self.clock = clock.clone();
        self
    }

    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Multiplies the latency: a known difference between two configurations.
    pub fn slow_down(mut self, factor: f64) -> Self {
        self.slow_down = Some(factor.max(0.0));
        self
    }

    /// From `at` (since the target's first operation) nothing moves for `lasting`: operations begun or under way
    /// wait.
    pub fn stall(mut self, at: Duration, lasting: Duration) -> Self {
        self.stalls.push((at, lasting));
        self.stalls.sort();
        self
    }

    /// The first `operations` of every session take `latency` instead: something to ramp up.
    pub fn slow_start(mut self, operations: u64, latency: Duration) -> Self {
        self.slow_start = Some((operations, latency));
        self
    }

    pub fn error_every(mut self, n: u64) -> Self {
        self.error_every = Some(n.max(1));
        self
    }

    pub fn fatal_at(mut self, index: u64) -> Self {
        self.fatal_at = Some(index);
        self
    }

    pub fn panic_at(mut self, index: u64) -> Self {
        self.panic_at = Some(index);
        self
    }

    pub fn exhausted_after(mut self, operations: u64) -> Self {
        self.exhausted_after = Some(operations);
        self
    }

    /// An operation of kind *i* takes the *i*-th of these latencies; further kinds take the common one.
    pub fn latencies_of_kinds(mut self, latencies: &[Duration]) -> Self {
        self.kinds = latencies.to_vec();
        self
    }

    pub fn rolled_back_every(mut self, n: u64) -> Self {
        self.rolled_back_every = Some(n.max(1));
        self
    }

    /// Operation number `index` of a session hangs for `lasting`, unless it is interrupted, and then fails.
    pub fn hang_at(mut self, index: u64, lasting: Duration) -> Self {
        self.hang = Some((index, lasting));
        self
    }

    pub fn sessions(&self, count: usize) -> Vec<Box<dyn BlockingClient>> {
        let plain = self.plain_sessions(count).into_iter();
        plain
            .map(|session| Box::new(session) as Box<dyn BlockingClient>)
            .collect()
    }

    fn plain_sessions(&self, count: usize) -> Vec<Session> {
        let first_ns = Arc::new(OnceLock::new());
        let session = |_| Session {
            mock: self.clone(),
            first_ns: Arc::clone(&first_ns),
            interrupted: Arc::default(),
        };
        (0..count).map(session).collect()
    }

    fn latency_ns(&self, index: u64, kind: u8) -> u64 {
        let plain = match self.slow_start {
            Some((operations, latency)) if index < operations => latency,
            _ => *self.kinds.get(usize::from(kind)).unwrap_or(&self.latency),
        };
        (ns(plain) as f64 * self.slow_down.unwrap_or(1.0)) as u64
    }

    /// End of an operation that starts at `start_ns`, both since the first operation.
    fn end_ns(&self, start_ns: u64, index: u64, kind: u8) -> u64 {
        let mut end = start_ns + self.latency_ns(index, kind);
        for (at, lasting) in &self.stalls {
            let (from, until) = (ns(*at), ns(*at + *lasting));
            if end >= from && start_ns < until {
                end += until - from.max(start_ns);
            }
        }
        end
    }
}

impl BlockingClient for Session {
    fn operate(&mut self, request: Request) -> Result<Done, Failure> {
        self.serve(request.index, request.kind)
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let interrupted = Arc::clone(&self.interrupted);
        Some(Box::new(move || interrupted.store(true, Relaxed)))
    }
}

impl Session {
    fn serve(&mut self, index: u64, kind: u8) -> Result<Done, Failure> {
        if self.mock.panic_at == Some(index) {
            panic!("the mock panics at operation {index}");
        }
        let (end_ns, result) = self.answer(index, kind);
        match self.mock.hang {
            Some((at, _)) if at == index => self.hang_until(end_ns),
            _ => {
                self.mock.clock.sleep_until(end_ns, || false);
            }
        }
        result
    }

    fn answer(&self, index: u64, kind: u8) -> (u64, Result<Done, Failure>) {
        let mock = &self.mock;
        let now = mock.clock.now_ns();
        if mock.exhausted_after.is_some_and(|n| index >= n) {
            return (now, Err(Failure::Exhausted));
        }
        if mock.fatal_at == Some(index) {
            let message = format!("the mock gives up at operation {index}");
            return (now, Err(Failure::Fatal(message)));
        }
        if let Some((at, lasting)) = mock.hang
            && at == index
        {
            let message = "the mock hangs".into();
            return (now + ns(lasting), Err(Failure::Operation(message)));
        }
        let first = *self.first_ns.get_or_init(|| now);
        let end = first + mock.end_ns(now.saturating_sub(first), index, kind);
        let result = match mock.error_every {
            Some(n) if index % n == n - 1 => Err(Failure::Operation(format!(
                "the mock fails every {n}th operation"
            ))),
            _ => Ok(Done {
                rows: 1,
                retries: 0,
                rolled_back: mock.rolled_back_every.is_some_and(|n| index % n == n - 1),
            }),
        };
        (end, result)
    }

    fn hang_until(&self, until_ns: u64) {
        let clock = &self.mock.clock;
        self.interrupted.store(false, Relaxed);
        while clock.now_ns() < until_ns && !self.interrupted.load(Relaxed) {
            let until_ns = until_ns.min(clock.now_ns() + ns(CHECK_EVERY));
            clock.sleep_until(until_ns, || self.interrupted.load(Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_holds_what_it_meets() {
        let ms = Duration::from_millis;
        let mock = Mock::new().latency(ms(10)).stall(ms(100), ms(50));
        let end_ms = |start_ms: u64| mock.end_ns(start_ms * 1_000_000, 0, 0) / 1_000_000;
        assert_eq!(end_ms(80), 90, "before");
        assert_eq!(
            end_ms(95),
            155,
            "under way when it comes: 5 ms are left of it"
        );
        assert_eq!(end_ms(120), 160, "begun while it lasts");
        assert_eq!(end_ms(150), 160, "after");
    }

    #[test]
    fn slow_in_known_ways() {
        let ms = Duration::from_millis;
        let mock = Mock::new()
            .latency(ms(10))
            .slow_start(2, ms(40))
            .slow_down(1.5);
        let latencies = [0, 1, 2].map(|i| mock.latency_ns(i, 0) / 1_000_000);
        assert_eq!(latencies, [60, 60, 15]);
    }
}
