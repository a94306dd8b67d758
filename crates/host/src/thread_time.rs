//! Processor time of a thread and of the process, and the time a thread waited for a processor.
//!
//! Embedded engines run inside the thread that calls them, so the thread's own clock is their
//! "DB CPU", and its time on the run queue their wait for the scheduler.

use std::fs::File;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use crate::clock::{process_cpu_ns, read_ns};
use crate::counters::parse;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadTime {
    pub cpu_ns: u64,
    /// Time spent ready to run while no processor was free; `None` if the kernel does not count it.
    pub wait_ns: Option<u64>,
}

impl ThreadTime {
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            wait_ns: self
                .wait_ns
                .zip(earlier.wait_ns)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// The clock of the thread that opened it; it cannot be sent to another thread.
#[derive(Debug)]
pub struct ThreadClock {
    schedstat: Option<File>,
    only_this_thread: PhantomData<*const ()>,
}

impl ThreadClock {
    pub fn open() -> Self {
        Self {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            only_this_thread: PhantomData,
        }
    }

    pub fn now(&self) -> ThreadTime {
        let mut text = [0; 96];
        let wait_ns = self.schedstat.as_ref().and_then(|file| {
            let length = file.read_at(&mut text, 0).ok()?;
            parse::run_queue_wait_ns(&text[..length])
        });
        ThreadTime {
            cpu_ns: thread_cpu_ns(),
            wait_ns,
        }
    }
}

/// Times of the calling thread so far. For frequent use, keep a [`ThreadClock`].
pub fn thread_time() -> ThreadTime {
    ThreadClock::open().now()
}

pub fn process_time() -> Duration {
    Duration::from_nanos(process_cpu_ns())
}

pub fn thread_cpu_ns() -> u64 {
    read_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    fn spin(cpu: Duration) {
        let start = thread_cpu_ns();
        while thread_cpu_ns() - start < cpu.as_nanos() as u64 {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn work_counts_and_sleep_does_not() {
        let clock = ThreadClock::open();
        let (start, process) = (clock.now(), process_time());
        spin(Duration::from_millis(30));
        std::thread::sleep(Duration::from_millis(100));
        let used = clock.now().since(&start);
        assert!(
            used.cpu_ns >= 30_000_000 && used.cpu_ns < 100_000_000,
            "{used:?}"
        );
        assert!(process_time() - process >= Duration::from_millis(30));
    }

    /// Three spinning threads on one processor: each must wait about twice as long as it runs.
    #[test]
    fn waiting_for_a_processor_is_counted() {
        let stop = AtomicBool::new(false);
        let used = std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    pin_to_first_processor();
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            pin_to_first_processor();
            let clock = ThreadClock::open();
            let (start, at) = (clock.now(), Instant::now());
            while at.elapsed() < Duration::from_millis(400) {
                std::hint::spin_loop();
            }
            stop.store(true, Ordering::Relaxed);
            clock.now().since(&start)
        });
        let wait_ns = used.wait_ns.expect("this kernel counts run-queue waits");
        assert!(wait_ns > 100_000_000, "waited only {wait_ns} ns");
        let total_ns = wait_ns + used.cpu_ns;
        assert!(
            total_ns > 300_000_000,
            "running and waiting make up the time: {used:?}"
        );
    }

    fn pin_to_first_processor() {
        let allowed = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu));
        let mut only = CpuSet::new();
        only.set(first.expect("a running thread may run somewhere"));
        sched_setaffinity(None, &only).unwrap();
    }
}
