//! The analytical workload as steps of a plan: what they load, each query as a point, and what all of them
//! amount to: the power of one user, and the throughput of several.

mod asked;
mod load;
mod points;
mod power;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::load::Progress;
use archive::{Archive, PointKey};
use workload::olap::work::Answers;
use workload::olap::{Query, order, queries};

use crate::done::Done;
use crate::measure::Bay;
use crate::nodes::Nodes;
use crate::plan::{OlapOrder, OlapStep};
use crate::{Result, Step};

use points::Place;

/// Loads the database.
pub const LOAD: &str = "OLAP-LOAD";
/// All queries of one user, as one figure.
pub const POWER: &str = "OLAP-POWER";
/// All queries of several users at the same time.
pub const THROUGHPUT: &str = "OLAP-THROUGHPUT";

/// Title of a point.
pub fn title(code: &str) -> String {
    match (code, of_code(code)) {
        (LOAD, _) => "Analytical: load".into(),
        (POWER, _) => "Analytical: power".into(),
        (THROUGHPUT, _) => "Analytical: throughput".into(),
        (_, Some(query)) => format!("Analytical: {}", query.title),
        (other, None) => other.to_owned(),
    }
}

/// The query that a point is of.
fn of_code(code: &str) -> Option<&'static Query> {
    let number: u32 = code.strip_prefix('Q')?.parse().ok()?;
    let all = queries().ok()?;
    all.iter().find(|query| query.number == number)
}

/// The points of a step, from a key that has everything but test and jobs.
pub(crate) fn keys(olap: &OlapStep, base: &PointKey) -> Vec<PointKey> {
    let key = |code: &str, jobs: u32| PointKey {
        test: code.to_owned(),
        jobs,
        ..base.clone()
    };
    match olap.order {
        OlapOrder::Load => vec![key(LOAD, 1)],
        OlapOrder::Run => {
            let asked = order::of_stream(0, &olap.queries());
            let mut keys: Vec<_> = (asked.iter())
                .map(|number| key(&format!("Q{number}"), 1))
                .collect();
            if asked.len() > 1 {
                keys.push(key(POWER, 1));
            }
            if olap.streams() > 0 {
                keys.push(key(THROUGHPUT, olap.streams()));
            }
            keys
        }
    }
}

/// Why a target cannot do the workload at all.
pub(crate) fn obstacle(target: &Nodes) -> Option<String> {
    if target.nodes.len() > 1 {
        return Some("one database is asked as a whole; the nodes of a cluster are several".into());
    }
    workload::olap::obstacle(&target.engine)
}

/// Whether a point with this code is of the workload.
pub(crate) fn owns(code: &str) -> bool {
    [LOAD, POWER, THROUGHPUT].contains(&code) || of_code(code).is_some()
}

/// Measures the points of these steps, and enters them.
pub(crate) struct Desk<'a> {
    bay: &'a Bay<'a>,
    run: i64,
    /// What the first target answered, for each repetition and step: the others are held against it.
    answers: Mutex<HashMap<(u32, u32), Arc<Answers>>>,
}

impl<'a> Desk<'a> {
    /// Nothing done yet.
    pub fn new(bay: &'a Bay<'a>, run: i64) -> Self {
        Self {
            bay,
            run,
            answers: Mutex::default(),
        }
    }

    /// Does what a key asks for.
    ///
    /// # Errors
    /// The archive.
    pub fn serve(
        &self,
        archive: &mut Archive,
        (step, olap): (&Step, &OlapStep),
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        let place = Place {
            bay: self.bay,
            step,
            olap,
            key,
            answers: self.answers_of(key),
        };
        let measured = match key.test.as_str() {
            LOAD => load::load(&place),
            POWER => {
                let is_query = |query: &PointKey| power::is_query_of(query, key);
                power::power(&place, &archive.load_points(self.run, &is_query)?)
            }
            _ => asked::asked(&place, progress),
        };
        let points = match measured.into_points() {
            Ok(points) => points,
            Err(done) => return Ok(done),
        };
        archive.append_points(self.run, &points)?;
        Ok(Done::Entered(points))
    }

    fn answers_of(&self, key: &PointKey) -> Arc<Answers> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(answers.entry((key.repetition, key.step)).or_default())
    }
}
