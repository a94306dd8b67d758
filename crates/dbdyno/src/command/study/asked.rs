//! What is asked of a study, whatever its design.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use archive::reference::{self, Reference};
use archive::{Archive, ArchiveError, Run, RunName};
use lab::LabError;
use report::{Against, HtmlOptions};

use super::built_in::{BuiltIn, Design};
use crate::arguments::RunArguments;
use crate::arguments::study::StudyArguments;
use crate::command::prices;
use crate::exit::{InvalidInput, Status};
use crate::output;
use crate::say::say;

/// Verb by which an interrupted study is resumed.
pub const VERB: &str = "study";

/// A study that is to be carried out, or to be carried on with.
pub struct Asked<'a> {
    pub built_in: BuiltIn,
    pub name: String,
    pub arguments: &'a StudyArguments,
    pub archive: PathBuf,
    /// The archive as it was named.
    pub archive_asked: &'a Option<PathBuf>,
}

impl Asked<'_> {
    /// Refuses what does not belong to the study.
    ///
    /// # Errors
    /// When an option is of studies of another design.
    pub fn check(&self) -> Result<()> {
        prices::check(&self.arguments.judging.prices)?;
        let (arguments, design) = (self.arguments, self.built_in.design);
        let of = |is_given: bool, design| (is_given, design);
        let given = [
            ("--pause", of(arguments.pause.is_some(), Design::Change)),
            ("--hook", of(arguments.hook.is_some(), Design::Change)),
            (
                "--trust-sequential",
                of(arguments.trust_sequential, Design::Change),
            ),
            ("--pairs", of(arguments.pairs.is_some(), Design::Memory)),
            ("--memory", of(arguments.memory.is_some(), Design::Memory)),
        ];
        let wrong = given
            .iter()
            .find(|(_, (is_given, of))| *is_given && *of != design);
        match wrong {
            Some((option, _)) => Err(InvalidInput(format!(
                "{option} does not belong to study {}; `dbdyno list studies` says what each one does",
                self.built_in.name
            ))
            .into()),
            None => Ok(()),
        }
    }

    /// What a study measures was settled at its start.
    ///
    /// # Errors
    /// When it is said again.
    pub fn refuse_size(&self) -> Result<()> {
        if self.arguments.size.is_none() && self.arguments.settings.is_empty() {
            return Ok(());
        }
        let why = format!(
            "--size and --set of study {} were settled at its start; leave them out with --resume",
            self.name
        );
        Err(InvalidInput(why).into())
    }

    /// Whether it was begun before.
    pub fn is_resumed(&self) -> bool {
        self.arguments.resume.is_some()
    }

    /// The plan at the size that was asked for, as a run of it.
    pub fn run_arguments(&self) -> RunArguments {
        let (built_in, arguments) = (&self.built_in, self.arguments);
        let settings = built_in.scale(arguments.size()).settings.iter();
        RunArguments {
            plan: built_in.name.clone(),
            plan_text: Some(built_in.plan()),
            targets: arguments.targets.clone(),
            settings: settings.chain(&arguments.settings).cloned().collect(),
            seed: arguments.seed,
            work_dir: arguments.work_dir.clone(),
            platform: arguments.platform.clone(),
            server: arguments.server.clone(),
            permission: arguments.permission.clone(),
            ..RunArguments::default()
        }
    }

    /// The same error, with how the study is resumed and not its run.
    pub fn of_study(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast::<LabError>() {
            Ok(error) => error.resumed_by(VERB, &self.name).into(),
            Err(other) => other,
        }
    }

    /// Writes the page of a run, beside others and the study's references.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_page(&self, run: &Run, beside: &[&Run]) -> Result<()> {
        let references = self.built_in.references.iter();
        let references = references.map(|name| reference::load(name));
        let references: Vec<Reference> = references.collect::<Result<_, _>>()?;
        let runs = beside.iter().map(|run| Against::Run(run));
        let against: Vec<Against<'_>> = runs
            .chain(references.iter().map(Against::Reference))
            .collect();
        let priced: Vec<&Run> = beside.iter().copied().chain([run]).collect();
        let options = HtmlOptions {
            title: None,
            prices: prices::load(&self.arguments.judging.prices, &priced)?,
            generated_at: Some(host::clock::rfc3339(SystemTime::now())),
        };
        let page = report::html(run, &against, &options);
        let output = &self.arguments.output;
        output::write(output, &page, "report", "-o")?;
        say(&format!("{} written", output.display()));
        Ok(())
    }
}

/// Says that figures are missing, if some are.
pub fn judged(status: Status, runs: &[&Run]) -> Status {
    if runs.iter().all(|run| run.valid()) {
        return status;
    }
    say("dbdyno: points of this study are invalid; the page gives the reasons");
    Status::CheckFailed
}

/// Found after an hour, a taken label would be found too late.
///
/// # Errors
/// When it is none, or taken.
pub fn refuse_taken(taken: &str, archive: &Path) -> Result<()> {
    archive::store::check_label(taken)?;
    let kept = match Archive::open_read_only(archive) {
        Err(ArchiveError::Absent { .. }) => return Ok(()),
        other => other?,
    };
    match kept.run_id(&RunName::Label(taken.to_owned())) {
        Err(ArchiveError::UnknownRun { .. }) => Ok(()),
        Ok(_) => {
            let label = taken.to_owned();
            Err(anyhow!(ArchiveError::LabelTaken { label }))
        }
        Err(other) => Err(other.into()),
    }
}
