//! The loader: tables in parts, by several sessions at a time, straight from the generator.
//!
//! Keys and statistics follow as steps. What was broken off is loaded anew: a part that was committed and not
//! noted would be there twice.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use target::{Feature, Session, Target};

use super::metadata::{self, GENERATOR, Metadata, OWNED};
use super::query::FOLDER;
use super::rows::{Share, rows, shares};
use super::{JOBS_MAX, OlapError, Result, Scale, TABLES};
use crate::loading::{Event, Observer, sessions};
use crate::owned::count;
use crate::sql_folder::Step;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadOptions {
    /// How large the database is.
    pub scale: Scale,
    /// Sessions that load; one for each processor when nothing is said, one where the engine has one writer.
    pub jobs: Option<u32>,
    /// Whether a database that is there is removed first.
    pub replace: bool,
}

/// What a load did.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Rows of each table.
    pub rows: BTreeMap<&'static str, u64>,
    /// Sessions that loaded.
    pub jobs: u32,
    /// Time that generating and loading the rows took.
    pub rows_took: Duration,
    /// Time of each step behind it: keys, statistics, count.
    pub steps_took: Vec<(String, Duration)>,
}

impl Loaded {
    /// Rows of all tables.
    pub fn rows_in_all(&self) -> u64 {
        self.rows.values().sum()
    }
}

/// Loads the database.
///
/// # Errors
/// When one is there, the engine cannot, the target fails, or `stop` was set.
pub fn load(
    target: &dyn Target,
    engine: &str,
    options: &LoadOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Loaded> {
    let tables = super::query::tables(engine)?;
    let jobs = sessions(target, options.jobs, jobs_default(), tell);
    let load = Load {
        target,
        engine,
        scale: options.scale,
        jobs,
        stop,
        tell,
        rows: TABLES.map(|_| AtomicU64::new(0)),
    };
    let mut session = target.open_session()?;
    load.begin(session.as_mut(), tables, options.replace)?;
    let begun = Instant::now();
    load.all()?;
    let rows_took = begun.elapsed();
    // After the sessions are gone: parallel index builds are set for sessions to come.
    drop(session);
    let steps_took = load.finish()?;
    Ok(Loaded {
        rows: load.loaded(),
        jobs,
        rows_took,
        steps_took,
    })
}

/// Removes the database, whole or not; false when there was none.
///
/// # Errors
/// When the target fails.
pub fn drop_all(target: &dyn Target) -> Result<bool> {
    let mut session = target.open_session()?;
    let was_there = OWNED.is_entered(session.as_mut())?;
    if was_there {
        OWNED.remove(session.as_mut())?;
        drop(session);
        target.checkpoint()?;
    }
    Ok(was_there)
}

/// Sessions that load when nothing is said: one for each processor.
fn jobs_default() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(processors).unwrap_or(1).min(JOBS_MAX)
}

struct Load<'a> {
    target: &'a dyn Target,
    engine: &'a str,
    scale: Scale,
    jobs: u32,
    stop: &'a AtomicBool,
    tell: Observer<'a>,
    /// Rows sent, by the place of their table.
    rows: [AtomicU64; TABLES.len()],
}

impl Load<'_> {
    /// Makes the tables, where nothing is there that would be lost.
    fn begin(&self, session: &mut dyn Session, tables: &str, replace: bool) -> Result<()> {
        if crate::oltp::metadata::OWNED.is_entered(session)? {
            return Err(OlapError::Rival);
        }
        let there = match replace {
            // Also one whose metadata make no sense.
            true => None,
            false => Metadata::read(session)?,
        };
        if let Some(there) = there {
            self.refuse_other(&there)?;
            (self.tell)(Event::Note("a load was broken off here: it is loaded anew"));
        }
        if OWNED.is_entered(session)? {
            (self.tell)(Event::Step("removing what is there"));
            OWNED.remove(session)?;
        }
        Metadata::begin(session, tables, self.scale)
    }

    fn refuse_other(&self, there: &Metadata) -> Result<()> {
        let differences = [
            ("scale", there.scale.to_string(), self.scale.to_string()),
            ("version", there.generator.clone(), GENERATOR.to_owned()),
        ];
        if let Some((what, there, asked)) = differences.into_iter().find(|(_, a, b)| a != b) {
            return Err(OlapError::Other { what, there, asked });
        }
        match there.whole {
            true => Err(OlapError::Present { scale: there.scale }),
            false => Ok(()),
        }
    }

    /// Loads all parts of all tables, each job one after the other, the largest table first.
    fn all(&self) -> Result<()> {
        let parts: Vec<Share> = (TABLES.iter().rev())
            .flat_map(|table| shares(table, self.scale, self.jobs))
            .collect();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let failed = AtomicBool::new(false);
        let first: Mutex<Option<OlapError>> = Mutex::new(None);
        let work = || -> Result<()> {
            let mut session = self.target.open_session()?;
            while let Some(share) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                if failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.part(session.as_mut(), *share)?;
                (self.tell)(Event::Parts {
                    done: done.fetch_add(1, Ordering::Relaxed) as u32 + 1,
                    of: parts.len() as u32,
                    rows: self.loaded().values().sum(),
                });
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            for _ in 0..(self.jobs as usize).min(parts.len()) {
                scope.spawn(|| {
                    if let Err(error) = work() {
                        // The others need not finish what is going to be done again anyway.
                        failed.store(true, Ordering::Relaxed);
                        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                        first.get_or_insert(error);
                    }
                });
            }
        });
        let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.go_on()?;
        first.map_or(Ok(()), Err)
    }

    fn part(&self, session: &mut dyn Session, share: Share) -> Result<()> {
        let mut source = Counted {
            source: rows(share, self.scale, self.stop),
            made: 0,
        };
        let found = session.bulk_load(share.table, &mut source)?;
        let right = source.made;
        if found != right {
            let table = share.table;
            return Err(OlapError::Rows {
                table,
                found,
                right,
            });
        }
        let place = TABLES.iter().position(|table| *table == share.table);
        if let Some(rows) = place.and_then(|place| self.rows.get(place)) {
            rows.fetch_add(right, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Keys, statistics and the counts; then the database is whole.
    fn finish(&self) -> Result<Vec<(String, Duration)>> {
        let threads = self.target.threads();
        // A server that starts no workers builds its indexes alone.
        let in_parallel = self.jobs > 1
            && self.target.lacks(Feature::ParallelStatement).is_none()
            && self.target.set_threads(self.jobs).is_ok();
        let outcome = self.finish_steps();
        if in_parallel {
            self.target.set_threads(threads)?;
        }
        let mut took = outcome?;
        self.step("checkpoint", &mut took, || Ok(self.target.checkpoint()?))?;
        Ok(took)
    }

    fn finish_steps(&self) -> Result<Vec<(String, Duration)>> {
        let mut took = Vec::new();
        let mut session = self.target.open_session()?;
        let session = session.as_mut();
        for Step { name, sql } in FOLDER.steps("keys", self.engine) {
            self.step(name, &mut took, || Ok(session.batch(sql)?))?;
        }
        for table in TABLES {
            let name = format!("statistics of {table}");
            self.step(&name, &mut took, || Ok(session.analyse(table)?))?;
        }
        let loaded = self.loaded();
        self.step("counting rows", &mut took, || {
            for table in TABLES {
                self.go_on()?;
                let right = self.right_rows(table, loaded[table]);
                let found = count(session, table)?;
                if found != right {
                    return Err(OlapError::Rows {
                        table,
                        found,
                        right,
                    });
                }
            }
            Ok(())
        })?;
        metadata::note_whole(session, &loaded)?;
        Ok(took)
    }

    /// What the specification says, and where it says nothing what was sent.
    fn right_rows(&self, table: &str, sent: u64) -> u64 {
        let known = self.scale.rows(table);
        known.or(self.scale.known_line_items()).unwrap_or(sent)
    }

    fn step(
        &self,
        name: &str,
        took: &mut Vec<(String, Duration)>,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.go_on()?;
        (self.tell)(Event::Step(name));
        let begun = Instant::now();
        work()?;
        took.push((name.to_owned(), begun.elapsed()));
        Ok(())
    }

    fn loaded(&self) -> BTreeMap<&'static str, u64> {
        let rows = self.rows.iter().map(|rows| rows.load(Ordering::Relaxed));
        TABLES.into_iter().zip(rows).collect()
    }

    fn go_on(&self) -> Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(OlapError::Interrupted),
        }
    }
}

/// Rows, counted as they are handed out.
struct Counted<'a> {
    source: Box<dyn target::RowSource + 'a>,
    made: u64,
}

impl target::RowSource for Counted<'_> {
    fn next_row(
        &mut self,
        sink: &mut dyn FnMut(&target::BulkRow<'_>) -> target::Result<()>,
    ) -> target::Result<bool> {
        let more = self.source.next_row(sink)?;
        self.made += u64::from(more);
        Ok(more)
    }
}
