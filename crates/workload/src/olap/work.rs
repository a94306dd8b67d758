//! Streams of queries at work, for whoever drives them; every answer is compared when it comes.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use archive::{CacheState, Execution, Remark};
use host::HostWatch;
use load::BlockingClient;
use serde::{Deserialize, Serialize};
use target::{Cooled, Session, Target};

pub use super::answers::Answers;
use super::answers::Question;
use super::check::is_of_the_query;
use super::clients::{InRounds, Refresher, Stream};
use super::metadata::Metadata;
use super::refresh::{Function, Statements};
use super::restore;
use super::{Answer, OlapError, Parameters, Query, Result, Scale, Source, order, query, reference};
use crate::bench::Meter;
use crate::exercise::Worker;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkOptions {
    /// The scale that the database must have; any when nothing is said.
    pub scale: Option<Scale>,
    /// Where parameters come from.
    pub source: Source,
    /// Seed of those that are drawn.
    pub seed: u64,
    /// A query that takes longer is ended.
    pub limit: Option<Duration>,
    pub rows: Rows,
}

/// The rows that queries meet, on which it depends what their answers can be compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rows {
    /// Those that were loaded, and no others.
    #[default]
    AsLoaded,
    /// New orders came in: nobody knows the right answers, but they are the same each time.
    Refreshed,
    /// Orders come and go meanwhile.
    Changing,
}

/// State of the caches before a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// It was asked once before.
    #[default]
    Warm,
    /// Neither engine nor kernel have its data in memory, as far as the target can see to that.
    Cold,
}

/// A database, and what is asked of it.
pub struct Work {
    target: Arc<dyn Target>,
    engine: String,
    asked: WorkOptions,
    scale: Scale,
    answers: Arc<Answers>,
}

impl Work {
    /// Looks at the database.
    ///
    /// # Errors
    /// When it is not whole, or of another scale.
    pub fn open(
        target: Arc<dyn Target>,
        engine: &str,
        asked: WorkOptions,
        answers: Arc<Answers>,
    ) -> Result<Self> {
        query::tables(engine)?;
        let mut session = target.open_session()?;
        let metadata = match asked.rows {
            Rows::AsLoaded => Metadata::as_loaded(session.as_mut())?,
            Rows::Refreshed | Rows::Changing => Metadata::of_whole(session.as_mut())?,
        };
        let scale = metadata.scale;
        drop(session);
        match asked.scale {
            Some(wanted) if wanted != scale => Err(OlapError::Other {
                what: "scale",
                there: scale.to_string(),
                asked: wanted.to_string(),
            }),
            _ => Ok(Self {
                target,
                engine: engine.to_owned(),
                asked,
                scale,
                answers,
            }),
        }
    }

    /// The scale that is loaded.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Brings the caches into a state, and gives the words for what was achieved; as [`Work::verify`] before.
    ///
    /// # Errors
    /// When the target is gone; what is wrong with the query is the inner error, a sentence.
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

    /// Asks a query with other parameters than its own, where its right answer with those is known and with its own says
    /// less. The inner error says what is wrong with its answer.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn verify(&self, number: u32) -> Result<std::result::Result<(), String>> {
        if self.asked.rows != Rows::AsLoaded {
            return Ok(Ok(()));
        }
        if self.asked.source == Source::Seeded
            && reference::is_known(self.scale)
            && let Err(wrong) = self.qualify(number)?
        {
            return Ok(Err(wrong));
        }
        self.probe(number)
    }

    /// Asks a query once; the inner error says what is wrong with its answer.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn warm(&self, number: u32) -> Result<std::result::Result<(), String>> {
        self.ask_once(&self.question(number, self.asked.source, 0)?)
    }

    /// Empties the caches as far as the target can.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn cool(&self) -> Result<CacheState> {
        Ok(match self.target.cool()? {
            Cooled::Cold => CacheState::Cold,
            Cooled::Lukewarm(why) => CacheState::Lukewarm(why),
        })
    }

    /// Asks a query with the parameters of the qualification; the inner error says what is wrong with its answer.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn qualify(&self, number: u32) -> Result<std::result::Result<(), String>> {
        let asked = self.ask_once(&self.question(number, Source::Qualification, 0)?)?;
        Ok(asked.map_err(|wrong| format!("with the qualification parameters: {wrong}")))
    }

    /// Asks a query with the parameters of its probe, if it has one; the inner error says what is wrong with its answer.
    ///
    /// # Errors
    /// When the target is gone.
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
        let asked = self.ask_once(&question)?;
        Ok(asked.map_err(|wrong| format!("with {}: {wrong}", parameters.words())))
    }

    /// Notes that the refresh sets up to `sets` are going to change rows.
    ///
    /// # Errors
    /// When rows are changed already, or the target fails.
    pub fn note_refresh(&self, sets: u32) -> Result<()> {
        restore::note_refresh(self.target.open_session()?.as_mut(), sets)
    }

    /// A client that carries out refresh functions, each with its set, one after the other.
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
        Ok(Box::new(Refresher {
            worker: Worker::new(session, meter),
            statements,
            functions,
            scale: self.scale,
            stop,
        }))
    }

    /// One client a stream, which asks its queries one after the other.
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

    /// A client that asks the queries of a stream in rounds, and keeps each execution.
    ///
    /// # Errors
    /// When a session cannot be opened, or the library is wrong.
    pub fn rounds<'s>(
        &self,
        stream: &order::Stream,
        meter: &Arc<Meter>,
        (executions, watch): (&'s Mutex<Vec<Execution>>, &'s HostWatch),
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
            .map(|query| self.question(*query, self.asked.source, stream.number))
            .collect::<Result<Vec<_>>>()?;
        Ok(Stream {
            worker: Worker::new(self.session()?, meter),
            questions,
            answers: Arc::clone(&self.answers),
            has_failed: false,
        })
    }

    /// What its answers are compared with, in words.
    pub fn comparison(&self, number: u32) -> Result<Remark> {
        let question = self.question(number, self.asked.source, 0)?;
        Ok(match self.answers.right(&question) {
            _ if self.asked.rows == Rows::Changing => Remark::AnswersChanging,
            Some(right) => Remark::AnswersCompared {
                with: right.from.to_string(),
            },
            None => Remark::AnswersAlike,
        })
    }

    /// The steps of a query with its own parameters, as far as the engine tells them; what is wrong with the query
    /// is the inner error, a sentence.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn plan(&self, number: u32) -> Result<std::result::Result<Option<String>, String>> {
        self.with_question(number, |session, sql| session.plan(sql))
    }

    /// Workers that a query gets beside its session, in one more execution; as [`Work::plan`].
    ///
    /// # Errors
    /// When the target is gone.
    pub fn workers(&self, number: u32) -> Result<std::result::Result<Option<u32>, String>> {
        self.with_question(number, |session, sql| session.workers(sql))
    }

    fn with_question<T>(
        &self,
        number: u32,
        work: impl FnOnce(&mut dyn Session, &str) -> target::Result<T>,
    ) -> Result<std::result::Result<T, String>> {
        let question = self.question(number, self.asked.source, 0)?;
        of_the_query(work(self.session()?.as_mut(), &question.sql))
    }

    fn question(&self, number: u32, source: Source, stream: u32) -> Result<Question> {
        let query = Query::numbered(number)?;
        let parameters = Parameters::of(source, number, self.scale, self.asked.seed, stream);
        let known = match (source, self.asked.rows) {
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
                self.asked.rows,
                parameters.words()
            ),
            is_compared: self.asked.rows != Rows::Changing,
            known,
            engine: self.engine.clone(),
        })
    }

    fn session(&self) -> Result<Box<dyn Session>> {
        let mut session = self.target.open_session()?;
        if self.asked.limit.is_some() {
            session.limit_statements(self.asked.limit)?;
        }
        Ok(session)
    }

    fn ask_once(&self, question: &Question) -> Result<std::result::Result<(), String>> {
        let mut session = self.session()?;
        let rows = of_the_query(session.texts(&question.sql))?;
        Ok(rows.and_then(|rows| self.answers.judge(question, &Answer::of(rows))))
    }
}

/// What is wrong with one query is told; what is wrong with the target is an error.
fn of_the_query<T>(outcome: target::Result<T>) -> Result<std::result::Result<T, String>> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(error) if is_of_the_query(error.kind) => Ok(Err(error.message)),
        Err(error) => Err(error.into()),
    }
}
