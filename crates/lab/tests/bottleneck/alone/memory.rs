//! A server with less memory than the jobs need.

use archive::Resource;
use engine::{Session, Value};

use crate::common::{Work, drive, my_turn, open};

/// Rows that the jobs revisit, three per page: 115 MB of a table of 400 MB, with 128 MiB for them and all sessions.
const HOT_ROWS: u32 = 42_000;
/// With this many jobs some always wait for a page.
const JOBS: u32 = 16;

/// Recently evicted pages are read repeatedly, which the kernel counts as a stall for memory. In a cold cache the
/// same table is limited by the device (`random_reads_of_a_table_that_is_not_in_memory`).
#[test]
fn pages_that_were_in_memory_a_moment_ago() {
    let _turn = my_turn();
    let target = open("postgres+local:?memory=128MiB&shared_buffers=16MB");
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "CREATE TABLE big (id int PRIMARY KEY, filler text); \
             ALTER TABLE big ALTER filler SET STORAGE PLAIN; \
             INSERT INTO big SELECT n, repeat('x', 2400) FROM generate_series(1, 150000) n",
        )
        .unwrap();
    target.checkpoint().unwrap();
    drop(session);
    let lookups = |session: &mut dyn Session, job: u32| {
        let lookups = session.prepare(&format!(
            "SELECT sum(length(filler))::text FROM generate_series(1, 100) n CROSS JOIN LATERAL \
             (SELECT filler FROM big WHERE id = 1 + (hashint8(n + ?) & 2147483647) % {HOT_ROWS}) one"
        ))?;
        let work: Work = Box::new(move |session, index| {
            let start = i64::from(job) * 100_000_000 + index as i64 * 100;
            session.fetch(lookups, &[Value::Int(start)]).map(drop)
        });
        Ok(work)
    };
    // The first drive brings the pages into memory.
    drive(&target, JOBS, 4.0, 0, lookups);
    let judged = drive(&target, JOBS, 3.0, 0, lookups);
    if judged.figures.pressure_memory_pct.is_none() {
        testing::skip!("this kernel tells no pressure; boot it with psi=1");
    }
    judged.assert(Resource::Memory);
    judged.assert_says("waited for memory");
}
