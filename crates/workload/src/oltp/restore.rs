//! Back to the same start, between repetitions: from a copy of the whole database where the target keeps
//! one, else by loading it anew.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use target::{Cooled, ErrorKind, OWN_TABLES, Snapshot, Target};

use super::initial_rows::{GENERATOR, WarehouseRows};
use super::load::LoadOptions;
use super::metadata::OWNED;
use super::{Metadata, OltpError, Result, load};
use crate::exercise::is_of_library;
use crate::loading::{Event, Observer};

/// How a database came to its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// It was at its start, and a copy of it is kept from now on.
    CopyTaken,
    /// The copy was put in its place.
    CopyRestored,
    /// It was at its start, and no copy can be kept.
    Untouched {
        /// Why no copy is kept.
        no_copy: String,
    },
    /// It was loaded anew, because there was no copy.
    Reloaded {
        /// Why no copy is kept; `None` when one is from now on.
        no_copy: Option<String>,
    },
}

/// A database that is at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub way: Way,
    pub metadata: Metadata,
    /// What is left in the caches.
    pub cooled: Cooled,
    pub took: Duration,
}

/// Brings a database back to what it was right after its load, with empty caches where the target can
/// empty them. To be called with no session open. A copy takes as much room again as the database.
///
/// # Errors
/// When there is no database of ours and no copy, the target fails, or `stop` was set.
pub fn restore(
    target: &dyn Target,
    engine: &str,
    jobs: Option<u32>,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Restored> {
    let begun = Instant::now();
    let start = Start {
        target,
        engine,
        jobs,
        stop,
        tell,
    };
    let (way, cooled) = match target.snapshot() {
        Ok(snapshot) => start.by_copy(snapshot)?,
        Err(no_copy) => start.without_copy(no_copy)?,
    };
    Ok(Restored {
        way,
        metadata: start.metadata()?.ok_or(OltpError::Absent)?,
        cooled,
        took: begun.elapsed(),
    })
}

/// What a copy is called: all that its rows follow from, and the other tables that are in it.
fn label(metadata: &Metadata, others: &[String]) -> String {
    let Metadata {
        warehouses,
        rows,
        seed,
        generator,
        foreign_keys,
        ..
    } = metadata;
    // Copies of whole warehouses are called as they always were.
    let rows = match rows {
        WarehouseRows::Full => String::new(),
        part => format!(" rows={}", part.name()),
    };
    let others = match others {
        [] => String::new(),
        others => format!(" beside={}", others.join(",")),
    };
    format!(
        "order entry: warehouses={warehouses} seed={seed} generator={generator} foreign_keys={}{rows}{others}",
        u8::from(*foreign_keys)
    )
}

struct Start<'a> {
    target: &'a dyn Target,
    engine: &'a str,
    jobs: Option<u32>,
    stop: &'a AtomicBool,
    tell: Observer<'a>,
}

impl Start<'_> {
    fn by_copy(&self, snapshot: &dyn Snapshot) -> Result<(Way, Cooled)> {
        let there = self.metadata()?;
        let others = self.others()?;
        // A copy is of all tables, and would bring back what became of those meanwhile.
        if let Some(other) = others.iter().find(|other| !is_of_library(other)) {
            return self.without_copy(format!(
                "the database has other tables, such as {other}, which a copy would bring back as well"
            ));
        }
        if let Some(called) = snapshot.label()? {
            // Where the database is half removed, what it was stands on the copy alone.
            if there.is_none_or(|there| label(&there, &others) == called) {
                return self.restore_snapshot(snapshot, &called);
            }
        }
        let was_fresh = self.make_fresh(there)?;
        let fresh = self.metadata()?.ok_or(OltpError::Absent)?;
        (self.tell)(Event::Step("keeping a copy"));
        match snapshot.take(&label(&fresh, &others)) {
            Ok(cooled) if was_fresh => Ok((Way::CopyTaken, cooled)),
            Ok(cooled) => Ok((Way::Reloaded { no_copy: None }, cooled)),
            Err(error) if error.kind == ErrorKind::Full => {
                let no_copy = format!("not enough disk space: {error}");
                self.cooled(was_fresh, no_copy)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn restore_snapshot(&self, snapshot: &dyn Snapshot, called: &str) -> Result<(Way, Cooled)> {
        (self.tell)(Event::Step("restoring the copy"));
        let cooled = snapshot.restore()?;
        let others = self.others()?;
        let is_right = self
            .metadata()?
            .is_some_and(|m| m.whole && !m.transactions_since_load && label(&m, &others) == called);
        if is_right {
            Ok((Way::CopyRestored, cooled))
        } else {
            Err(OltpError::Copy(called.to_owned()))
        }
    }

    fn without_copy(&self, no_copy: String) -> Result<(Way, Cooled)> {
        let was_fresh = self.make_fresh(self.metadata()?)?;
        self.cooled(was_fresh, no_copy)
    }

    fn cooled(&self, was_fresh: bool, no_copy: String) -> Result<(Way, Cooled)> {
        (self.tell)(Event::Step("dropping the caches"));
        let cooled = self.target.cool()?;
        let way = if was_fresh {
            Way::Untouched { no_copy }
        } else {
            Way::Reloaded {
                no_copy: Some(no_copy),
            }
        };
        Ok((way, cooled))
    }

    /// Loads it anew, or goes on with a load that was broken off; says whether nothing was to be done.
    fn make_fresh(&self, there: Option<Metadata>) -> Result<bool> {
        let there = there.ok_or(OltpError::Absent)?;
        if there.whole && !there.transactions_since_load {
            return Ok(true);
        }
        if there.generator != GENERATOR {
            // Other rows would be another start.
            return Err(OltpError::Other {
                what: "version",
                there: there.generator.to_string(),
                asked: GENERATOR.to_string(),
            });
        }
        let options = LoadOptions {
            warehouses: there.warehouses,
            rows: there.rows,
            jobs: self.jobs,
            seed: there.seed,
            foreign_keys: there.foreign_keys,
            replace: there.transactions_since_load,
        };
        load(self.target, self.engine, &options, self.stop, self.tell)?;
        Ok(false)
    }

    /// Names of the tables that are in the same place and not of order entry.
    fn others(&self) -> Result<Vec<String>> {
        let names = self.target.open_session()?.relations()?.into_keys();
        let is_other = |name: &String| name != OWN_TABLES && !OWNED.has(name);
        Ok(names.filter(is_other).collect())
    }

    fn metadata(&self) -> Result<Option<Metadata>> {
        let mut session = self.target.open_session()?;
        Metadata::read(session.as_mut())
    }
}
