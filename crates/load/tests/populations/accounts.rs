//! The accounts of the connections: separate, and together exactly the totals.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use load::mock::Mock;
use load::{
    BlockingClient, Clients, Clock, Done, Drive, Failure, NonblockingClient, RampUp, Think, Turn,
    VirtualClock,
};

use super::{Flock, KINDS, WAYS, Way, after, check, drive_population, ms, on, plain, run, us};

/// One user over two connections: the first serves it all the time, the other is free. The operation that ends with
/// the window is no longer in it.
#[test]
fn connections_of_unlike_use_have_unlike_accounts() {
    for way in WAYS {
        let outcome = run(
            way,
            &Mock::new().latency(ms(1)),
            2,
            Think::None,
            &plain(1, ms(100)),
        );
        let mut clients = outcome.clients.clone();
        clients.sort_by_key(|client| client.idle);
        let [serves, stands] = &clients[..] else {
            panic!("two connections")
        };
        assert_eq!((serves.operations, serves.rows), (99, 99), "{way:?}");
        assert_eq!((serves.service, serves.idle), (ms(100), ms(0)));
        assert_eq!((serves.active, serves.finish), (ms(100), ms(99)));
        assert_eq!((stands.operations, stands.rows), (0, 0));
        assert_eq!((stands.service, stands.idle), (ms(0), ms(100)));
        assert_eq!((stands.active, stands.finish), (ms(100), ms(0)));
        // 99 operations are no equal shares of two.
        assert_eq!((outcome.operations(), outcome.rows()), (99, 99));
        assert_eq!(outcome.in_flight_mean(), Some(1.0));
        assert_eq!(outcome.little_error_pct(), Some(0.0));
        assert_eq!(stands.thread.is_some(), way == Way::Threads);
    }
}

/// Users who pause leave connections free, and a ramp-up is in no account: 5 users, each 10 ms apart and served for 2.
#[test]
fn idle_time_is_separate() {
    for way in WAYS {
        let how = after(RampUp::Time(ms(40)), plain(5, ms(120)));
        let mock = Mock::new().latency(ms(2));
        let outcome = run(way, &mock, 5, Think::Constant(ms(10)), &how);
        for client in &outcome.clients {
            // Ten turns of 12 ms in the window, wherever it cuts them.
            assert_eq!((client.service, client.idle), (ms(20), ms(100)), "{way:?}");
        }
        assert_eq!(outcome.in_flight_mean(), Some(5.0 * 20.0 / 120.0));
    }
}

struct Burns(UnixStream, Arc<VirtualClock>);

impl NonblockingClient for Burns {
    fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
    fn begin(&mut self, _request: load::Request) -> Turn {
        self.1.work(us(200));
        Turn::Finished(Ok(Done::default()))
    }
    fn ready(&mut self) -> Turn {
        Turn::Reading
    }
}

impl BlockingClient for Burns {
    fn operate(&mut self, _request: load::Request) -> Result<Done, Failure> {
        self.1.work(us(200));
        Ok(Done::default())
    }
}

/// While one of two connections keeps their thread busy, the other's user waits for the driver: half of their time.
#[test]
fn the_drivers_delay_is_in_the_accounts() {
    let (clock, time) = Clock::new_virtual();
    let burns = || {
        let socket = UnixStream::pair().unwrap().0;
        Box::new(Burns(socket, Arc::clone(&time))) as Box<dyn NonblockingClient>
    };
    let pool = Clients::Nonblocking {
        clients: vec![burns(), burns()],
        replace: None,
    };
    let how = on(clock, plain(2, ms(100)));
    let outcome = drive_population(&Flock::new(2, Think::None), pool, KINDS, &how);
    check(&outcome);
    for client in &outcome.clients {
        assert_eq!((client.service, client.idle), (ms(50), ms(0)));
        assert_eq!((client.active, client.thread), (ms(100), None));
    }
    assert_eq!(outcome.driver_time(), ms(100));
    assert_eq!(outcome.little_error_pct(), Some(50.0));
    // The thread has its own account, which includes the operation that was due in the window and ends after it.
    let used = outcome.driver_threads.unwrap();
    assert_eq!((used.threads, used.cpu), (1, us(100_200)));
}

/// A connection with its own thread has that thread's processor time, only of the measured window.
#[test]
fn a_thread_of_its_own_is_in_the_account() {
    let (clock, time) = Clock::new_virtual();
    let burns = || {
        let socket = UnixStream::pair().unwrap().0;
        Box::new(Burns(socket, Arc::clone(&time))) as Box<dyn BlockingClient>
    };
    let how = Drive {
        ramp_up: RampUp::Time(ms(30)),
        clock,
        ..plain(2, ms(100))
    };
    let pool = Clients::Blocking(vec![burns(), burns()]);
    let outcome = drive_population(&Flock::new(2, Think::None), pool, KINDS, &how);
    check(&outcome);
    for client in &outcome.clients {
        // An operation that ends with the ramp-up counts, one that ends with the window does not.
        assert_eq!((client.service, client.operations), (ms(100), 500));
        assert_eq!(client.thread.unwrap().cpu, ms(100));
    }
    assert_eq!(outcome.threads_cpu(), ms(200));
    assert!(outcome.driver_threads.is_none());
}
