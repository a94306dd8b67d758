//! What a job has in hand, on a thread as in an event loop: the transaction at hand, its values, its rows.

use std::sync::Arc;

use load::Failure;
use stats::random::Random;
use target::{Replies, Result, Session, Statement, TargetError, Value};

use super::plan::{Opening, Ready, ReadyTransaction, Source};
use crate::exercise::failure;
use crate::script::draw::{Drawn, Place};
use crate::script::file::PARAMETERS_MAX;
use crate::script::sql::first_word;
use crate::transaction_error::TransactionError;

/// One job's values and prepared statements.
pub struct Hand {
    ready: Arc<Ready>,
    handles: Vec<Vec<Handle>>,
    random: Random,
    place: Place,
    /// How often each value was drawn, by transaction.
    drawn: Vec<Vec<u64>>,
    /// The values of the transaction at hand.
    values: Vec<Drawn>,
    current: usize,
    /// Answers; the first row of statement n is kept in place n.
    pub replies: Replies,
}

/// A statement as it was prepared.
#[derive(Debug, Clone, Copy)]
pub struct Handle {
    /// The session's name for it.
    pub statement: Statement,
    /// Whether it returns rows.
    pub returns: bool,
}

impl Hand {
    /// Prepares every statement on a session.
    ///
    /// # Errors
    /// When a statement is not right, or a column that is kept is not there.
    pub fn new(ready: Arc<Ready>, session: &mut dyn Session, place: Place) -> Result<Self> {
        let mut handles = Vec::with_capacity(ready.transactions.len());
        for transaction in &ready.transactions {
            handles.push(prepare(transaction, session)?);
        }
        let explicit = |o: Opening| ready.transactions.iter().any(|t| t.opening == o);
        // Engines prepare BEGIN and COMMIT when they are first asked; nothing of that is to be measured.
        if explicit(Opening::Write) {
            session.begin().and_then(|()| session.commit())?;
        }
        if explicit(Opening::Read) {
            session.begin_read().and_then(|()| session.commit())?;
        }
        let most = ready.transactions.iter().map(|t| t.statements.len()).max();
        let mut replies = Replies::default();
        replies.reserve(most.unwrap_or(0));
        let draws = ready.transactions.iter().map(|t| t.draws.len());
        Ok(Self {
            random: Random::stream(place.seed, place.job),
            place,
            drawn: draws.clone().map(|count| vec![0; count]).collect(),
            values: vec![Drawn::default(); draws.max().unwrap_or(0)],
            current: 0,
            handles,
            ready,
            replies,
        })
    }

    /// Chooses the next transaction and draws its values; a retry has the same.
    #[inline]
    pub fn choose(&mut self) {
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
            draw.draw(&mut self.random, &self.place, *count, into);
            *count += 1;
        }
    }

    /// Number of the transaction at hand.
    pub fn current(&self) -> usize {
        self.current
    }

    /// What all jobs share.
    pub fn ready(&self) -> &Arc<Ready> {
        &self.ready
    }

    /// The prepared statement of this number.
    #[inline]
    pub fn handle(&self, statement: usize) -> Handle {
        self.handles[self.current][statement]
    }

    /// Does something with the parameters of a statement.
    ///
    /// # Errors
    /// When one was kept from no row or is null; else what `work` says.
    #[inline]
    pub fn with_parameters<T>(
        &self,
        statement: usize,
        work: impl FnOnce(&[Value<'_>]) -> std::result::Result<T, TransactionError>,
    ) -> std::result::Result<T, TransactionError> {
        let sources = &self.ready.transactions[self.current].statements[statement].sources;
        let mut parameters = [Value::Int(0); PARAMETERS_MAX];
        for (parameter, source) in parameters.iter_mut().zip(sources) {
            *parameter = match source {
                Source::Drawn(place) => match &self.values[*place] {
                    Drawn::Int(number) => Value::Int(*number),
                    Drawn::Text(text) => Value::Text(text),
                    Drawn::Nothing => return Err(self.nothing(statement, "a value")),
                },
                Source::Kept {
                    statement: from,
                    column,
                    name,
                } => match self.replies.first(*from).and_then(|row| row.value(*column)) {
                    Some(value) => value,
                    None => return Err(self.nothing(statement, name)),
                },
            };
        }
        work(&parameters[..sources.len()])
    }

    #[cold]
    fn nothing(&self, statement: usize, name: &str) -> TransactionError {
        TransactionError::Effect(format!(
            "wrong effect: statement {} of \"{}\" needs :{name}, which is null or was kept from no row",
            statement + 1,
            self.ready.transactions[self.current].name
        ))
    }

    /// Holds the rows of a statement against what is expected.
    ///
    /// # Errors
    /// When they are fewer or more.
    #[inline]
    pub fn check_rows(
        &self,
        statement: usize,
        rows: u64,
    ) -> std::result::Result<(), TransactionError> {
        let expected = &self.ready.transactions[self.current].statements[statement].rows;
        match expected.contains(&rows) {
            true => Ok(()),
            false => Err(self.wrong_rows(statement, rows)),
        }
    }

    #[cold]
    fn wrong_rows(&self, statement: usize, rows: u64) -> TransactionError {
        let transaction = &self.ready.transactions[self.current];
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

impl TransactionError {
    /// Whether the transaction may be tried again.
    pub fn is_conflict(&self) -> bool {
        matches!(self, TransactionError::Target(error) if error.is_conflict())
    }

    /// What the driver does about it, after `retries` retries.
    #[cold]
    pub fn into_failure(self, retries: u32) -> Failure {
        match self {
            TransactionError::Effect(message) => Failure::Operation(message),
            TransactionError::Target(error) if error.is_conflict() => Failure::Operation(format!(
                "gave up after {retries} retries: {}",
                error.message
            )),
            TransactionError::Target(error) => failure(error),
        }
    }
}

fn prepare(transaction: &ReadyTransaction, session: &mut dyn Session) -> Result<Vec<Handle>> {
    let in_place = |number: usize, mut error: TargetError| {
        let name = &transaction.name;
        error.message = format!("statement {} of \"{name}\": {}", number + 1, error.message);
        error
    };
    let mut handles = Vec::with_capacity(transaction.statements.len());
    for (number, statement) in transaction.statements.iter().enumerate() {
        let prepared = session.prepare(&statement.sql);
        let prepared = prepared.map_err(|error| in_place(number, error))?;
        for column in &statement.columns {
            let kept = session.check_kept(prepared, *column);
            kept.map_err(|error| in_place(number, error))?;
        }
        let returns = match session.columns(prepared) {
            Some(columns) => columns > 0,
            None => {
                let word = first_word(&statement.sql);
                ["select", "values", "show", "with", "table", "explain"].contains(&word.as_str())
            }
        };
        handles.push(Handle {
            statement: prepared,
            returns,
        });
    }
    Ok(handles)
}
