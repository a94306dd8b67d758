//! Layouts of files over devices: created, measured in random order with a server on each, and removed.

use std::path::Path;

use anyhow::Result;
use archive::{Alternative, Purpose, Run};
use engine::{Engine, TargetUrl};
use storage::layout::{Definition, Device, Layouts, StandingLayout, Stands};

use super::built_in::{OfEngine, SideOfStudy};
use super::cost::Blocks;
use super::request::{StudyRequest, common};
use super::sides;
use crate::arguments::study::Size;
use crate::arguments::{SecretText, urls};
use crate::command::requests::{AbRequest, SideRequest};
use crate::command::sides_of;
use crate::command::storage::layout::{data_path, lacking, left, url};
use crate::console::say;
use crate::exit::{InvalidInput, Status, invalid};

/// Largest log that a local server keeps by default (docs/SERVERS.md).
const LOG_BYTES: u64 = 1 << 30;

struct Planned {
    alternative: Alternative,
    layout: Definition,
    settings: Vec<String>,
}

/// Checks the layouts before consent, creation or measurement.
pub(super) fn check(request: &StudyRequest<'_>) -> Result<()> {
    sides::refuse_judging(request)?;
    let planned = planned(request, &target(request)?, request.size())?;
    let layouts = planned.into_iter().map(|side| side.layout);
    let layouts: Vec<Definition> = layouts.collect();
    let standing = Layouts::default();
    standing.remove_left_behind(&mut left)?;
    Ok(standing.check(&layouts)?)
}

/// Room for data on the smallest layout at a size; `None` with a block device of unknown size.
pub(super) fn room_bytes(request: &StudyRequest<'_>, size: Size) -> Result<Option<u64>> {
    let planned = planned(request, &target(request)?, size)?;
    let room = |side: &Planned| {
        let volume = side.layout.volume_of(Purpose::Data)?;
        let own = |device: &&Device| volume.devices.contains(&device.name);
        let devices = side.layout.devices.iter().filter(own);
        let log = side.layout.place.get(&Purpose::Log);
        let log_bytes = if log.is_none_or(|log| *log == volume.name) {
            LOG_BYTES
        } else {
            0
        };
        let bytes = devices.map(|device| Some(device.size_mib? << 20));
        let bytes = bytes.sum::<Option<u64>>()?;
        Some(bytes.saturating_sub(log_bytes))
    };
    let rooms: Option<Vec<u64>> = planned.iter().map(room).collect();
    Ok(rooms.and_then(|rooms| rooms.into_iter().min()))
}

pub(super) fn carry_out(request: &StudyRequest<'_>) -> Result<Status> {
    sides::refuse_judging(request)?;
    if request.is_resumed() {
        return resume(request);
    }
    let target = target(request)?;
    let engine = engines::find(&target).map_err(lab::LabError::from)?;
    let planned = planned(request, &target, request.size())?;
    let blocks = blocks(request, request.size());
    say(&blocks.words(&report::number::counted(planned.len() as u64, "layout")));
    sides::agree_to_few(request, blocks)?;
    let standing = Standing::make(planned.iter().map(|side| &side.layout))?;
    let sides = planned.iter().zip(&standing.made);
    let sides = sides.map(|(side, made)| side_request(side, made, engine, &target));
    let measured = sides.collect::<Result<_>>().and_then(|sides| {
        let study = AbRequest {
            sides,
            pairs: Some(blocks.rounds),
            ..common(request)?
        };
        sides::measure(request, &study)
    });
    standing.remove(measured)
}

/// Creates the layouts again, empty, and resumes: every block loads its data.
fn resume(request: &StudyRequest<'_>) -> Result<Status> {
    let runs = sides_of(
        &archive::Archive::open_read_only(&request.archive)?,
        &request.name,
    )?;
    if runs
        .iter()
        .all(|run| run.state == archive::RunState::Complete)
    {
        return sides::resume(request);
    }
    let layouts = runs.iter().map(layout_of);
    let layouts: Vec<Definition> = layouts.collect::<Result<_>>()?;
    let standing = Standing::make(layouts.iter())?;
    let measured = standing
        .refuse_elsewhere(&runs)
        .and_then(|()| sides::resume(request));
    standing.remove(measured)
}

fn layout_of(run: &Run) -> Result<Definition> {
    let part = run.study.clone().unwrap_or_default();
    let layout = part.alternative.and_then(|it| it.layout);
    let none = || InvalidInput(format!("run {} has no layout", run.label));
    Ok(Definition::parse(&layout.ok_or_else(none)?)?)
}

pub(super) fn blocks(request: &StudyRequest<'_>, size: Size) -> Blocks {
    let scale = request.built_in.scale(size);
    let sides = match request.keys.layouts.len() {
        0 => request.built_in.sides.len(),
        given => given,
    };
    Blocks {
        sides: sides as u32,
        rounds: request.arguments.repeat.unwrap_or(scale.rounds()),
    }
}

/// The database for each layout.
fn target(request: &StudyRequest<'_>) -> Result<TargetUrl> {
    let targets = urls(&request.targets()?)?;
    let study = &request.built_in.name;
    let can = engines::engines()
        .iter()
        .filter(|it| it.reach().makes_files());
    let can: Vec<String> = can.map(|it| format!("{}:", it.scheme())).collect();
    let refused = |why: String| invalid(why);
    let [target] = targets.as_slice() else {
        return refused(format!(
            "study {study} measures one database; name one of {}",
            can.join(", ")
        ));
    };
    let engine = engines::find(target).map_err(lab::LabError::from)?;
    if !engine.reach().makes_files() {
        return refused(format!(
            "study {study} makes a database on each layout, which {} cannot; name one of {}",
            target.engine(),
            can.join(", ")
        ));
    }
    let has_place =
        !target.path.is_empty() || target.settings.keys().any(|key| key.starts_with("place."));
    if has_place {
        return refused(format!(
            "{target}: study {study} puts the files on its layouts; leave out file, directory and places"
        ));
    }
    Ok(target.clone())
}

/// The sides: those of the study's file, or the named layouts.
fn planned(request: &StudyRequest<'_>, target: &TargetUrl, size: Size) -> Result<Vec<Planned>> {
    let study = &request.built_in;
    let given = request.keys.layouts.iter().map(|layout| SideOfStudy {
        layout: layout.clone(),
        ..SideOfStudy::default()
    });
    let given: Vec<SideOfStudy> = given.collect();
    let refused = |why: String| invalid(why);
    let sets_more = study.sides.iter().any(|side| !side.on.is_empty());
    if sets_more && !given.is_empty() {
        return refused(format!(
            "--vary layout=… does not belong to study {}, whose sides differ in more than their layouts",
            study.name
        ));
    }
    let sides = if given.is_empty() {
        &study.sides
    } else {
        &given
    };
    let times = study.scale(size).devices_times();
    let planned = sides.iter().map(|side| planned_side(side, target, times));
    let planned: Vec<Planned> = planned.collect::<Result<_>>()?;
    if planned.len() < 2 || planned.len() > archive::SIDES_MAX {
        return refused(format!(
            "--vary layout=A,B,… takes 2 to {} layouts",
            archive::SIDES_MAX
        ));
    }
    let names = planned.iter().map(|side| side.alternative.name.as_str());
    let names: Vec<&str> = names.collect();
    let twice = (1..names.len()).find(|at| names[..*at].contains(&names[*at]));
    match twice {
        Some(at) => refused(format!("--vary layout=… names {} twice", names[at])),
        None => Ok(planned),
    }
}

fn planned_side(side: &SideOfStudy, target: &TargetUrl, times: u64) -> Result<Planned> {
    let engine = engines::find(target).map_err(lab::LabError::from)?;
    let layout = Definition::load(&side.layout)?;
    if let Some(key) = lacking(engine, &layout) {
        return invalid(format!(
            "layout {} has {key}, which {} cannot keep apart from its data; choose other layouts with --vary layout=A,B",
            layout.name,
            engine.scheme()
        ));
    }
    if !layout.place.contains_key(&Purpose::Data) {
        return invalid(format!(
            "layout {} has no place for data; add [place] with data = \"VOLUME\"",
            layout.name
        ));
    }
    let OfEngine { settings, remarks } = match side.on.get(target.family()) {
        Some(own) => own.clone(),
        None if side.on.is_empty() => OfEngine::default(),
        None => {
            return invalid(format!(
                "side {} has no settings for {}",
                side.layout,
                target.family()
            ));
        }
    };
    let name = side.name.clone().unwrap_or_else(|| layout.name.clone());
    let about = side.about.clone().unwrap_or_else(|| layout.about.clone());
    // A layout of the same name may exist, created by hand.
    let layout = layout.named(format!("study-{name}"), times);
    Ok(Planned {
        alternative: Alternative {
            name,
            about,
            layout: Some(layout.to_toml()),
            remarks,
        },
        layout,
        settings,
    })
}

/// Settings of a side: its server on its layout.
fn side_request(
    side: &Planned,
    made: &StandingLayout,
    engine: &dyn Engine,
    target: &TargetUrl,
) -> Result<SideRequest> {
    let url = url(engine, made, &target.settings);
    let none = || InvalidInput(format!("layout {} has no place for data", side.layout.name));
    let url = url.ok_or_else(none)?;
    let own = side.settings.iter().map(|it| format!("target.{it}"));
    let settings = std::iter::once(format!("target={url}")).chain(own);
    Ok(SideRequest {
        settings: settings.map(SecretText::from).collect(),
        alternative: Some(side.alternative.clone()),
        ..SideRequest::default()
    })
}

/// The existing layouts during a measurement.
struct Standing {
    made: Vec<StandingLayout>,
}

impl Standing {
    /// Creates all; errors in any definition are reported before the first is created.
    fn make<'d>(definitions: impl Iterator<Item = &'d Definition>) -> Result<Self> {
        let definitions: Vec<Definition> = definitions.cloned().collect();
        let layouts = Layouts::default();
        layouts.remove_left_behind(&mut left)?;
        layouts.check(&definitions)?;
        let mut standing = Self { made: Vec::new() };
        for definition in &definitions {
            say(&format!("make layout {}", definition.name));
            match layouts.make(definition, Stands::WhileHeld, &mut |_| {}) {
                Ok(made) => standing.made.push(made),
                Err(error) => return standing.remove(Err(error.into())),
            }
        }
        Ok(standing)
    }

    /// Servers and layouts of a study exist only on its machine.
    fn refuse_elsewhere(&self, runs: &[Run]) -> Result<()> {
        for (made, run) in self.made.iter().zip(runs) {
            let urls = lab::nodes::urls_of_run(run)?;
            let is_there = |url: &TargetUrl| {
                let place = engines::find(url).ok();
                let place = place.and_then(|engine| data_path(engine, made));
                Some(Path::new(&url.path)) == place.as_deref()
            };
            if !urls.iter().all(is_there) {
                return invalid(format!(
                    "run {} was begun in another directory of layouts; set ${} as it was",
                    run.label,
                    storage::layout::VARIABLE
                ));
            }
        }
        Ok(())
    }

    /// Removes them; the first error is reported.
    fn remove<T>(self, measured: Result<T>) -> Result<T> {
        let mut ended = measured;
        for made in self.made {
            let removed = made.remove(&mut |_| {});
            if let (true, Err(error)) = (ended.is_ok(), removed) {
                ended = Err(error.into());
            }
        }
        ended
    }
}
