//! The kernel's side of an event loop: one epoll, and one timer in it.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::clock::{Clock, SLEEP_SLICE, ns, timespec};

const EVENTS_MAX: usize = 256;
/// Key of the timer; no loop has that many clients.
const TIMER: u64 = u64::MAX;
const ZERO: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// Waits for many descriptors and one point in time.
///
/// Descriptors are edge-triggered: the kernel announces only new data, so that a round trip costs one send, one
/// receive and a share of one wait.
pub struct Poll {
    epoll: OwnedFd,
    timer: OwnedFd,
    events: Vec<Event>,
    armed_ns: u64,
    clock: Clock,
}

impl Poll {
    pub fn new(clock: &Clock) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let none = Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        };
        let poll = Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
            events: vec![none; EVENTS_MAX],
            armed_ns: 0,
            clock: clock.clone(),
        };
        epoll::add(
            &poll.epoll,
            &poll.timer,
            EventData::new_u64(TIMER),
            interest(false),
        )?;
        Ok(poll)
    }

    /// Watches the descriptor of client number `client`, also for room to send if `room`.
    pub fn watch(&self, descriptor: RawFd, client: usize, room: bool) -> io::Result<()> {
        let key = EventData::new_u64(client as u64);
        Ok(epoll::add(
            &self.epoll,
            borrowed(&descriptor),
            key,
            interest(room),
        )?)
    }

    pub fn want_room(&self, descriptor: RawFd, client: usize, wanted: bool) -> io::Result<()> {
        let key = EventData::new_u64(client as u64);
        Ok(epoll::modify(
            &self.epoll,
            borrowed(&descriptor),
            key,
            interest(wanted),
        )?)
    }

    pub fn forget(&self, descriptor: RawFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, borrowed(&descriptor))?)
    }

    /// Waits until an event is ready or the clock shows `until_ns`, at most [`SLEEP_SLICE`]; returns the number of
    /// events, for [`Poll::client`].
    pub fn wait(&mut self, until_ns: Option<u64>, now_ns: u64) -> io::Result<usize> {
        let (clock, until_ns, now_ns) = self.clock.check_again_ns(until_ns, now_ns);
        if until_ns.is_some_and(|until| until <= now_ns) {
            return self.take(ZERO);
        }
        if let Clock::Virtual(clock) = clock {
            let clock = clock.clone();
            let ready = self.take(ZERO)?;
            if ready > 0 {
                return Ok(ready);
            }
            let slice_ns = now_ns.saturating_add(ns(SLEEP_SLICE));
            clock.wait(until_ns.map_or(slice_ns, |until| until.min(slice_ns)), true);
            return self.take(ZERO);
        }
        if let Some(until) = until_ns {
            self.arm(until, now_ns)?;
        }
        self.take(timespec(ns(SLEEP_SLICE)))
    }

    /// Takes the ready events, waiting at most `timeout`.
    #[inline]
    fn take(&mut self, timeout: Timespec) -> io::Result<usize> {
        match epoll::wait(&self.epoll, &mut self.events[..], Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => Ok(0),
            ready => Ok(ready?),
        }
    }

    /// The client of event number `at` of the last wait; `None` for the timer.
    #[inline]
    pub fn client(&self, at: usize) -> Option<usize> {
        let key = self.events[at].data.u64();
        (key != TIMER).then_some(key as usize)
    }

    /// Sets the timer. One that is already earlier is left alone: it costs a turn of the loop, and setting it later a
    /// call as well. An edge-triggered timer need not be read.
    fn arm(&mut self, at_ns: u64, now_ns: u64) -> io::Result<()> {
        if (now_ns..=at_ns).contains(&self.armed_ns) {
            return Ok(());
        }
        let at = Itimerspec {
            it_interval: ZERO,
            it_value: timespec(at_ns),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &at)?;
        self.armed_ns = at_ns;
        Ok(())
    }
}

/// Edge-triggered: what there is to read, and room to send.
fn interest(room: bool) -> EventFlags {
    let read = EventFlags::IN | EventFlags::ET;
    if room { read | EventFlags::OUT } else { read }
}

fn borrowed(descriptor: &RawFd) -> BorrowedFd<'_> {
    // SAFETY: a client has its descriptor open for as long as a loop drives it.
    unsafe { BorrowedFd::borrow_raw(*descriptor) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
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
