//! The `bpf` system call and its objects: a map, a program, and its attachment.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const PROGRAM_LOAD: libc::c_int = 5;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const ENABLE_STATS: libc::c_int = 32;
const PER_CPU_ARRAY: u64 = 6;
const RAW_TRACEPOINT: u64 = 17;
/// The kernel lets only programs with such a licence copy its memory.
const LICENCE: &CStr = c"Dual MIT/GPL";
const LOG_BYTES: usize = 1 << 16;
/// 128 bytes: longer than the arguments that the kernel knows; the rest must be zero.
type Arguments = [u64; 16];

fn bpf(command: libc::c_int, arguments: &mut Arguments) -> io::Result<libc::c_long> {
    // SAFETY: the arguments outlive the call, have the given length, and the addresses in them are of memory that the
    // callers of this function keep alive; the kernel checks everything else.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            arguments.as_mut_ptr(),
            size_of::<Arguments>(),
        )
    };
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

fn descriptor(command: libc::c_int, arguments: &mut Arguments) -> io::Result<OwnedFd> {
    let number = bpf(command, arguments)?;
    // SAFETY: these commands return a new descriptor that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(number as libc::c_int) })
}

/// Two 32-bit numbers, the first of which comes first in memory.
fn pair(first: u64, second: u64) -> u64 {
    if cfg!(target_endian = "little") {
        first | second << 32
    } else {
        first << 32 | second
    }
}

/// An array of which every processor has its own copy.
#[derive(Debug)]
pub(super) struct PerCpuArray {
    descriptor: OwnedFd,
    values: usize,
    processors: usize,
}

impl PerCpuArray {
    pub fn new(entries: usize, values: usize) -> io::Result<Self> {
        // SAFETY: sysconf has no preconditions.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        let processors = usize::try_from(processors).map_err(|_| io::Error::last_os_error())?;
        let mut arguments = Arguments::default();
        arguments[0] = pair(PER_CPU_ARRAY, 4);
        arguments[1] = pair(8 * values as u64, entries as u64);
        Ok(Self {
            descriptor: descriptor(MAP_CREATE, &mut arguments)?,
            values,
            processors: processors.max(possible_processors()),
        })
    }

    pub fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// Adds the values of an entry on all processors to `sums`; `buffer` is room for them.
    pub fn add_up(&self, entry: u32, sums: &mut [u64], buffer: &mut Vec<u64>) -> io::Result<()> {
        buffer.resize(self.values * self.processors, 0);
        let mut arguments = Arguments::default();
        arguments[0] = self.number() as u64;
        arguments[1] = (&raw const entry) as u64;
        arguments[2] = buffer.as_mut_ptr() as u64;
        bpf(MAP_LOOKUP, &mut arguments)?;
        for of_one in buffer.chunks_exact(self.values) {
            for (sum, value) in sums.iter_mut().zip(of_one) {
                *sum += value;
            }
        }
        Ok(())
    }
}

/// Processors for which the kernel reserves room; possibly more than exist.
fn possible_processors() -> usize {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = list.trim().rsplit([',', '-']).next();
    last.and_then(|last| last.parse::<usize>().ok())
        .map_or(1, |last| last + 1)
}

#[derive(Debug)]
pub(super) struct Program {
    descriptor: OwnedFd,
}

impl Program {
    /// Fails with the system's error, and the end of the verifier's log.
    pub fn load(instructions: &[u64]) -> Result<Self, (io::Error, String)> {
        let mut log = vec![0_u8; LOG_BYTES];
        let mut arguments = Arguments::default();
        arguments[0] = pair(RAW_TRACEPOINT, instructions.len() as u64);
        arguments[1] = instructions.as_ptr() as u64;
        arguments[2] = LICENCE.as_ptr() as u64;
        let taken = descriptor(PROGRAM_LOAD, &mut arguments);
        if let Ok(descriptor) = taken {
            return Ok(Self { descriptor });
        }
        // A second call, because the log costs much more than the check.
        arguments[3] = pair(1, LOG_BYTES as u64);
        arguments[4] = log.as_mut_ptr() as u64;
        match descriptor(PROGRAM_LOAD, &mut arguments) {
            Ok(descriptor) => Ok(Self { descriptor }),
            Err(error) => {
                let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
                let text = String::from_utf8_lossy(&log[..end]);
                let last = text.lines().rev().nth(1).unwrap_or_default().to_owned();
                Err((error, last))
            }
        }
    }

    /// Runs the program whenever the kernel passes this point, until the returned descriptor is dropped.
    pub fn attach(&self, point: &CStr) -> io::Result<OwnedFd> {
        let mut arguments = Arguments::default();
        arguments[0] = point.as_ptr() as u64;
        arguments[1] = self.descriptor.as_raw_fd() as u64;
        descriptor(RAW_TRACEPOINT_OPEN, &mut arguments)
    }

    /// Number of runs and their time in ns; zero unless counting is enabled.
    pub fn runs(&self) -> io::Result<(u64, u64)> {
        let name = format!("/proc/self/fdinfo/{}", self.descriptor.as_raw_fd());
        let text = std::fs::read_to_string(name)?;
        let number = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
        };
        Ok((number("run_cnt:"), number("run_time_ns:")))
    }
}

/// Counts the runs of all programs until the returned descriptor is dropped.
pub(super) fn count_runs() -> io::Result<OwnedFd> {
    descriptor(ENABLE_STATS, &mut Arguments::default())
}
