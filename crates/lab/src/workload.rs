//! Workloads of plans: each kind of work is a [`Workload`].

use std::path::Path;

use archive::{Archive, PointKey};
use engine::{Target, TargetUrl};
use load::Progress;

use crate::agenda::Agenda;
use crate::context::RunContext;
use crate::done::Done;
use crate::error::Result;
use crate::nodes::Nodes;
use crate::plan::{Plan, Step, TableKind, degrees_on};
use crate::volume::Written;

pub trait Workload: Send + Sync {
    /// Values of `use` in a step; several if their options differ.
    fn names(&self) -> &'static [&'static str];

    /// Tables of a step with its options; every step of the workload has all of them.
    fn tables(&self) -> &'static [TableKind] {
        &[]
    }

    /// Advice for a text that is no plan but another program's input.
    fn instead_of(&self, _text: &str) -> Option<&'static str> {
        None
    }

    fn is_timed(&self) -> bool {
        false
    }

    /// The workload only observes others: its targets are opened without claiming or creating anything.
    fn is_observation(&self) -> bool {
        false
    }

    /// A step may use the keys of component tests: tests, jobs, threads and so on.
    fn takes_keys_of_tests(&self) -> bool {
        false
    }

    /// Checks a step for contradictions.
    ///
    /// # Errors
    /// A sentence, which the step's number will precede.
    fn check(&self, step: &Step) -> std::result::Result<(), String>;

    /// Reads the files that a step names.
    fn prepare(&mut self, _step: &mut Step) -> Result<()> {
        Ok(())
    }

    /// Codes of the tests whose throughput a step reports, as far as they are known before a database is opened.
    fn tests(&self, step: &Step) -> Result<Vec<String>> {
        Ok(vec![step.uses.clone()])
    }

    /// The points of a step, and tests that cannot be measured.
    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda>;

    /// Largest volume that steps write to a target of this engine with its replicas in one repetition.
    fn written(&self, steps: &[&Step], scheme: &str, replicas: u32) -> Result<Written>;

    /// Most jobs of a point of a step, as far as it is known before a database is opened.
    fn jobs_most(&self, step: &Step) -> u32 {
        let threads = host::facts(Path::new("/")).threads.unwrap_or(1);
        let degrees = degrees_on(&step.jobs, threads);
        degrees.into_iter().max().unwrap_or(1)
    }

    /// Seconds that a step sets for its points in one repetition, with their longest warm-up. The duration of loads,
    /// checks and fixed work depends on the database, so it is unknown in advance.
    fn timed_s(&self, _step: &Step, _scheme: &str, _replicas: u32) -> Result<f64> {
        Ok(0.0)
    }

    fn sessions(&self, _step: &Step, key: &PointKey) -> Sessions {
        Sessions {
            count: key.jobs.into(),
            who: "job",
            remedy: "run fewer jobs",
        }
    }

    fn title(&self, code: &str) -> Result<String>;

    /// Names of its kinds of operations by their numbers, if there are several.
    fn operations(&self) -> &'static [&'static str] {
        &[]
    }

    /// Fingerprint of the test of a point on one of these targets, by its number; points with different ones are of
    /// different tests.
    fn definition(&self, code: &str, targets: &[TargetUrl], number: usize) -> Result<String>;

    /// A step reads the tables of a replica, which must exist then.
    fn reads_replicas(&self, _step: &Step) -> bool {
        false
    }

    /// Fills an empty replica, if the workload does that.
    fn refill(&self, _context: &RunContext<'_>, _target: u32) -> std::result::Result<(), Done> {
        Ok(())
    }

    /// Use of tables by a step in alternating slices.
    ///
    /// # Errors
    /// The reason why it cannot be measured in slices, as the end of a sentence.
    fn in_slices(&self, _plan: &Plan, _step: &Step) -> std::result::Result<InSlices, String> {
        Err("it is not driven for a time".into())
    }

    /// Restores the tables of these steps to the common start of the blocks of a study; everything else in the
    /// database belongs to others.
    fn restore(&self, _steps: &[&Step], _target: &dyn Target) -> Result<()> {
        Ok(())
    }

    /// Repeats the last load of these finished steps into a target that lost it with its server.
    fn reload(
        &self,
        _context: &RunContext<'_>,
        _steps: &[&Step],
        _target: u32,
    ) -> std::result::Result<(), Done> {
        Ok(())
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a>;
}

/// Measures the points of one workload in one run, and stores their common state.
pub trait Measure {
    /// True if a key was dropped from the plan meanwhile.
    fn has_left_out(&self, _key: &PointKey) -> bool {
        false
    }

    /// Measures the point of a key, and enters it into the archive with everything that belongs to it.
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done>;
}

pub struct Ground<'a> {
    pub repetition: u32,
    pub step: u32,
    pub targets: &'a [Nodes],
    pub threads: u32,
}

impl Ground<'_> {
    /// The targets with their numbers, each with a key that lacks only the test: one job, one thread.
    pub fn places(&self) -> impl Iterator<Item = (&Nodes, PointKey)> {
        let key = |target: u32, nodes: &Nodes| PointKey {
            repetition: self.repetition,
            step: self.step,
            target,
            nodes: nodes.nodes.len() as u32,
            ..PointKey::of("", 1)
        };
        let numbered = (0..).zip(self.targets);
        numbered.map(move |(number, nodes)| (nodes, key(number, nodes)))
    }
}

/// Use of tables by a step in alternating slices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InSlices {
    /// Contents of tables that it only reads: sides with equal contents can share them. `None` if it changes rows.
    pub reads: Option<String>,
    /// Reason why it cannot have separate tables in the database of the other side, as the end of a sentence.
    pub not_beside: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sessions {
    pub count: u64,
    /// Owners of the sessions, in the singular.
    pub who: &'static str,
    pub remedy: &'static str,
}
