//! The turns of a ring, as the machine carries them out: its clock, its archive, its server.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use archive::{Archive, ArchiveError, Run, RunName, RunState};

use super::super::run::Prepared;
use super::times::Times;
use crate::arguments::RunArguments;
use crate::exit::{self, Status};
use crate::progress::Screen;
use crate::say::say;
use crate::watch::Watched;

/// Name of the plan of observations.
pub(super) const PLAN: &str = "observe";
/// So many of the newest runs are looked at for one that a killed process left unfinished.
const UNFINISHED_MAX: usize = 16;

/// A run that is called as those of the ring are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub id: i64,
    pub label: String,
    /// Begin of the interval that it is called after, in seconds from the epoch.
    pub begin_s: u64,
}

/// What a ring needs of the world.
pub(super) trait Turns {
    fn now(&self) -> SystemTime;

    /// False when its user wants the end.
    fn sleep(&self, time: Duration) -> bool;

    /// Whether there is, or was, a run of that name.
    fn is_taken(&self, label: &str) -> Result<bool>;

    /// Observes once. False when the environment did not let it, which is told.
    ///
    /// # Errors
    /// What ends the ring.
    fn observe(&mut self, label: &str) -> Result<bool>;

    /// The runs that are called as those of the ring are.
    fn kept(&self) -> Result<Vec<Kept>>;

    /// Removes a run, unless it is not the ring's, or somebody has made it theirs.
    fn remove(&mut self, run: &Kept) -> Result<()>;

    /// Removes what was not measured to its end, of the ring's newest runs.
    fn tidy(&mut self) -> Result<()>;

    fn say(&self, sentence: &str);
}

/// The real ones.
pub(super) struct Real {
    pub times: Times,
    pub arguments: RunArguments,
    pub archive: PathBuf,
    pub watched: Watched,
    /// The target as runs of the archive have it.
    pub target: String,
    /// Whether a turn was measured.
    pub has_measured: bool,
    /// Runs of which it is known that they stay.
    pub stay: HashSet<i64>,
}

impl Real {
    fn prepared(&self, label: &str, screen: &mut Screen) -> Result<Run> {
        let prepared = Prepared::of(&self.arguments)?;
        prepared.measure(Some(label.to_owned()), &self.archive, screen)
    }

    /// Whether a run is the ring's, and nobody's else: of the same target, neither renamed nor noted, and no part of a study.
    fn is_own(&self, run: &Run) -> bool {
        let is_of_target = run.targets.len() == 1 && run.targets[0].url == self.target;
        is_of_target && run.renamed_from.is_none() && run.note.is_none() && run.study.is_none()
    }

    /// Removes a run of the ring where `may` says so.
    fn remove_if(&mut self, id: i64, may: impl Fn(&Run) -> bool) -> Result<()> {
        if self.stay.contains(&id) {
            return Ok(());
        }
        let mut archive = Archive::open(&self.archive)?;
        let run = match archive.load_record(id) {
            // Somebody else has removed it.
            Err(ArchiveError::UnknownRun { .. }) => return Ok(()),
            run => run?,
        };
        if !self.is_own(&run) {
            self.stay.insert(id);
            return Ok(());
        }
        if !may(&run) {
            return Ok(());
        }
        match archive.expire_runs(&[id], &host::clock::rfc3339(self.now())) {
            Ok(()) => Ok(()),
            // It is looked at again at the next turn.
            Err(ArchiveError::RunInUse { .. } | ArchiveError::Busy { .. }) => Ok(()),
            Err(error @ ArchiveError::NotDeleted { .. }) => {
                self.stay.insert(id);
                self.say(&format!("warning: {error}"));
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Turns for Real {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, time: Duration) -> bool {
        std::thread::sleep(time);
        !lab::signal::stop_flag().load(Ordering::Relaxed)
    }

    fn is_taken(&self, label: &str) -> Result<bool> {
        let archive = match Archive::open_read_only(&self.archive) {
            Err(ArchiveError::Absent { .. }) => return Ok(false),
            archive => archive?,
        };
        match archive.run_id(&RunName::Label(label.to_owned())) {
            Ok(_) => Ok(true),
            Err(ArchiveError::UnknownRun { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn observe(&mut self, label: &str) -> Result<bool> {
        let mut screen = Screen::watched(self.watched.clone());
        let measured = self.prepared(label, &mut screen);
        screen.close();
        let error = match measured {
            Ok(_) => {
                self.has_measured = true;
                return Ok(true);
            }
            Err(error) => error,
        };
        let is_stopped = lab::signal::stop_flag().load(Ordering::Relaxed);
        match exit::status_of(&error) {
            Status::Interrupted => return Err(error),
            _ if is_stopped => return Err(error),
            // What is wrong in itself, and will be at the next turn.
            Status::InvalidInput if !self.has_measured => return Err(error),
            _ => {}
        }
        self.say(&format!(
            "warning: turn {label} was not measured: {}",
            format_args!("{error:#}")
        ));
        self.tidy()?;
        Ok(false)
    }

    fn kept(&self) -> Result<Vec<Kept>> {
        let runs = Archive::open_read_only(&self.archive)?.runs_of_plan(PLAN)?;
        let kept = runs.into_iter().filter_map(|(id, label)| {
            let begin_s = self.times.begin_of(&label)?;
            Some(Kept { id, label, begin_s })
        });
        Ok(kept.collect())
    }

    fn remove(&mut self, run: &Kept) -> Result<()> {
        self.remove_if(run.id, |_| true)
    }

    fn tidy(&mut self) -> Result<()> {
        if !self.archive.try_exists()? {
            return Ok(());
        }
        let mut newest = self.kept()?;
        newest.sort_by_key(|run| std::cmp::Reverse(run.id));
        for run in newest.iter().take(UNFINISHED_MAX) {
            self.remove_if(run.id, |run| run.state != RunState::Complete)?;
        }
        Ok(())
    }

    fn say(&self, sentence: &str) {
        say(&format!("dbdyno: {sentence}"));
    }
}
