//! The remarks of all topics as one type.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::parts::{
    BracketEnd, Broken, LimitChanged, PendingWrites, RateTried, Reconciled, RoundsRole,
    RoundsWindow,
};
use super::{fields, words};

/// One kind of remark. It makes a point invalid by its location among the reasons, not by its kind.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    variant: &'static str,
    /// Names and types, as Rust has them.
    pub fields: &'static [(&'static str, &'static str)],
    about: &'static str,
}

workloads! {}

impl Kind {
    /// The name in archives and exports, which never changes.
    pub fn code(&self) -> String {
        fields::code_of(self.variant)
    }

    pub fn about(&self) -> &'static str {
        self.about.trim()
    }
}

impl Remark {
    /// A remark whose code this version does not know, as its sentence.
    pub(crate) fn of_unknown_code(text: String) -> Self {
        Self::Text { text }
    }
}
