//! A run before a change that dbdyno cannot make itself, and one after it.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use archive::{Archive, ArchiveError, Run, RunName, RunState};
use host::SystemClock;
use lab::{HostAsked, LabError, Plan};

use super::asked::{StudyRequest, VERB, judged, refuse_taken};
use super::change::Change;
use crate::command::compare::{How, judge_and_show};
use crate::command::run::Prepared;
use crate::command::{library, resumed, stated};
use crate::exit::{InvalidInput, Status};
use crate::place;
use crate::progress::Screen;

pub(super) fn carry_out(asked: &StudyRequest<'_>) -> Result<Status> {
    lab::signal::install();
    let study = if asked.is_resumed() {
        Study::begun(asked)?
    } else {
        Study::new(asked)?
    };
    let (before, after) = study.carry_out()?;
    let how = How {
        watched: &asked.watched,
        judging: &asked.arguments.judging,
        anyway: true,
        trust_sequential: asked.arguments.trust_sequential,
    };
    let status = judge_and_show(&before, &after, &how, asked.archive_asked)?;
    asked.write_page(&after, &[&before])?;
    Ok(judged(status, &[&before, &after]))
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

impl Side {
    fn label(self, study: &str) -> String {
        format!("{study}-{self}")
    }

    fn name(self, study: &str) -> RunName {
        RunName::Label(self.label(study))
    }
}

/// A study on its way.
struct Study<'a> {
    asked: &'a StudyRequest<'a>,
    /// Who makes the change; `None` when the run after it has begun.
    change: Option<Change>,
    before: Before,
    /// What both runs are made of.
    prepared: Prepared,
}

/// How far the run before the change is.
enum Before {
    New,
    Begun,
    Complete,
}

impl<'a> Study<'a> {
    fn new(asked: &'a StudyRequest<'a>) -> Result<Self> {
        let change = Change::asked(asked.arguments)?;
        for side in [Side::Before, Side::After] {
            refuse_taken(&side.label(&asked.name), &asked.archive)?;
        }
        Ok(Self {
            asked,
            change: Some(change),
            before: Before::New,
            prepared: Prepared::of_runs(&asked.run_arguments()?, 2)?,
        })
    }

    /// One that was begun. What it measures stands in the archive; who makes the change is said again.
    fn begun(asked: &'a StudyRequest<'a>) -> Result<Self> {
        let (name, arguments) = (&asked.name, asked.arguments);
        asked.refuse_settled()?;
        let kept = Archive::open_read_only(&asked.archive)?;
        let before = kept.load_run(&Side::Before.name(name))?;
        let after = match kept.load_run(&Side::After.name(name)) {
            Err(ArchiveError::UnknownRun { .. }) => None,
            loaded => Some(loaded?),
        };
        drop(kept);
        if after
            .as_ref()
            .is_some_and(|run| run.state == RunState::Complete)
        {
            let why = format!("study {name} is complete; there is nothing to resume");
            return Err(InvalidInput(why).into());
        }
        let begun: Vec<&Run> = std::iter::once(&before).chain(&after).collect();
        resumed::agree(&arguments.permission, &asked.archive, &begun)?;
        let workloads = workload::registry(library(None)?);
        Ok(Self {
            asked,
            change: match after {
                Some(_) => None,
                None => Some(Change::asked(arguments)?),
            },
            before: match before.state {
                RunState::Complete => Before::Complete,
                RunState::Running | RunState::Interrupted => Before::Begun,
            },
            prepared: Prepared {
                plan: Plan::parse(&workloads, &before.plan_toml, &[])?,
                targets: lab::nodes::urls_of_run(&before)?,
                files: place::work_files_of(&before)?,
                library: None,
                seed: before.seed,
                stated: stated(arguments.platform.as_deref())?,
                host: HostAsked::of_run(&before),
            },
        })
    }

    fn carry_out(mut self) -> Result<(Run, Run)> {
        let before = match self.before {
            Before::New => self.measure(Side::Before),
            Before::Begun => self.resume(Side::Before),
            Before::Complete => Ok(Archive::open_read_only(&self.asked.archive)?
                .load_run(&Side::Before.name(&self.asked.name))?),
        };
        let before = before.inspect_err(|_| self.abandon(Side::Before))?;
        let after = match &self.change {
            None => self.resume(Side::After)?,
            Some(change) => {
                self.note(change, Side::Before)?;
                let made = change.make(&self.asked.name);
                if !made.with_context(|| self.advice())? {
                    return Err(self.interrupted(&before));
                }
                let after = self.measure(Side::After)?;
                self.note(change, Side::After)?;
                after
            }
        };
        if let Some(files) = self.prepared.files.take() {
            files.remove();
        }
        Ok((before, after))
    }

    fn measure(&self, side: Side) -> Result<Run> {
        let mut screen = Screen::watched(self.asked.watched.clone());
        screen.drawn_with(self.prepared.seed);
        let label = Some(side.label(&self.asked.name));
        let measured = (self.prepared).measure(label, &self.asked.archive, &mut screen);
        screen.close();
        screen.run_ends(&measured);
        measured.map_err(|error| self.asked.of_study(error))
    }

    fn resume(&self, side: Side) -> Result<Run> {
        let mut screen = Screen::watched(self.asked.watched.clone());
        let workloads = workload::registry(library(None)?);
        let name = side.name(&self.asked.name);
        let clock = Arc::new(SystemClock);
        let resumed = lab::resume(&name, &self.asked.archive, workloads, clock, &mut screen);
        screen.close();
        let resumed = resumed.map_err(anyhow::Error::from);
        screen.run_ends(&resumed);
        resumed.map_err(|error| self.asked.of_study(error))
    }

    /// Without a run in the archive nobody needs the files.
    fn abandon(&mut self, side: Side) {
        let kept = Archive::open_read_only(&self.asked.archive);
        let is_kept = kept.is_ok_and(|kept| kept.run_id(&side.name(&self.asked.name)).is_ok());
        if let Some(files) = self.prepared.files.take().filter(|_| !is_kept) {
            files.remove();
        }
    }

    /// What is changed stands beside both runs.
    fn note(&self, change: &Change, side: Side) -> Result<()> {
        let mut archive = Archive::open(&self.asked.archive)?;
        let id = archive.run_id(&side.name(&self.asked.name))?;
        let note = format!("{side}: {}", change.note());
        Ok(archive.note(id, &note, &host::clock::rfc3339(SystemTime::now()))?)
    }

    fn interrupted(&self, before: &Run) -> anyhow::Error {
        let measured = before.points.len();
        LabError::Interrupted {
            finished: measured,
            planned: 2 * measured,
            label: self.asked.name.clone(),
            verb: VERB,
        }
        .into()
    }

    /// What to do when the change could not be made.
    fn advice(&self) -> String {
        format!(
            "{0}-before is kept; go on with: dbdyno study --resume {0}, and say again who makes the change",
            self.asked.name
        )
    }
}
