//! What a plan can ask for: each kind of work is a [`Workload`].

use archive::{Archive, PointKey};
use engine::{Target, TargetUrl};
use load::Progress;

use crate::agenda::Agenda;
use crate::context::RunContext;
use crate::done::Done;
use crate::error::Result;
use crate::nodes::Nodes;
use crate::plan::{Plan, Step, TableKind};
use crate::volume::Written;

pub trait Workload: Send + Sync {
    /// What a step says in `use`; several names where they differ in what the step says.
    fn names(&self) -> &'static [&'static str];

    /// The tables of a step that say what is asked; every step of the workload has all of them.
    fn tables(&self) -> &'static [TableKind] {
        &[]
    }

    /// What to write instead of a text that is no plan but another program's input for such work.
    fn instead_of(&self, _text: &str) -> Option<&'static str> {
        None
    }

    /// Whether a point lasts for the step's `seconds`, whatever its mode.
    fn is_timed(&self) -> bool {
        false
    }

    /// Whether it only looks at what others do: its targets are opened so that nothing is claimed or made in them.
    fn is_observation(&self) -> bool {
        false
    }

    /// Whether a step may say what component tests take: tests, jobs, threads and the like.
    fn takes_keys_of_tests(&self) -> bool {
        false
    }

    /// Finds what contradicts itself in a step that was read.
    ///
    /// # Errors
    /// In a sentence, which the step's number will head.
    fn check(&self, step: &Step) -> std::result::Result<(), String>;

    /// Reads what a step names beside the plan, and finds that it is there.
    ///
    /// # Errors
    /// What cannot be read, or does not exist, with the nearest that does; no target has been touched then.
    fn prepare(&mut self, _step: &mut Step) -> Result<()> {
        Ok(())
    }

    /// Codes of the tests whose throughput a step tells, as far as they are known before a database is opened.
    ///
    /// # Errors
    /// What does not exist.
    fn tests(&self, step: &Step) -> Result<Vec<String>> {
        Ok(vec![step.uses.clone()])
    }

    /// The points of a step, and what cannot be measured.
    ///
    /// # Errors
    /// What does not exist.
    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda>;

    /// The most that steps write to a target of this engine in one repetition, with so many replicas of it.
    ///
    /// # Errors
    /// What does not exist.
    fn written(&self, steps: &[&Step], engine: &str, replicas: u32) -> Result<Written>;

    /// Most jobs of a point of a step, as far as it is known before a database is opened.
    fn jobs_most(&self, step: &Step) -> u32 {
        step.jobs.iter().copied().max().unwrap_or(1)
    }

    /// The seconds that a step sets for its points in one repetition, with their longest warm-up. Loads, checks and work of a
    /// fixed amount take as long as the database needs, which nobody knows before.
    ///
    /// # Errors
    /// What does not exist.
    fn timed_s(&self, _step: &Step, _engine: &str, _replicas: u32) -> Result<f64> {
        Ok(0.0)
    }

    /// The sessions that a point holds at once.
    fn sessions(&self, _step: &Step, key: &PointKey) -> Sessions {
        Sessions {
            count: key.jobs.into(),
            who: "job",
            remedy: "run fewer jobs",
        }
    }

    /// Title of a point.
    ///
    /// # Errors
    /// A code that it does not have.
    fn title(&self, code: &str) -> Result<String>;

    /// Names of its kinds of operations by their numbers, where its drives have several.
    fn operations(&self) -> &'static [&'static str] {
        &[]
    }

    /// Fingerprint of what a point measures on one of these targets, by its number: points of different ones are not of
    /// one test.
    ///
    /// # Errors
    /// A code that it does not have.
    fn definition(&self, code: &str, targets: &[TargetUrl], number: usize) -> Result<String>;

    /// Whether a step reads what a replica holds, which must be there then.
    fn reads_replicas(&self, _step: &Step) -> bool {
        false
    }

    /// Fills an empty replica, if that is what the workload does.
    ///
    /// # Errors
    /// What becomes of the point that needs it.
    fn refill(&self, _context: &RunContext<'_>, _target: u32) -> std::result::Result<(), Done> {
        Ok(())
    }

    /// What a step of a plan does with tables, where it is measured in slices in turn with another configuration.
    ///
    /// # Errors
    /// Why it cannot be; as the end of a sentence.
    fn in_slices(&self, _plan: &Plan, _step: &Step) -> std::result::Result<InSlices, String> {
        Err("it is not driven for a time".into())
    }

    /// Brings what these steps work on back to the start that the blocks of a study have in common; whatever else the
    /// database holds belongs to others.
    ///
    /// # Errors
    /// What does not exist, or when the target fails.
    fn restore(&self, _steps: &[&Step], _target: &dyn Target) -> Result<()> {
        Ok(())
    }

    /// Loads again what the last of these finished steps had loaded into a target, where it went with its server.
    ///
    /// # Errors
    /// What becomes of the point that needs it.
    fn reload(
        &self,
        _context: &RunContext<'_>,
        _steps: &[&Step],
        _target: u32,
    ) -> std::result::Result<(), Done> {
        Ok(())
    }

    /// Begins a run, or goes on with one.
    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a>;
}

/// Measures the points of one workload in one run, and remembers what its points have in common.
pub trait Measure {
    /// Whether a key was left out of the plan meanwhile.
    fn has_left_out(&self, _key: &PointKey) -> bool {
        false
    }

    /// Measures what a key asks for, and enters it into the archive with what belongs to it.
    ///
    /// # Errors
    /// The archive.
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done>;
}

/// What the points of a step are laid on.
pub struct Ground<'a> {
    pub repetition: u32,
    /// Number of the step, from 1.
    pub step: u32,
    pub targets: &'a [Nodes],
    /// Hardware threads of the targets' machine.
    pub threads: u32,
}

impl Ground<'_> {
    /// The targets with their numbers, each with a key that has everything but the test: one job, one thread.
    pub fn places(&self) -> impl Iterator<Item = (&Nodes, PointKey)> {
        let key = |target: u32, nodes: &Nodes| PointKey {
            repetition: self.repetition,
            step: self.step,
            target,
            test: String::new(),
            nodes: nodes.nodes.len() as u32,
            jobs: 1,
            threads: 1,
        };
        let numbered = (0..).zip(self.targets);
        numbered.map(move |(number, nodes)| (nodes, key(number, nodes)))
    }
}

/// What a step does with tables, where it is measured in slices in turn with another configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InSlices {
    /// What it makes of tables that it only reads: sides that make the same can share them. `None` where it changes rows.
    pub reads: Option<String>,
    /// Why it cannot have tables of its own beside those of the other side; as the end of a sentence.
    pub not_beside: Option<String>,
}

/// The sessions of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sessions {
    pub count: u64,
    /// Whose they are, in the singular.
    pub who: &'static str,
    /// What to do where a server does not let so many in.
    pub remedy: &'static str,
}
