//! Consistency check, which invalidates the measurements on a broken database.

use archive::remark::Broken;
use archive::{Archive, Missing, Point, PointKey, Remark};
use lab::Result;

use super::{AFTER, Measured, PointContext, TOTAL, is_of_a_level, ramp_of, title};
use crate::step::Check;
use crate::{Checked, Verdict};

/// Checks every condition; violations are reasons, skipped conditions are notes.
pub(super) fn check(place: &PointContext) -> Measured {
    let target = place.on;
    let is_light = place.oltp.check == Check::Light;
    let begun = std::time::Instant::now();
    let checked = match crate::check(target.first().as_ref(), &target.engine, is_light) {
        Ok(checked) => checked,
        Err(error) => return place.failed(error),
    };
    let mut point = place.blank(&place.key.test);
    point.figures.elapsed_s = Some(begun.elapsed().as_secs_f64());
    point.reasons = broken(&checked);
    point.notes = put_off(&checked);
    Measured::Points(vec![point])
}

/// Remarks on violated conditions, with their first violations.
pub fn broken(checked: &Checked) -> Vec<Remark> {
    let remark = |finding: &crate::Finding| match &finding.verdict {
        Verdict::Broken { count, places } => Some(Remark::ConditionBroken {
            condition: finding.number,
            count: *count,
            title: finding.title.to_owned(),
            places: places.clone(),
        }),
        Verdict::Holds | Verdict::PutOff(_) => None,
    };
    checked.findings.iter().filter_map(remark).collect()
}

pub fn put_off(checked: &Checked) -> Vec<Remark> {
    let remark = |finding: &crate::Finding| match &finding.verdict {
        Verdict::PutOff(why) => Some(Remark::ConditionPutOff {
            condition: finding.number,
            why: why.to_string(),
        }),
        Verdict::Holds | Verdict::Broken { .. } => None,
    };
    checked.findings.iter().filter_map(remark).collect()
}

/// Consequences of a check for the points of its step.
pub(crate) struct ConsistencyCheck<'a> {
    pub run: i64,
    pub key: &'a PointKey,
}

impl ConsistencyCheck<'_> {
    /// A database that is broken before is not measured; returns the keys that were left out.
    pub fn before(&self, archive: &mut Archive, points: &[Point]) -> Result<Vec<PointKey>> {
        if super::is_sound(points) {
            return Ok(Vec::new());
        }
        let is_ours =
            |k: &PointKey| ramp_of(k) == ramp_of(self.key) && (is_of_a_level(k) || k.test == AFTER);
        let planned = archive.planned(self.run)?;
        let finished = archive.finished(self.run)?;
        let ours: Vec<_> = planned
            .into_iter()
            .filter(|k| is_ours(k) && !finished.contains(k))
            .collect();
        let missing = Missing {
            target: self.key.target,
            test: TOTAL.into(),
            title: title(TOTAL),
            reason: Remark::UnsoundBefore,
        };
        archive.skip(self.run, &ours, &missing)?;
        Ok(ours)
    }

    /// A database that is broken afterwards invalidates the points of its users.
    pub fn after(&self, archive: &mut Archive, points: &[Point]) -> Result<()> {
        let (mut broken, mut errors) = (Vec::new(), Vec::new());
        for reason in points.iter().flat_map(|point| &point.reasons) {
            match reason {
                Remark::ConditionBroken {
                    condition, count, ..
                } => broken.push(Broken {
                    condition: *condition,
                    count: *count,
                }),
                other => errors.push(other.to_string()),
            }
        }
        if broken.is_empty() && errors.is_empty() {
            return Ok(());
        }
        let is_ours = |k: &PointKey| ramp_of(k) == ramp_of(self.key) && is_of_a_level(k);
        let ours: Vec<_> = archive
            .finished(self.run)?
            .into_iter()
            .filter(is_ours)
            .collect();
        let reason = Remark::UnsoundAfterwards { broken, errors };
        Ok(archive.invalidate(self.run, &ours, &reason)?)
    }
}
