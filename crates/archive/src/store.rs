//! The archive's file: one SQLite database, every finished point committed before the next begins.

mod annotate;
mod document;
mod error;
mod file;
pub(crate) mod finite;
mod name;
mod read;
mod rows;
mod run;
mod schema;
mod write;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::lock_file::{LockError, LockFile, lock_path};
use crate::{Missing, PointKey, Remark, Run, RunState, Until};
pub use annotate::NOTE_CHARS_MAX;
pub use error::{ArchiveError, Result};
pub use file::immutable_uri;
use file::unreachable;
pub use name::{LABEL_CHARS_MAX, RunName, check_label};
pub use run::{NewRun, RunSummary};
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};

/// Every method fails for a run that is unknown, and when the environment does.
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
    /// Runs that no other process may measure or delete until this is dropped.
    locks: Vec<(i64, LockFile)>,
}

impl Archive {
    /// Opens the archive at `path` for measuring; creates it, with its directory, when there is none.
    ///
    /// # Errors
    /// A file that is newer, damaged or not an archive is refused and left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let exists = path.try_exists().map_err(|e| unreachable(path, &e))?;
        if !exists {
            file::create(path)?;
        }
        Self::open_existing(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    /// Opens the archive at `path` for reading alone.
    ///
    /// # Errors
    /// As [`Archive::open`]; also when there is no such file.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !path.try_exists().map_err(|e| unreachable(path, &e))? {
            return Err(ArchiveError::Absent {
                path: path.to_path_buf(),
            });
        }
        Self::open_existing(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Enters a new run, with all that is known before its first point, and gives its number. Nobody else measures or
    /// deletes it while this archive is open.
    ///
    /// # Errors
    /// A label that is taken or unusable, a plan that contradicts itself, or the environment.
    pub fn create_run(&mut self, new: &NewRun) -> Result<i64> {
        Ok(self.create_runs(std::slice::from_ref(new))?[0])
    }

    /// The same with runs that belong together: all of them are entered, or none.
    pub fn create_runs(&mut self, new: &[NewRun]) -> Result<Vec<i64>> {
        let (path, mut locks) = (self.path.clone(), Vec::new());
        let take = |id, label: &str| {
            locks.push((id, lock(&path, id, label)?));
            Ok(())
        };
        let ids = self.transact(|transaction| write::create_runs(transaction, new, take))?;
        self.locks.extend(locks);
        Ok(ids)
    }

    /// Refuses what cannot be the label of a new run, before more is done for it than to choose it.
    ///
    /// # Errors
    /// A label that is taken or unusable, or the environment.
    pub fn refuse_label(&self, label: &str) -> Result<()> {
        check_label(label)?;
        match self.run_id(&RunName::Label(label.to_owned())) {
            Err(ArchiveError::UnknownRun { .. }) => Ok(()),
            Ok(_) => Err(ArchiveError::LabelTaken {
                label: label.to_owned(),
            }),
            Err(other) => Err(other),
        }
    }

    /// The name, or the first of NAME-2, NAME-3 … under which all labels are free.
    ///
    /// # Errors
    /// A label that is unusable, or the environment.
    pub fn free_name(&self, name: &str, labels: impl Fn(&str) -> Vec<String>) -> Result<String> {
        let mut candidate = name.to_owned();
        for number in 2_u32.. {
            let refused = labels(&candidate)
                .iter()
                .find_map(|label| self.refuse_label(label).err());
            match refused {
                None => break,
                Some(ArchiveError::LabelTaken { .. }) => candidate = format!("{name}-{number}"),
                Some(other) => return Err(other),
            }
        }
        Ok(candidate)
    }

    /// Takes a run that is gone on with, as [`Archive::create_run`] does.
    ///
    /// # Errors
    /// [`ArchiveError::RunInUse`] when it is being measured or deleted.
    pub fn lock_run(&mut self, run_id: i64) -> Result<()> {
        let label = self.label(run_id)?;
        if self.locks.iter().all(|(id, _)| *id != run_id) {
            self.locks.push((run_id, lock(&self.path, run_id, &label)?));
        }
        Ok(())
    }

    /// Enters a finished point. When this returns, the point is on the disk for good.
    ///
    /// # Errors
    /// A point that is there already or was not planned.
    pub fn append_point(&mut self, run_id: i64, point: &crate::Point) -> Result<()> {
        self.append_points(run_id, std::slice::from_ref(point))
    }

    /// Enters finished points that belong together, all of them or none.
    pub fn append_points(&mut self, run_id: i64, points: &[crate::Point]) -> Result<()> {
        self.change(run_id, |t| write::append_points(t, run_id, points))
    }

    /// Makes finished points invalid, for what was found out after they were measured: a database that was
    /// not sound when its users had left, say.
    ///
    /// # Errors
    /// A point that is not there.
    pub fn invalidate(&mut self, run_id: i64, keys: &[PointKey], reason: &Remark) -> Result<()> {
        self.change(run_id, |t| write::invalidate(t, run_id, keys, reason))
    }

    /// Takes points out of the plan that a rule of the plan made needless, with the reason: the steps of a
    /// ramp beyond the one that ended it.
    ///
    /// # Errors
    /// A point that is there already.
    pub fn skip(&mut self, run_id: i64, keys: &[PointKey], reason: &Missing) -> Result<()> {
        self.change(run_id, |t| write::skip(t, run_id, keys, reason))
    }

    /// Says how far a study came that is looked at before its end: of both sides, or of none. Once it stopped, pairs that it
    /// does not have are taken out of the plan.
    ///
    /// # Errors
    /// A run that is no side of a study, or has points of such a pair.
    pub fn set_until(&mut self, sides: [i64; 2], until: &Until) -> Result<()> {
        for id in sides {
            self.require(id)?;
        }
        self.transact(|transaction| write::set_until(transaction, sides, until))
    }

    /// Says how far a run came. One that is not running any more may be resumed and deleted by others.
    ///
    /// # Errors
    /// `Complete` while planned points are missing.
    pub fn finish_run(
        &mut self,
        run_id: i64,
        state: RunState,
        finished_at: Option<&str>,
    ) -> Result<()> {
        self.change(run_id, |t| write::finish_run(t, run_id, state, finished_at))?;
        if state != RunState::Running {
            self.locks.retain(|(id, _)| *id != run_id);
        }
        Ok(())
    }

    /// Calls a run by another name from now on; the label that it was measured under stays, and finds it as well.
    ///
    /// # Errors
    /// A name that is taken or unusable.
    pub fn rename(&mut self, run_id: i64, name: &str, now: &str) -> Result<()> {
        self.change(run_id, |t| annotate::rename(t, run_id, name, now))
    }

    /// Keeps a note of a run, instead of the one that it has; an empty one takes it away.
    ///
    /// # Errors
    /// A note that is unusable.
    pub fn note(&mut self, run_id: i64, note: &str, now: &str) -> Result<()> {
        self.change(run_id, |t| annotate::note(t, run_id, note, now))
    }

    /// Removes runs with all that was measured, all of them or none; their numbers are not given again.
    ///
    /// # Errors
    /// One that is being measured, was changed after it was measured, or is one side of a study whose other one
    /// stays.
    pub fn delete_runs(&mut self, run_ids: &[i64], now: &str) -> Result<()> {
        let mut held = Vec::new();
        for id in run_ids {
            held.push(lock(&self.path, *id, &self.label(*id)?)?);
        }
        self.transact(|transaction| annotate::delete(transaction, run_ids, now))
    }

    /// The points of the complete run, in the order of the plan.
    pub fn planned(&self, run_id: i64) -> Result<Vec<PointKey>> {
        self.read(run_id, read::planned)
    }

    /// The points that are there, in the order in which they were measured.
    pub fn finished(&self, run_id: i64) -> Result<Vec<PointKey>> {
        self.read(run_id, read::finished)
    }

    /// A whole run. Rows that were changed outside dbdyno are returned, but invalid, with the reason.
    pub fn load_run(&self, name: &RunName) -> Result<Run> {
        self.read(self.run_id(name)?, read::load_run)
    }

    /// A run without its points.
    pub fn load_record(&self, run_id: i64) -> Result<Run> {
        self.read(run_id, read::load_record)
    }

    /// The finished points of a run whose keys are wanted, with all that belongs to them.
    pub fn load_points(
        &self,
        run_id: i64,
        is_wanted: &dyn Fn(&PointKey) -> bool,
    ) -> Result<Vec<crate::Point>> {
        self.read(run_id, |connection, id| {
            read::points(connection, id, is_wanted)
        })
    }

    /// The number of the run called `name`.
    pub fn run_id(&self, name: &RunName) -> Result<i64> {
        let found = read::run_id(&self.connection, name).map_err(|e| e.at(&self.path))?;
        found.ok_or_else(|| self.unknown(name))
    }

    /// The name by which a run is called.
    pub fn label(&self, run_id: i64) -> Result<String> {
        let found = read::label(&self.connection, run_id).map_err(|e| e.at(&self.path))?;
        found.ok_or_else(|| self.unknown(&RunName::Id(run_id)))
    }

    /// All runs, oldest first.
    pub fn list_runs(&self) -> Result<Vec<RunSummary>> {
        read::list_runs(&self.connection).map_err(|e| e.at(&self.path))
    }

    /// Numbers and labels of the runs of a plan, oldest first; nothing else of them is read.
    pub fn runs_of_plan(&self, plan_name: &str) -> Result<Vec<(i64, String)>> {
        read::runs_of_plan(&self.connection, plan_name).map_err(|e| e.at(&self.path))
    }

    fn unknown(&self, name: &RunName) -> ArchiveError {
        let name = name.to_string();
        ArchiveError::UnknownRun {
            path: self.path.clone(),
            // A hint only: an unreadable archive is reported where it is needed.
            alike: read::labels_of_study(&self.connection, &name).unwrap_or_default(),
            name,
        }
    }

    fn read<T>(&self, run_id: i64, read: impl FnOnce(&Connection, i64) -> Result<T>) -> Result<T> {
        self.require(run_id)?;
        read(&self.connection, run_id).map_err(|e| e.at(&self.path))
    }

    fn change(
        &mut self,
        run_id: i64,
        change: impl FnOnce(&Transaction<'_>) -> Result<()>,
    ) -> Result<()> {
        self.require(run_id)?;
        self.transact(change)
    }

    /// Commits a change as a whole, or nothing of it.
    fn transact<T>(&mut self, change: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let whole = || -> Result<T> {
            // IMMEDIATE takes the write lock first, so that a number found free stays free.
            let transaction =
                (self.connection).transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = change(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        whole().map_err(|e| e.at(&self.path))
    }

    fn require(&self, run_id: i64) -> Result<()> {
        self.run_id(&RunName::Id(run_id)).map(|_| ())
    }

    fn open_existing(path: &Path, mode: OpenFlags) -> Result<Self> {
        Ok(Self {
            connection: file::open(path, mode)?,
            path: path.to_path_buf(),
            locks: Vec::new(),
        })
    }
}

fn lock(archive: &Path, run_id: i64, label: &str) -> Result<LockFile> {
    let path = lock_path(archive, &format!("-run-{run_id}.lock"));
    LockFile::take(&path).map_err(|error| match error {
        LockError::Held => ArchiveError::RunInUse {
            label: label.to_owned(),
        },
        LockError::Foreign { .. } => ArchiveError::LockUnusable(error),
        LockError::Io { error, .. } => unreachable(archive, &error),
    })
}
