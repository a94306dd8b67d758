//! A thread that is saturated hands half of its clients to another one.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use load::{Clock, Done, End, NonblockingClient, Outcome, Schedule, Turn, VirtualClock};

use super::{CLOSED, check, in_loops, ms, on, open, plain, us};

struct Burns {
    socket: UnixStream,
    time: Arc<VirtualClock>,
}

impl NonblockingClient for Burns {
    fn descriptor(&self) -> i32 {
        self.socket.as_raw_fd()
    }

    fn begin(&mut self, _request: load::Request) -> Turn {
        self.time.work(us(200));
        Turn::Finished(Ok(Done::default()))
    }

    fn ready(&mut self) -> Turn {
        Turn::Reading
    }
}

fn drive(schedule: Schedule, threads_max: usize) -> (Outcome, usize) {
    let (clock, time) = Clock::new_virtual();
    let mut far = Vec::new();
    let nonblocking = (0..6).map(|_| {
        let (socket, other) = UnixStream::pair().unwrap();
        far.push(other);
        let time = Arc::clone(&time);
        Box::new(Burns { socket, time }) as Box<dyn NonblockingClient>
    });
    let nonblocking = nonblocking.collect();
    let how = on(clock, plain(schedule, End::Time(ms(1000))));
    let outcome = in_loops(nonblocking, 1..=threads_max, &how);
    check(&outcome);
    let threads = outcome.driver_threads.unwrap().threads;
    (outcome, threads)
}

#[test]
fn a_saturated_thread_hands_half_of_its_clients_to_another() {
    let (alone, threads) = drive(CLOSED, 1);
    assert_eq!(threads, 1, "nobody may help");
    // The last round of the six begins within the window and is carried out.
    assert!((5000..=5006).contains(&alone.operations()));
    let (helped, threads) = drive(CLOSED, 2);
    assert_eq!(threads, 2);
    // 200 ms by one thread and 800 by two, to the rounds of six and of three in which they check.
    assert!(
        helped.operations().abs_diff(9000) <= 6,
        "{}",
        helped.operations()
    );
    let used = helped.driver_threads.unwrap();
    assert_eq!(used.cpu, us(200) * helped.operations() as u32);
    assert!(helped.clients.iter().all(|job| job.operations > 1400));
}

/// The mark is 85 % of a processor: 84 % need no help, 86 % do.
#[test]
fn help_comes_from_85_percent_on() {
    for (rate_per_s, threads) in [(4200.0, 1), (4300.0, 2)] {
        let (outcome, used) = drive(open(rate_per_s), 2);
        assert_eq!(used, threads, "{rate_per_s}/s");
        assert_eq!(outcome.operations(), rate_per_s as u64);
    }
}
