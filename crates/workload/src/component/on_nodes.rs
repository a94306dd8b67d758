//! A component test on the nodes of a cluster.

use archive::{Remark, TransactionKind};
use load::{BlockingClient, NonblockingClient, Outcome};

use crate::{Exercise, Prepared};

/// The same exercise on every node; jobs are dealt round-robin.
pub struct OnNodes {
    exercises: Vec<Box<dyn Exercise>>,
}

impl OnNodes {
    /// One exercise per node, in the order of the nodes; at least one.
    pub fn new(exercises: Vec<Box<dyn Exercise>>) -> Self {
        assert!(!exercises.is_empty(), "a target has at least one node");
        Self { exercises }
    }
}

impl Exercise for OnNodes {
    fn prepare(&mut self) -> engine::Result<Prepared> {
        let mut all = Prepared::default();
        for exercise in &mut self.exercises {
            let one = exercise.prepare()?;
            all.state = one.state;
            all.cache = one.cache;
            all.reasons.extend(one.reasons);
        }
        Ok(all)
    }

    fn clients(&mut self, jobs: u32) -> engine::Result<Vec<Box<dyn BlockingClient>>> {
        let mut dealt = Vec::new();
        for (share, exercise) in shares(jobs, &mut self.exercises) {
            dealt.push(exercise.clients(share)?);
        }
        Ok(in_turn(jobs, dealt))
    }

    fn nonblocking_clients(
        &mut self,
        jobs: u32,
    ) -> engine::Result<Option<Vec<Box<dyn NonblockingClient>>>> {
        let mut dealt = Vec::new();
        for (share, exercise) in shares(jobs, &mut self.exercises) {
            // The nodes of a target are of one engine.
            match exercise.nonblocking_clients(share)? {
                Some(nonblocking_clients) => dealt.push(nonblocking_clients),
                None if share == 0 => dealt.push(Vec::new()),
                None => return Ok(None),
            }
        }
        Ok(Some(in_turn(jobs, dealt)))
    }

    fn close(&mut self) -> engine::Result<()> {
        self.exercises.iter_mut().try_for_each(|e| e.close())
    }

    fn verify(&mut self, outcome: &Outcome) -> engine::Result<Vec<Remark>> {
        let nodes = self.exercises.len();
        let mut reasons = Vec::new();
        for (node, exercise) in self.exercises.iter_mut().enumerate() {
            let mut share = outcome.clone();
            let clients = outcome.clients.iter().skip(node).step_by(nodes);
            share.clients = clients.cloned().collect();
            reasons.extend(exercise.verify(&share)?);
        }
        Ok(reasons)
    }

    fn notes(&self, outcome: &Outcome) -> Vec<Remark> {
        let each = (1..).zip(&self.exercises);
        let notes = each.flat_map(|(node, exercise)| {
            let notes = exercise.notes(outcome).into_iter();
            notes.map(move |what| Remark::OfNode {
                node,
                what: Box::new(what),
            })
        });
        notes.collect()
    }

    fn transactions(&self) -> Vec<TransactionKind> {
        let mut all: Vec<TransactionKind> = Vec::new();
        for kind in self.exercises.iter().flat_map(|e| e.transactions()) {
            match all.iter_mut().find(|k| k.name == kind.name) {
                Some(sum) => {
                    sum.completed += kind.completed;
                    sum.rows += kind.rows;
                }
                None => all.push(kind),
            }
        }
        all
    }

    fn operations_scale(&self) -> u64 {
        self.exercises[0].operations_scale()
    }

    fn row_bytes(&self) -> Option<u64> {
        self.exercises[0].row_bytes()
    }

    fn device_read_bytes(&self, outcome: &Outcome) -> Option<u64> {
        self.exercises[0].device_read_bytes(outcome)
    }
}

fn shares(
    jobs: u32,
    exercises: &mut [Box<dyn Exercise>],
) -> impl Iterator<Item = (u32, &mut Box<dyn Exercise>)> {
    let nodes = exercises.len() as u32;
    let share = move |node: u32| (jobs + nodes - 1 - node) / nodes;
    exercises
        .iter_mut()
        .zip(0..)
        .map(move |(exercise, node)| (share(node), exercise))
}

/// Job j works on node j mod N.
fn in_turn<T>(jobs: u32, dealt: Vec<Vec<T>>) -> Vec<T> {
    let nodes = dealt.len();
    let mut dealt: Vec<_> = dealt.into_iter().map(Vec::into_iter).collect();
    (0..jobs as usize)
        .filter_map(|job| dealt[job % nodes].next())
        .collect()
}
