//! Published results of one test next to ours: rows, single figures and timed events.

mod claims;
mod events;
mod rows;

use askama::Template;

use archive::Run;
use archive::reference::Reference;

use super::sweep::Rate;
use crate::level::TestGroup;
use crate::scorecard::Against;

pub(super) use rows::{is_published, rows};

/// The part of a test's section; one entry for each reference with results of the test.
#[derive(Template, Default)]
#[template(path = "published.html", whitespace = "minimize")]
pub struct View {
    code: String,
    references: Vec<OfReference>,
}

struct OfReference {
    title: String,
    document: String,
    /// Names of our curves, which each have a column next to the single figures.
    curves: Vec<String>,
    claims: Vec<claims::Claim>,
    ours: Vec<events::Events>,
    theirs: Vec<events::Events>,
}

/// Builds the part; empty if references have only rows of the test.
pub fn view(run: &Run, group: &TestGroup<'_>, rate: Rate, against: &[Against<'_>]) -> View {
    let references = references(against).filter_map(|reference| {
        let claims = claims::claims(run, group, rate, reference);
        let theirs = events::of_reference(reference, group.test);
        let ours = if theirs.is_empty() {
            Vec::new()
        } else {
            events::of_run(group, rate)
        };
        let says_something = !claims.is_empty() || !theirs.is_empty();
        says_something.then(|| OfReference {
            title: reference.title.clone(),
            document: reference.document.clone(),
            curves: group.curves.iter().map(|c| c.label.clone()).collect(),
            claims,
            ours,
            theirs,
        })
    });
    View {
        code: group.test.to_owned(),
        references: references.collect(),
    }
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }
}

fn references<'a>(against: &'a [Against<'a>]) -> impl Iterator<Item = &'a Reference> {
    against.iter().filter_map(|against| match against {
        Against::Reference(reference) => Some(*reference),
        Against::Run(_) => None,
    })
}
