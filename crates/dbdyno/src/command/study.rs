//! `dbdyno study`: a built-in study, dispatched by its design.

mod before_after;
pub mod built_in;
mod change;
pub mod cost;
mod half_memory;
mod layouts;
mod request;
mod runs;
mod screening;
mod sides;
mod vary;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use archive::{Archive, ArchiveError, Run, RunName};

use self::built_in::{BuiltIn, Design};
use self::request::{StudyRequest, VERB};
use crate::arguments::positional::{Split, check_targets, split};
use crate::arguments::study::{Size, StudyArguments, StudyKeys};
use crate::command::ending::Ending;
use crate::console::say;
use crate::exit::{Status, invalid};
use crate::locations;
use crate::progress::renamed;
use crate::resumption;

pub fn study(arguments: &StudyArguments, archive_option: &Option<PathBuf>) -> Result<Status> {
    let archive = locations::archive(archive_option)?;
    let Split { subject, targets } = split("study", Some(&BuiltIn::kind()?), &arguments.texts)?;
    let (built_in, first) = match &arguments.resume {
        Some(name) => {
            let (built_in, first) = begun(name, &archive)?;
            (built_in, Some(Box::new(first)))
        }
        None => {
            let Some(name) = &subject else {
                return invalid(
                    "no study is given; type: dbdyno study NAME [TARGET…] (`dbdyno list studies` lists the studies)",
                );
            };
            (BuiltIn::named(name)?, None)
        }
    };
    let ending = Ending::new(&arguments.options.results, &archive)?;
    let name = match (&arguments.resume, &arguments.options.name) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => free_name(name, &built_in, &archive)?,
        (None, None) => lab::study::made_up_name(VERB, SystemTime::now()),
    };
    let request = StudyRequest {
        watched: arguments.options.watch.open()?,
        built_in,
        name,
        arguments,
        keys: StudyKeys::of(arguments)?,
        targets: [targets, arguments.targets.clone()].concat(),
        ending,
        archive,
        archive_option,
        first,
    };
    request.check()?;
    check_databases(&request)?;
    resumption::set_study(&request.name, request.options_to_resume());
    let is_of_layouts = request.built_in.design == Design::Layouts;
    if !request.is_resumed() {
        if is_of_layouts {
            layouts::check(&request)?;
        }
        let on_layouts = |size| layouts::room_bytes(&request, size);
        cost::ask(&request, |size| blocks(&request, size), on_layouts)?;
    }
    match request.built_in.design {
        Design::Layouts => layouts::carry_out(&request),
        Design::Change => before_after::carry_out(&request),
        Design::Memory => half_memory::carry_out(&request),
        Design::Runs => runs::carry_out(&request),
        Design::Vary => vary::carry_out(&request),
    }
}

/// The name, or the first of NAME-2, NAME-3 … that no other study has.
fn free_name(requested: &str, built_in: &BuiltIn, archive: &Path) -> Result<String> {
    let first_label = |name: &str| vec![built_in.first_label(name)];
    let name = match Archive::open_read_only(archive) {
        Err(ArchiveError::Absent { .. }) => requested.to_owned(),
        store => store?.free_name(requested, first_label)?,
    };
    if name != requested {
        say(&renamed(requested, &name));
    }
    Ok(name)
}

/// Refuses a study without a database, unless it has a server of its own.
fn check_databases(request: &StudyRequest<'_>) -> Result<()> {
    let name = &request.built_in.name;
    let demo = request.arguments.options.demo;
    match &request.built_in.target {
        _ if request.is_resumed() => Ok(()),
        Some(own) if demo => invalid(format!(
            "study {name} measures {own} unless you name a database; type: dbdyno study {name}"
        )),
        Some(_) => Ok(()),
        None => check_targets(&format!("study {name}"), &request.targets, demo),
    }
}

/// Sides and rounds of a study at a size; `None` for designs without rounds.
fn blocks(request: &StudyRequest<'_>, size: Size) -> Result<Option<cost::Blocks>> {
    match request.built_in.design {
        Design::Layouts => Ok(Some(layouts::blocks(request, size))),
        Design::Vary => vary::blocks(request, size).map(Some),
        Design::Memory => {
            let scale = request.built_in.scale(size);
            Ok(Some(cost::Blocks::in_pairs(
                scale,
                request.arguments.repeat,
            )))
        }
        Design::Change | Design::Runs => Ok(None),
    }
}

/// The study with runs of this name in the archive, and its first run.
fn begun(name: &str, archive: &Path) -> Result<(BuiltIn, Run)> {
    let store = Archive::open_read_only(archive)?;
    for study in BuiltIn::all()? {
        match store.load_run(&RunName::Label(study.first_label(name))) {
            Ok(run) if run.plan_name == study.name => return Ok((study, run)),
            Ok(_) | Err(ArchiveError::UnknownRun { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    invalid(format!(
        "no study was begun as {name}; `dbdyno runs list` shows the runs of each"
    ))
}
