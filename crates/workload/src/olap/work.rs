//! Streams of queries at work, for whoever drives them; every answer is compared when it comes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use load::{Done, Failure, Operator};
use serde::{Deserialize, Serialize};
use target::{Cooled, Session, Target};

use super::check::is_of_the_query;
use super::metadata::Metadata;
use super::{Answer, OlapError, Parameters, Query, Result, Right, Scale, Source, query, reference};
use crate::bench::Meter;
use crate::exercise::{Worker, failure};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// The scale that the database must have; any when nothing is said.
    pub scale: Option<Scale>,
    /// Where parameters come from.
    pub source: Source,
    /// Seed of those that are drawn.
    pub seed: u64,
    /// A query that takes longer is ended.
    pub limit: Option<Duration>,
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

/// Answers that the first target of a run gave, against which those of the others are held where no right
/// ones are known.
#[derive(Debug, Default)]
pub struct Answers(Mutex<HashMap<String, Right>>);

/// A database, and what is asked of it.
pub struct Work {
    target: Arc<dyn Target>,
    engine: String,
    asked: Asked,
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
        asked: Asked,
        answers: Arc<Answers>,
    ) -> Result<Self> {
        query::tables(engine)?;
        let mut session = target.open_session()?;
        let scale = Metadata::of_whole(session.as_mut())?.scale;
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

    /// Brings the caches into a state, and gives the words for what was achieved. Where the parameters of the
    /// query are drawn and its right answer with others is known, it is asked with those before.
    ///
    /// # Errors
    /// When the target is gone; what is wrong with the query is the inner error, a sentence.
    pub fn prepare(
        &self,
        number: u32,
        cache: Cache,
    ) -> Result<std::result::Result<String, String>> {
        if self.asked.source == Source::Seeded && reference::is_known(self.scale) {
            let qualified = self.question(number, Source::Qualification, 0)?;
            if let Err(wrong) = self.ask_once(&qualified)? {
                return Ok(Err(format!(
                    "wrong with the parameters of the qualification: {wrong}"
                )));
            }
        }
        if cache == Cache::Cold {
            return Ok(Ok(match self.target.cool()? {
                Cooled::Cold => "cold".to_owned(),
                Cooled::Lukewarm(why) => format!("lukewarm: {why}"),
            }));
        }
        let question = self.question(number, self.asked.source, 0)?;
        Ok(self.ask_once(&question)?.map(|()| "warm".to_owned()))
    }

    /// One operator a stream, which asks its queries one after the other.
    ///
    /// # Errors
    /// When a session cannot be opened, or the library is wrong.
    pub fn operators(
        &self,
        streams: &[Vec<u32>],
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn Operator>>> {
        let mut operators: Vec<Box<dyn Operator>> = Vec::with_capacity(streams.len());
        for (stream, numbers) in (0..).zip(streams) {
            let questions = numbers
                .iter()
                .map(|number| self.question(*number, self.asked.source, stream))
                .collect::<Result<Vec<_>>>()?;
            operators.push(Box::new(Stream {
                worker: Worker::new(self.session()?, meter),
                is_alone: questions.len() == 1,
                questions,
                answers: Arc::clone(&self.answers),
                has_failed: false,
            }));
        }
        Ok(operators)
    }

    /// What its answers are compared with, in words.
    pub fn comparison(&self, number: u32) -> Result<String> {
        let question = self.question(number, self.asked.source, 0)?;
        Ok(match self.answers.right(&question) {
            Some(right) => format!("every answer was compared with {}", right.from),
            None => "no right answer is known for this scale and these parameters: answers were \
                     compared with each other"
                .to_owned(),
        })
    }

    fn question(&self, number: u32, source: Source, stream: u32) -> Result<Question> {
        let query = Query::numbered(number)?;
        let parameters = Parameters::of(source, number, self.scale, self.asked.seed, stream);
        let known = match source {
            Source::Qualification => reference::known(query, self.scale),
            Source::Seeded => None,
        };
        Ok(Question {
            query,
            sql: query.sql(&self.engine, &parameters)?,
            key: format!("{} {number} {}", self.scale, parameters.words()),
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
        match session.texts(&question.sql) {
            Ok(rows) => Ok(self.answers.judge(question, &Answer::of(rows))),
            Err(error) if is_of_the_query(error.kind) => Ok(Err(error.message)),
            Err(error) => Err(error.into()),
        }
    }
}

/// A query as it is sent, and what is known of its answer.
struct Question {
    query: &'static Query,
    sql: String,
    /// What makes its answer the same.
    key: String,
    known: Option<Right>,
    engine: String,
}

impl Answers {
    fn right(&self, question: &Question) -> Option<Right> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = question.known.clone();
        known.or_else(|| kept.get(&question.key).cloned())
    }

    /// Compares an answer with the right one; where none is known the first becomes it.
    fn judge(&self, question: &Question, answer: &Answer) -> std::result::Result<(), String> {
        let wrong = match self.right(question) {
            Some(right) => answer.wrong(question.query, &right),
            None => {
                let first = Right {
                    answer: answer.rounded(question.query),
                    unknown_column: None,
                    from: format!("the first answer of this run, by {}", question.engine),
                };
                let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                kept.entry(question.key.clone()).or_insert(first);
                None
            }
        };
        match wrong {
            None => Ok(()),
            Some(what) => Err(format!("wrong answer: {what}")),
        }
    }
}

/// One user's queries.
struct Stream {
    worker: Worker,
    questions: Vec<Question>,
    answers: Arc<Answers>,
    /// A query that is asked again and again is not, once it failed: it may take its whole limit each time.
    is_alone: bool,
    has_failed: bool,
}

impl Stream {
    fn ask(&mut self, place: usize) -> std::result::Result<Done, Failure> {
        let question = &self.questions[place];
        let rows = self.worker.session.texts(&question.sql);
        let answer = Answer::of(rows.map_err(failure)?);
        let judged = self.answers.judge(question, &answer);
        judged.map_err(Failure::Operation)?;
        Ok(Done {
            rows: answer.rows.len() as u64,
            ..Done::default()
        })
    }
}

impl Operator for Stream {
    fn operate(&mut self, index: u64) -> std::result::Result<Done, Failure> {
        if self.is_alone && self.has_failed {
            return Err(Failure::Exhausted);
        }
        let place = (index % self.questions.len().max(1) as u64) as usize;
        let outcome = self.ask(place);
        self.has_failed |= outcome.is_err();
        outcome.map_err(|failure| match failure {
            Failure::Operation(what) if !self.is_alone => {
                Failure::Operation(format!("{}: {what}", self.questions[place].query.code()))
            }
            other => other,
        })
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
    }
}
