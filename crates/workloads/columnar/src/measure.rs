//! Column stores as steps of a plan: the tables of the first target with tables of its own are copied to every target
//! that is a replica. Each table is a point, and so are all tables together. Steps with changes measure the cost of
//! refreshes.

mod change;
mod failed;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ::load::Progress;
use archive::{Archive, CacheState, Component, Figures, Point, PointKey, Remark, WorkDone};
use engine::TargetUrl;
use engine::source::SourceTable;
use lab::nodes::source_of;
use lab::plan::TableKind;
use lab::volume::Written;
use lab::{Agenda, Done, Ground, Measure, Measured, Nodes, Result, RunContext, Step, Workload};
use olap::TABLES;

use super::lift::{LiftedTable, compress_factor};
use super::step::{self, ColumnarOrder, ColumnarStep};
use super::{Chosen, ColumnarError, LiftOptions, lift};
use change::Cycle;
pub(crate) use failed::{Failed, missing};

pub const ALL: &str = "LIFT-ALL";
const OF_TABLE: &str = "LIFT-";
/// Table that describes the analytical database; queries need it.
const FACTS: [&str; 1] = ["dbdyno_olap"];
const MB: f64 = 1e6;

pub fn title(code: &str) -> String {
    match code {
        ALL => "Columnar: all tables populated".into(),
        code => change::title(code)
            .unwrap_or_else(|| format!("Columnar: {} populated", table_of(code).unwrap_or(code))),
    }
}

fn table_of(code: &str) -> Option<&'static str> {
    let name = code.strip_prefix(OF_TABLE)?;
    TABLES
        .into_iter()
        .find(|table| table.to_uppercase() == name)
}

/// Points of a step at a target, made from `base`; none if the target has no part in the step.
pub(crate) fn keys(columnar: &ColumnarStep, base: &PointKey, target: &Nodes) -> Vec<PointKey> {
    match columnar.order {
        ColumnarOrder::Change => change::keys(base, &columnar.dop, target),
        ColumnarOrder::Lift if target.is_replica() => lifted_keys(base),
        ColumnarOrder::Lift => Vec::new(),
    }
}

fn lifted_keys(base: &PointKey) -> Vec<PointKey> {
    let codes = TABLES.map(|table| format!("{OF_TABLE}{}", table.to_uppercase()));
    let codes = codes.into_iter().chain([ALL.to_owned()]);
    let key = |test| PointKey {
        test,
        ..base.clone()
    };
    codes.map(key).collect()
}

/// Reason why a target cannot be populated, or no copy can be refreshed.
pub(crate) fn obstacle(targets: &[Nodes]) -> Option<Remark> {
    match source_of(targets) {
        Some(source) if source.nodes.len() > 1 => Some(Remark::ClusterNotLoaded),
        Some(_) => None,
        None => Some(Remark::NothingToLoad),
    }
}

pub struct Columnar;

impl Workload for Columnar {
    fn names(&self) -> &'static [&'static str] {
        &["columnar"]
    }

    fn tables(&self) -> &'static [TableKind] {
        &[step::TABLE]
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        step.table::<ColumnarStep>().check()
    }

    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        let mut agenda = Agenda::default();
        for (target, base) in ground.places() {
            let obstacle = obstacle(ground.targets).or_else(|| target.read_only());
            agenda.add(keys(step.table(), &base, target), obstacle, title);
        }
        Ok(agenda)
    }

    /// The copies are in memory.
    fn written(&self, _steps: &[&Step], _: &str, _replicas: u32) -> Result<Written> {
        Ok(Written::default())
    }

    fn title(&self, code: &str) -> Result<String> {
        Ok(title(code))
    }

    fn reads_replicas(&self, step: &Step) -> bool {
        step.table::<ColumnarStep>().order == ColumnarOrder::Change
    }

    /// A replica ends with its process, so a resumed run populates it again.
    fn refill(&self, context: &RunContext<'_>, target: u32) -> std::result::Result<(), Done> {
        // Changes of an interrupted cycle must not be copied.
        if let Some(source) = source_of(context.targets)
            && let Err(error) = olap::undo_refreshes(source.first().as_ref())
        {
            return Err(Done::Broken(error.to_string()));
        }
        match fill(context, target, None) {
            Ok(_) => Ok(()),
            Err(ColumnarError::Interrupted) => Err(Done::Interrupted),
            Err(error) => Err(Done::Broken(error.to_string())),
        }
    }

    fn definition(&self, _code: &str, targets: &[TargetUrl], number: usize) -> Result<String> {
        Ok(olap::fingerprint(targets[number].engine()))
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(Copies {
            context,
            lifted: HashMap::new(),
            described: None,
        })
    }
}

struct Copies<'a> {
    context: &'a RunContext<'a>,
    /// Reports by target, repetition and step.
    lifted: HashMap<(u32, u32, u32), Report>,
    /// Tables of the source, cached because their description takes time.
    described: Option<Vec<SourceTable>>,
}

struct Report {
    tables: Vec<LiftedTable>,
    notes: Vec<Remark>,
    populate_s: f64,
}

impl Measure for Copies<'_> {
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        let columnar: &ColumnarStep = step.table();
        let measured = match columnar.order {
            ColumnarOrder::Lift => self.lift(step, columnar, key),
            ColumnarOrder::Change => self.change(step, columnar, key, progress),
        };
        measured.enter(archive, self.context)
    }
}

impl Copies<'_> {
    fn lift(&mut self, step: &Step, columnar: &ColumnarStep, key: &PointKey) -> Measured {
        let blank = self.blank(step, key);
        let context = self.context;
        let lifted = match self.lifted.entry((key.repetition, key.step, key.target)) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(empty) => {
                fill(context, key.target, columnar.jobs).map(|r| empty.insert(r))
            }
        };
        match lifted {
            Ok(report) => Measured::Points(vec![point(report, blank)]),
            Err(error) => failed(error, blank),
        }
    }

    /// Cycle of changes: all its points at a degree of parallelism.
    fn change(
        &mut self,
        step: &Step,
        columnar: &ColumnarStep,
        key: &PointKey,
        progress: &Progress,
    ) -> Measured {
        match self.cycle(step, columnar, key, progress) {
            Ok(points) => Measured::Points(points),
            Err(Failed::Columnar(error)) => failed(error, self.blank(step, key)),
            Err(Failed::Ended(measured)) => measured,
        }
    }

    fn cycle(
        &mut self,
        step: &Step,
        columnar: &ColumnarStep,
        key: &PointKey,
        progress: &Progress,
    ) -> std::result::Result<Vec<Point>, Failed> {
        let context = self.context;
        let target = &context.targets[key.target as usize];
        let source = if target.is_replica() {
            source_of(context.targets).ok_or_else(missing)?
        } else {
            target
        };
        let tables = match self.described.take() {
            Some(tables) => tables,
            None if target.is_replica() => source.first().source()?.tables()?,
            None => Vec::new(),
        };
        let cycle = Cycle {
            context,
            source,
            target,
            tables: &tables,
            degrees: &columnar.dop,
            progress,
        };
        let blank = |code: &str| {
            let test = code.to_owned();
            let key = PointKey {
                test,
                ..key.clone()
            };
            self.blank(step, &key)
        };
        let points = cycle.carry_out(key.threads, &blank);
        if points.is_err() {
            // The first error is reported. A copy whose rows are uncertain is populated again.
            let _ = olap::undo_refreshes(source.first().as_ref());
            target.replica().into_iter().for_each(|copy| copy.empty());
        }
        self.described = Some(tables).filter(|tables| !tables.is_empty());
        points
    }

    fn blank(&self, step: &Step, key: &PointKey) -> Point {
        let target = &self.context.targets[key.target as usize];
        let definition = olap::fingerprint(&target.engine);
        self.context.blank(
            step,
            key.clone(),
            definition,
            title(&key.test),
            Component::Database,
        )
    }
}

fn failed(error: ColumnarError, blank: Point) -> Measured {
    match error {
        ColumnarError::Interrupted => Measured::Interrupted,
        ColumnarError::Target(error) if error.kind != engine::ErrorKind::Statement => {
            Measured::Broken(error.message)
        }
        error => Measured::Points(vec![Point {
            reasons: vec![Remark::ColumnarFailed {
                error: error.to_string(),
            }],
            ..blank
        }]),
    }
}

fn fill(
    context: &RunContext<'_>,
    target: u32,
    jobs: Option<u32>,
) -> std::result::Result<Report, ColumnarError> {
    let target = &context.targets[target as usize];
    let replica = target.replica().ok_or_else(missing)?;
    let source = source_of(context.targets)
        .ok_or_else(missing)?
        .first()
        .source()?;
    // Before the next copy is made: two at the same time might not fit.
    replica.empty();
    let names = TABLES.iter().chain(&FACTS);
    let options = LiftOptions {
        chosen: Chosen {
            tables: names.map(|name| (*name).to_owned()).collect(),
            ..Chosen::default()
        },
        level: replica.level(),
        memory_bytes: replica.memory_bytes(),
        jobs,
    };
    let lifted = lift(source.as_ref(), &options, context.stop, &|_| {})?;
    // The queries need all tables.
    if let Some(out) = lifted.left_out.first() {
        return Err(ColumnarError::Unknown(out.to_string()));
    }
    let mut report = Report {
        notes: vec![
            Remark::ColumnsLoaded {
                streams: lifted.jobs,
                moment: lifted.moment.to_owned(),
                peak_bytes: lifted.grown.peak_bytes,
                memory_bytes: lifted.memory_bytes,
            },
            Remark::LevelMeans {
                level: options.level.to_string(),
                meaning: options.level.meaning().to_owned(),
            },
            match lifted.disk_bytes() {
                Some(disk_bytes) => Remark::OnDisk {
                    disk_bytes,
                    memory_share: disk_bytes as f64 / lifted.memory_bytes.max(1) as f64,
                },
                None => Remark::DiskUnknown,
            },
        ],
        populate_s: lifted.populate_took.as_secs_f64(),
        tables: lifted.tables,
    };
    let doubt = lifted.doubt.map(Box::new);
    report
        .notes
        .extend(doubt.map(|why| Remark::SizesUnknown { why }));
    replica.fill(lifted.store)?;
    Ok(report)
}

fn point(report: &Report, blank: Point) -> Point {
    let is_of = |table: &&LiftedTable| match table_of(&blank.key.test) {
        Some(name) => table.name == name,
        None => TABLES.contains(&table.name.as_str()),
    };
    let tables: Vec<&LiftedTable> = report.tables.iter().filter(is_of).collect();
    let sum =
        |value: &dyn Fn(&LiftedTable) -> u64| tables.iter().map(|t| value(t)).sum::<u64>() as f64;
    let rows = sum(&|table| table.digest.rows);
    let memory: Option<u64> = tables.iter().map(|table| table.memory_bytes).sum();
    let memory_mb = memory.map(|bytes| bytes as f64 / MB);
    let disk_mb: Option<u64> = tables.iter().map(|table| table.disk_bytes).sum();
    let disk_mb = disk_mb.map(|bytes| bytes as f64 / MB);
    let is_all = table_of(&blank.key.test).is_none();
    let (elapsed_s, mut notes) = match tables.as_slice() {
        [table] if !is_all => (table.populate_took.as_secs_f64(), Vec::new()),
        _ => (report.populate_s, report.notes.clone()),
    };
    if let ([table], false) = (tables.as_slice(), is_all) {
        notes.extend(about(table));
    }
    Point {
        work: WorkDone {
            mode: "work".into(),
            state: "freshly populated".into(),
            cache: CacheState::Uncontrolled,
            ..WorkDone::default()
        },
        figures: Figures {
            rows: Some(rows),
            rows_per_s: Some(rows / elapsed_s.max(f64::MIN_POSITIVE)),
            elapsed_s: Some(elapsed_s),
            table_disk_mb: disk_mb,
            table_memory_mb: memory_mb,
            compress_factor: compress_factor(tables.iter().copied()),
            ..Figures::default()
        },
        reasons: tables
            .iter()
            .flat_map(|table| {
                // Among all tables together, the reason needs the table's name.
                let reason = |reason: &Remark| {
                    if is_all {
                        Remark::OfTable {
                            table: table.label.clone(),
                            what: Box::new(reason.clone()),
                        }
                    } else {
                        reason.clone()
                    }
                };
                table.reasons.iter().map(reason).collect::<Vec<_>>()
            })
            .collect(),
        notes,
        ..blank
    }
}

fn about(table: &LiftedTable) -> Vec<Remark> {
    let mut notes = vec![
        Remark::Codecs {
            codecs: table.codecs.clone(),
        },
        Remark::CopyCompared {
            checksum: format!("{:016x}", table.digest.sum),
            took_s: table.verify_took.as_secs_f64(),
        },
    ];
    if !table.reasons.is_empty() {
        notes.truncate(1);
    }
    notes.extend(table.notes.clone());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_name_tables() {
        let base = PointKey {
            target: 1,
            ..PointKey::of("", 1)
        };
        let keys = lifted_keys(&base);
        assert_eq!(keys.len(), 9);
        assert_eq!(table_of("LIFT-LINEITEM"), Some("lineitem"));
        assert_eq!(title("LIFT-ORDERS"), "Columnar: orders populated");
        assert_eq!(title("COLUMNAR-INSERT"), "Columnar: orders inserted");
    }
}
