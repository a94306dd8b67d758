//! What a study costs on this machine, foretold by the workloads of its plan.

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;
use engine::{Reach, TargetUrl};
use lab::{Plan, Registry, Setting};

use super::asked::StudyRequest;
use super::built_in::{BuiltIn, Design, Scale};
use crate::arguments::study::Size;
use crate::arguments::urls;
use crate::command::{library, plan_text};
use crate::say::say;

/// What one size of a study costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    pub written_bytes: u64,
    pub room_bytes: u64,
    /// Memory of the database, where the study sets it.
    pub memory_bytes: Option<u64>,
    /// The seconds that its plan sets for points.
    pub timed_s: f64,
}

#[derive(Clone, Copy)]
pub struct Machine {
    pub free_bytes: Option<u64>,
    pub memory_bytes: Option<u64>,
}

impl Machine {
    /// Of this one, with the room where data go.
    pub fn here(place: &Path) -> Self {
        Self {
            free_bytes: host::room(place).map(|room| room.free_bytes),
            memory_bytes: workload::columnar::memory::usable_bytes(),
        }
    }

    /// What it lacks for that; `None` where it has enough.
    pub fn lacks(&self, cost: &Cost) -> Option<&'static str> {
        let lacks = |need: Option<u64>, have: Option<u64>| need > have && have.is_some();
        if lacks(Some(cost.room_bytes), self.free_bytes) {
            return Some("disk");
        }
        lacks(cost.memory_bytes, self.memory_bytes).then_some("memory")
    }
}

/// How a study is carried out, as far as its cost depends on that.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    pub is_published: bool,
    /// The sides that are measured in rounds, where they are not two in the pairs of the size.
    pub blocks: Option<Blocks>,
}

/// Sides of a study, measured in rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    pub sides: u32,
    pub rounds: u32,
}

impl Blocks {
    /// What is going to be measured.
    pub fn words(&self, sides: &str) -> String {
        let blocks = u64::from(self.rounds) * u64::from(self.sides);
        let blocks = report::number::counted(blocks, "block");
        format!("{}: {blocks}", report::in_rounds(sides, self.rounds))
    }

    /// Two sides in pairs: as many as are asked for, or as a size says.
    pub fn in_pairs(scale: &Scale, asked: Option<u32>) -> Self {
        let pairs = asked.or(scale.pairs);
        Self {
            sides: 2,
            rounds: pairs.unwrap_or(lab::study::PAIRS_DEFAULT),
        }
    }
}

/// A target of a study: its engine, and the databases that are its nodes.
pub type On<'e> = (&'e str, u32);

/// Foretells what a size of a study costs on its targets, with more settings of its plan.
///
/// # Errors
/// When its plan, with these settings, is wrong in itself.
pub fn of(
    study: &BuiltIn,
    size: Size,
    how: How,
    workloads: &Registry,
    (targets, more): (&[On<'_>], &[String]),
) -> Result<Cost> {
    let scale = study.scale(size);
    let is_published = how.is_published;
    let blocks = how.blocks.unwrap_or(match study.design {
        Design::Layouts => Blocks {
            sides: study.sides.len() as u32,
            rounds: scale.rounds(),
        },
        _ => Blocks::in_pairs(scale, None),
    });
    let is_compared = !is_published && !matches!(study.design, Design::Change | Design::Runs);
    let published = study.published.iter().filter(|_| is_published);
    let published: Vec<&String> = published
        .flat_map(|published| &published.settings)
        .collect();
    let mut all = Cost {
        written_bytes: 0,
        room_bytes: 0,
        memory_bytes: scale.memory_bytes()?,
        timed_s: 0.0,
    };
    for part in scale.parts() {
        let settings = scale.settings.iter().chain(published.clone());
        let settings = settings.chain(&part.settings).chain(more);
        let mut settings: Vec<Setting> = settings
            .map(|text| Setting::parse(text))
            .collect::<lab::Result<_>>()?;
        if is_compared {
            settings.push(Setting::parse(&format!("repeat={}", blocks.rounds))?);
        }
        let plan = Plan::parse(workloads, &study.plan(false)?, &settings)?;
        // Before and after, or all sides.
        let runs: u32 = match study.design {
            Design::Runs => 1,
            Design::Change | Design::Memory => 2,
            Design::Layouts | Design::Vary => blocks.sides,
        };
        let replicas = scale.levels()?.len() as u32;
        let mut room_bytes = 0_u64;
        for (engine, nodes) in targets {
            let volume = workloads.foretell(&plan, engine, (*nodes, replicas), is_compared)?;
            let written_bytes = volume.written_bytes.saturating_mul(u64::from(runs));
            all.written_bytes = all.written_bytes.saturating_add(written_bytes);
            room_bytes = room_bytes.saturating_add(volume.room_bytes);
            all.timed_s += workloads.timed_s(&plan, engine, replicas)? * f64::from(runs);
        }
        all.room_bytes = all.room_bytes.max(room_bytes);
    }
    Ok(all)
}

/// "40 s", "12 min", "3.5 h", "2.1 days"; "–" if nothing is timed.
pub fn time(timed_s: f64) -> String {
    match timed_s {
        0.0 => "–".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 100.0 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// What is measured: the targets with rows of their own, or where none is named each engine for which files are made.
fn targets(groups: &[Vec<TargetUrl>]) -> Vec<On<'_>> {
    if groups.is_empty() {
        let engines = engines::engines().iter();
        let made = engines.filter(|it| it.reach() == Reach::Embedded && it.info().version.is_ok());
        return made.map(|engine| (engine.scheme(), 1)).collect();
    }
    let has_rows = |group: &&Vec<TargetUrl>| {
        engines::find(&group[0]).is_ok_and(|engine| engine.reach() != Reach::Replica)
    };
    let groups = groups.iter().filter(has_rows);
    groups
        .map(|group| (group[0].engine(), group.len() as u32))
        .collect()
}

/// Says what a study costs, and asks where this machine lacks something for it. `blocks`: what it measures at a size; `on_layouts`: the
/// room on the layouts that it makes.
///
/// # Errors
/// When its user does not agree, with the largest size that fits; or its plan is wrong.
pub fn ask(
    asked: &StudyRequest<'_>,
    blocks: impl Fn(Size) -> Result<Option<Blocks>>,
    on_layouts: impl Fn(Size) -> Result<Option<u64>>,
) -> Result<()> {
    let urls = urls(&asked.targets()?)?;
    let workloads = workload::registry(library(None)?);
    let groups = lab::nodes::group(&urls)?;
    let targets = targets(&groups);
    let own = urls.first().and_then(engines::data_place);
    let place = own.unwrap_or_else(std::env::temp_dir);
    let machine = Machine::here(&place);
    // Layouts bring their own room.
    let machine = |size| match asked.built_in.design {
        Design::Layouts => Ok(Machine {
            free_bytes: on_layouts(size)?,
            ..machine
        }),
        _ => Ok::<_, anyhow::Error>(machine),
    };
    let study = &asked.built_in;
    let cost = |size| {
        let more = (targets.as_slice(), asked.arguments.settings.as_slice());
        let how = How {
            is_published: asked.is_published(),
            blocks: blocks(size)?,
        };
        let cost = of(study, size, how, &workloads, more)?;
        Ok::<_, anyhow::Error>(Cost {
            memory_bytes: asked.arguments.memory.or(cost.memory_bytes),
            ..cost
        })
    };
    let needs = cost(asked.size())?;
    say(&match needs.timed_s {
        0.0 => "takes as long as its databases need: its plan sets no seconds".to_owned(),
        timed_s => format!(
            "its plan sets {} for timed points and their longest warm-up; loads, checks and work of a fixed amount are extra",
            time(timed_s)
        ),
    });
    let here = machine(asked.size())?;
    let Some(lacks) = here.lacks(&needs) else {
        return Ok(());
    };
    let mut sizes = Size::value_variants().iter().rev();
    let fits = sizes.find(|size| {
        let needs = cost(**size).and_then(|cost| Ok((cost, machine(**size)?)));
        needs.is_ok_and(|(cost, machine)| machine.lacks(&cost).is_none())
    });
    let otherwise = match fits {
        Some(size) => format!("choose --size {}, which fits", plan_text::word(*size)),
        None => "no size fits; take a larger machine, or name a database on another one".to_owned(),
    };
    let (need, have) = match lacks {
        "memory" => (needs.memory_bytes.unwrap_or(0), here.memory_bytes),
        _ => (needs.room_bytes, here.free_bytes),
    };
    let reason = format!(
        "study {} needs up to {} of {lacks} at this size, and {} has {} for it",
        study.name,
        stats::words::bytes(need),
        match study.design {
            Design::Layouts => "its smallest layout",
            _ => "this machine",
        },
        have.map_or("–".to_owned(), stats::words::bytes),
    );
    asked.arguments.permission.agree(&reason, &otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(study: &str, size: Size, is_published: bool) -> Cost {
        let workloads = workload::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named(study).unwrap();
        let how = How {
            is_published,
            blocks: None,
        };
        of(&study, size, how, &workloads, (&[("postgres", 1)], &[])).unwrap()
    }

    /// Eight configurations in four rounds are 32 blocks; two in six pairs are twelve.
    #[test]
    fn golden_time_of_a_screening() {
        let workloads = workload::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named("settings").unwrap();
        let time_s = |blocks| {
            let how = How {
                is_published: false,
                blocks,
            };
            of(
                &study,
                Size::Quick,
                how,
                &workloads,
                (&[("postgres", 1)], &[]),
            )
            .unwrap()
            .timed_s
        };
        let blocks = Blocks {
            sides: 8,
            rounds: 4,
        };
        let (all, two) = (time_s(Some(blocks)), time_s(None));
        assert!((all / two - 32.0 / 12.0).abs() < 1e-6, "{all} {two}");
    }

    /// A block: a warm-up of at most 30 s, and two numbers of users for 6 s each. Six pairs of two sides, or as many as are asked for.
    #[test]
    fn golden_time_of_a_study_in_pairs() {
        let block_s = 30.0 + 2.0 * 6.0;
        let memory = cost("memory", Size::Quick, false);
        assert!(
            (memory.timed_s - 6.0 * 2.0 * block_s).abs() < 1e-6,
            "{memory:?}"
        );
        assert!(memory.memory_bytes.is_some());
        let workloads = workload::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named("memory").unwrap();
        let how = How {
            is_published: false,
            blocks: Some(Blocks::in_pairs(study.scale(Size::Quick), Some(30))),
        };
        let more = (&[("postgres", 1)][..], &[][..]);
        let asked = of(&study, Size::Quick, how, &workloads, more).unwrap();
        assert!(
            (asked.timed_s - 30.0 * 2.0 * block_s).abs() < 1e-6,
            "{asked:?}"
        );
        assert_eq!(asked.written_bytes, 5 * memory.written_bytes);
        let once = cost("memory", Size::Quick, true);
        assert!((once.timed_s - 2.0 * block_s).abs() < 1e-6, "{once:?}");
    }

    /// Two targets are measured one after the other, and their data lie beside each other.
    #[test]
    fn golden_cost_of_several_targets() {
        let workloads = workload::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named("platform").unwrap();
        let on = |targets: &[On<'_>]| {
            of(
                &study,
                Size::Quick,
                How::default(),
                &workloads,
                (targets, &[]),
            )
            .unwrap()
        };
        let [one, other, both] = [
            on(&[("sqlite", 1)]),
            on(&[("postgres", 1)]),
            on(&[("sqlite", 1), ("postgres", 1)]),
        ];
        assert!(
            (both.timed_s - one.timed_s - other.timed_s).abs() < 1e-6,
            "{both:?}"
        );
        assert_eq!(both.room_bytes, one.room_bytes + other.room_bytes);
        assert_eq!(both.written_bytes, one.written_bytes + other.written_bytes);
        let nodes = on(&[("postgres", 2)]);
        assert!(nodes.room_bytes > other.room_bytes, "{nodes:?}");
    }

    /// Copies are filled from others, and nodes of one engine are one target; without any, files are made for SQLite.
    #[test]
    fn what_is_measured_is_counted() {
        let parsed = |urls: &[&str]| {
            let urls: Vec<_> = urls
                .iter()
                .map(|url| engines::parse(url).unwrap())
                .collect();
            lab::nodes::group(&urls).unwrap()
        };
        let groups = parsed(&["sqlite:a", "postgres+local:", "sqlite:b"]);
        assert_eq!(targets(&groups), [("sqlite", 2), ("postgres", 1)]);
        assert!(targets(&[]).contains(&("sqlite", 1)));
    }

    #[test]
    fn what_a_machine_lacks_is_named() {
        let needs = Cost {
            written_bytes: 9,
            room_bytes: 5,
            memory_bytes: Some(3),
            timed_s: 1.0,
        };
        let machine = |free_bytes, memory_bytes| Machine {
            free_bytes,
            memory_bytes,
        };
        assert_eq!(machine(Some(5), Some(3)).lacks(&needs), None);
        assert_eq!(machine(Some(4), Some(3)).lacks(&needs), Some("disk"));
        assert_eq!(machine(Some(5), Some(2)).lacks(&needs), Some("memory"));
        // What is not known is not lacking.
        assert_eq!(machine(None, None).lacks(&needs), None);
    }

    #[test]
    fn one_round_is_one_round() {
        let words = |sides, rounds| Blocks { sides, rounds }.words("3 layouts");
        let told = "3 layouts in 1 round, each in a random order: 3 blocks";
        assert_eq!(words(3, 1), told);
        assert!(words(3, 2).contains("in 2 rounds, each in a random order: 6 blocks"));
    }

    #[test]
    fn times_read_well() {
        let words = [0.0, 40.0, 720.0, 12_600.0, 180_000.0].map(time);
        assert_eq!(words, ["–", "40 s", "12 min", "3.5 h", "2.1 days"]);
    }
}
