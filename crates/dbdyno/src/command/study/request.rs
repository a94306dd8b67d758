//! A request for a study, common to all designs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use archive::reference::{self, Reference};
use archive::{Archive, ArchiveError, Run};
use engine::{Reach, TargetUrl};
use report::Against;

use super::built_in::{BuiltIn, Design};
use crate::arguments::study::{Protocol, Size, StudyArguments, StudyKeys};
use crate::arguments::{MeasureOptions, SecretText};
use crate::command::ab::judged;
use crate::command::compare::html_options;
use crate::command::ending::{Ending, Outcome};
use crate::command::requests::{AbRequest, PlanSource, RunRequest};
use crate::command::{plan_text, prices};
use crate::event_outputs::Watched;
use crate::exit::{Status, invalid};
use crate::locations;

pub const VERB: &str = "study";

pub struct StudyRequest<'a> {
    pub built_in: BuiltIn,
    pub name: String,
    pub arguments: &'a StudyArguments,
    pub keys: StudyKeys,
    /// Databases as typed.
    pub targets: Vec<SecretText>,
    pub watched: Watched,
    pub ending: Ending,
    pub archive: PathBuf,
    /// The archive as given on the command line.
    pub archive_option: &'a Option<PathBuf>,
    pub first: Option<Box<Run>>,
}

impl StudyRequest<'_> {
    pub fn check(&self) -> Result<()> {
        prices::check(&self.arguments.judging.prices)?;
        let (arguments, design) = (self.arguments, self.built_in.design);
        let keys = &self.keys;
        let given: [(&str, bool, &[Design]); 8] = [
            ("--change", arguments.change.is_some(), &[Design::Change]),
            (
                "--change-cmd",
                arguments.change_cmd.is_some(),
                &[Design::Change],
            ),
            (
                "--trust-sequential",
                arguments.trust_sequential,
                &[Design::Change],
            ),
            (
                "--repeat",
                arguments.repeat.is_some(),
                &[Design::Layouts, Design::Memory, Design::Vary],
            ),
            (
                "--vary layout=…",
                !keys.layouts.is_empty(),
                &[Design::Layouts],
            ),
            ("--memory", arguments.memory.is_some(), &[Design::Memory]),
            ("--vary KEY=A,B", !keys.vary.is_empty(), &[Design::Vary]),
            (
                "--set configurations",
                keys.configurations.is_some(),
                &[Design::Vary],
            ),
        ];
        let wrong = given
            .iter()
            .find(|(_, is_given, of)| *is_given && !of.contains(&design));
        let name = &self.built_in.name;
        if let Some((option, ..)) = wrong {
            return invalid(format!(
                "{option} does not belong to study {name}; `dbdyno list studies` says what each one does"
            ));
        }
        if !self.is_published() {
            return Ok(());
        }
        if self.built_in.published.is_none() {
            return invalid(format!(
                "study {name} repeats no published protocol; leave out --set protocol"
            ));
        }
        match arguments.repeat {
            Some(_) => invalid(
                "--repeat and --set protocol=published exclude each other: the document measures one side after the other, once",
            ),
            None => Ok(()),
        }
    }

    /// True if the document's own order and repetitions are repeated.
    pub fn is_published(&self) -> bool {
        match &self.first {
            Some(run) => !run.unsound().is_empty(),
            None => self.keys.protocol == Protocol::Published,
        }
    }

    /// The requested size; the document's protocol has its own default.
    pub fn size(&self) -> Size {
        self.arguments.size.unwrap_or(if self.is_published() {
            Size::Published
        } else {
            Size::default()
        })
    }

    /// Refuses options that the start of the study has fixed.
    pub fn refuse_settled(&self) -> Result<()> {
        let arguments = self.arguments;
        if arguments.size.is_none() && self.keys.settings.is_empty() && arguments.memory.is_none() {
            return Ok(());
        }
        let why = format!(
            "--size, --set and --memory of study {} were settled at its start; leave them out with --resume",
            self.name
        );
        invalid(why)
    }

    /// Options that a resumed study needs again.
    pub fn options_to_resume(&self) -> Vec<String> {
        let (arguments, design) = (self.arguments, self.built_in.design);
        let option = |name: &str, value: String| [name.to_owned(), value];
        let mut options = Vec::new();
        if design == Design::Change {
            // A command may hold a secret.
            let command = arguments.change_cmd.iter();
            options.extend(command.map(|_| option("--change-cmd", "CMD".into())));
            let text = arguments.change.iter();
            options.extend(text.map(|text| option("--change", text.clone())));
        }
        if design == Design::Runs || design == Design::Memory && self.is_published() {
            let size = arguments.size.iter();
            options.extend(size.map(|size| option("--size", plan_text::word(*size))));
            let settings = self.keys.settings.iter();
            options.extend(settings.map(|text| option("--set", text.clone())));
            let memory = arguments.memory.iter();
            // Its units are multiples of one of these.
            let in_units = |bytes: &u64| match bytes % 1024 {
                0 => format!("{}KiB", bytes >> 10),
                _ => format!("{}kB", bytes / 1000),
            };
            options.extend(memory.map(|bytes| option("--memory", in_units(bytes))));
        }
        options.concat()
    }

    pub fn is_resumed(&self) -> bool {
        self.arguments.resume.is_some()
    }

    /// Keys of the plan: those of the size, of the document's protocol, and of the user.
    pub fn settings(&self) -> Vec<String> {
        let published = self.built_in.published.as_ref();
        let published = published.filter(|_| self.is_published());
        let published = published.iter().flat_map(|published| &published.settings);
        let of_size = self.built_in.scale(self.size()).settings.iter();
        let all = of_size.chain(published).chain(&self.keys.settings);
        all.cloned().collect()
    }

    /// The requested targets, or those of the study's start; empty if dbdyno creates them.
    pub fn targets(&self) -> Result<Vec<SecretText>> {
        let Some(first) = &self.first else {
            let given = &self.targets;
            let own = self.built_in.target.iter();
            return Ok(if given.is_empty() {
                own.map(|url| SecretText::from(url.clone())).collect()
            } else {
                given.clone()
            });
        };
        if locations::work_files_of(first)?.is_some() {
            return Ok(Vec::new());
        }
        let urls = lab::nodes::urls_of_run(first)?;
        // dbdyno removes the directory of such files at the end of the run.
        let file = urls.first().and_then(engines::file);
        if file.is_some_and(|file| file.parent().is_some_and(|directory| !directory.exists())) {
            return Ok(Vec::new());
        }
        let holds_rows = |url: &TargetUrl| {
            engines::find(url).is_ok_and(|engine| engine.reach() != Reach::Replica)
        };
        let urls = urls.iter().filter(|url| holds_rows(url));
        Ok(urls.map(|url| SecretText::from(url.to_string())).collect())
    }

    /// The request as a run of the plan at the requested size.
    pub fn run_request(&self) -> Result<RunRequest> {
        let (built_in, options) = (&self.built_in, &self.arguments.options);
        Ok(RunRequest {
            plan: PlanSource::Text(built_in.plan(self.is_published())?),
            targets: self.targets()?,
            options: MeasureOptions {
                settings: self.settings(),
                seed: options.seed.or(self.first.as_ref().map(|run| run.seed)),
                ..options.clone()
            },
            ..RunRequest::default()
        })
    }

    /// Ends with the page and the summary of a run with its comparisons and the study's references.
    pub fn end(&self, run: &Run, others: &[&Run], status: Status) -> Result<Status> {
        let references = self.built_in.references.iter();
        let references = references.map(|name| reference::load(name));
        let references: Vec<Reference> = references.collect::<Result<_, _>>()?;
        let runs = others.iter().map(|run| Against::Run(run));
        let against = runs.chain(references.iter().map(Against::Reference));
        let (judging, all) = (&self.arguments.judging, [others, &[run]].concat());
        let outcome = Outcome {
            name: &self.name,
            run,
            against: against.collect(),
            options: html_options(judging, self.arguments.trust_sequential, &all)?,
        };
        let status = judged(status, &all);
        self.ending.of_study(&outcome, judging, status)
    }
}

/// The request of a study, without its sides.
pub fn common(request: &StudyRequest<'_>) -> Result<AbRequest> {
    let arguments = request.arguments;
    let scale = request.built_in.scale(request.size());
    let mut run = request.run_request()?;
    run.options.name = Some(request.name.clone());
    Ok(AbRequest {
        run,
        sides: Vec::new(),
        pairs: arguments.repeat.or(scale.pairs),
        until: None,
        within: None,
        interleave: None,
        judging: arguments.judging.clone(),
    })
}

/// Refuses a taken label now instead of after an hour of measuring.
pub fn refuse_taken(taken: &str, archive: &Path) -> Result<()> {
    archive::store::check_label(taken)?;
    let store = match Archive::open_read_only(archive) {
        Err(ArchiveError::Absent { .. }) => return Ok(()),
        other => other?,
    };
    Ok(store.refuse_label(taken)?)
}
