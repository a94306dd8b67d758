//! `dbdyno study`: a built-in study, by the design that its file names.

mod asked;
mod before_after;
pub mod built_in;
mod change;
pub mod cost;
mod half_memory;
mod layouts;
mod many;
mod parts;
mod screening;
mod vary;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use archive::{Archive, ArchiveError, Run, RunName};

use self::asked::{StudyRequest, VERB};
use self::built_in::{BuiltIn, Design};
use crate::arguments::study::{Size, StudyArguments};
use crate::exit::{InvalidInput, Status};
use crate::output;
use crate::place;
use crate::say::leave_output_to_page;

pub fn study(arguments: &StudyArguments, archive_asked: &Option<PathBuf>) -> Result<Status> {
    let archive = place::archive(archive_asked)?;
    let (built_in, first) = match &arguments.resume {
        Some(name) => {
            let (built_in, first) = begun(name, &archive)?;
            (built_in, Some(Box::new(first)))
        }
        None => {
            let name = arguments.study.as_deref().unwrap_or_default();
            (BuiltIn::named(name)?, None)
        }
    };
    if output::is_standard_output(&arguments.output) {
        leave_output_to_page();
    }
    let name = (arguments.resume.clone())
        .or(arguments.name.clone())
        .unwrap_or_else(|| lab::study::made_up_name(VERB, SystemTime::now()));
    let asked = StudyRequest {
        watched: arguments.watch.open()?,
        built_in,
        name,
        arguments,
        archive,
        archive_asked,
        first,
    };
    asked.check()?;
    let is_of_layouts = asked.built_in.design == Design::Layouts;
    if !asked.is_resumed() {
        if is_of_layouts {
            layouts::check(&asked)?;
        }
        let on_layouts = |size| layouts::room_bytes(&asked, size);
        cost::ask(&asked, |size| blocks(&asked, size), on_layouts)?;
    }
    match asked.built_in.design {
        Design::Layouts => layouts::carry_out(&asked),
        Design::Change => before_after::carry_out(&asked),
        Design::Memory => half_memory::carry_out(&asked),
        Design::Runs => parts::carry_out(&asked),
        Design::Vary => vary::carry_out(&asked),
    }
}

/// What a study measures in rounds at a size; `None` of one that does not.
fn blocks(asked: &StudyRequest<'_>, size: Size) -> Result<Option<cost::Blocks>> {
    match asked.built_in.design {
        Design::Layouts => Ok(Some(layouts::blocks(asked, size))),
        Design::Vary => vary::blocks(asked, size).map(Some),
        Design::Memory => {
            let scale = asked.built_in.scale(size);
            Ok(Some(cost::Blocks::in_pairs(scale, asked.arguments.pairs)))
        }
        Design::Change | Design::Runs => Ok(None),
    }
}

/// The study of which runs are in the archive under this name, with the first of them.
fn begun(name: &str, archive: &Path) -> Result<(BuiltIn, Run)> {
    let kept = Archive::open_read_only(archive)?;
    for study in BuiltIn::all()? {
        match kept.load_run(&RunName::Label(study.first_label(name))) {
            Ok(run) if run.plan_name == study.name => return Ok((study, run)),
            Ok(_) | Err(ArchiveError::UnknownRun { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(InvalidInput(format!(
        "no study was begun as {name}; `dbdyno list runs` shows the runs of each"
    ))
    .into())
}
