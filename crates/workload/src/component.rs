//! Component tests, of the library or a user's own script, as a workload of plans.

mod measure;
mod on_nodes;
mod points;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use archive::{Missing, PointKey};
use engine::{Target, TargetUrl};
use lab::plan::ScriptAt;
use lab::volume::Written;
use lab::{
    Agenda, Ground, InSlices, LabError, Measure, Mode, Plan, Result, RunContext, Step, Workload,
};

use crate::below::{self, test::WARM_UP_S};
use crate::library::Kind;
use crate::script::file::{PGBENCH, is_of_pgbench};
use crate::volume::{Extent, of_point, of_table, tables_of};
use crate::{Library, Script, Table, Test, tables};
use points::{foreseen, jobs_swept, obstacle, sweep, tests_of};

pub struct ComponentTests {
    library: Arc<Library>,
}

impl ComponentTests {
    pub fn new(library: Library) -> Self {
        Self {
            library: Arc::new(library),
        }
    }

    /// Reads the script of a step into the library. A closed step without a think time takes the script's.
    fn read_script(&mut self, step: &mut Step) -> Result<()> {
        let Some(at) = &step.script else {
            return Ok(());
        };
        let place = at.place();
        let script = match at {
            ScriptAt::File(path) => {
                Script::read(Path::new(path)).map_err(|what| format!("script {path}: {what}"))
            }
            ScriptAt::Here(_) => Script::parse(&place, Path::new(".")),
        };
        let script = script.map_err(LabError::Plan)?;
        if step.think_ms.is_none() && step.rate_per_s.is_none() {
            step.think_ms = script.think_ms.filter(|ms| *ms > 0.0);
        }
        Ok(Arc::make_mut(&mut self.library).add_script(&place, script)?)
    }
}

impl Workload for ComponentTests {
    fn names(&self) -> &'static [&'static str] {
        &["library", "script"]
    }

    fn takes_keys_of_tests(&self) -> bool {
        true
    }

    fn instead_of(&self, text: &str) -> Option<&'static str> {
        is_of_pgbench(text).then_some(PGBENCH)
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        match (step.uses.as_str(), &step.script) {
            ("script", None) => {
                Err("use = \"script\" needs script = \"FILE.toml\" or [step.script]".into())
            }
            ("script", Some(_)) if !step.tests.is_empty() => {
                Err("tests selects tests of the library; a script is one test".into())
            }
            ("script", Some(_)) if !step.threads.is_empty() => Err(
                "threads belongs to tests that sweep the threads of a statement; each statement of a script gets as many as \
                 the settings of its session let it have: remove threads"
                    .into(),
            ),
            ("script", Some(_)) | (_, None) => Ok(()),
            _ => Err("script needs use = \"script\"".into()),
        }
    }

    fn prepare(&mut self, step: &mut Step) -> Result<()> {
        self.read_script(step)?;
        self.library.size(&step.size)?;
        tests_of(step, &self.library).map(drop)
    }

    fn tests(&self, step: &Step) -> Result<Vec<String>> {
        let tests = tests_of(step, &self.library)?;
        Ok(tests.iter().map(|test| test.code().to_owned()).collect())
    }

    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        let mut agenda = Agenda::default();
        for test in tests_of(step, &self.library)? {
            // Only analytical queries read replicas.
            let places = ground.places().filter(|(target, _)| !target.is_replica());
            for (target, base) in places {
                let at = |(jobs, threads): (u32, u32)| PointKey {
                    test: test.code().to_owned(),
                    jobs,
                    threads,
                    ..base.clone()
                };
                let script = test.script();
                if let Some(wrong) = script.and_then(|script| script.misread(&target.engine)) {
                    return Err(LabError::Plan(wrong));
                }
                match obstacle(test, target) {
                    Some(reason) => agenda.miss(Missing {
                        target: base.target,
                        test: test.code().to_owned(),
                        title: test.definition.title.clone(),
                        reason,
                    }),
                    None => {
                        let degrees = sweep(test, step, target, ground.threads);
                        agenda.points.extend(degrees.into_iter().map(at));
                    }
                }
            }
        }
        Ok(agenda)
    }

    fn jobs_most(&self, step: &Step) -> u32 {
        let cores = host::facts(Path::new("/")).threads.unwrap_or(1);
        jobs_swept(step, cores).into_iter().max().unwrap_or(1)
    }

    fn written(&self, steps: &[&Step], scheme: &str, _replicas: u32) -> Result<Written> {
        let engine = engines::library_name(scheme);
        let threads = host::facts(Path::new("/")).threads.unwrap_or(1);
        let mut written = Written::default();
        let mut loaded: HashSet<(Table, &str)> = HashSet::new();
        for step in steps {
            let size = self.library.size(&step.size)?;
            for (test, jobs) in foreseen(step, &self.library, engine, threads)? {
                let tables = tables_of(test).into_iter();
                loaded.extend(tables.map(|table| (table, step.size.as_str())));
                let extent = match (step.mode, step.seconds) {
                    (Mode::Time, seconds) => Extent::Seconds(
                        seconds.unwrap_or(1.0) + step.ramp_up_seconds.unwrap_or(0.0),
                    ),
                    (Mode::Work, _) => Extent::Work(test.amount(size, engine)),
                };
                written.add(of_point(test, size, extent, jobs));
            }
        }
        for (table, size) in loaded {
            let volume = of_table(self.library.size(size)?, table);
            written.loads_bytes = written.loads_bytes.saturating_add(volume.written_bytes);
        }
        Ok(written)
    }

    fn timed_s(&self, step: &Step, scheme: &str, _replicas: u32) -> Result<f64> {
        let engine = engines::library_name(scheme);
        let threads = host::facts(Path::new("/")).threads.unwrap_or(1);
        let points = foreseen(step, &self.library, engine, threads)?.into_iter();
        let of_point = |(test, _): (&Test, u32)| match (&test.definition.exercise, step.mode) {
            (Kind::Below { seconds, .. }, _) => {
                f64::from(WARM_UP_S + below::test::seconds(step, *seconds))
            }
            (_, Mode::Time) => step.timed_s(),
            (_, Mode::Work) => 0.0,
        };
        Ok(points.map(of_point).sum())
    }

    fn title(&self, code: &str) -> Result<String> {
        Ok(self.library.test(code)?.definition.title.clone())
    }

    fn definition(&self, code: &str, targets: &[TargetUrl], number: usize) -> Result<String> {
        let test: &Test = self.library.test(code)?;
        Ok(test.fingerprint(targets[number].engine()))
    }

    fn in_slices(&self, _plan: &Plan, step: &Step) -> std::result::Result<InSlices, String> {
        if step.mode != Mode::Time {
            return Err(
                "it does a fixed amount of work; set its mode to \"time\" and its seconds".into(),
            );
        }
        let tests = tests_of(step, &self.library).map_err(|error| error.to_string())?;
        let below = |test: &&&Test| matches!(test.definition.exercise, Kind::Below { .. });
        if let Some(test) = tests.iter().find(below) {
            return Err(format!("{} measures no database", test.code()));
        }
        let script = |test: &&Test| match &test.definition.exercise {
            Kind::Script(script) => Some(Arc::clone(script)),
            _ => None,
        };
        if let Some(script) = tests.iter().find_map(script) {
            return Ok(script.in_slices());
        }
        let writes = tests.iter().any(|test| test.definition.leaves_traces());
        Ok(InSlices {
            reads: (!writes).then(String::new),
            not_beside: None,
        })
    }

    fn restore(&self, steps: &[&Step], target: &dyn Target) -> Result<()> {
        let mut read = HashSet::new();
        for step in steps {
            let tests = tests_of(step, &self.library)?;
            read.extend(tests.into_iter().flat_map(tables_of));
        }
        Ok(tables::restore(target, &read)?)
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(measure::Tests::new(context, Arc::clone(&self.library)))
    }
}
