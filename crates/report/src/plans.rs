//! Comparison of a query's plans over the degrees of parallelism.

use std::collections::BTreeSet;

use crate::level::Curve;

/// A sentence for a curve with known plans at several degrees.
pub fn sentence(curve: &Curve<'_>) -> Option<String> {
    let known: Vec<(u32, &str)> = (curve.levels.iter())
        .filter_map(|level| Some((level.dop(), level.first().work.plan.as_deref()?)))
        .collect();
    let plans: BTreeSet<&str> = known.iter().map(|(_, plan)| *plan).collect();
    let (_, one) = known.first().filter(|_| known.len() > 1)?;
    if plans.len() == 1 {
        return Some(format!("Same execution plan at every DOP ({one})."));
    }
    let each: Vec<String> = known
        .iter()
        .map(|(dop, plan)| format!("DOP {dop} {plan}"))
        .collect();
    Some(format!(
        "The execution plan depends on the DOP: {}.",
        each.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use archive::{Component, Point, PointKey};

    use super::*;
    use crate::level::Level;

    fn point(threads: u32, plan: Option<&str>) -> Point {
        let key = PointKey {
            threads,
            ..PointKey::of("Q1", 1)
        };
        let mut point = Point::blank(key, "Q1".into(), Component::Database);
        point.work.plan = plan.map(str::to_owned);
        point
    }

    fn said(points: &[Point]) -> Option<String> {
        let level = |point| Level {
            number: 1,
            points: vec![point],
        };
        sentence(&Curve {
            target: 0,
            step: 1,
            label: "d".into(),
            levels: points.iter().map(level).collect(),
        })
    }

    #[test]
    fn plans_are_compared_over_several_degrees() {
        let [two, four] = [point(2, Some("a1")), point(4, Some("a1"))];
        let other = point(8, Some("b2"));
        assert_eq!(said(std::slice::from_ref(&two)), None);
        assert_eq!(said(&[two.clone(), point(4, None)]), None);
        let same = said(&[two.clone(), four]).unwrap();
        assert_eq!(same, "Same execution plan at every DOP (a1).");
        let differ = said(&[two, other]).unwrap();
        assert!(differ.contains("DOP 2 a1, DOP 8 b2"), "{differ}");
    }
}
