//! Clients that execute streams of queries; every answer is compared on arrival.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use archive::{CacheState, Execution, Remark};
use engine::{Cooled, Session, Target};
use host::HostWatch;
use load::{BlockingClient, Done, Failure};
use serde::{Deserialize, Serialize};
use workload::bench::Meter;
use workload::exercise::Worker;

pub use super::answers::Answers;
use super::answers::Question;
use super::check::is_of_the_query;
use super::clients::{InRounds, Stream};
use super::metadata::Metadata;
use super::refresh::{Function, RefreshSet, Statements};
use super::{
    Answer, OlapError, Parameters, Query, Result, Scale, Source, order, query, reference, restore,
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkOptions {
    /// Required scale of the database (default: any).
    pub scale: Option<Scale>,
    pub source: Source,
    pub seed: u64,
    pub limit: Option<Duration>,
    pub rows: Rows,
}

/// State of the rows, which determines the right answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rows {
    #[default]
    AsLoaded,
    /// New orders were inserted: the right answers are unknown, but they are the same each time.
    Refreshed,
    /// Orders are inserted and deleted meanwhile.
    Changing,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The query ran once before.
    #[default]
    Warm,
    /// Neither engine nor kernel has the data in memory, as far as the target can ensure that.
    Cold,
}

pub struct Work {
    target: Arc<dyn Target>,
    engine: String,
    options: WorkOptions,
    scale: Scale,
    answers: Arc<Answers>,
}

impl Work {
    /// # Errors
    /// When the database is incomplete or of another scale.
    pub fn open(
        target: Arc<dyn Target>,
        engine: &str,
        options: WorkOptions,
        answers: Arc<Answers>,
    ) -> Result<Self> {
        query::tables(engine)?;
        let mut session = target.open_session()?;
        let metadata = match options.rows {
            Rows::AsLoaded => Metadata::as_loaded(session.as_mut())?,
            Rows::Refreshed | Rows::Changing => Metadata::of_whole(session.as_mut())?,
        };
        let scale = metadata.scale;
        drop(session);
        match options.scale {
            Some(wanted) if wanted != scale => Err(OlapError::Other {
                what: "scale",
                there: scale.to_string(),
                requested: wanted.to_string(),
            }),
            _ => Ok(Self {
                target,
                engine: engine.to_owned(),
                options,
                scale,
                answers,
            }),
        }
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Prepares the caches and returns the achieved state; with checks like [`Work::verify`].
    ///
    /// # Errors
    /// When the target is gone; the inner error is a sentence about the query.
    pub fn prepare(
        &self,
        number: u32,
        cache: Cache,
    ) -> Result<std::result::Result<CacheState, String>> {
        if let Err(wrong) = self.verify(number)? {
            return Ok(Err(wrong));
        }
        match cache {
            Cache::Cold => self.cool().map(Ok),
            Cache::Warm => Ok(self.warm(number)?.map(|()| CacheState::Warm)),
        }
    }

    /// Runs a query with other than its own parameters, if only their right answer is known and conclusive. The inner
    /// error is a sentence about the answer.
    pub fn verify(&self, number: u32) -> Result<std::result::Result<(), String>> {
        if self.options.rows != Rows::AsLoaded {
            return Ok(Ok(()));
        }
        if self.options.source == Source::Seeded
            && reference::is_known(self.scale)
            && let Err(wrong) = self.qualify(number)?
        {
            return Ok(Err(wrong));
        }
        self.probe(number)
    }

    /// Runs a query once; the inner error is a sentence about its answer.
    pub fn warm(&self, number: u32) -> Result<std::result::Result<(), String>> {
        self.ask_once(&self.question(number, self.options.source, 0)?)
    }

    pub fn cool(&self) -> Result<CacheState> {
        Ok(match self.target.cool()? {
            Cooled::Cold => CacheState::Cold,
            Cooled::Lukewarm(why) => CacheState::Lukewarm(why),
        })
    }

    /// Runs a query with the qualification parameters; the inner error is a sentence about its answer.
    pub fn qualify(&self, number: u32) -> Result<std::result::Result<(), String>> {
        let answer = self.ask_once(&self.question(number, Source::Qualification, 0)?)?;
        Ok(answer.map_err(|wrong| format!("with the qualification parameters: {wrong}")))
    }

    fn probe(&self, number: u32) -> Result<std::result::Result<(), String>> {
        let query = Query::numbered(number)?;
        let Some((parameters, right)) = reference::probe(query, self.scale) else {
            return Ok(Ok(()));
        };
        let question = Question {
            query,
            sql: query.sql(&self.engine, &parameters)?,
            key: format!("probe {number}"),
            is_compared: true,
            known: Some(Arc::new(right)),
            engine: self.engine.clone(),
        };
        let answer = self.ask_once(&question)?;
        Ok(answer.map_err(|wrong| format!("with {}: {wrong}", parameters.words())))
    }

    /// Marks rows as changed by the refresh sets up to `sets`.
    ///
    /// # Errors
    /// When rows are already changed, or the target fails.
    pub fn note_refresh(&self, sets: u32) -> Result<()> {
        restore::note_refresh(self.target.open_session()?.as_mut(), sets)
    }

    /// Client that executes refresh functions, each with its set, one after the other.
    ///
    /// # Errors
    /// When its session cannot be opened.
    pub fn refresher<'s>(
        &self,
        functions: Vec<(Function, u32)>,
        meter: &Arc<Meter>,
        stop: &'s AtomicBool,
    ) -> Result<Box<dyn BlockingClient + 's>> {
        let mut session = self.session()?;
        let statements = Statements::prepare(session.as_mut())?;
        let scale = self.scale;
        Ok(Worker::new(session, meter).client(move |worker, request| {
            let next = functions.get(request.index as usize).copied();
            let (function, number) = next.ok_or(Failure::Exhausted)?;
            let set = RefreshSet { scale, number };
            let (rows, retries) =
                worker.transact(|session| statements.carry_out(session, function, set, stop))?;
            Ok(Done {
                rows,
                retries,
                ..Done::default()
            })
        }))
    }

    /// One client per stream, which runs its queries one after the other.
    ///
    /// # Errors
    /// When a session cannot be opened, or the library is wrong.
    pub fn clients(
        &self,
        streams: &[order::Stream],
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn BlockingClient>>> {
        let boxed = |stream| Ok(Box::new(self.client(stream, meter)?) as Box<dyn BlockingClient>);
        streams.iter().map(boxed).collect()
    }

    /// Client that runs the queries of a stream in rounds and records each execution.
    ///
    /// # Errors
    /// When a session cannot be opened, or the library is wrong.
    pub fn rounds<'s>(
        &self,
        stream: &order::Stream,
        meter: &Arc<Meter>,
        executions: &'s Mutex<Vec<Execution>>,
        watch: &'s HostWatch,
    ) -> Result<Box<dyn BlockingClient + 's>> {
        Ok(Box::new(InRounds {
            stream: self.client(stream, meter)?,
            target: Arc::clone(&self.target),
            watch,
            executions,
        }))
    }

    fn client(&self, stream: &order::Stream, meter: &Arc<Meter>) -> Result<Stream> {
        let questions = (stream.queries.iter())
            .map(|query| self.question(*query, self.options.source, stream.number))
            .collect::<Result<Vec<_>>>()?;
        Ok(Stream {
            worker: Worker::new(self.session()?, meter),
            questions,
            answers: Arc::clone(&self.answers),
            has_failed: false,
        })
    }

    /// Remark about the source of the right answer.
    pub fn comparison(&self, number: u32) -> Result<Remark> {
        let question = self.question(number, self.options.source, 0)?;
        Ok(match self.answers.right(&question) {
            _ if self.options.rows == Rows::Changing => Remark::AnswersChanging,
            Some(right) => Remark::AnswersCompared {
                with: right.from.to_string(),
            },
            None => Remark::AnswersAlike,
        })
    }

    /// Execution plan of a query with its own parameters, if the engine provides one; the inner error is a sentence
    /// about the query.
    pub fn plan(&self, number: u32) -> Result<std::result::Result<Option<String>, String>> {
        self.with_question(number, |session, sql| session.plan(sql))
    }

    /// Parallel workers of a query in one more execution, like [`Work::plan`].
    pub fn workers(&self, number: u32) -> Result<std::result::Result<Option<u32>, String>> {
        self.with_question(number, |session, sql| session.workers(sql))
    }

    fn with_question<T>(
        &self,
        number: u32,
        work: impl FnOnce(&mut dyn Session, &str) -> engine::Result<T>,
    ) -> Result<std::result::Result<T, String>> {
        let question = self.question(number, self.options.source, 0)?;
        of_the_query(work(self.session()?.as_mut(), &question.sql))
    }

    fn question(&self, number: u32, source: Source, stream: u32) -> Result<Question> {
        let query = Query::numbered(number)?;
        let parameters = Parameters::of(source, number, self.scale, self.options.seed, stream);
        let known = match (source, self.options.rows) {
            (Source::Qualification, Rows::AsLoaded) => {
                reference::known(query, self.scale).map(Arc::new)
            }
            _ => None,
        };
        Ok(Question {
            query,
            sql: query.sql(&self.engine, &parameters)?,
            key: format!(
                "{} {:?} {number} {}",
                self.scale,
                self.options.rows,
                parameters.words()
            ),
            is_compared: self.options.rows != Rows::Changing,
            known,
            engine: self.engine.clone(),
        })
    }

    fn session(&self) -> Result<Box<dyn Session>> {
        let mut session = self.target.open_session()?;
        if self.options.limit.is_some() {
            session.limit_statements(self.options.limit)?;
        }
        Ok(session)
    }

    fn ask_once(&self, question: &Question) -> Result<std::result::Result<(), String>> {
        let mut session = self.session()?;
        let rows = of_the_query(session.texts(&question.sql))?;
        Ok(rows.and_then(|rows| self.answers.judge(question, &Answer::of(rows))))
    }
}

/// An error of one query becomes the inner error; one of the target is an error.
fn of_the_query<T>(outcome: engine::Result<T>) -> Result<std::result::Result<T, String>> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(error) if is_of_the_query(error.kind) => Ok(Err(error.message)),
        Err(error) => Err(error.into()),
    }
}
