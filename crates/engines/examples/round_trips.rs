//! Client's processor time per round trip of one session: a point query and a change, prepared, one after the other.
//!
//! ```text
//! cargo run --release -p engines --features oracle --example round_trips -- URL 20000
//! ```
//!
//! Each line has a statement, round trips a second, and microseconds of this thread's processor time for each, in user space and in
//! the kernel. The kernel's share is that of the socket, which every driver pays.

use std::process::ExitCode;
use std::time::Instant;

use engine::{Result, SCHEMA_MARK, Session, Statement, TargetError, Value};

const TABLE: &str = "dbdyno_round_trips";
const ROWS: i64 = 1000;
/// Before the measurement, for the caches of client and server.
const WARM_UP: i64 = 500;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let count = words.get(1).and_then(|text| text.parse().ok());
    let (Some(url), Some(count)) = (words.first(), count) else {
        eprintln!("round_trips: give the URL of a server, and how many round trips");
        return ExitCode::from(2);
    };
    match measure(url, count) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("round_trips: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(url: &str, count: i64) -> Result<()> {
    let url = engines::parse(url).map_err(|e| TargetError::statement(e.to_string()))?;
    let target = engines::open(&url)?;
    let mut session = target.open_session()?;
    let session = session.as_mut();
    session.drop_table(TABLE)?;
    let columns = "id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL, pad VARCHAR(100)";
    session.create_table(
        TABLE,
        &format!("CREATE TABLE {SCHEMA_MARK}.{TABLE} ({columns})"),
    )?;
    let table = format!("{}.{TABLE}", session.schema());
    let insert = session.prepare(&format!("INSERT INTO {table} VALUES (?, ?, ?)"))?;
    session.begin()?;
    let pad = "x".repeat(84);
    for id in 0..ROWS {
        session.execute(insert, &[Value::Int(id), Value::Int(0), Value::Text(&pad)])?;
    }
    session.commit()?;
    let select = session.prepare(&format!("SELECT n, pad FROM {table} WHERE id = ?"))?;
    let update = session.prepare(&format!("UPDATE {table} SET n = n + 1 WHERE id = ?"))?;
    round_trips("point query", session, count, |session, id| {
        session.fetch(select, &[Value::Int(id)]).map(drop)
    })?;
    round_trips("change", session, count, |session, id| {
        changed(session, update, id)
    })?;
    session.drop_table(TABLE).map(drop)
}

fn changed(session: &mut dyn Session, update: Statement, id: i64) -> Result<()> {
    session.execute(update, &[Value::Int(id)]).map(drop)
}

fn round_trips(
    name: &str,
    session: &mut dyn Session,
    count: i64,
    mut work: impl FnMut(&mut dyn Session, i64) -> Result<()>,
) -> Result<()> {
    session.begin()?;
    for n in 0..WARM_UP {
        work(session, n % ROWS)?;
    }
    let (before, begin) = (processor_us(), Instant::now());
    for n in 0..count {
        work(session, n * 7 % ROWS)?;
    }
    let (after, took) = (processor_us(), begin.elapsed());
    session.rollback()?;
    let each = |at: usize| (after[at] - before[at]) / count as f64;
    println!(
        "{name}: {:.0} round trips/s, {:.1} us in user space and {:.1} us in the kernel each",
        count as f64 / took.as_secs_f64(),
        each(0),
        each(1)
    );
    Ok(())
}

/// Processor time of this thread in user space and in the kernel.
fn processor_us() -> [f64; 2] {
    // SAFETY: rusage is plain data, for which zeros are valid, and the call writes to it alone.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    [usage.ru_utime, usage.ru_stime].map(|time| time.tv_sec as f64 * 1e6 + time.tv_usec as f64)
}
