//! Expected answers of queries: known ones, or those of the first target of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Answer, Query, Right};

/// Answers of the first target of a run, for comparison with the other targets if no right ones are known.
#[derive(Debug, Default)]
pub struct Answers(Mutex<HashMap<String, Arc<Right>>>);

pub(super) struct Question {
    pub query: &'static Query,
    pub sql: String,
    /// Queries of equal keys have equal answers.
    pub key: String,
    pub is_compared: bool,
    pub known: Option<Arc<Right>>,
    pub engine: String,
}

impl Answers {
    /// Shared instead of copied: answers are compared during the measurement, and some have thousands of rows.
    pub(super) fn right(&self, question: &Question) -> Option<Arc<Right>> {
        let known = question.known.clone();
        known.or_else(|| self.stored().get(&question.key).cloned())
    }

    fn stored(&self) -> MutexGuard<'_, HashMap<String, Arc<Right>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares an answer with the right one; if none is known, the first becomes it.
    pub(super) fn judge(
        &self,
        question: &Question,
        answer: &Answer,
    ) -> std::result::Result<(), String> {
        let wrong = match self.right(question) {
            _ if !question.is_compared => None,
            Some(right) => answer.wrong(question.query, &right),
            None => {
                let first = Right {
                    answer: answer.rounded(question.query),
                    unknown_column: None,
                    from: format!("the first answer of this run, by {}", question.engine),
                };
                let mut answers = self.stored();
                answers
                    .entry(question.key.clone())
                    .or_insert(Arc::new(first));
                None
            }
        };
        match wrong {
            None => Ok(()),
            Some(what) => Err(format!("wrong answer: {what}")),
        }
    }
}
