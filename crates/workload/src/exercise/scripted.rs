//! A script as an exercise: setup, jobs, teardown.

mod plan;
mod source;
mod tally;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use archive::{CacheState, Remark, TransactionKind};
use engine::{Result, TargetError};
use load::{BlockingClient, NonblockingClient, Outcome};

use super::{Exercise, Prepared};
use crate::bench::Bench;
use crate::executor::{Blocking, Executor, Nonblocking};
use crate::script::draw::JobSlot;
use crate::script::file::{Script, When};
use crate::script::sql::removes;
use plan::Ready;
use source::{Accounts, ScriptSource};
use tally::{Tallies, Tally};

pub struct Scripted {
    bench: Bench,
    script: Arc<Script>,
    /// Executors that are opened but not yet handed out.
    opened: Vec<Executor<ScriptSource>>,
    tallies: Arc<Tallies>,
    /// Values of the sequences since the data were set up.
    sequences: Arc<AtomicU64>,
}

impl Scripted {
    pub fn new(bench: Bench, script: Arc<Script>) -> Self {
        Self {
            bench,
            script,
            opened: Vec::new(),
            tallies: Arc::default(),
            sequences: Arc::default(),
        }
    }

    fn names(&self) -> Vec<&str> {
        let kinds = self.script.transactions.iter();
        kinds.map(|kind| kind.name.as_str()).collect()
    }

    /// Sets data up or removes them. The session uses dbdyno's own schema, because other schemas may have tables of the
    /// same names.
    fn batches(&self, sql: &[String]) -> Result<()> {
        let mut session = self.bench.target.open_script_session()?;
        // The time limit applies to measured statements only.
        session.limit_statements(None)?;
        sql.iter().try_for_each(|text| {
            if removes(text) {
                session.batch_in_own_schema(text)
            } else {
                session.batch(text)
            }
        })
    }

    fn open(&mut self, jobs: u32) -> Result<()> {
        if !self.opened.is_empty() {
            return Ok(());
        }
        let ready = Ready::new(&self.script, &self.bench.engine);
        let ready = ready.map_err(TargetError::statement)?;
        let ready = Arc::new(ready);
        let base = self.sequences.load(Ordering::Relaxed);
        for job in 0..u64::from(jobs) {
            let session = self.bench.target.open_script_session()?;
            let place = JobSlot {
                job,
                jobs: u64::from(jobs),
                seed: self.bench.seed,
                base,
            };
            let tally = Tally::new(ready.transactions.len(), &self.tallies);
            let accounts = Accounts {
                tally,
                meter: Arc::clone(&self.bench.meter),
                sequences: Arc::clone(&self.sequences),
            };
            let executor = ScriptSource::executor(Arc::clone(&ready), session, place, accounts)?;
            self.opened.push(executor);
        }
        Ok(())
    }
}

impl Exercise for Scripted {
    fn prepare(&mut self) -> Result<Prepared> {
        let script = Arc::clone(&self.script);
        let engine = self.bench.engine.clone();
        let set_up = script.set_up.of(&engine);
        let state = match (set_up.is_empty(), script.when) {
            (true, _) => "as found",
            (false, When::Point) => "set up for this point",
            (false, When::Run) => "set up for this run",
        };
        let fingerprint = self.bench.test.fingerprint(&engine);
        // Without a setup the data are as the points before left them.
        let is_once = script.when == When::Run;
        let goes_on = is_once || set_up.is_empty();
        let before = self.bench.proven.script(&fingerprint).filter(|_| goes_on);
        let is_due = before.is_none();
        self.sequences = before.unwrap_or_else(|| self.bench.proven.insert_script(&fingerprint));
        let is_due = is_due && self.bench.is_due_for_both("set-up", is_once);
        if !set_up.is_empty() && is_due {
            // A killed run may have left data.
            self.batches(script.teardown.of(&engine))?;
            self.batches(set_up)?;
            self.bench.checkpoint()?;
        }
        Ok(Prepared {
            state: state.into(),
            cache: CacheState::Uncontrolled,
            reasons: Vec::new(),
        })
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        self.open(jobs)?;
        let opened = self.opened.drain(..);
        Ok(opened
            .map(|job| Box::new(Blocking::new(job)) as Box<dyn BlockingClient>)
            .collect())
    }

    fn nonblocking_clients(
        &mut self,
        jobs: u32,
    ) -> Result<Option<Vec<Box<dyn NonblockingClient>>>> {
        self.open(jobs)?;
        // All sessions of a target are of one kind.
        let mut opened = self.opened.iter_mut();
        if !opened.all(Executor::can_be_awaited) {
            return Ok(None);
        }
        let clients = self.opened.drain(..).map(|job| {
            let client = Nonblocking::new(job)?;
            Some(Box::new(client) as Box<dyn NonblockingClient>)
        });
        Ok(clients.collect())
    }

    fn verify(&mut self, _outcome: &Outcome) -> Result<Vec<Remark>> {
        // The tables of both sides are removed after the one that ends last.
        let is_last = self.bench.shared.is_none() || !self.bench.is_due_for_both("teardown", false);
        if self.script.when == When::Point && is_last {
            self.batches(self.script.teardown.of(&self.bench.engine))?;
        }
        Ok(Vec::new())
    }

    fn notes(&self, outcome: &Outcome) -> Vec<Remark> {
        self.tallies.notes(&self.names(), outcome.rate_time())
    }

    fn transactions(&self) -> Vec<TransactionKind> {
        self.tallies.kinds(&self.names())
    }
}
