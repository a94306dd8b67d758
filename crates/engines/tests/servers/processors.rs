//! Processor time of a server's sessions.

use std::process::Child;
use std::time::{Duration, Instant};

use engine::Activity;

/// There are so many sessions, and one of the last two works: it is on a processor or waits for one all the time. The other sleeps in its
/// statement and never does. Ends their clients, which were started after `begin`: the kernel accounts for a wait when it ends, so that one
/// may have begun before it is asked first.
pub fn assert_one_of_two_works(
    activity: &mut dyn Activity,
    begin: Instant,
    mut clients: [Child; 2],
    sessions: usize,
) {
    let mut spent = || activity.time_on_processors().unwrap().unwrap();
    let before = spent();
    assert_eq!(before.sessions, sessions);
    let mut spent_s = 0.0;
    while spent_s < 0.3 {
        std::thread::sleep(Duration::from_millis(20));
        spent_s = spent().seconds - before.seconds;
        let elapsed_s = begin.elapsed().as_secs_f64();
        assert!(
            spent_s <= elapsed_s && elapsed_s < 60.0,
            "{spent_s} s in {elapsed_s} s"
        );
    }
    for client in &mut clients {
        client.kill().unwrap();
        client.wait().unwrap();
    }
}
