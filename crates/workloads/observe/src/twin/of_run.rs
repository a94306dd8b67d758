//! Twin of an observation in a run.

use archive::{About, Cell, Point, Run};
use engine::Footprint;

use super::error::TwinError;
use super::fit::Fit;
use super::profile::Profile;
use super::shape::Shape;

/// Plan from an observation, with its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Twin {
    pub(super) of: String,
    /// Observed engine and version.
    pub(super) engine: String,
    pub(super) profile: Profile,
    pub(super) shape: Shape,
    fit: Fit,
    /// Unobserved aspects, each with the statement that would reveal it.
    pub(super) unobserved: Vec<(String, String)>,
}

impl Twin {
    /// # Errors
    /// Reason why no twin can be made of the run.
    pub fn of(run: &Run) -> Result<Self, TwinError> {
        let observed = run.points.iter().filter(|point| !point.observed.is_empty());
        let observed: Vec<&Point> = observed.collect();
        let point = match observed.as_slice() {
            [] => return Err(TwinError::NotObserved(run.label.clone())),
            [point] => *point,
            several => return Err(TwinError::Several(run.label.clone(), several.len())),
        };
        if let Some(reason) = point.reasons.first() {
            return Err(TwinError::Invalid(reason.to_string()));
        }
        let target = &run.targets[point.key.target as usize];
        let url = engines::parse(&target.url).ok();
        let engine = url.and_then(|url| engines::find(&url).ok());
        let footprint = engine.and_then(|engine| engine.info().footprint);
        let footprint = footprint.ok_or_else(|| TwinError::Engine(target.engine.clone()))?;
        let engine = format!("{} {}", target.engine, target.engine_version);
        Self::of_point(&run.label, engine, point, footprint)
    }

    pub(super) fn of_point(
        label: &str,
        engine: String,
        point: &Point,
        footprint: Footprint,
    ) -> Result<Self, TwinError> {
        let profile = Profile::of(point, footprint.page_image_bytes)?;
        let shape = Shape::of(&profile, footprint);
        Ok(Self {
            of: label.to_owned(),
            engine,
            fit: Fit::of(&profile, &shape.means(&profile, footprint)),
            profile,
            shape,
            unobserved: unobserved(point),
        })
    }

    pub fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Concurrent sessions: as many as were in statements at once.
    pub(super) fn jobs(&self) -> u32 {
        let most = self.profile.active_sessions_max.unwrap_or(1.0);
        let mean = self.profile.active_sessions.unwrap_or(1.0);
        let jobs = most.max(mean).ceil();
        jobs.clamp(1.0, f64::from(lab::plan::JOBS_MAX)) as u32
    }

    /// Pause of a session after each transaction, so that as many sessions are in statements as were observed on
    /// average if a transaction takes as long: the rest of the time between two transactions of one session.
    pub(super) fn think_ms(&self) -> Option<f64> {
        let idle = f64::from(self.jobs()) - self.profile.active_sessions?;
        let ms = idle.max(0.0) * 1e3 / self.profile.per_s;
        (ms >= 0.01).then_some(ms.min(3.6e6))
    }
}

fn unobserved(point: &Point) -> Vec<(String, String)> {
    let of = point.observed.iter().find(|t| t.about == About::Unseen);
    let text = |cell: Option<&Cell>| match cell {
        Some(Cell::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let rows = of.iter().flat_map(|table| &table.rows);
    rows.map(|row| (text(row.first()), text(row.get(1))))
        .collect()
}
