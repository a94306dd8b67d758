//! Common parts of the workload's points.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use archive::{CacheState, Component, Point, PointKey, Remark, WorkDone};
use lab::{Measured, Nodes, RunContext, Step};

use super::title;
use crate::step::OlapStep;
use crate::work::{Answers, Rows, Work, WorkOptions};
use crate::{OlapError, Scale, Source};

/// Context of a measurement: its step, and its key in the plan.
pub struct PointContext<'a> {
    pub context: &'a RunContext<'a>,
    pub step: &'a Step,
    pub olap: &'a OlapStep,
    pub key: &'a PointKey,
    pub answers: Arc<Answers>,
    pub rows: Rows,
}

impl PointContext<'_> {
    pub fn target(&self) -> &Nodes {
        &self.context.targets[self.key.target as usize]
    }

    /// # Errors
    /// When the database is incomplete or of another scale.
    pub fn work(&self) -> crate::Result<Work> {
        let target = self.target();
        let options = WorkOptions {
            scale: self.olap.scale(),
            source: self.olap.parameters,
            // All queries of a run have the same seed: the query's own number is drawn in.
            seed: self.context.seed,
            limit: Some(self.olap.query_limit()),
            rows: self.rows,
        };
        let answers = Arc::clone(&self.answers);
        Work::open(Arc::clone(target.first()), &target.engine, options, answers)
    }

    /// Scale of the loaded database, refreshed or not.
    ///
    /// # Errors
    /// When there is none, or the target fails.
    pub fn scale(&self) -> crate::Result<f64> {
        let mut session = self.target().first().open_session()?;
        let metadata = crate::Metadata::of_whole(session.as_mut())?;
        Ok(metadata.scale.factor())
    }

    /// Note if figures of this target and another one are not comparable because the scales differ.
    pub fn other_scale(&self, scale: f64) -> Option<Remark> {
        let targets = self.context.targets.iter();
        targets
            .filter(|other| other.replica().is_none())
            .find_map(|other| {
                let mut session = other.first().open_session().ok()?;
                let there = crate::Metadata::of_whole(session.as_mut())
                    .ok()?
                    .scale
                    .factor();
                (there != scale).then(|| Remark::OtherScale {
                    engine: other.engine.clone(),
                    scale,
                    other_scale: there,
                })
            })
    }

    pub fn go_on(&self) -> crate::Result<()> {
        if self.context.stop.load(Ordering::Relaxed) {
            Err(OlapError::Interrupted)
        } else {
            Ok(())
        }
    }

    pub fn blank(&self) -> Point {
        let definition = crate::fingerprint(&self.target().engine);
        let (title, component) = (title(&self.key.test), Component::Database);
        (self.context).blank(self.step, self.key.clone(), definition, title, component)
    }

    /// Maps an error to a finding about the target, the end of the run, or the interrupt.
    pub fn failed(&self, error: OlapError) -> Measured {
        match error {
            OlapError::Interrupted => Measured::Interrupted,
            OlapError::Target(error) if error.kind != engine::ErrorKind::Statement => {
                Measured::Broken(error.message)
            }
            // This is not a finding about the target: every further query would fail the same way.
            error @ (OlapError::Absent
            | OlapError::NotWhole { .. }
            | OlapError::Refreshed { .. }
            | OlapError::Other { .. }) => Measured::NotLoaded(Box::new(error)),
            error => self.without_figures(Remark::OlapFailed {
                error: error.to_string(),
            }),
        }
    }

    pub fn without_figures(&self, reason: Remark) -> Measured {
        Measured::Points(vec![Point {
            reasons: vec![reason],
            ..self.blank()
        }])
    }

    pub fn work_done(&self, scale: Scale, operations: u64, cache: CacheState) -> WorkDone {
        let parameters = match self.olap.parameters {
            Source::Qualification => "parameters of the qualification",
            Source::Seeded => "drawn parameters",
        };
        WorkDone {
            mode: "work".into(),
            size: format!("scale {scale}"),
            operations_per_job: Some(operations),
            schedule: format!("closed, {parameters}"),
            state: match self.rows {
                Rows::AsLoaded => "as loaded",
                Rows::Refreshed => "with the new orders of RF1",
                Rows::Changing => "refreshed concurrently",
            }
            .into(),
            cache,
            ..WorkDone::default()
        }
    }
}
