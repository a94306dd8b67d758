//! Everything that a run or a study needs, from the command line or from a verb that builds its plan itself.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use archive::{Alternative, Screened};
use engine::TargetUrl;
use lab::{Plan, Setting};

use super::shape::Shape;
use crate::arguments::positional::{Kind, Split, check_targets, split};
use crate::arguments::{AbArguments, Judging, MeasureOptions, Occasion, SecretText};
use crate::exit::invalid;

#[derive(Debug, Clone)]
pub enum PlanSource {
    /// Built-in plan or path of a plan file.
    Named(String),
    Text(String),
}

impl PlanSource {
    pub fn text(&self) -> lab::Result<String> {
        match self {
            Self::Named(name) => Plan::text(name),
            Self::Text(text) => Ok(text.clone()),
        }
    }
}

impl Default for PlanSource {
    fn default() -> Self {
        Self::Named(String::new())
    }
}

#[derive(Debug, Default)]
pub struct RunRequest {
    pub plan: PlanSource,
    /// Replicas of the first target.
    pub replicas: Vec<TargetUrl>,
    /// Settings of all targets.
    pub of_target: BTreeMap<String, String>,
    /// Cache of a default target that is compared with memory.
    pub cache_bytes: Option<u64>,
    pub targets: Vec<SecretText>,
    pub repeat: Option<u32>,
    pub resume: Option<String>,
    pub options: MeasureOptions,
}

/// Settings of a plan that is built from options, with the places of their keys.
///
/// # Errors
/// For a key that the plan does not have.
pub fn placed(settings: &[String], plan: &toml::Table) -> Result<Vec<String>> {
    let workloads = workloads::registry(super::library(None)?);
    let places = |text: &String| -> lab::Result<Vec<String>> {
        let (_, value) = text.split_once('=').unwrap_or_default();
        let places = Setting::parse(text)?.places(&workloads, plan)?;
        let places = places.into_iter();
        Ok(places
            .map(|place| format!("{}={value}", place.key))
            .collect())
    };
    let placed = settings.iter().map(places);
    Ok(placed.collect::<lab::Result<Vec<_>>>()?.concat())
}

impl RunRequest {
    /// A run of a plan on these databases; the settings have their places.
    pub fn of(plan: PlanSource, targets: Vec<SecretText>, occasion: Occasion) -> Self {
        Self {
            plan,
            targets,
            repeat: occasion.repeat,
            options: occasion.options,
            ..Self::default()
        }
    }

    /// A run of a workload's plan, in which keys of `--set` need no place.
    ///
    /// # Errors
    /// Without a database, and for a key that the plan does not have.
    pub fn of_workload(
        name: &str,
        plan: &toml::Table,
        targets: Vec<SecretText>,
        mut occasion: Occasion,
    ) -> Result<Self> {
        check_targets(&format!("run {name}"), &targets, occasion.options.demo)?;
        occasion.options.settings = placed(&occasion.options.settings, plan)?;
        Ok(Self::of(
            PlanSource::Text(plan.to_string()),
            targets,
            occasion,
        ))
    }
}

/// One side of a study.
#[derive(Debug, Clone, Default)]
pub struct SideRequest {
    /// Settings of this side, as with --a.
    pub settings: Vec<SecretText>,
    /// Its row of a screening's design.
    pub screened: Option<Screened>,
    /// Its description in a study of alternatives.
    pub alternative: Option<Alternative>,
}

impl SideRequest {
    pub fn of(settings: Vec<SecretText>) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

#[derive(Debug)]
pub struct AbRequest {
    /// Measured on each side.
    pub run: RunRequest,
    pub sides: Vec<SideRequest>,
    pub pairs: Option<u32>,
    pub until: Option<f64>,
    pub within: Option<Duration>,
    pub interleave: Option<Duration>,
    pub judging: Judging,
}

impl AbRequest {
    /// The request as typed.
    ///
    /// # Errors
    /// As [`split`], and without a plan or without a difference of the sides.
    pub fn of(typed: &AbArguments) -> Result<Self> {
        let mut typed = typed.clone();
        typed.take_subjects();
        let Split { subject, targets } = split("ab", Some(&Kind::plan()), &typed.texts)?;
        let targets = [targets, typed.targets.clone()].concat();
        if typed.resume.is_none() {
            let plan = check_sides(&typed, subject.as_deref())?;
            let is_target = |text: &SecretText| text.expose().starts_with("target=");
            // A misspelt plan is reported first.
            let shape = Shape {
                time: typed.time,
                clients: std::mem::take(&mut typed.clients),
            };
            let shape = shape.settings(&Plan::text(plan)?)?;
            typed.options.settings.splice(0..0, shape);
            if !typed.a.iter().any(is_target) || !typed.b.iter().any(is_target) {
                check_targets(&format!("ab {plan}"), &targets, typed.options.demo)?;
            }
        }
        Ok(Self {
            sides: [typed.a, typed.b].map(SideRequest::of).to_vec(),
            pairs: typed.repeat,
            until: typed.until,
            within: typed.max_time,
            interleave: typed.interleave,
            judging: typed.judging,
            run: RunRequest {
                plan: PlanSource::Named(subject.unwrap_or_default()),
                targets,
                resume: typed.resume,
                options: typed.options,
                ..RunRequest::default()
            },
        })
    }

    /// The same study, resumed.
    pub fn resumed(mut self, name: &str) -> Self {
        self.run.resume = Some(name.to_owned());
        self
    }

    /// Screenings and studies of alternatives announce their cost themselves.
    pub fn is_announced(&self) -> bool {
        (self.sides.iter()).any(|side| side.screened.is_some() || side.alternative.is_some())
    }
}

/// The plan of a study; refuses one without a plan, and one whose sides do not differ unless that is requested.
fn check_sides<'p>(typed: &AbArguments, plan: Option<&'p str>) -> Result<&'p str> {
    let Some(plan) = plan else {
        return invalid(
            "no plan is given; type: dbdyno ab PLAN TARGET --a KEY=VALUE --b KEY=VALUE (`dbdyno list plans` lists the plans)",
        );
    };
    if typed.aa || !typed.a.is_empty() || !typed.b.is_empty() {
        return Ok(plan);
    }
    invalid(format!(
        "A and B do not differ; type: dbdyno ab {plan} TARGET --a KEY=VALUE --b KEY=VALUE, or, to measure the noise of this \
         machine: dbdyno ab {plan} TARGET --aa"
    ))
}
