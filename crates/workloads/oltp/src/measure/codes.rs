//! Codes of the points.

use archive::{Point, PointKey};

use crate::Kind;

pub const LOAD: &str = "OLTP-LOAD";

/// Check as a step of its own.
pub const CHECK: &str = "OLTP-CHECK";

/// Check before users work.
pub const BEFORE: &str = "OLTP-BEFORE";

/// All transactions of a level.
pub const TOTAL: &str = "OLTP";

pub const AFTER: &str = "OLTP-AFTER";

pub fn code_of(kind: Kind) -> String {
    kind.name().to_uppercase()
}

pub(crate) fn codes_of_a_level() -> impl Iterator<Item = String> {
    std::iter::once(TOTAL.to_owned()).chain(Kind::ALL.map(code_of))
}

pub fn title(code: &str) -> String {
    let kind = Kind::ALL.into_iter().find(|kind| code_of(*kind) == code);
    match (code, kind) {
        (LOAD, _) => "Order entry: load".into(),
        (CHECK, _) => "Order entry: consistency".into(),
        (BEFORE, _) => "Order entry: consistency before".into(),
        (AFTER, _) => "Order entry: consistency after".into(),
        (_, Some(kind)) => format!("Order entry: {}", kind.name()),
        _ => "Order entry: all transactions".into(),
    }
}

pub(crate) fn is_sound(points: &[Point]) -> bool {
    points.iter().all(Point::valid)
}

/// A step on a target in a repetition.
pub(crate) type Ramp = (u32, u32, u32);

pub(crate) fn ramp_of(key: &PointKey) -> Ramp {
    (key.repetition, key.step, key.target)
}

pub(crate) fn is_of_a_level(key: &PointKey) -> bool {
    ![LOAD, CHECK, BEFORE, AFTER].contains(&key.test.as_str())
}
