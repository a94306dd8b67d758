//! What is asked of a study, whatever its design.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use archive::reference::{self, Reference};
use archive::{Archive, ArchiveError, Run};
use engine::{Reach, TargetUrl};
use lab::LabError;
use report::{Against, HtmlOptions};
use verdict::compare::Terms;

use super::built_in::{BuiltIn, Design};
use crate::arguments::study::{Protocol, Size, StudyArguments};
use crate::arguments::{AbArguments, RunArguments, SecretText};
use crate::command::prices;
use crate::exit::{InvalidInput, Status};
use crate::say::say;
use crate::watch::Watched;
use crate::{output, place};

/// Verb by which an interrupted study is resumed.
pub const VERB: &str = "study";

/// A study that is to be carried out, or to be carried on with.
pub struct StudyRequest<'a> {
    pub built_in: BuiltIn,
    pub name: String,
    pub arguments: &'a StudyArguments,
    pub watched: Watched,
    pub archive: PathBuf,
    /// The archive as it was named.
    pub archive_asked: &'a Option<PathBuf>,
    /// Its first run, when it was begun before.
    pub first: Option<Box<Run>>,
}

impl StudyRequest<'_> {
    /// Refuses what does not belong to the study.
    ///
    /// # Errors
    /// When an option is of studies of another design.
    pub fn check(&self) -> Result<()> {
        prices::check(&self.arguments.judging.prices)?;
        let (arguments, design) = (self.arguments, self.built_in.design);
        let given: [(&str, bool, &[Design]); 8] = [
            ("--pause", arguments.pause.is_some(), &[Design::Change]),
            ("--hook", arguments.hook.is_some(), &[Design::Change]),
            (
                "--trust-sequential",
                arguments.trust_sequential,
                &[Design::Change],
            ),
            (
                "--pairs",
                arguments.pairs.is_some(),
                &[Design::Layouts, Design::Memory, Design::Vary],
            ),
            (
                "--layouts",
                !arguments.layouts.is_empty(),
                &[Design::Layouts],
            ),
            ("--memory", arguments.memory.is_some(), &[Design::Memory]),
            ("--vary", !arguments.vary.is_empty(), &[Design::Vary]),
            (
                "--configurations",
                arguments.configurations.is_some(),
                &[Design::Vary],
            ),
        ];
        let wrong = given
            .iter()
            .find(|(_, is_given, of)| *is_given && !of.contains(&design));
        let name = &self.built_in.name;
        if let Some((option, ..)) = wrong {
            return Err(InvalidInput(format!(
                "{option} does not belong to study {name}; `dbdyno list studies` says what each one does"
            ))
            .into());
        }
        if !self.is_published() {
            return Ok(());
        }
        if self.built_in.published.is_none() {
            return Err(InvalidInput(format!(
                "study {name} repeats no published protocol; leave out --protocol"
            ))
            .into());
        }
        match arguments.pairs {
            Some(_) => Err(InvalidInput(
                "--pairs and --protocol published exclude each other: the document measures one side after the other, once".into(),
            )
            .into()),
            None => Ok(()),
        }
    }

    /// Whether the document's own order and repetitions are repeated.
    pub fn is_published(&self) -> bool {
        match &self.first {
            Some(run) => !run.unsound().is_empty(),
            None => self.arguments.protocol == Protocol::Published,
        }
    }

    /// The size that is asked for: with the document's protocol its own, unless another is said.
    pub fn size(&self) -> Size {
        self.arguments.size.unwrap_or(if self.is_published() {
            Size::Published
        } else {
            Size::default()
        })
    }

    /// What a study measures was settled at its start.
    ///
    /// # Errors
    /// When it is said again.
    pub fn refuse_settled(&self) -> Result<()> {
        let arguments = self.arguments;
        if arguments.size.is_none() && arguments.settings.is_empty() && arguments.memory.is_none() {
            return Ok(());
        }
        let why = format!(
            "--size, --set and --memory of study {} were settled at its start; leave them out with --resume",
            self.name
        );
        Err(InvalidInput(why).into())
    }

    /// Whether it was begun before.
    pub fn is_resumed(&self) -> bool {
        self.arguments.resume.is_some()
    }

    /// Keys of the plan: those of the size, those of the document's protocol, and what its user sets.
    pub fn settings(&self) -> Vec<String> {
        let published = self.built_in.published.as_ref();
        let published = published.filter(|_| self.is_published());
        let published = published.iter().flat_map(|published| &published.settings);
        let of_size = self.built_in.scale(self.size()).settings.iter();
        let all = of_size.chain(published).chain(&self.arguments.settings);
        all.cloned().collect()
    }

    /// The targets that are asked for, or those that it was begun with; none where dbdyno makes them itself.
    ///
    /// # Errors
    /// When the archive names one that cannot be.
    pub fn targets(&self) -> Result<Vec<SecretText>> {
        let Some(first) = &self.first else {
            let given = &self.arguments.targets;
            let own = self.built_in.target.iter();
            return Ok(if given.is_empty() {
                own.map(|url| SecretText::from(url.clone())).collect()
            } else {
                given.clone()
            });
        };
        if place::work_files_of(first)?.is_some() {
            return Ok(Vec::new());
        }
        let urls = lab::nodes::urls_of_run(first)?;
        // Files that dbdyno made for a run go with their directory at its end.
        let file = urls.first().and_then(engines::file);
        if file.is_some_and(|file| file.parent().is_some_and(|place| !place.exists())) {
            return Ok(Vec::new());
        }
        let holds_rows = |url: &TargetUrl| {
            engines::find(url).is_ok_and(|engine| engine.reach() != Reach::Replica)
        };
        let urls = urls.iter().filter(|url| holds_rows(url));
        Ok(urls.map(|url| SecretText::from(url.to_string())).collect())
    }

    /// The plan at the size that was asked for, as a run of it.
    ///
    /// # Errors
    /// As [`StudyRequest::targets`].
    pub fn run_arguments(&self) -> Result<RunArguments> {
        let (built_in, arguments) = (&self.built_in, self.arguments);
        Ok(RunArguments {
            plan: built_in.name.clone(),
            plan_text: Some(built_in.plan(self.is_published())?),
            targets: self.targets()?,
            settings: self.settings(),
            seed: arguments.seed.or(self.first.as_ref().map(|run| run.seed)),
            work_dir: arguments.work_dir.clone(),
            platform: arguments.platform.clone(),
            server: arguments.server.clone(),
            permission: arguments.permission.clone(),
            ..RunArguments::default()
        })
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
            terms: Terms {
                band: self.arguments.judging.band(),
                trust_sequential: self.arguments.trust_sequential,
            },
            primary: self.arguments.judging.primary()?,
            generated_at: Some(host::clock::rfc3339(SystemTime::now())),
        };
        let page = report::html(run, &against, &options);
        output::write_and_tell(&self.arguments.output, &page, "report", "-o")?;
        for sentence in report::answer(run, &against, &options) {
            say(&sentence);
        }
        Ok(())
    }
}

/// What a study of several sides has whatever they differ in.
///
/// # Errors
/// When its plan or its targets cannot be told.
pub fn common(asked: &StudyRequest<'_>) -> Result<AbArguments> {
    let arguments = asked.arguments;
    let scale = asked.built_in.scale(asked.size());
    Ok(AbArguments {
        plan: asked.built_in.name.clone(),
        plan_text: Some(asked.built_in.plan(false)?),
        sides: Vec::new(),
        a: Vec::new(),
        b: Vec::new(),
        watch: arguments.watch.clone(),
        pairs: arguments.pairs.or(scale.pairs),
        until: None,
        within: None,
        interleave: None,
        targets: asked.targets()?,
        name: Some(asked.name.clone()),
        settings: asked.settings(),
        seed: arguments.seed,
        resume: None,
        library: None,
        work_dir: arguments.work_dir.clone(),
        platform: arguments.platform.clone(),
        server: arguments.server.clone(),
        permission: arguments.permission.clone(),
        judging: arguments.judging.clone(),
    })
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
    Ok(kept.refuse_label(taken)?)
}
