//! Differences in configuration between the run and its comparisons.

use archive::Run;
use askama::Template;
use verdict::difference::{Difference, differences};

use super::inventory::readable;
use crate::number;
use crate::scorecard::Against;

/// Most rows of a table: a page is read; `dbdyno compare` has the rest.
const DIFFERENCES_MAX: usize = 200;
#[derive(Template)]
#[template(path = "differences.html", whitespace = "minimize")]
pub struct View {
    others: Vec<Differs>,
}

struct Differs {
    other: String,
    rows: Vec<[String; 3]>,
    more: usize,
}

pub fn view(run: &Run, against: &[Against<'_>]) -> View {
    let others = against.iter().filter_map(|other| match other {
        Against::Run(other) => Some(differs(run, other)),
        Against::Reference(_) => None,
    });
    View {
        others: others.collect(),
    }
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }
}

fn differs(run: &Run, other: &Run) -> Differs {
    let all = differences(run, other);
    let known = |subject: &str, value: &Option<String>| match value.as_deref() {
        None | Some("") => number::UNKNOWN.to_owned(),
        Some(value) => readable(subject, value),
    };
    let row = |d: &Difference| {
        let subject = d.subject.strip_suffix(" bytes").unwrap_or(&d.subject);
        let (a, b) = (known(&d.subject, &d.a), known(&d.subject, &d.b));
        [subject.to_owned(), a, b]
    };
    Differs {
        other: other.label.clone(),
        rows: all.iter().take(DIFFERENCES_MAX).map(row).collect(),
        more: all.len().saturating_sub(DIFFERENCES_MAX),
    }
}
