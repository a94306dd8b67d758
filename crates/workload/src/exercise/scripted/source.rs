//! State of a job: the current transaction, its values, and counts by kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{Counters, Replies, Result, Session, TargetError, Value};
use load::Failure;
use stats::random::Random;

use super::plan::{Parameter, Ready, ReadyTransaction};
use super::tally::Tally;
use crate::bench::Meter;
use crate::executor::{
    Answers, Ended, Executor, Group, Next, Opening, Prepared, Source, prepare_opening,
};
use crate::script::draw::{Drawn, JobSlot};
use crate::script::file::PARAMETERS_MAX;
use crate::script::sql::first_word;
use crate::transaction_error::TransactionError;

pub struct ScriptSource {
    ready: Arc<Ready>,
    prepared: Vec<Vec<Prepared>>,
    random: Random,
    slot: JobSlot,
    /// Numbers of draws of each value, by transaction.
    drawn: Vec<Vec<u64>>,
    values: Vec<Drawn>,
    current: usize,
    accounts: Accounts,
    /// Counters of the session at the start of the measurement.
    before: Counters,
}

pub struct Accounts {
    pub tally: Tally,
    pub meter: Arc<Meter>,
    pub sequences: Arc<AtomicU64>,
}

impl ScriptSource {
    /// Prepares every statement on a session.
    ///
    /// # Errors
    /// When a statement is invalid, or a column that is stored is missing.
    pub fn executor(
        ready: Arc<Ready>,
        mut session: Box<dyn Session>,
        slot: JobSlot,
        accounts: Accounts,
    ) -> Result<Executor<Self>> {
        let mut prepared = Vec::with_capacity(ready.transactions.len());
        for transaction in &ready.transactions {
            prepared.push(prepare(transaction, session.as_mut())?);
        }
        for opening in [Opening::Write, Opening::Read] {
            let mut openings = ready.transactions.iter().map(|t| t.opening);
            if openings.any(|o| o == Some(opening)) {
                prepare_opening(session.as_mut(), opening)?;
            }
        }
        let most = ready.transactions.iter().map(|t| t.statements.len()).max();
        let draws = ready.transactions.iter().map(|t| t.draws.len());
        let source = Self {
            random: Random::stream(slot.seed, slot.job),
            slot,
            drawn: draws.clone().map(|count| vec![0; count]).collect(),
            values: vec![Drawn::default(); draws.max().unwrap_or(0)],
            current: 0,
            prepared,
            ready,
            accounts,
            before: Counters::default(),
        };
        Ok(Executor::new(source, session, most.unwrap_or(0)))
    }

    #[inline]
    fn transaction(&self) -> &ReadyTransaction {
        &self.ready.transactions[self.current]
    }

    #[cold]
    fn nothing(&self, statement: usize, name: &str) -> TransactionError {
        TransactionError::Effect(format!(
            "wrong effect: statement {} of \"{}\" needs :{name}, which is null or was kept from an empty result (cast a value that is \
             no number or text)",
            statement + 1,
            self.transaction().name
        ))
    }

    #[cold]
    fn wrong_rows(&self, statement: usize, rows: u64) -> TransactionError {
        let transaction = self.transaction();
        let expected = &transaction.statements[statement].rows;
        let right = match (*expected.start(), *expected.end()) {
            (low, high) if low == high => low.to_string(),
            (low, u64::MAX) => format!("at least {low}"),
            (low, high) => format!("{low} to {high}"),
        };
        TransactionError::Effect(format!(
            "wrong effect: statement {} of \"{}\" returned or changed {rows} rows instead of {right}",
            statement + 1,
            transaction.name
        ))
    }
}

impl Source for ScriptSource {
    type Ask = usize;

    #[inline]
    fn take_up(&mut self, _request: load::Request) {
        let ready = &self.ready;
        self.current = 0;
        if ready.transactions.len() > 1 {
            let mut lot = self.random.below(ready.weights);
            while lot >= ready.transactions[self.current].weight {
                lot -= ready.transactions[self.current].weight;
                self.current += 1;
            }
        }
        let counts = &mut self.drawn[self.current];
        let draws = &ready.transactions[self.current].draws;
        for ((draw, count), into) in draws.iter().zip(counts).zip(&mut self.values) {
            draw.draw(&mut self.random, &self.slot, *count, into);
            *count += 1;
        }
        self.accounts.tally.begin();
    }

    #[inline]
    fn ask(&mut self, number: usize, group: &mut Group<usize>) {
        let ready = &self.transaction().groups[number];
        (group.begin, group.commit) = (ready.begin, ready.commit);
        group.asks.extend_from_slice(&ready.asks);
    }

    #[inline]
    fn row_index(&self, statement: usize, _at: usize) -> usize {
        statement
    }

    #[inline]
    fn statements(&self, _statement: usize) -> usize {
        1
    }

    #[inline]
    fn prepared(&self, statement: usize, _number: usize) -> (Prepared, bool) {
        let is_stored = !self.transaction().statements[statement].columns.is_empty();
        (self.prepared[self.current][statement], is_stored)
    }

    #[inline]
    fn with_parameters<T>(
        &self,
        statement: usize,
        _number: usize,
        replies: &Replies,
        work: impl FnOnce(&[Value<'_>]) -> std::result::Result<T, TransactionError>,
    ) -> std::result::Result<T, TransactionError> {
        let wanted = &self.transaction().statements[statement].parameters;
        let mut parameters = [Value::Int(0); PARAMETERS_MAX];
        for (parameter, wanted) in parameters.iter_mut().zip(wanted) {
            *parameter = match wanted {
                Parameter::Drawn(index) => match &self.values[*index] {
                    Drawn::Int(number) => Value::Int(*number),
                    Drawn::Text(text) => Value::Text(text),
                    Drawn::Nothing => return Err(self.nothing(statement, "a value")),
                },
                Parameter::Stored {
                    statement: from,
                    column,
                    name,
                } => match replies.first(*from).and_then(|row| row.value(*column)) {
                    Some(value) => value,
                    None => return Err(self.nothing(statement, name)),
                },
            };
        }
        work(&parameters[..wanted.len()])
    }

    #[inline]
    fn check_rows(&self, statement: usize, rows: u64) -> std::result::Result<(), TransactionError> {
        let expected = &self.transaction().statements[statement].rows;
        if expected.contains(&rows) {
            Ok(())
        } else {
            Err(self.wrong_rows(statement, rows))
        }
    }

    #[inline]
    fn take(
        &mut self,
        number: usize,
        _answers: &Answers<'_>,
    ) -> std::result::Result<Next, TransactionError> {
        Ok(if number + 1 < self.transaction().groups.len() {
            Next::Group
        } else {
            Next::Done(Ended::Committed)
        })
    }

    #[inline]
    fn end(&mut self, _ended: Ended, rows: u64) -> std::result::Result<(), Failure> {
        self.accounts.tally.end(self.current, rows);
        Ok(())
    }

    fn retries_max(&self) -> u32 {
        self.ready.retries
    }

    /// If every statement is its own transaction, earlier ones are committed.
    fn resumes_at(&self, number: usize) -> usize {
        match self.transaction().opening {
            None => number,
            Some(_) => 0,
        }
    }

    fn measurement_begins(&mut self, session: &mut dyn Session) {
        self.before = session.counters();
        self.accounts.tally.measurement_begins();
    }

    fn leaves(&mut self, session: &mut dyn Session) {
        let counters = session.counters().since(self.before);
        self.accounts.meter.add(counters, 0, 0);
        let drawn = self.drawn.iter().flatten().max().copied().unwrap_or(0);
        let come = self.slot.base + drawn * self.slot.jobs;
        self.accounts.sequences.fetch_max(come, Ordering::Relaxed);
    }
}

fn prepare(transaction: &ReadyTransaction, session: &mut dyn Session) -> Result<Vec<Prepared>> {
    let in_place = |number: usize, mut error: TargetError| {
        let name = &transaction.name;
        error.message = format!("statement {} of \"{name}\": {}", number + 1, error.message);
        error
    };
    let mut all = Vec::with_capacity(transaction.statements.len());
    for (number, statement) in transaction.statements.iter().enumerate() {
        let prepared = session.prepare(&statement.sql);
        let prepared = prepared.map_err(|error| in_place(number, error))?;
        for column in &statement.columns {
            let checked = session.check_kept(prepared, *column);
            checked.map_err(|error| in_place(number, error))?;
        }
        let returns = match session.columns(prepared) {
            Some(columns) => columns > 0,
            None => {
                let word = first_word(&statement.sql);
                ["select", "values", "show", "with", "table", "explain"].contains(&word.as_str())
            }
        };
        all.push(Prepared {
            statement: prepared,
            returns,
        });
    }
    Ok(all)
}
