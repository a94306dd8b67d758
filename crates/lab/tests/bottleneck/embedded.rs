//! An engine inside this process: the kernel's account of the sessions' threads replaces the waits of a server.

use std::time::Duration;

use archive::Resource;

use crate::common::{burn, drive, more_than_processors, my_turn, open};

const COUNT: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
     SELECT sum(i) FROM n";

#[test]
fn processors_that_are_all_busy_with_the_jobs() {
    let _turn = my_turn();
    let jobs = more_than_processors();
    let judged = drive(&open("sqlite:"), jobs, 1.5, 0, |session, _| {
        let count = session.prepare(COUNT)?;
        Ok(Box::new(move |session, _| {
            session.fetch(count, &[]).map(drop)
        }))
    });
    judged.assert(Resource::Cpu);
    assert_eq!(judged.note, None);
    assert!(judged.held_back.wait_histograms[0].counts.is_none());
}

#[test]
fn nothing_while_the_jobs_pause() {
    let _turn = my_turn();
    let judged = drive(&open("sqlite:"), 2, 2.0, 900, |_, _| {
        Ok(Box::new(move |_, _| {
            burn(Duration::from_micros(50));
            Ok(())
        }))
    });
    judged.assert(Resource::None);
}
