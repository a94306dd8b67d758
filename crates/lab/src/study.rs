//! Studies: two configurations measured in turn, pair by pair in an order drawn by lot, each block from the
//! same start, so that a drift of the machine and what a block leaves behind meet both alike.

mod interleave;
mod memory;
mod side;
mod slices;
mod stand;
mod stopping;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use archive::{
    Archive, NewRun, PointKey, RightsMissing, Run, RunName, RunState, StudyPart, TargetRecord,
    Until,
};
use host::WallClock;
use host::inventory::Stated;
use stats::random::Random;

use crate::alternate;
use crate::error::{LabError, Result};
use crate::machine::{HostAsked, Machine};
use crate::nodes::{Nodes, group, urls_of_run};
use crate::observer::{Observer, tell_rights};
use crate::registry::Registry;
use crate::run::{refuse_other_definitions, refuse_other_machine};
use crate::work::{Queue, Work};
use crate::{Plan, sessions, signal};

pub use side::{Side, SideSetting};
pub use stopping::Stopping;
use stopping::Watched;

/// Pairs when nothing else is asked for: with six, a true 5 % at 1.5 % spread is missed in one of three studies.
pub const PAIRS_DEFAULT: u32 = 10;
/// Most pairs of a study.
pub const PAIRS_MAX: u32 = 1000;
/// Verb by which a study is resumed.
const VERB: &str = "ab";
/// Names of the two sides.
const SIDES: [&str; 2] = ["a", "b"];
/// What they are called where they are shown.
const LETTERS: [&str; 2] = ["A", "B"];

/// What a study is made of.
pub struct StudyOptions {
    /// The two configurations, A and B.
    pub sides: [Side; 2],
    /// Pairs of blocks; at most, if the study may stop before.
    pub pairs: u32,
    /// How it is looked at before its end; `None` if it has exactly these pairs.
    pub until: Option<Until>,
    /// Length of the slices in which both blocks of a pair are measured in turn; one after the other when `None`.
    pub slice: Option<Duration>,
    /// Where the result goes.
    pub archive: PathBuf,
    /// Name; made up when `None`. The runs are called `NAME-a` and `NAME-b`.
    pub name: Option<String>,
    /// Seed of both runs and of the order.
    pub seed: u64,
    /// What the plan of each side can ask for: scripts of one name may differ.
    pub workloads: [Registry; 2],
    pub clock: Arc<dyn WallClock>,
    pub tool_version: String,
    /// What the machine's owner states of it.
    pub stated: Stated,
    /// Which machine it is.
    pub host: HostAsked,
}

/// Numbers of the two runs of a finished study, A and B.
pub type Finished = [i64; 2];

/// The order of the blocks: in each pair A or B first, as the lot falls.
///
/// By lot and not by a rigid A B B A, because the lot keeps the error rates whatever the noise does
/// (docs/METHODOLOGY.md, "How sure a verdict is").
pub fn draw_order(pairs: u32, seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x0ab5_70d1);
    (0..pairs)
        .map(|_| if random.index(2) == 0 { "ab" } else { "ba" })
        .collect()
}

/// Carries out a study.
///
/// # Errors
/// What is wrong in itself is found before anything is touched; what the environment does later ends the
/// study with every finished point in the archive.
pub fn study(
    mut options: StudyOptions,
    stopping: &mut dyn Stopping,
    observer: &mut dyn Observer,
) -> Result<Finished> {
    for (side, workloads) in options.sides.iter_mut().zip(&mut options.workloads) {
        workloads.prepare(&mut side.plan)?;
    }
    check(&options)?;
    make_room(&mut options)?;
    let machine = machine(&options.sides, &options.host)?;
    let mut archive = Archive::open(&options.archive)?;
    let name = options
        .name
        .clone()
        .unwrap_or_else(|| made_up_name("ab", options.clock.now()));
    let order = draw_order(options.pairs, options.seed);
    // Both sides are opened, one after the other, before either is entered: a study of which one side cannot begin
    // would stand in the archive as one that is still running.
    let mut runs = Vec::new();
    let mut beside = Vec::new();
    let on_one_database = options.slice.is_some()
        && slices::Layout::of(&options.sides, &options.workloads)?.is_on_one_database();
    let of_sides = options.sides.iter().zip(&options.workloads);
    for ((side, workloads), letter) in of_sides.zip(SIDES) {
        let targets = stand::open(&side.targets)?;
        let agenda = workloads.lay(&side.plan, &targets, machine.threads())?;
        let needed = sessions::check(&side.plan, workloads, &agenda.points, &targets, &beside)?;
        if on_one_database {
            beside = needed;
        }
        let sites: Vec<_> = targets.iter().map(|t| machine.site(t)).collect();
        runs.push(NewRun {
            label: Some(format!("{name}-{letter}")),
            plan_name: side.plan.name.clone(),
            plan_toml: side.plan.to_toml(),
            seed: options.seed,
            repetitions: options.pairs,
            targets: sites.iter().map(|site| site.record.clone()).collect(),
            platform: machine.platform.clone(),
            inventory: machine.inventory(&options.stated, &targets, &sites),
            study: Some(StudyPart {
                name: name.clone(),
                side: letter.to_owned(),
                order: order.clone(),
                settings: side.settings.clone(),
                slice_ms: options.slice.map(|slice| slice.as_millis() as u32),
                until: options.until.clone(),
                arranged: None,
            }),
            missing: agenda.missing,
            tool_version: options.tool_version.clone(),
            started_at: host::clock::rfc3339(options.clock.now()),
            planned: agenda.points,
        });
    }
    let arranged = slices::Both {
        sides: &options.sides,
        workloads: &options.workloads,
        planned: [&runs[0].planned, &runs[1].planned],
    }
    .arranged(options.slice)?;
    if options.slice.is_some() {
        stand::try_out(&options.sides, &options.workloads)?;
    }
    for part in runs.iter_mut().filter_map(|run| run.study.as_mut()) {
        part.arranged = Some(arranged.clone());
    }
    let planned: Vec<usize> = runs.iter().map(|run| run.planned.len()).collect();
    let ids = runs.iter().map(|run| Ok(archive.create_run(run)?));
    let ids: Vec<i64> = ids.collect::<Result<_>>()?;
    let total = planned.iter().sum();
    signal::can_be_resumed(VERB, &name);
    observer.begins(&name, total, total);
    observer.is_arranged(
        &arranged,
        options.sides.each_ref().map(|side| &side.settings[..]),
    );
    tell_rights_of_both(observer, [&runs[0].targets, &runs[1].targets]);
    let whole = Whole {
        ids: [ids[0], ids[1]],
        sides: &options.sides,
        name: &name,
        order: &order,
        slice: options.slice,
        seed: options.seed,
        machine: &machine,
        workloads: &options.workloads,
        clock: &options.clock,
    };
    let watched = (options.until).map(|until| Watched::new(until, stopping, whole.ids));
    whole.through(&mut archive, watched, observer)
}

/// Servers that are started for the sides let in as many sessions as these need, and both as many.
fn make_room(options: &mut StudyOptions) -> Result<()> {
    let sides = options.sides.iter().zip(&options.workloads);
    let needed = sides.map(|(side, workloads)| sessions::most(&side.plan, workloads));
    let needed: Vec<u64> = needed.collect();
    let of_both = match options.slice {
        // They may be on one server at once.
        Some(_) => needed.iter().sum(),
        None => needed.iter().copied().max().unwrap_or(0),
    };
    for side in &mut options.sides {
        side.targets = sessions::with_room(&side.targets, of_both)?;
    }
    Ok(())
}

/// Goes on with a study that was interrupted or killed. Blocks that are whole are kept; one that was broken
/// off is restored and measured to its end.
///
/// # Errors
/// As [`crate::resume`].
pub fn resume(
    name: &str,
    archive_path: &Path,
    mut workloads: [Registry; 2],
    clock: Arc<dyn WallClock>,
    stopping: &mut dyn Stopping,
    observer: &mut dyn Observer,
) -> Result<Finished> {
    let mut archive = Archive::open(archive_path)?;
    let mut load = |letter: &str| -> Result<Run> {
        let label = RunName::Label(format!("{name}-{letter}"));
        archive.lock_run(archive.run_id(&label)?)?;
        Ok(archive.load_run(&label)?)
    };
    let runs = [load(SIDES[0])?, load(SIDES[1])?];
    let part = match (&runs[0].study, &runs[1].study) {
        (Some(a), Some(b)) if a.pairs_with(b) => a.clone(),
        _ => {
            return Err(LabError::Plan(format!(
                "runs {name}-a and {name}-b are not the two sides of a study"
            )));
        }
    };
    if runs.iter().all(|run| run.state == RunState::Complete) {
        return Err(LabError::Plan(format!(
            "study {name} is complete; there is nothing to resume"
        )));
    }
    let side = |run: &Run| -> Result<Side> {
        Ok(Side {
            plan: Plan::parse(&workloads[0], &run.plan_toml, &[])?,
            targets: urls_of_run(run)?,
            settings: run.study.clone().unwrap_or_default().settings,
        })
    };
    let sides = [side(&runs[0])?, side(&runs[1])?];
    let machine = machine(&sides, &HostAsked::of_run(&runs[0]))?;
    for (run, workloads) in runs.iter().zip(&mut workloads) {
        refuse_other_machine(&run.platform, &machine.platform)?;
        let mut plan = Plan::parse(workloads, &run.plan_toml, &[])?;
        workloads.prepare(&mut plan)?;
        refuse_other_definitions(run, &plan, workloads)?;
    }
    let planned: u32 = runs.iter().map(|run| run.points_planned).sum();
    let finished: usize = runs.iter().map(|run| run.points.len()).sum();
    signal::can_be_resumed(VERB, name);
    observer.begins(name, planned as usize, planned as usize - finished);
    if let Some(arranged) = runs[0].study.as_ref().and_then(|s| s.arranged.as_ref()) {
        observer.is_arranged(arranged, sides.each_ref().map(|side| &side.settings[..]));
    }
    tell_rights_of_both(observer, [&runs[0].targets, &runs[1].targets]);
    let whole = Whole {
        ids: [runs[0].id, runs[1].id],
        sides: &sides,
        name,
        order: &part.order,
        slice: part.slice_ms.map(|ms| Duration::from_millis(ms.into())),
        seed: runs[0].seed,
        machine: &machine,
        workloads: &workloads,
        clock: &clock,
    };
    let watched = (part.until).map(|until| Watched::new(until, stopping, whole.ids));
    whole.through(&mut archive, watched, observer)
}

/// What is told of a target before a run.
fn told_of(target: &TargetRecord) -> (&str, Option<&RightsMissing>, Option<&String>) {
    let login = target.settings.get(target::WEAK_LOGIN);
    (&target.name, target.rights_missing.as_ref(), login)
}

/// What the users of the targets of both sides may not see; once where it is the same.
fn tell_rights_of_both(observer: &mut dyn Observer, [a, b]: [&[TargetRecord]; 2]) {
    let is_told = |target: &&TargetRecord| {
        let mut told = a.iter();
        !told.any(|t| told_of(t) == told_of(target))
    };
    tell_rights(observer, a.iter().chain(b.iter().filter(is_told)));
}

fn check(options: &StudyOptions) -> Result<()> {
    if !(1..=PAIRS_MAX).contains(&options.pairs) {
        return Err(LabError::Plan(format!(
            "pairs = {} is not between 1 and {PAIRS_MAX}",
            options.pairs
        )));
    }
    for side in &options.sides {
        if side.plan.repeat != options.pairs {
            return Err(LabError::Plan(
                "a study repeats in pairs; set repeat of both plans to the number of pairs".into(),
            ));
        }
        group(&side.targets)?;
    }
    if let Some(slice) = options.slice {
        slices::check(&options.sides, slice, &options.workloads)?;
    }
    match &options.name {
        Some(name) => Ok(archive::store::check_label(&format!("{name}-a"))?),
        None => Ok(()),
    }
}

/// A word and the time of day: two studies a second cannot be begun on one archive by hand.
pub fn made_up_name(word: &str, now: SystemTime) -> String {
    let now = host::clock::rfc3339(now);
    let digits: String = now.chars().filter(char::is_ascii_digit).take(14).collect();
    format!("{word}-{digits}")
}

/// The one machine of the targets of both sides.
fn machine(sides: &[Side; 2], asked: &HostAsked) -> Result<Machine> {
    let mut groups = group(&sides[0].targets)?;
    groups.extend(group(&sides[1].targets)?);
    Machine::of(&groups, asked)
}

/// A study with everything that its blocks share.
struct Whole<'a> {
    ids: [i64; 2],
    sides: &'a [Side; 2],
    name: &'a str,
    order: &'a str,
    slice: Option<Duration>,
    seed: u64,
    machine: &'a Machine,
    workloads: &'a [Registry; 2],
    clock: &'a Arc<dyn WallClock>,
}

impl Whole<'_> {
    fn through(
        &self,
        archive: &mut Archive,
        watched: Option<Watched<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<Finished> {
        let ended = self.pairs(archive, watched, observer);
        let now = host::clock::rfc3339(self.clock.now());
        let state = match ended {
            Ok(()) => RunState::Complete,
            Err(_) => RunState::Interrupted,
        };
        for id in self.ids {
            let kept = archive.finish_run(id, state, Some(&now));
            // After a failure the points are safe all the same; the first error is the one to tell.
            if ended.is_ok() {
                kept?;
            }
        }
        ended.map(|()| self.ids)
    }

    fn pairs(
        &self,
        archive: &mut Archive,
        mut watched: Option<Watched<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        for pair in 1..=(self.order.len() / 2) as u32 {
            match self.slice {
                Some(slice) => self.pair_in_turn(archive, (pair, slice), observer)?,
                None => self.pair_of_blocks(archive, pair, observer)?,
            }
            if let Some(watched) = &mut watched
                && watched.stops_after(pair, archive)?
            {
                break;
            }
        }
        Ok(())
    }

    fn pair_of_blocks(
        &self,
        archive: &mut Archive,
        pair: u32,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let first = 2 * (pair as usize - 1);
        for letter in self.order[first..first + 2].chars() {
            let side = usize::from(letter == 'b');
            let queue = self.queue(archive, side, pair)?;
            if !queue.todo.is_empty() {
                self.block(archive, side, &queue, observer)?;
            }
        }
        Ok(())
    }

    fn queue(&self, archive: &Archive, side: usize, repetition: u32) -> Result<Queue> {
        let (id, other) = (self.ids[side], self.ids[1 - side]);
        let there = archive.finished(id)?;
        let planned = archive.planned(id)?;
        let is_open = |key: &&PointKey| key.repetition == repetition && !there.contains(key);
        Ok(Queue {
            id,
            label: self.name.to_owned(),
            planned: planned.len() + archive.planned(other)?.len(),
            finished: there.len() + archive.finished(other)?.len(),
            todo: planned.iter().filter(is_open).cloned().collect(),
        })
    }

    /// Opens the side's targets, brings them to the common start, and measures its points.
    fn block(
        &self,
        archive: &mut Archive,
        side: usize,
        queue: &Queue,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if signal::stop_flag().load(std::sync::atomic::Ordering::Relaxed) {
            return Err(queue
                .interrupted(queue.finished)
                .resumed_by(VERB, self.name));
        }
        let targets = stand::opened(&self.sides[side], &self.workloads[side])?;
        self.work(side, &targets, None)
            .measure_all(archive, queue, observer)
            .map_err(|error| error.resumed_by(VERB, self.name))
    }

    fn work<'w>(
        &'w self,
        side: usize,
        targets: &'w [Nodes],
        in_turn: Option<&'w alternate::Side<'w>>,
    ) -> Work<'w> {
        Work {
            plan: &self.sides[side].plan,
            workloads: &self.workloads[side],
            targets,
            machine: self.machine,
            seed: self.seed,
            clock: self.clock,
            letter: Some(LETTERS[side]),
            side: in_turn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_holds_both_sides_and_the_lot_decides_which_is_first() {
        let order = draw_order(200, 1);
        assert_eq!(order, draw_order(200, 1));
        assert_ne!(order, draw_order(200, 2));
        let firsts = (0..200).filter(|i| &order[2 * i..=2 * i] == "a").count();
        assert!((70..=130).contains(&firsts), "{firsts}");
        for i in 0..200 {
            assert!(["ab", "ba"].contains(&&order[2 * i..2 * i + 2]));
        }
    }
}
