//! Two sentences that differ in one number, joined: "46–107 ms".

use std::collections::BTreeMap;
use std::fmt;

use super::parts::{
    BracketEnd, Broken, LimitChanged, PendingWrites, RateTried, Reconciled, RoundsRole,
    RoundsWindow,
};

/// Text of a field in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Text(String),
    Number(f64),
    /// From the lower to the higher.
    Span(f64, f64),
}

/// A field of a remark, or a word that its sentence derives.
pub(super) trait Field {
    fn argument(&self) -> Argument;
}

impl Field for f64 {
    fn argument(&self) -> Argument {
        Argument::Number(*self)
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Field for $type {
            fn argument(&self) -> Argument {
                Argument::Number(*self as f64)
            }
        })*
    };
}
numbers!(u32, u64);

macro_rules! texts {
    ($($type:ty),*) => {
        $(impl Field for $type {
            fn argument(&self) -> Argument {
                Argument::Text(self.to_string())
            }
        })*
    };
}
texts!(String, &str, bool);

/// Types that are never shown directly, and only have to be distinguished.
macro_rules! opaque {
    ($($type:ty),*) => {
        $(impl Field for $type {
            fn argument(&self) -> Argument {
                Argument::Text(format!("{self:?}"))
            }
        })*
    };
}
opaque!(
    Option<f64>,
    Option<u64>,
    Option<String>,
    Vec<f64>,
    Vec<u32>,
    Vec<String>,
    Vec<LimitChanged>,
    Vec<RateTried>,
    Vec<Broken>,
    Vec<BracketEnd>,
    BTreeMap<String, Vec<String>>,
    BTreeMap<String, u64>,
    PendingWrites,
    Box<Reconciled>,
    RoundsRole,
    RoundsWindow
);

impl<T: fmt::Display> Field for Box<T> {
    fn argument(&self) -> Argument {
        Argument::Text(self.to_string())
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Span(low, high) => {
                let words = |number: f64| match (f.precision(), f.sign_plus()) {
                    (Some(digits), true) => format!("{number:+.digits$}"),
                    (Some(digits), false) => format!("{number:.digits$}"),
                    (None, _) => number.to_string(),
                };
                let (low, high) = (words(*low), words(*high));
                if low == high {
                    f.write_str(&low)
                } else {
                    write!(f, "{low}–{high}")
                }
            }
        }
    }
}

/// The fields of two remarks as one; `None` unless their first number alone differs.
pub(super) fn first_number_between(
    one: Vec<Argument>,
    other: Vec<Argument>,
) -> Option<Vec<Argument>> {
    let is_number = |argument: &Argument| matches!(argument, Argument::Number(_));
    let first = one.iter().position(is_number);
    let differ = |at: usize| one.get(at) != other.get(at);
    let is_same = (0..one.len()).all(|at| Some(at) == first || !differ(at));
    is_same.then(|| between(one, other))?
}

/// `None` if anything but numbers differs.
pub(super) fn between(one: Vec<Argument>, other: Vec<Argument>) -> Option<Vec<Argument>> {
    let pair = |(one, other): (Argument, Argument)| match (one, other) {
        (one, other) if one == other => Some(one),
        (Argument::Number(a), Argument::Number(b)) => Some(Argument::Span(a.min(b), a.max(b))),
        _ => None,
    };
    one.into_iter().zip(other).map(pair).collect()
}
