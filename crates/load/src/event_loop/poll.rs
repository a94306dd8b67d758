//! The kernel's side of an event loop: one epoll, and one timer in it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::clock::{Clock, SLEEP_SLICE, ns};

const EVENTS_MAX: usize = 256;
/// Key of the timer; no loop has that many clients.
const TIMER: u64 = u64::MAX;

/// Waits for many descriptors and one point in time.
///
/// Descriptors are edge-triggered: the kernel announces only new data, so that a round trip costs one send, one
/// receive and a share of one wait.
pub struct Poll {
    epoll: OwnedFd,
    timer: OwnedFd,
    events: Vec<libc::epoll_event>,
    armed_ns: u64,
    clock: Clock,
}

impl Poll {
    pub fn new(clock: &Clock) -> io::Result<Self> {
        // SAFETY: the call takes a flag and gives a new descriptor or -1.
        let epoll = unsafe { owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)) }?;
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: as above.
        let timer = unsafe { owned(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags)) }?;
        let poll = Self {
            epoll,
            timer,
            events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX],
            armed_ns: 0,
            clock: clock.clone(),
        };
        poll.control(libc::EPOLL_CTL_ADD, poll.timer.as_raw_fd(), TIMER, false)?;
        Ok(poll)
    }

    /// Watches the descriptor of client number `client`, also for room to send if `room`.
    pub fn watch(&self, descriptor: RawFd, client: usize, room: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, descriptor, client as u64, room)
    }

    /// Starts or stops watching it for room to send.
    pub fn want_room(&self, descriptor: RawFd, client: usize, wanted: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, descriptor, client as u64, wanted)
    }

    pub fn forget(&self, descriptor: RawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, descriptor, 0, false)
    }

    fn control(&self, what: libc::c_int, of: RawFd, key: u64, room: bool) -> io::Result<()> {
        let room = if room { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event {
            events: (libc::EPOLLIN | libc::EPOLLET | room) as u32,
            u64: key,
        };
        // SAFETY: both descriptors are open and `event` outlives the call, which only reads it.
        let code = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), what, of, &mut event) };
        match code {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until an event is ready or the clock shows `until_ns`, at most [`SLEEP_SLICE`]; returns the number of
    /// events, for [`Poll::client`].
    pub fn wait(&mut self, until_ns: Option<u64>, now_ns: u64) -> io::Result<usize> {
        let (clock, until_ns, now_ns) = self.clock.look_again_ns(until_ns, now_ns);
        if until_ns.is_some_and(|until| until <= now_ns) {
            return self.take(Duration::ZERO);
        }
        if let Clock::Virtual(clock) = clock {
            let clock = clock.clone();
            let ready = self.take(Duration::ZERO)?;
            if ready > 0 {
                return Ok(ready);
            }
            let slice_ns = now_ns.saturating_add(ns(SLEEP_SLICE));
            clock.wait(until_ns.map_or(slice_ns, |until| until.min(slice_ns)), true);
            return self.take(Duration::ZERO);
        }
        if let Some(until) = until_ns {
            self.arm(until, now_ns)?;
        }
        self.take(SLEEP_SLICE)
    }

    /// Takes the ready events, waiting at most `timeout`.
    #[inline]
    fn take(&mut self, timeout: Duration) -> io::Result<usize> {
        // The system call itself, because the C library's function does extra work for cancellation in a program with
        // threads.
        // SAFETY: the buffer holds as many events as the call is given, and no signals are masked.
        let ready = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                timeout.as_millis() as libc::c_int,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        match usize::try_from(ready) {
            Ok(ready) => Ok(ready),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                error => Err(error),
            },
        }
    }

    /// The client of event number `at` of the last wait; `None` for the timer.
    #[inline]
    pub fn client(&self, at: usize) -> Option<usize> {
        let key = self.events[at].u64;
        (key != TIMER).then_some(key as usize)
    }

    /// Sets the timer. One that is already earlier is left alone: it costs a turn of the loop, and setting it later a
    /// call as well. An edge-triggered timer need not be read.
    fn arm(&mut self, at_ns: u64, now_ns: u64) -> io::Result<()> {
        if (now_ns..=at_ns).contains(&self.armed_ns) {
            return Ok(());
        }
        let at = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: (at_ns / 1_000_000_000) as libc::time_t,
                tv_nsec: (at_ns % 1_000_000_000) as libc::c_long,
            },
        };
        // SAFETY: the descriptor is a timer of ours; `at` outlives the call and no old value is requested.
        let code = unsafe {
            libc::timerfd_settime(
                self.timer.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &at,
                std::ptr::null_mut(),
            )
        };
        if code != 0 {
            return Err(io::Error::last_os_error());
        }
        self.armed_ns = at_ns;
        Ok(())
    }
}

/// # Safety
/// The descriptor is -1, with the error in `errno`, or open and nobody else's.
unsafe fn owned(descriptor: RawFd) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: by the contract of this function.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::clock::now_ns;

    #[test]
    fn what_comes_is_announced_once() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let mut poll = Poll::new(&Clock::Monotonic).unwrap();
        poll.watch(near.as_raw_fd(), 7, false).unwrap();
        far.write_all(b"x").unwrap();
        assert_eq!(poll.wait(None, now_ns()).unwrap(), 1);
        assert_eq!(poll.client(0), Some(7));
        let past = Some(0);
        assert_eq!(poll.wait(past, now_ns()).unwrap(), 0, "no second edge");
        near.read_exact(&mut [0]).unwrap();
        far.write_all(b"y").unwrap();
        assert_eq!(poll.wait(None, now_ns()).unwrap(), 1, "a new edge");
        poll.want_room(near.as_raw_fd(), 7, true).unwrap();
        assert_eq!(poll.wait(past, now_ns()).unwrap(), 1, "there is room");
        poll.forget(near.as_raw_fd()).unwrap();
        far.write_all(b"z").unwrap();
        assert_eq!(poll.wait(past, now_ns()).unwrap(), 0);
    }

    #[test]
    fn the_timer_wakes_at_its_time_and_not_before() {
        let mut poll = Poll::new(&Clock::Monotonic).unwrap();
        for _ in 0..3 {
            let at = now_ns() + 5_000_000;
            while poll.wait(Some(at), now_ns()).unwrap() == 0 {}
            assert_eq!(poll.client(0), None);
            assert!(now_ns() >= at);
        }
    }
}
