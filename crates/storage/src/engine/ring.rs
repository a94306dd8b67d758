//! One io_uring of one worker: fixed files, fixed buffers, and the cheapest task work that the kernel offers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{Builder, IoUring, opcode, squeue};

use super::backend::{Backend, Completion, Request};
use super::buffers::Buffers;
use super::error::Operation;

/// Largest submission queue of any kernel.
pub(crate) const ENTRIES_MAX: u32 = 32_768;
/// Largest buffer that the kernel registers.
const FIXED_BUFFER_BYTES_MAX: usize = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingFeatures {
    /// One thread submits, so that the kernel need not lock (Linux 6.0).
    pub single_issuer: bool,
    /// Completions are processed when they are requested, without interrupts (Linux 6.1).
    pub deferred_task_work: bool,
    /// Memory is pinned once instead of for each I/O.
    pub fixed_buffers: bool,
    /// Files are looked up once instead of for each I/O.
    pub fixed_files: bool,
}

impl RingFeatures {
    pub(crate) fn both(self, other: Self) -> Self {
        Self {
            single_issuer: self.single_issuer && other.single_issuer,
            deferred_task_work: self.deferred_task_work && other.deferred_task_work,
            fixed_buffers: self.fixed_buffers && other.fixed_buffers,
            fixed_files: self.fixed_files && other.fixed_files,
        }
    }
}

pub(crate) struct Ring {
    ring: IoUring,
    descriptors: Vec<i32>,
    features: RingFeatures,
}

impl Ring {
    /// A ring for `entries` I/Os in flight. It must be created on the thread that uses it, which `single_issuer`
    /// demands.
    pub fn new(entries: u32, files: &[&File], buffers: &Buffers) -> io::Result<Self> {
        let (ring, mut features) = build(entries)?;
        if !ring.params().is_feature_ext_arg() {
            // Before Linux 5.11 a ring cannot wait with a time limit.
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let descriptors: Vec<i32> = files.iter().map(|file| file.as_raw_fd()).collect();
        features.fixed_files = ring.submitter().register_files(&descriptors).is_ok();
        features.fixed_buffers = buffers.length() <= FIXED_BUFFER_BYTES_MAX && {
            let all = libc::iovec {
                iov_base: buffers.at(0).cast(),
                iov_len: buffers.length(),
            };
            // SAFETY: the caller keeps the buffers until the ring is dropped. A refusal (limit on locked memory) is
            // no error: each I/O then pins its own.
            unsafe { ring.submitter().register_buffers(&[all]) }.is_ok()
        };
        Ok(Self {
            ring,
            descriptors,
            features,
        })
    }

    pub fn features(&self) -> RingFeatures {
        self.features
    }
}

impl Drop for Ring {
    /// The kernel tears a ring down asynchronously, and keeps files and memory until then. Unregistered first, they
    /// are closed and unpinned when their owner does so: nothing is in flight any more.
    fn drop(&mut self) {
        let submitter = self.ring.submitter();
        if self.features.fixed_files {
            // After a refusal the kernel does it a little later.
            let _ = submitter.unregister_files();
        }
        if self.features.fixed_buffers {
            let _ = submitter.unregister_buffers();
        }
    }
}

fn build(entries: u32) -> io::Result<(IoUring, RingFeatures)> {
    type SetUp = fn(&mut Builder);
    fn best(builder: &mut Builder) {
        builder.setup_single_issuer().setup_defer_taskrun();
    }
    fn older(builder: &mut Builder) {
        builder.setup_coop_taskrun();
    }
    let ways: [(SetUp, bool); 3] = [(best, true), (older, false), (|_| {}, false)];
    let mut refusal = io::Error::from(io::ErrorKind::Unsupported);
    for (set_up, is_best) in ways {
        let mut builder = IoUring::builder();
        builder.setup_clamp();
        set_up(&mut builder);
        match builder.build(entries) {
            Ok(ring) => {
                let features = RingFeatures {
                    single_issuer: is_best,
                    deferred_task_work: is_best,
                    fixed_buffers: false,
                    fixed_files: false,
                };
                return Ok((ring, features));
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = error,
            Err(error) => return Err(error),
        }
    }
    Err(refusal)
}

impl Backend for Ring {
    fn submit_and_wait(
        &mut self,
        requests: &[Request],
        want: usize,
        timeout_ns: u64,
    ) -> io::Result<()> {
        let features = self.features;
        let mut queue = self.ring.submission();
        for request in requests {
            let entry = entry(request, features, &self.descriptors);
            // SAFETY: buffer and file outlive the completion, which the worker awaits before it drops them.
            unsafe { queue.push(&entry) }
                .expect("the queue has an entry for every I/O that may be in flight");
        }
        drop(queue);
        let limit = Timespec::new()
            .sec(timeout_ns / 1_000_000_000)
            .nsec((timeout_ns % 1_000_000_000) as u32);
        let arguments = SubmitArgs::new().timespec(&limit);
        loop {
            match self.ring.submitter().submit_with_args(want, &arguments) {
                Ok(_) if self.ring.submission().is_empty() => return Ok(()),
                // The kernel took a part, because memory was short or it refused one: the rest follows.
                Ok(_) => {}
                Err(error) => match error.raw_os_error() {
                    Some(libc::ETIME | libc::EINTR) if self.ring.submission().is_empty() => {
                        return Ok(());
                    }
                    Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => {}
                    _ => return Err(error),
                },
            }
        }
    }

    fn reap(&mut self, completions: &mut Vec<Completion>) {
        completions.extend(self.ring.completion().map(|entry| Completion {
            slot: entry.user_data() as u32,
            result: entry.result(),
        }));
    }
}

#[inline]
fn entry(request: &Request, features: RingFeatures, descriptors: &[i32]) -> squeue::Entry {
    let (buffer, length) = (request.buffer, request.length);
    let fixed = Fixed(request.file);
    let plain = Fd(descriptors[request.file as usize]);
    // A macro, because the types of operations and of their files differ.
    macro_rules! built {
        ($operation:ident($file:expr) $(, $buffer:literal)?) => {
            opcode::$operation::new($file, buffer, length $(, $buffer)?)
                .offset(request.offset)
                .build()
        };
    }
    let entry = if request.is_sync {
        let entry = if features.fixed_files {
            opcode::Fsync::new(fixed)
        } else {
            opcode::Fsync::new(plain)
        };
        entry.flags(FsyncFlags::DATASYNC).build()
    } else {
        let is_fixed = (features.fixed_files, features.fixed_buffers);
        match (request.operation, is_fixed) {
            (Operation::Read, (true, true)) => built!(ReadFixed(fixed), 0),
            (Operation::Read, (true, false)) => built!(Read(fixed)),
            (Operation::Read, (false, true)) => built!(ReadFixed(plain), 0),
            (Operation::Read, (false, false)) => built!(Read(plain)),
            (Operation::Write, (true, true)) => built!(WriteFixed(fixed), 0),
            (Operation::Write, (true, false)) => built!(Write(fixed)),
            (Operation::Write, (false, true)) => built!(WriteFixed(plain), 0),
            (Operation::Write, (false, false)) => built!(Write(plain)),
        }
    };
    entry.user_data(u64::from(request.slot))
}
