//! Checks of concurrent sessions.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::bench::{
    Bench, Checked, Miss, STATEMENT_TIME_MAX, failed, in_transaction, number, same,
};
use crate::{
    Nonblocking, Replies, Request, Result, ServerCounts, Session, Statement, Tally, TargetError,
    Value, WaitClass, Watch,
};

const TABLE: &str = "dbdyno_check_shared";
const ROWS: i64 = 100;
const SESSIONS: i64 = 4;
const ROUNDS: i64 = 25;
/// A wait of a session is seen within this time, or not at all.
const WATCH_TIME_MAX: Duration = Duration::from_secs(15);
const LOOKS_APART: Duration = Duration::from_millis(10);

fn sum(table: &str) -> String {
    format!("SELECT n FROM {table} WHERE id = 1")
}

/// The outcome of a thread, which does not panic.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    let panicked = || TargetError::statement("a thread of the suite panicked");
    thread.join().unwrap_or_else(|_| Err(panicked()))
}

/// Uncommitted rows are hidden or locked.
pub(super) fn isolation(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let mut other = bench.session()?;
        let count = format!("SELECT count(*) FROM {table}");
        let read = other.prepare(&count)?;
        session.begin()?;
        session.batch(&format!("DELETE FROM {table} WHERE id <= 10"))?;
        match other.fetch(read, &[]) {
            Ok(found) => same("rows seen by another session", ROWS, found.digest as i64)?,
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error.into()),
        }
        session.commit()?;
        same(
            "rows seen after the commit",
            ROWS - 10,
            number(other.as_mut(), &count)?,
        )
    })
}

/// Two sessions raise one number: the second waits, or has to try again.
pub(super) fn no_lost_update(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let raise = |session: &mut dyn Session| -> Result<()> {
            let update = session.prepare(&format!("UPDATE {table} SET n = n + 1 WHERE id = 1"))?;
            for _ in 0..ROUNDS {
                in_transaction(session, |session| session.execute(update, &[]).map(drop))?;
            }
            Ok(())
        };
        let mut others = Vec::new();
        for _ in 1..SESSIONS {
            others.push(bench.session()?);
        }
        thread::scope(|scope| -> Result<()> {
            let spawn = |mut other: Box<dyn Session>| scope.spawn(move || raise(other.as_mut()));
            let threads: Vec<_> = others.into_iter().map(spawn).collect();
            let own = raise(session);
            let rest: Vec<Result<()>> = threads.into_iter().map(joined).collect();
            own.and(rest.into_iter().collect())
        })?;
        let expected = SESSIONS * ROUNDS;
        same(
            "the number after all of them",
            expected,
            number(session, &sum(table))?,
        )
    })
}

/// Waits for the other session, unless that one cannot come.
fn meet(arrived: &AtomicU32) {
    arrived.fetch_add(1, Ordering::AcqRel);
    let begin = Instant::now();
    while arrived.load(Ordering::Acquire) < 2 && begin.elapsed() < STATEMENT_TIME_MAX {
        thread::sleep(LOOKS_APART / 10);
    }
}

/// Two sessions want the rows of each other: one at least has to try again, and in the end both have committed.
pub(super) fn deadlock(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let mut other = bench.session()?;
        let arrived = AtomicU32::new(0);
        // Gives the number of tries.
        let cross = |session: &mut dyn Session, mine: i64, theirs: i64| -> Result<u32> {
            let sql = format!("UPDATE {table} SET n = n + 1 WHERE id = ?");
            let update = session.prepare(&sql);
            let mut tries = 0;
            let outcome = update.and_then(|update| {
                in_transaction(session, |session| {
                    tries += 1;
                    let first = session.execute(update, &[Value::Int(mine)]);
                    if tries == 1 {
                        // Also after an error: the other one waits here.
                        meet(&arrived);
                    }
                    first?;
                    session.execute(update, &[Value::Int(theirs)]).map(drop)
                })
            });
            if tries == 0 {
                meet(&arrived);
            }
            outcome.map(|()| tries)
        };
        let (own, others) = thread::scope(|scope| {
            let cross = &cross;
            let thread = scope.spawn(move || cross(other.as_mut(), 2, 1));
            (cross(session, 1, 2), joined(thread))
        });
        let tries = own? + others?;
        if tries < 3 {
            return Err(failed(
                "a transaction that must be retried",
                "both committed at once, each after it had changed the row that the other wanted",
            ));
        }
        let rows = format!("SELECT count(*) FROM {table} WHERE n = 2");
        same("rows that both changed", 2, number(session, &rows)?)
    })
}

pub(super) fn many_writers(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let write = |mut session: Box<dyn Session>, from: i64| -> Result<()> {
            let session = session.as_mut();
            let insert = session.prepare(&format!("INSERT INTO {table} VALUES (?, 0)"))?;
            for id in from..from + ROUNDS {
                let work = |session: &mut dyn Session| {
                    session.execute(insert, &[Value::Int(id)]).map(drop)
                };
                in_transaction(session, work)?;
            }
            Ok(())
        };
        let mut sessions = Vec::new();
        for number in 1..=SESSIONS {
            sessions.push((bench.session()?, number * 1000));
        }
        thread::scope(|scope| -> Result<()> {
            let write = &write;
            let spawn = |(session, from)| scope.spawn(move || write(session, from));
            let threads: Vec<_> = sessions.into_iter().map(spawn).collect();
            threads.into_iter().try_for_each(joined)
        })?;
        let count = format!("SELECT count(*) FROM {table}");
        same("rows", ROWS + SESSIONS * ROUNDS, number(session, &count)?)
    })
}

/// One thread has several sessions at work at once.
pub(super) fn event_loop(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let mut sessions: Vec<(Box<dyn Session>, Statement)> = Vec::new();
        for _ in 0..SESSIONS {
            let mut one = bench.session()?;
            if one.nonblocking().is_none() {
                return Err(Miss::NotOffered(
                    "calls of this engine block; each session has a thread".into(),
                ));
            }
            let sql = format!("UPDATE {table} SET n = n + 1 WHERE id = ?");
            let update = one.prepare(&sql)?;
            sessions.push((one, update));
        }
        let mut replies: Vec<Replies> = Vec::new();
        for (id, (one, update)) in (1..).zip(&mut sessions) {
            let Some(one) = one.nonblocking() else {
                continue;
            };
            replies.push(sent(one, *update, id)?);
        }
        // All of them are under way before the first is waited for.
        for ((one, _), replies) in sessions.iter_mut().zip(&mut replies) {
            let Some(one) = one.nonblocking() else {
                continue;
            };
            one.await_replies(replies)?;
            if let Some(error) = replies.take_error() {
                return Err(error.into());
            }
            same("rows that the update found", Some(1), replies.rows(1))?;
            same("an open transaction", false, one.in_transaction())?;
        }
        let rows = format!("SELECT count(*) FROM {table} WHERE n = 1");
        same("rows changed", SESSIONS, number(session, &rows)?)
    })
}

fn sent(session: &mut dyn Nonblocking, update: Statement, id: i64) -> Result<Replies> {
    let mut replies = Replies::default();
    let parameters = [Value::Int(id)];
    let group = [
        Request::Begin,
        Request::Execute(update, &parameters),
        Request::Commit,
    ];
    for request in group {
        session.queue(request)?;
        replies.awaits(None);
    }
    session.send()?;
    Ok(replies)
}

/// A session that waits for the row of another is seen to wait for a lock.
pub(super) fn waits(bench: &Bench<'_>) -> Checked {
    let Some(mut watch) = bench.target.watch()? else {
        return Err(Miss::NotOffered(
            "the engine runs inside this process; the kernel says what its threads wait for".into(),
        ));
    };
    bench.with_rows(TABLE, ROWS, |session, table| {
        let update = format!("UPDATE {table} SET n = n + 1 WHERE id = 1");
        let mut other = bench.session()?;
        let before = watch.count()?;
        session.begin()?;
        session.batch(&update)?;
        let has_ended = AtomicBool::new(false);
        let (seen, ended) = thread::scope(|scope| {
            let (update, has_ended) = (&update, &has_ended);
            let blocked = scope.spawn(move || {
                let outcome = other.batch(update);
                has_ended.store(true, Ordering::Release);
                outcome
            });
            let seen = look_for_lock(watch.as_mut(), &before, has_ended);
            let released = session.commit();
            (seen, joined(blocked).and(released))
        });
        ended?;
        let seen = seen?;
        if seen.is_empty() {
            Ok(())
        } else {
            Err(failed("a session that waits for a lock", seen))
        }
    })
}

/// Nothing when a wait for a lock was seen, else what was seen instead. Some servers show such a wait, others count it.
fn look_for_lock(
    watch: &mut dyn Watch,
    before: &ServerCounts,
    has_ended: &AtomicBool,
) -> Result<String> {
    let mut tally = Tally::default();
    let begin = Instant::now();
    watch.begin()?;
    while begin.elapsed() < WATCH_TIME_MAX && !has_ended.load(Ordering::Acquire) {
        thread::sleep(LOOKS_APART);
        watch.look(&mut tally)?;
        let mut seen = tally.sessions.keys();
        let rise = watch.count()?.since(before);
        let mut counted = rise.waits.iter();
        let is_counted = counted.any(|(class, _, rise)| {
            *class == WaitClass::Lock && rise.count.is_some_and(|count| count > 0)
        });
        if is_counted || seen.any(|(class, _)| *class == WaitClass::Lock) {
            return Ok(String::new());
        }
    }
    let events: Vec<&str> = tally
        .sessions
        .keys()
        .map(|(_, event)| event.as_str())
        .collect();
    Ok(if events.is_empty() {
        "no wait of a session".into()
    } else {
        events.join(", ")
    })
}
