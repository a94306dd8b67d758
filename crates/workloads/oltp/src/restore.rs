//! Restore of the initial state between repetitions: from a copy of the whole database if the target supports that,
//! else by reloading it.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{Cooled, ErrorKind, OWN_TABLES, Snapshot, Target};
use workload::exercise::is_of_library;
use workload::loading::{Event, Observer};

use super::initial_rows::{GENERATOR, WarehouseRows};
use super::load::LoadOptions;
use super::metadata::OWNED;
use super::{Metadata, OltpError, Result, load};

/// Way in which a database reached its initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// It was in its initial state, and was copied.
    CopyTaken,
    CopyRestored,
    /// It was in its initial state, and cannot be copied.
    Untouched {
        no_copy: String,
    },
    /// It was reloaded because there was no copy.
    Reloaded {
        /// Reason why no copy was made; `None` if one was.
        no_copy: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub way: Way,
    pub metadata: Metadata,
    pub cooled: Cooled,
    pub took: Duration,
}

/// Restores the initial state of a database, with empty caches if the target can empty them. No session may be open. A
/// copy takes as much space as the database.
///
/// # Errors
/// When there is neither a database of dbdyno nor a copy, the target fails, or `stop` was set.
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

/// Label of a copy: everything that determines its rows, and the other tables in it.
fn label(metadata: &Metadata, others: &[String]) -> String {
    let Metadata {
        warehouses,
        rows,
        seed,
        generator,
        foreign_keys,
        ..
    } = metadata;
    // Copies of full warehouses have the label of older versions.
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
        // A copy contains all tables, so it would also undo later changes of those.
        if let Some(other) = others.iter().find(|other| !is_of_library(other)) {
            return self.without_copy(format!(
                "the database has other tables, such as {other}, which a copy would bring back as well"
            ));
        }
        if let Some(called) = snapshot.label()? {
            // If the database is only half there, the label of the copy alone describes it.
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

    /// Reloads it, or resumes an interrupted load; true if nothing was to be done.
    fn make_fresh(&self, there: Option<Metadata>) -> Result<bool> {
        let there = there.ok_or(OltpError::Absent)?;
        if there.whole && !there.transactions_since_load {
            return Ok(true);
        }
        if there.generator != GENERATOR {
            // Other rows would be another initial state.
            return Err(OltpError::Other {
                what: "version",
                there: there.generator.to_string(),
                requested: GENERATOR.to_string(),
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

    /// Names of the other tables in the same schema.
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
