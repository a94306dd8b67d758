//! Threads that block in `pread` and `pwrite`, one per I/O in flight, where rings are forbidden.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::backend::{Backend, Completion, Request};
use super::error::Operation;

/// More threads would measure the scheduler.
pub(crate) const THREADS_MAX: usize = 1024;
const STACK_BYTES: usize = 64 * 1024;

pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    submitted: Condvar,
    done: Condvar,
    descriptors: Vec<i32>,
}

#[derive(Default)]
struct State {
    requests: VecDeque<Request>,
    completions: Vec<Completion>,
    over: bool,
}

impl Pool {
    /// A pool for `slots` I/Os in flight. The files outlive it, because dropping the pool joins its threads.
    pub fn new(slots: usize, files: &[&File]) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                requests: VecDeque::with_capacity(slots),
                completions: Vec::with_capacity(slots),
                over: false,
            }),
            submitted: Condvar::new(),
            done: Condvar::new(),
            descriptors: files.iter().map(|file| file.as_raw_fd()).collect(),
        });
        let mut pool = Self {
            shared,
            threads: Vec::new(),
        };
        for _ in 0..slots.min(THREADS_MAX) {
            let shared = Arc::clone(&pool.shared);
            let thread = std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn(move || work(&shared))?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }
}

impl Shared {
    /// No code under the lock can panic halfway, so a dead thread leaves a consistent state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn work(shared: &Shared) {
    loop {
        let mut state = shared.lock();
        while state.requests.is_empty() && !state.over {
            state = shared
                .submitted
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let Some(request) = state.requests.pop_front() else {
            return;
        };
        drop(state);
        let result = carry_out(&request, shared.descriptors[request.file as usize]);
        shared.lock().completions.push(Completion {
            slot: request.slot,
            result,
        });
        shared.done.notify_one();
    }
}

fn carry_out(request: &Request, descriptor: i32) -> i32 {
    let (length, offset) = (request.length as usize, request.offset as i64);
    // SAFETY: the buffer has `length` bytes that belong to this request, and the descriptor is open.
    let result = unsafe {
        match request.operation {
            _ if request.is_sync => libc::fdatasync(descriptor) as isize,
            Operation::Read => libc::pread64(descriptor, request.buffer.cast(), length, offset),
            Operation::Write => libc::pwrite64(descriptor, request.buffer.cast(), length, offset),
        }
    };
    if result >= 0 {
        return result as i32;
    }
    -io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

impl Backend for Pool {
    fn submit_and_wait(
        &mut self,
        requests: &[Request],
        want: usize,
        timeout_ns: u64,
    ) -> io::Result<()> {
        let mut state = self.shared.lock();
        state.requests.extend(requests);
        for _ in requests {
            self.shared.submitted.notify_one();
        }
        if want > 0 && state.completions.is_empty() {
            let limit = Duration::from_nanos(timeout_ns);
            // A spurious wake-up is harmless: the loop above checks and waits again.
            drop(self.shared.done.wait_timeout(state, limit));
        }
        Ok(())
    }

    fn reap(&mut self, completions: &mut Vec<Completion>) {
        completions.append(&mut self.shared.lock().completions);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.submitted.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended, which is enough here.
            let _ = thread.join();
        }
    }
}
