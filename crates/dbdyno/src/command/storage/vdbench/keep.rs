//! Runs of a parameter file in the archive: one point each, committed at its end.

use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use archive::{
    Archive, Inventory, Missing, NewRun, Point, PointKey, Remark, RunState, TargetRecord,
};
use host::inventory::{Document, Stated};
use storage::execution::{Completion, Done, ExecutionError};
use storage::language::{Repeat, Script};
use storage::run::{Run, StorageDefinition};

use super::devices::Devices;

/// Name of the target: storage without a database.
pub const NAME: &str = archive::OF_PARAMETER_FILES;

/// The archive with the run in progress.
pub struct Keeper {
    archive: Archive,
    id: i64,
    seed: u64,
    devices: Rc<Devices>,
    /// The list as planned; repetitions beyond it appear only on the pages.
    planned: Vec<PointKey>,
}

impl Keeper {
    /// Enters the run under this name, or the first of NAME-2, NAME-3 … that is free.
    pub fn enter(
        path: &Path,
        name: Option<&str>,
        script: &Script,
        parameters: &str,
        seed: u64,
        devices: Rc<Devices>,
    ) -> Result<Self> {
        let mut archive = Archive::open(path)?;
        let repetitions = match script.repeat {
            Repeat::Times(times) => times,
            Repeat::Seconds(_) => 1,
        };
        let planned = (1..=repetitions).flat_map(|repetition| {
            script
                .runs
                .iter()
                .zip(1..)
                .map(move |(run, number)| key(repetition, number, run))
        });
        let free = |name| archive.free_name(name, |label| vec![label.to_owned()]);
        let new = NewRun {
            label: name.map(free).transpose()?,
            plan_name: NAME.to_owned(),
            plan_toml: plan_text(parameters),
            seed,
            repetitions,
            targets: vec![target(script, devices.only())],
            platform: host::facts(Path::new("/")),
            inventory: inventory(),
            study: None,
            missing: Vec::new(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now(),
            planned: planned.collect(),
        };
        let id = archive.create_run(&new)?;
        Ok(Self {
            archive,
            id,
            seed,
            devices,
            planned: new.planned,
        })
    }

    pub fn label(&self) -> Result<String> {
        Ok(self.archive.label(self.id)?)
    }

    /// The block device below all SDs, if there is only one.
    pub fn device(&self) -> Option<&str> {
        self.devices.only()
    }

    pub fn planned(&self) -> usize {
        self.planned.len()
    }

    /// Commits one run of the list and returns its point; the preceding format has none.
    pub fn point(&mut self, done: &Done<'_>) -> Result<Option<Point>> {
        let key = key(done.repetition, done.number, done.run);
        if !self.planned.contains(&key) {
            return Ok(None);
        }
        let point = workload::below::point(done, key, self.seed, self.devices.described());
        self.archive.append_point(self.id, &point)?;
        Ok(Some(point))
    }

    /// Closes the run and returns its name; points skipped by a rule of the parameter file name the rule.
    pub fn finish(mut self, ended: &Result<Completion, ExecutionError>) -> Result<String> {
        let rule = match ended {
            Ok(Completion::ResponseTime) => Some("a response time was above stopcurve="),
            Ok(Completion::Monitor) => Some("the monitor file ended the list"),
            Ok(Completion::Recovered) => Some("journal=only recovers and runs nothing"),
            Ok(Completion::Whole | Completion::Interrupted) | Err(_) => None,
        };
        if let Some(rule) = rule {
            self.skip(rule)?;
        }
        let state = match ended {
            Ok(Completion::Interrupted) | Err(_) => RunState::Interrupted,
            Ok(_) => RunState::Complete,
        };
        self.archive.finish_run(self.id, state, Some(&now()))?;
        self.label()
    }

    /// Records the reason for the runs of the list without a point.
    fn skip(&mut self, rule: &str) -> Result<()> {
        let finished = self.archive.finished(self.id)?;
        let unmeasured = |key: &&PointKey| !finished.contains(key);
        let left: Vec<PointKey> = self.planned.iter().filter(unmeasured).cloned().collect();
        if left.is_empty() {
            return Ok(());
        }
        let missing = Missing {
            target: 0,
            test: NAME.to_owned(),
            title: format!("{} runs of the list", left.len()),
            reason: Remark::LeftOutByRule {
                rule: rule.to_owned(),
            },
        };
        Ok(self.archive.skip(self.id, &left, &missing)?)
    }
}

fn now() -> String {
    host::clock::rfc3339(host::WallClock::now(&host::SystemClock))
}

fn plan_text(parameters: &str) -> String {
    let mut table = toml::Table::new();
    table.insert(
        "parameters".to_owned(),
        toml::Value::String(parameters.to_owned()),
    );
    table.to_string()
}

fn inventory() -> Inventory {
    let Ok(found) = host::inventory::inventory(Path::new("/")) else {
        return Inventory::default();
    };
    let stated = Stated::default();
    // Rules of a database do not apply: the I/Os are the driver's, through io_uring.
    let advice = host::lint::advice(&host::lint::lint_for(&found, &stated, Some(&[])));
    Inventory {
        facts: host::inventory::rows(&Document { found, stated }),
        advice,
    }
}

fn target(script: &Script, device: Option<&str>) -> TargetRecord {
    let mut record = TargetRecord {
        name: NAME.to_owned(),
        url: NAME.to_owned(),
        engine: NAME.to_owned(),
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        nodes: 1,
        device: device.map(str::to_owned),
        ..TargetRecord::default()
    };
    for sd in script.runs.iter().flat_map(|run| &run.storage) {
        record
            .settings
            .insert(format!("sd {}", sd.name), opened(sd));
    }
    record
}

/// Path of an SD and its open flags, the most frequent difference between runs of one file.
fn opened(sd: &StorageDefinition) -> String {
    let flags = sd.open_flags;
    let bits = (flags.bits != 0).then(|| format!("{:#x}", flags.bits));
    let named = [
        (flags.direct, "o_direct"),
        (flags.data_sync, "o_dsync"),
        (flags.sync_each, "fdatasync"),
        (flags.fsync_at_close, "fsync"),
    ];
    let named = named.iter().filter(|(is_set, _)| *is_set);
    let words: Vec<String> = std::iter::once(sd.path.display().to_string())
        .chain(named.map(|(_, name)| (*name).to_owned()))
        .chain(bits)
        .collect();
    words.join(", ")
}

/// I/Os in flight are the jobs of a run. The values of its loops are part of its code, because points of one code, target and number of
/// jobs are repetitions of each other.
pub fn key(repetition: u32, number: usize, run: &Run) -> PointKey {
    let own = || {
        run.storage
            .iter()
            .map(|sd| sd.threads)
            .fold(0, u32::saturating_add)
    };
    PointKey {
        repetition,
        // A list of 4 billion runs would take centuries.
        step: u32::try_from(number).unwrap_or(u32::MAX),
        target: 0,
        test: format!("{} {}", run.name, run.loops).trim_end().to_owned(),
        nodes: 1,
        jobs: run.threads_shared.unwrap_or_else(own),
        threads: 1,
    }
}
