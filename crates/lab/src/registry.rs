//! The available workloads, by the name that a step uses; plans and the archive know no others.

use std::collections::BTreeSet;

use crate::agenda::Agenda;
use crate::error::{LabError, Result};
use crate::nodes::Nodes;
use crate::plan::{Plan, Step, TableKind};
use crate::volume::{Volume, Written};
use crate::workload::{Ground, Workload};

pub struct Registry {
    workloads: Vec<Box<dyn Workload>>,
}

impl Registry {
    /// The names of all workloads must differ.
    pub fn new(workloads: Vec<Box<dyn Workload>>) -> Self {
        Self { workloads }
    }

    #[must_use]
    pub fn with(mut self, workload: Box<dyn Workload>) -> Self {
        self.workloads.push(workload);
        self
    }

    pub fn find(&self, uses: &str) -> std::result::Result<&dyn Workload, String> {
        match self.all().find(|workload| workload.names().contains(&uses)) {
            Some(workload) => Ok(workload),
            None => {
                let names = self.all().flat_map(Workload::names).copied();
                let hint = archive::nearest(uses, names);
                Err(format!("use = \"{uses}\" is unknown{hint}"))
            }
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &dyn Workload> {
        self.workloads.iter().map(|workload| &**workload)
    }

    /// True if the plan only observes others.
    pub fn is_observation(&self, plan: &Plan) -> Result<bool> {
        let looks = |step: &Step| self.of(step).is_observation();
        match plan.step.iter().filter(|step| looks(step)).count() {
            0 => Ok(false),
            all if all == plan.step.len() => Ok(true),
            _ => Err(LabError::Plan(
                "a plan with a step that observes has no others: run the load at the same time from a plan of its own".into(),
            )),
        }
    }

    pub fn tables(&self) -> Vec<&'static TableKind> {
        let mut tables: Vec<&TableKind> = Vec::new();
        for table in self.all().flat_map(Workload::tables) {
            if !tables.iter().any(|known| known.name == table.name) {
                tables.push(table);
            }
        }
        tables
    }

    /// Reads the files that the steps of a plan name, and checks that they exist.
    pub fn prepare(&mut self, plan: &mut Plan) -> Result<()> {
        for step in &mut plan.step {
            let mut workloads = self.workloads.iter_mut();
            if let Some(used) = workloads.find(|w| w.names().contains(&step.uses.as_str())) {
                used.prepare(step)?;
            }
        }
        Ok(())
    }

    /// Codes of the tests of a plan, as far as they are known before a database is opened.
    pub fn tests(&self, plan: &Plan) -> Result<BTreeSet<String>> {
        let of_steps = plan.step.iter().map(|step| self.of(step).tests(step));
        let tests: Vec<Vec<String>> = of_steps.collect::<Result<_>>()?;
        Ok(tests.into_iter().flatten().collect())
    }

    /// The agenda of plan × targets × repetitions: every repetition goes through all steps and targets, so that a
    /// drift of the machine affects all alike.
    pub fn lay(&self, plan: &Plan, targets: &[Nodes], threads: u32) -> Result<Agenda> {
        let mut agenda = Agenda::default();
        for repetition in 1..=plan.repetitions() {
            let steps = (1..).zip(&plan.step);
            for (number, step) in steps.filter(|(_, s)| repetition <= plan.repetitions_of(s)) {
                let ground = Ground {
                    repetition,
                    step: number,
                    targets,
                    threads,
                };
                let laid = self.of(step).lay(step, &ground)?;
                agenda.points.extend(laid.points);
                laid.missing.into_iter().for_each(|what| agenda.miss(what));
            }
        }
        Ok(agenda)
    }

    /// Volume that a plan writes to one target with its replicas; the same for all nodes of a cluster together.
    ///
    /// It is an upper bound: it includes tests that the target may lack.
    pub fn volume(
        &self,
        plan: &Plan,
        scheme: &str,
        nodes: u32,
        replicas: u32,
        fresh_each_time: bool,
    ) -> Result<Volume> {
        let mut all = Written::default();
        let mut points_bytes = 0_u64;
        for (workload, steps) in self.by_workload(plan.step.iter()) {
            let written = workload.written(&steps, scheme, replicas)?;
            all.add(written.points);
            all.loads_bytes = all.loads_bytes.saturating_add(written.loads_bytes);
            for step in steps {
                let once = workload.written(&[step], scheme, replicas)?;
                let repeated = u64::from(plan.repetitions_of(step));
                let bytes = once.points.written_bytes.saturating_mul(repeated);
                points_bytes = points_bytes.saturating_add(bytes);
            }
        }
        let loads = all.loads_bytes.saturating_mul(u64::from(nodes));
        let loaded = if fresh_each_time {
            u64::from(plan.repeat)
        } else {
            1
        };
        Ok(Volume {
            written_bytes: points_bytes.saturating_add(loads.saturating_mul(loaded)),
            room_bytes: loads.saturating_add(all.points.room_bytes),
        })
    }

    /// Estimated duration of all repetitions of a plan on one target and its replicas, in seconds.
    ///
    /// # Errors
    /// A test or size that does not exist.
    pub fn timed_s(&self, plan: &Plan, scheme: &str, replicas: u32) -> Result<f64> {
        let of_step = |step| {
            let once_s = self.of(step).timed_s(step, scheme, replicas)?;
            Ok(once_s * f64::from(plan.repetitions_of(step)))
        };
        plan.step.iter().map(of_step).sum()
    }

    pub(crate) fn by_workload<'s>(
        &self,
        steps: impl Iterator<Item = &'s Step> + Clone,
    ) -> impl Iterator<Item = (&dyn Workload, Vec<&'s Step>)> {
        self.all().map(move |workload| {
            let is_its = |step: &&Step| workload.names().contains(&step.uses.as_str());
            (workload, steps.clone().filter(is_its).collect())
        })
    }

    pub(crate) fn of(&self, step: &Step) -> &dyn Workload {
        self.find(&step.uses)
            .expect("a plan is read with the registry that it is measured with")
    }
}
