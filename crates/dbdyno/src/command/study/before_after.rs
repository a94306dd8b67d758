//! A run before and a run after a change that dbdyno cannot make itself.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use archive::{Archive, ArchiveError, Run, RunName, RunState};
use host::SystemClock;
use lab::{HostOptions, LabError, Plan};

use super::change::Change;
use super::request::{StudyRequest, VERB, refuse_taken};
use crate::command::compare::{How, judge_and_show};
use crate::command::run::Prepared;
use crate::command::{library, resumed, stated};
use crate::exit::{Status, invalid};
use crate::locations;
use crate::progress::Screen;
use crate::resumption;

pub(super) fn carry_out(request: &StudyRequest<'_>) -> Result<Status> {
    lab::signal::install();
    let study = if request.is_resumed() {
        Study::begun(request)?
    } else {
        Study::new(request)?
    };
    let (before, after) = study.carry_out()?;
    let how = How {
        watched: &request.watched,
        judging: &request.arguments.judging,
        allow_mismatch: true,
        tables: request.ending.tables(),
        trust_sequential: request.arguments.trust_sequential,
    };
    let status = judge_and_show(&before, &after, &how, request.archive_option)?;
    request.end(&after, &[&before], status)
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

struct Study<'a> {
    request: &'a StudyRequest<'a>,
    /// The change; `None` once the second run has begun.
    change: Option<Change>,
    before: Before,
    prepared: Prepared,
}

enum Before {
    New,
    Begun,
    Complete,
}

impl<'a> Study<'a> {
    fn new(request: &'a StudyRequest<'a>) -> Result<Self> {
        let change = Change::from_arguments(request.arguments)?;
        for side in [Side::Before, Side::After] {
            refuse_taken(&side.label(&request.name), &request.archive)?;
        }
        Ok(Self {
            request,
            change: Some(change),
            before: Before::New,
            prepared: Prepared::of_runs(&request.run_request()?, 2)?,
        })
    }

    /// A resumed study: the archive has its plan, and the command line the change.
    fn begun(request: &'a StudyRequest<'a>) -> Result<Self> {
        let (name, arguments) = (&request.name, request.arguments);
        request.refuse_settled()?;
        let store = Archive::open_read_only(&request.archive)?;
        let before = store.load_run(&Side::Before.name(name))?;
        let after = match store.load_run(&Side::After.name(name)) {
            Err(ArchiveError::UnknownRun { .. }) => None,
            loaded => Some(loaded?),
        };
        drop(store);
        if after
            .as_ref()
            .is_some_and(|run| run.state == RunState::Complete)
        {
            return invalid(format!(
                "study {name} is complete; there is nothing to resume"
            ));
        }
        let begun: Vec<&Run> = std::iter::once(&before).chain(&after).collect();
        resumed::agree(&arguments.options.permission, &request.archive, &begun)?;
        let workloads = workloads::registry(library(None)?);
        Ok(Self {
            request,
            change: match after {
                Some(_) => None,
                None => Some(Change::from_arguments(arguments)?),
            },
            before: match before.state {
                RunState::Complete => Before::Complete,
                RunState::Running | RunState::Interrupted => Before::Begun,
            },
            prepared: Prepared {
                plan: Plan::parse(&workloads, &before.plan_toml, &[])?,
                targets: lab::nodes::urls_of_run(&before)?,
                files: locations::work_files_of(&before)?,
                seed: before.seed,
                stated: stated(arguments.options.platform.as_deref())?,
                host: HostOptions::of_run(&before),
            },
        })
    }

    fn carry_out(mut self) -> Result<(Run, Run)> {
        let before = match self.before {
            Before::New => self.measure(Side::Before),
            Before::Begun => self.resume(Side::Before),
            Before::Complete => Ok(Archive::open_read_only(&self.request.archive)?
                .load_run(&Side::Before.name(&self.request.name))?),
        };
        let before = before.inspect_err(|_| self.abandon(Side::Before))?;
        let after = match &self.change {
            None => self.resume(Side::After)?,
            Some(change) => {
                self.note(change, Side::Before)?;
                let made = change.make(&self.request.name);
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
        let mut screen = Screen::watched(self.request.watched.clone());
        screen.drawn_with(self.prepared.seed);
        let label = Some(side.label(&self.request.name));
        let measured = (self.prepared).measure(label, &self.request.archive, &mut screen);
        screen.close();
        screen.run_ends(&measured);
        measured
    }

    fn resume(&self, side: Side) -> Result<Run> {
        let mut screen = Screen::watched(self.request.watched.clone());
        let workloads = workloads::registry(library(None)?);
        let name = side.name(&self.request.name);
        let clock = Arc::new(SystemClock);
        let resumed = lab::resume(&name, &self.request.archive, workloads, clock, &mut screen);
        screen.close();
        let resumed = resumed.map_err(anyhow::Error::from);
        screen.run_ends(&resumed);
        resumed
    }

    /// Files without a run in the archive are useless.
    fn abandon(&mut self, side: Side) {
        let store = Archive::open_read_only(&self.request.archive);
        let is_stored =
            store.is_ok_and(|store| store.run_id(&side.name(&self.request.name)).is_ok());
        if let Some(files) = self.prepared.files.take().filter(|_| !is_stored) {
            files.remove();
        }
    }

    /// Records the change as a note of both runs.
    fn note(&self, change: &Change, side: Side) -> Result<()> {
        let mut archive = Archive::open(&self.request.archive)?;
        let id = archive.run_id(&side.name(&self.request.name))?;
        let note = format!("{side}: {}", change.note());
        Ok(archive.note(id, &note, &host::clock::rfc3339(SystemTime::now()))?)
    }

    fn interrupted(&self, before: &Run) -> anyhow::Error {
        let measured = before.points.len();
        LabError::Interrupted {
            finished: measured,
            planned: 2 * measured,
            label: self.request.name.clone(),
            verb: VERB,
        }
        .into()
    }

    fn advice(&self) -> String {
        format!(
            "{0}-before is in the archive; resume with: {1}",
            self.request.name,
            resumption::command(VERB, &self.request.name)
        )
    }
}
