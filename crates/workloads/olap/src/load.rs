//! Parallel loader: several sessions load parts of tables straight from the generator.
//!
//! Keys and statistics follow as steps. A resumed load keeps complete tables and reloads the others, because a part
//! that was committed but not noted would be there twice.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use engine::{Session, Target, TargetError};
use stats::words::bytes as words;
use workload::loading::{Event, Observer, difference, in_parallel, sessions, share_out};
use workload::owned::{ORDER_ENTRY_MARK, count, with_schema};
use workload::room;
use workload::sql_folder::Step;

use super::metadata::{self, GENERATOR, Metadata, OWNED};
use super::query::FOLDER;
use super::rows::{Share, begin_words, rows, shares};
use super::{JOBS_MAX, OlapError, Result, Scale, TABLES, restore, resume};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadOptions {
    pub scale: Scale,
    /// Loading sessions (default: one per processor; one if the engine has a single writer).
    pub jobs: Option<u32>,
    /// True if an existing database is removed first.
    pub replace: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub rows: BTreeMap<&'static str, u64>,
    pub jobs: u32,
    pub rows_took: Duration,
    /// Time of each later step: keys, statistics, count.
    pub steps_took: Vec<(String, Duration)>,
    /// Rows reused from an interrupted load.
    pub rows_reused: u64,
    /// True if nothing was loaded, and only the changes of a refresh were undone.
    pub restored: bool,
}

impl Loaded {
    pub fn rows_in_all(&self) -> u64 {
        self.rows.values().sum()
    }

    pub fn rows_loaded(&self) -> u64 {
        self.rows_in_all() - self.rows_reused
    }
}

/// # Errors
/// When there already is a database, the engine is unsuitable, the target fails, or `stop` was set.
pub fn load(
    target: &dyn Target,
    engine: &str,
    options: &LoadOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Loaded> {
    load_all(target, engine, options, stop, tell).map_err(|error| match error {
        OlapError::Target(error) => OlapError::Target(room::explained(error, target)),
        error => error,
    })
}

/// Memory of the generator, whose pool of texts alone takes 300 MB, and other needs of a small load.
const GENERATOR_BYTES: u64 = 400_000_000;

/// Otherwise the kernel would kill the process without a message.
fn refuse_little_memory() -> Result<()> {
    match host::memory::limit_bytes() {
        Some(bytes) if bytes < GENERATOR_BYTES => {
            Err(OlapError::Target(TargetError::unreachable(format!(
                "generating the rows needs {} of memory, and the control group of dbdyno allows {}; raise its limit",
                words(GENERATOR_BYTES),
                words(bytes)
            ))))
        }
        _ => Ok(()),
    }
}

fn load_all(
    target: &dyn Target,
    engine: &str,
    options: &LoadOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Loaded> {
    let tables = super::query::tables(engine)?;
    refuse_little_memory()?;
    begin_words();
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
    if let Some(refreshed) = load.refreshed(session.as_mut(), options.replace)? {
        drop(session);
        return load.restored(refreshed);
    }
    let complete = load.begin(session.as_mut(), tables, options.replace)?;
    let rows_reused = load.loaded().values().sum();
    let begun = Instant::now();
    load.all(&complete)?;
    resume::note_keys(session.as_mut())?;
    let rows_took = begun.elapsed();
    // Parallel index builds affect only sessions opened afterwards.
    drop(session);
    let steps_took = load.finish()?;
    Ok(Loaded {
        rows: load.loaded(),
        jobs,
        rows_took,
        steps_took,
        rows_reused,
        restored: false,
    })
}

/// Removes the database, complete or not; false if there was none.
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
    /// Rows sent, by index of their table.
    rows: [AtomicU64; TABLES.len()],
}

impl Load<'_> {
    /// Undoes refreshes of the requested database, if it is there and was refreshed.
    fn refreshed(&self, session: &mut dyn Session, replace: bool) -> Result<Option<Metadata>> {
        if replace {
            return Ok(None);
        }
        let there = Metadata::read(session)?;
        let is_it = |there: &Metadata| there.whole && there.refreshed.is_some();
        match there.filter(is_it) {
            Some(there) if there.scale == self.scale => Ok(Some(there)),
            _ => Ok(None),
        }
    }

    fn restored(&self, refreshed: Metadata) -> Result<Loaded> {
        let mut took = Vec::new();
        self.step(
            "restoring the rows that a refresh changed",
            &mut took,
            || restore::undo_refreshes(self.target).map(drop),
        )?;
        Ok(Loaded {
            rows: refreshed.rows,
            jobs: 1,
            rows_took: Duration::ZERO,
            steps_took: took,
            rows_reused: 0,
            restored: true,
        })
    }

    /// Creates the tables, unless that would destroy anything; returns the complete tables of an interrupted load.
    fn begin(
        &self,
        session: &mut dyn Session,
        tables: &str,
        replace: bool,
    ) -> Result<Vec<&'static str>> {
        if session.is_entered(ORDER_ENTRY_MARK)? {
            return Err(OlapError::Rival);
        }
        let there = match replace {
            // This includes a database with invalid metadata.
            true => None,
            false => Metadata::read(session)?,
        };
        if let Some(there) = there {
            self.refuse_other(&there)?;
            let complete = resume::complete_tables(session, tables, &there)?;
            let names: Vec<&str> = complete.iter().map(|(table, _)| *table).collect();
            let note = if names.is_empty() {
                "an earlier load was interrupted: the database is loaded again from the start"
                    .to_owned()
            } else {
                format!(
                    "an earlier load was interrupted; tables kept: {}",
                    names.join(", ")
                )
            };
            (self.tell)(Event::Note(&note));
            for (table, rows) in &complete {
                self.add_rows(table, *rows);
            }
            if !names.is_empty() {
                return Ok(names);
            }
        }
        if OWNED.is_entered(session)? {
            (self.tell)(Event::Step("dropping the existing database"));
            OWNED.remove(session)?;
        }
        Metadata::begin(session, tables, self.scale)?;
        Ok(Vec::new())
    }

    fn refuse_other(&self, there: &Metadata) -> Result<()> {
        let found = difference([
            ("scale", there.scale.to_string(), self.scale.to_string()),
            ("version", there.generator.clone(), GENERATOR.to_owned()),
        ]);
        if let Some((what, there, requested)) = found {
            return Err(OlapError::Other {
                what,
                there,
                requested,
            });
        }
        if there.whole {
            Err(OlapError::Present { scale: there.scale })
        } else {
            Ok(())
        }
    }

    /// Loads all parts of the other tables, one after the other per job, the largest table first.
    fn all(&self, complete: &[&str]) -> Result<()> {
        let parts: Vec<Share> = (TABLES.iter().rev())
            .filter(|table| !complete.contains(table))
            .flat_map(|table| shares(table, self.scale, self.jobs))
            .collect();
        let done = AtomicU32::new(0);
        let errors = share_out(self.target, self.jobs, &parts, |session, share, _| {
            self.part(session, *share)?;
            (self.tell)(Event::Parts {
                done: done.fetch_add(1, Ordering::Relaxed) + 1,
                of: parts.len() as u32,
                rows: self.loaded().values().sum(),
            });
            Ok(())
        });
        self.go_on()?;
        errors.into_iter().next().map_or(Ok(()), Err)
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
        self.add_rows(share.table, right);
        Ok(())
    }

    fn add_rows(&self, table: &str, rows: u64) {
        let index = TABLES.iter().position(|name| *name == table);
        if let Some(sum) = index.and_then(|index| self.rows.get(index)) {
            sum.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// Adds keys, statistics and counts, which makes the database complete.
    fn finish(&self) -> Result<Vec<(String, Duration)>> {
        let mut took = in_parallel(self.target, self.jobs, || self.finish_steps())?;
        self.step("checkpoint", &mut took, || Ok(self.target.checkpoint()?))?;
        Ok(took)
    }

    fn finish_steps(&self) -> Result<Vec<(String, Duration)>> {
        let mut took = Vec::new();
        let mut session = self.target.open_session()?;
        let session = session.as_mut();
        for Step { name, sql } in FOLDER.steps("keys", self.engine) {
            self.step(name, &mut took, || {
                Ok(session.batch(&with_schema(session, sql))?)
            })?;
        }
        for table in TABLES {
            let name = format!("statistics of {table}");
            self.step(&name, &mut took, || Ok(session.analyse(table)?))?;
        }
        let loaded = self.loaded();
        self.step("counting rows", &mut took, || {
            for table in TABLES {
                self.go_on()?;
                // If the right count is unknown, the rows sent are right.
                let right = resume::right_rows(self.scale, table).unwrap_or(loaded[table]);
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
        if self.stop.load(Ordering::Relaxed) {
            Err(OlapError::Interrupted)
        } else {
            Ok(())
        }
    }
}

struct Counted<'a> {
    source: Box<dyn engine::RowSource + 'a>,
    made: u64,
}

impl engine::RowSource for Counted<'_> {
    fn next_row(
        &mut self,
        sink: &mut dyn FnMut(&engine::BulkRow<'_>) -> engine::Result<()>,
    ) -> engine::Result<bool> {
        let more = self.source.next_row(sink)?;
        self.made += u64::from(more);
        Ok(more)
    }
}
