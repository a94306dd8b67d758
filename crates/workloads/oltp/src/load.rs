//! Parallel loader by warehouse, which resumes after an interruption.
//!
//! A warehouse is loaded table by table and marked as complete last; an unmarked one is removed and reloaded. Keys,
//! foreign keys and statistics follow as steps, each noted when it is done.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::{Feature, Session, Target, TargetError};
use workload::loading::{Event, Observer, difference, in_parallel, sessions, share_out};
use workload::owned::{ANALYTICAL_MARK, count, with_schema};
use workload::room;
use workload::sql_folder::Step;

use super::initial_rows::{GENERATOR, InitialRows, WarehouseRows};
use super::metadata::{self, Metadata, OWNED};
use super::{OltpError, Result, TABLES, files, procedures};

#[derive(Debug, Clone, Copy)]
pub struct LoadOptions {
    pub warehouses: u32,
    pub rows: WarehouseRows,
    /// Loading sessions (default: [`JOBS_DEFAULT`]; one if the engine has a single writer).
    pub jobs: Option<u32>,
    pub seed: u64,
    pub foreign_keys: bool,
    /// True if an existing database is removed first.
    pub replace: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Warehouses loaded by this command, without those that existed.
    pub warehouses: u32,
    pub rows: u64,
    /// Time of the warehouses' rows, without items, keys and statistics.
    pub rows_took: Duration,
}

pub const JOBS_DEFAULT: u32 = 2;

/// Loads the database, or its missing parts.
///
/// # Errors
/// When there is another database, the engine is unsuitable, the target fails, or `stop` was set.
pub fn load(
    target: &dyn Target,
    engine: &str,
    options: &LoadOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Loaded> {
    load_all(target, engine, options, stop, tell).map_err(|error| match error {
        OltpError::Target(error) => OltpError::Target(room::explained(error, target)),
        error => error,
    })
}

fn load_all(
    target: &dyn Target,
    engine: &str,
    options: &LoadOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Loaded> {
    files::tables(engine)?;
    // The history has no key (clause 1.3).
    if let Some(why) = target.lacks(Feature::KeylessTables) {
        return Err(TargetError::statement(why).into());
    }
    if options.foreign_keys && files::FOLDER.steps("foreign_keys", engine).is_empty() {
        return Err(OltpError::ForeignKeys(engine.to_owned()));
    }
    let jobs = sessions(target, options.jobs, JOBS_DEFAULT, tell);
    let load = Load {
        target,
        engine,
        population: InitialRows::new(options.seed, options.rows),
        warehouses: options.warehouses,
        jobs,
        stop,
        tell,
        rows: Mutex::new(0),
    };
    if options.replace {
        forget(target)?;
    }
    let mut session = target.open_session()?;
    load.begin(session.as_mut(), options)?;
    let missing = load.clear_half_loaded(session.as_mut())?;
    load.items(session.as_mut())?;
    let begun = Instant::now();
    load.all(&missing)?;
    let rows_took = begun.elapsed();
    // Parallel index builds affect only sessions opened afterwards.
    drop(session);
    load.finish(options.foreign_keys)?;
    Ok(Loaded {
        warehouses: missing.len() as u32,
        rows: load.rows(),
        rows_took,
    })
}

/// Removes the database, complete or not, and its stored procedures; false if there was none.
pub fn drop_all(target: &dyn Target, engine: &str) -> Result<bool> {
    forget(target)?;
    let mut session = target.open_session()?;
    let was_there = OWNED.is_entered(session.as_mut())?;
    if was_there {
        procedures::remove(session.as_mut(), engine)?;
        OWNED.remove(session.as_mut())?;
        drop(session);
        target.checkpoint()?;
    }
    Ok(was_there)
}

struct Load<'a> {
    target: &'a dyn Target,
    engine: &'a str,
    population: InitialRows,
    warehouses: u32,
    jobs: u32,
    stop: &'a AtomicBool,
    tell: Observer<'a>,
    rows: Mutex<u64>,
}

impl Load<'_> {
    /// Creates the tables, or checks that the existing ones are the requested ones.
    fn begin(&self, session: &mut dyn Session, options: &LoadOptions) -> Result<()> {
        let wanted = wanted(options);
        if session.is_entered(ANALYTICAL_MARK)? {
            return Err(OltpError::Rival);
        }
        let there = match options.replace {
            // This includes a database with invalid metadata.
            true => None,
            false => Metadata::read(session)?,
        };
        match there {
            Some(there) => {
                refuse_other(&there, &wanted)?;
                if there.whole {
                    Err(OltpError::Present {
                        warehouses: there.warehouses,
                    })
                } else {
                    Ok(())
                }
            }
            None => {
                if OWNED.is_entered(session)? {
                    (self.tell)(Event::Step("dropping the existing database"));
                    OWNED.remove(session)?;
                }
                wanted.begin(session, files::tables(self.engine)?)
            }
        }
    }

    /// Removes the rows of incomplete warehouses and returns their numbers.
    fn clear_half_loaded(&self, session: &mut dyn Session) -> Result<Vec<u32>> {
        let whole = metadata::whole_warehouses(session)?;
        let missing: Vec<u32> = (1..=self.warehouses)
            .filter(|w| whole.binary_search(w).is_err())
            .collect();
        if missing.is_empty() {
            return Ok(missing);
        }
        let is_fresh = whole.is_empty() && !metadata::has_items(session)?;
        if !is_fresh {
            let left = self.warehouses as usize - missing.len();
            (self.tell)(Event::Note(&format!(
                "resuming a load: {left} of {} warehouses are complete",
                self.warehouses
            )));
        }
        for table in TABLES.iter().rev().filter(|table| **table != "item") {
            let schema = session.schema();
            let column = format!("{}w_id", prefix(table));
            // The jobs take warehouses in order, so all below the first missing one are complete.
            let sql = format!(
                "DELETE FROM {schema}.{table} WHERE {column} NOT IN (SELECT w_id FROM {schema}.{}) AND {column} >= {}",
                metadata::WAREHOUSES,
                missing[0]
            );
            session.batch(&sql)?;
        }
        Ok(missing)
    }

    fn items(&self, session: &mut dyn Session) -> Result<()> {
        if metadata::has_items(session)? {
            return Ok(());
        }
        (self.tell)(Event::Step("items"));
        session.batch(&with_schema(session, "DELETE FROM {schema}.item"))?;
        let rows = session.bulk_load("item", self.population.items().as_mut())?;
        let right = self.population.rows_in_all("item", self.warehouses);
        self.account("item", rows, right)?;
        metadata::note_warehouse(session, 0)
    }

    /// Loads warehouses, one after the other per job.
    fn all(&self, missing: &[u32]) -> Result<()> {
        let done = AtomicU32::new(self.warehouses - missing.len() as u32);
        let mut errors = share_out(self.target, self.jobs, missing, |session, w, failed| {
            self.warehouse(session, *w, failed)?;
            (self.tell)(Event::Parts {
                done: done.fetch_add(1, Ordering::Relaxed) + 1,
                of: self.warehouses,
                rows: self.rows(),
            });
            Ok(())
        });
        // The failure itself says more than the interruption of the others.
        errors.sort_by_key(|error| matches!(error, OltpError::Interrupted));
        errors.into_iter().next().map_or(Ok(()), Err)
    }

    fn warehouse(&self, session: &mut dyn Session, w: u32, failed: &AtomicBool) -> Result<()> {
        for table in TABLES.into_iter().filter(|table| *table != "item") {
            if self.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return Err(OltpError::Interrupted);
            }
            let mut rows = self.population.of_warehouse(table, u64::from(w));
            let loaded = session.bulk_load(table, rows.as_mut())?;
            let right = self.population.rows_of_warehouse(table, u64::from(w));
            self.account(table, loaded, right)?;
        }
        metadata::note_warehouse(session, w)
    }

    /// Adds keys, foreign keys, statistics and counts, which makes the database complete.
    fn finish(&self, foreign_keys: bool) -> Result<()> {
        in_parallel(self.target, self.jobs, || self.finish_steps(foreign_keys))?;
        (self.tell)(Event::Step("checkpoint"));
        Ok(self.target.checkpoint()?)
    }

    fn finish_steps(&self, foreign_keys: bool) -> Result<()> {
        let mut session = self.target.open_session()?;
        let session = session.as_mut();
        let mut steps = files::FOLDER.steps("keys", self.engine);
        if foreign_keys {
            steps.extend(files::FOLDER.steps("foreign_keys", self.engine));
        }
        let done = OWNED.read(session)?;
        for Step { name, sql } in steps
            .into_iter()
            .filter(|step| !done.contains_key(step.name))
        {
            self.go_on()?;
            (self.tell)(Event::Step(name));
            session.begin()?;
            session.batch(&with_schema(session, sql))?;
            session.batch(&with_schema(session, &metadata::step_sql(name)))?;
            session.commit()?;
        }
        for table in TABLES {
            self.go_on()?;
            (self.tell)(Event::Step(&format!("statistics of {table}")));
            session.analyse(table)?;
        }
        (self.tell)(Event::Step("counting rows"));
        for table in TABLES {
            self.go_on()?;
            let right = self.population.rows_in_all(table, self.warehouses);
            let found = count(session, table)?;
            if found != right {
                return Err(OltpError::Rows {
                    table,
                    found,
                    right,
                });
            }
        }
        metadata::note_whole(session)
    }

    /// Checks that the engine stored all rows of a table.
    fn account(&self, table: &'static str, found: u64, right: u64) -> Result<()> {
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) += found;
        if found == right {
            Ok(())
        } else {
            Err(OltpError::Rows {
                table,
                found,
                right,
            })
        }
    }

    fn rows(&self) -> u64 {
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            Err(OltpError::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Prefix of the columns of a table.
fn prefix(table: &str) -> &'static str {
    match table {
        "warehouse" => "",
        "district" => "d_",
        "customer" => "c_",
        "history" => "h_",
        "orders" => "o_",
        "new_order" => "no_",
        "order_line" => "ol_",
        _ => "s_",
    }
}

pub(super) fn wanted(options: &LoadOptions) -> Metadata {
    Metadata {
        warehouses: options.warehouses,
        rows: options.rows,
        seed: options.seed,
        generator: GENERATOR,
        c_last_load: InitialRows::new(options.seed, options.rows).last_names().c,
        foreign_keys: options.foreign_keys,
        whole: false,
        transactions_since_load: false,
    }
}

pub(super) fn refuse_other(there: &Metadata, requested: &Metadata) -> Result<()> {
    let fact = |what, of: fn(&Metadata) -> String| (what, of(there), of(requested));
    let found = difference([
        fact("size", |of| of.warehouses.to_string()),
        fact("rows", |of| of.rows.name().to_owned()),
        fact("seed", |of| of.seed.to_string()),
        fact("version", |of| of.generator.to_string()),
        fact("foreign keys (1 = with)", |of| {
            u8::from(of.foreign_keys).to_string()
        }),
    ]);
    found.map_or(Ok(()), |(what, there, requested)| {
        Err(OltpError::Other {
            what,
            there,
            requested,
        })
    })
}

/// Removes the copy of a database that is reloaded or dropped, if there is one.
fn forget(target: &dyn Target) -> Result<()> {
    match target.snapshot() {
        Ok(snapshot) => Ok(snapshot.remove()?),
        Err(_) => Ok(()),
    }
}
