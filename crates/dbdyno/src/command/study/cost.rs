//! Cost of a study on this machine, estimated by the workloads of its plan.

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;
use engine::{Reach, TargetUrl};
use lab::{Plan, Registry, Setting};

use super::built_in::{BuiltIn, Design, Scale};
use super::request::StudyRequest;
use crate::arguments::study::Size;
use crate::arguments::urls;
use crate::command::{library, plan_text};
use crate::console::say;

#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    pub written_bytes: u64,
    pub room_bytes: u64,
    /// Memory of the database, if the study sets it.
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
    /// Resources of this machine, with the free space of `directory`.
    pub fn here(directory: &Path) -> Self {
        Self {
            free_bytes: host::room(directory).map(|room| room.free_bytes),
            memory_bytes: columnar::memory::usable_bytes(),
        }
    }

    /// The resource that is insufficient; `None` if all suffice.
    pub fn lacks(&self, cost: &Cost) -> Option<&'static str> {
        let lacks = |need: Option<u64>, have: Option<u64>| need > have && have.is_some();
        if lacks(Some(cost.room_bytes), self.free_bytes) {
            return Some("disk");
        }
        lacks(cost.memory_bytes, self.memory_bytes).then_some("memory")
    }
}

/// Parameters of a study's execution that affect its cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    pub is_published: bool,
    /// Sides measured in rounds, if other than two in the pairs of the size.
    pub blocks: Option<Blocks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    pub sides: u32,
    pub rounds: u32,
}

impl Blocks {
    pub fn words(&self, sides: &str) -> String {
        let blocks = u64::from(self.rounds) * u64::from(self.sides);
        let blocks = report::number::counted(blocks, "block");
        format!("{}: {blocks}", report::in_rounds(sides, self.rounds))
    }

    /// Two sides in pairs: the requested number, or that of the size.
    pub fn in_pairs(scale: &Scale, requested: Option<u32>) -> Self {
        let pairs = requested.or(scale.pairs);
        Self {
            sides: 2,
            rounds: pairs.unwrap_or(lab::study::PAIRS_DEFAULT),
        }
    }
}

/// A target of a study: its scheme and number of nodes.
pub type On<'e> = (&'e str, u32);

/// Estimates the cost of a study's size on its targets, with further settings of its plan.
pub fn of(
    study: &BuiltIn,
    size: Size,
    how: How,
    workloads: &Registry,
    targets: &[On<'_>],
    more: &[String],
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
        // Runs before and after the change, or one for each side.
        let runs: u32 = match study.design {
            Design::Runs => 1,
            Design::Change | Design::Memory => 2,
            Design::Layouts | Design::Vary => blocks.sides,
        };
        let replicas = scale.levels()?.len() as u32;
        let mut room_bytes = 0_u64;
        for (scheme, nodes) in targets {
            let volume = workloads.volume(&plan, scheme, *nodes, replicas, is_compared)?;
            let written_bytes = volume.written_bytes.saturating_mul(u64::from(runs));
            all.written_bytes = all.written_bytes.saturating_add(written_bytes);
            room_bytes = room_bytes.saturating_add(volume.room_bytes);
            all.timed_s += workloads.timed_s(&plan, scheme, replicas)? * f64::from(runs);
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

/// Distinct targets of data, or the default engines.
fn targets(groups: &[Vec<TargetUrl>]) -> Vec<On<'_>> {
    if groups.is_empty() {
        let engines = engines::engines().iter();
        let made = engines.filter(|it| it.reach() == Reach::Embedded && it.version().is_ok());
        return made.map(|engine| (engine.scheme(), 1)).collect();
    }
    let has_rows = |group: &&Vec<TargetUrl>| {
        engines::find(&group[0]).is_ok_and(|engine| engine.reach() != Reach::Replica)
    };
    let groups = groups.iter().filter(has_rows);
    groups
        .map(|group| (group[0].scheme.as_str(), group.len() as u32))
        .collect()
}

/// Announces the cost of a study, and asks for consent if this machine lacks a resource; a refusal suggests the largest size that fits.
/// `blocks`: sides and rounds by size; `on_layouts`: the room on created layouts.
pub fn ask(
    request: &StudyRequest<'_>,
    blocks: impl Fn(Size) -> Result<Option<Blocks>>,
    on_layouts: impl Fn(Size) -> Result<Option<u64>>,
) -> Result<()> {
    let urls = urls(&request.targets()?)?;
    let workloads = workloads::registry(library(None)?);
    let groups = lab::nodes::group(&urls)?;
    let targets = targets(&groups);
    let own = urls.first().and_then(engines::data_place);
    let directory = own.unwrap_or_else(std::env::temp_dir);
    let machine = Machine::here(&directory);
    // Layouts have their own room.
    let machine = |size| match request.built_in.design {
        Design::Layouts => Ok(Machine {
            free_bytes: on_layouts(size)?,
            ..machine
        }),
        _ => Ok::<_, anyhow::Error>(machine),
    };
    let study = &request.built_in;
    let cost = |size| {
        let how = How {
            is_published: request.is_published(),
            blocks: blocks(size)?,
        };
        let cost = of(
            study,
            size,
            how,
            &workloads,
            &targets,
            &request.keys.settings,
        )?;
        Ok::<_, anyhow::Error>(Cost {
            memory_bytes: request.arguments.memory.or(cost.memory_bytes),
            ..cost
        })
    };
    let needs = cost(request.size())?;
    say(&match needs.timed_s {
        0.0 => "takes as long as its databases need: its plan sets no seconds".to_owned(),
        timed_s => format!(
            "its plan sets {} for timed points and their longest warm-up; loads, checks and work of a fixed amount are extra",
            time(timed_s)
        ),
    });
    let here = machine(request.size())?;
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
        None => "no size fits; use a larger machine, or name a database on another one".to_owned(),
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
    request
        .arguments
        .options
        .permission
        .agree(&reason, &otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSTGRES: &[On<'_>] = &[("postgres", 1)];

    fn cost(study: &str, size: Size, is_published: bool) -> Cost {
        let workloads = workloads::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named(study).unwrap();
        let how = How {
            is_published,
            blocks: None,
        };
        of(&study, size, how, &workloads, POSTGRES, &[]).unwrap()
    }

    /// Eight configurations in four rounds are 32 blocks; two in six pairs are twelve.
    #[test]
    fn golden_time_of_a_screening() {
        let workloads = workloads::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named("settings").unwrap();
        let time_s = |blocks| {
            let how = How {
                is_published: false,
                blocks,
            };
            of(&study, Size::Quick, how, &workloads, POSTGRES, &[])
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

    /// A block: a warm-up of at most 30 s, and two numbers of users for 6 s each. Six pairs of two sides by default.
    #[test]
    fn golden_time_of_a_study_in_pairs() {
        let block_s = 30.0 + 2.0 * 6.0;
        let memory = cost("memory", Size::Quick, false);
        assert!(
            (memory.timed_s - 6.0 * 2.0 * block_s).abs() < 1e-6,
            "{memory:?}"
        );
        assert!(memory.memory_bytes.is_some());
        let workloads = workloads::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named("memory").unwrap();
        let how = How {
            is_published: false,
            blocks: Some(Blocks::in_pairs(study.scale(Size::Quick), Some(30))),
        };
        let longer = of(&study, Size::Quick, how, &workloads, POSTGRES, &[]).unwrap();
        assert!(
            (longer.timed_s - 30.0 * 2.0 * block_s).abs() < 1e-6,
            "{longer:?}"
        );
        assert_eq!(longer.written_bytes, 5 * memory.written_bytes);
        let once = cost("memory", Size::Quick, true);
        assert!((once.timed_s - 2.0 * block_s).abs() < 1e-6, "{once:?}");
    }

    /// Two targets are measured in succession, and their data coexist.
    #[test]
    fn golden_cost_of_several_targets() {
        let workloads = workloads::registry(workload::Library::embedded().unwrap());
        let study = BuiltIn::named("platform").unwrap();
        let on = |targets: &[On<'_>]| {
            let how = How::default();
            of(&study, Size::Quick, how, &workloads, targets, &[]).unwrap()
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

    /// Copies are filled from others, and nodes of one engine are one target; by default SQLite uses files.
    #[test]
    fn targets_and_nodes_are_counted() {
        let parsed = |urls: &[&str]| {
            let urls: Vec<_> = urls
                .iter()
                .map(|url| engines::parse(url).unwrap())
                .collect();
            lab::nodes::group(&urls).unwrap()
        };
        let groups = parsed(&["sqlite:a", "postgres+local:", "sqlite:b"]);
        assert_eq!(targets(&groups), [("sqlite", 2), ("postgres+local", 1)]);
        assert!(targets(&[]).contains(&("sqlite", 1)));
    }

    #[test]
    fn a_lacking_resource_is_named() {
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
        // An unknown resource does not count as lacking.
        assert_eq!(machine(None, None).lacks(&needs), None);
    }

    #[test]
    fn one_round_is_one_round() {
        let words = |sides, rounds| Blocks { sides, rounds }.words("3 layouts");
        let once = "3 layouts in 1 round, each in a random order: 3 blocks";
        assert_eq!(words(3, 1), once);
        assert!(words(3, 2).contains("in 2 rounds, each in a random order: 6 blocks"));
    }

    #[test]
    fn times_read_well() {
        let words = [0.0, 40.0, 720.0, 12_600.0, 180_000.0].map(time);
        assert_eq!(words, ["–", "40 s", "12 min", "3.5 h", "2.1 days"]);
    }
}
