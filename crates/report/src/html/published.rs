//! Published results of one test next to ours: rows, single figures and timed events.

mod claims;
mod events;
mod rows;

use archive::reference::Reference;
use archive::{Block, Run, Section};

use super::section::Fragment;
use super::sweep::Rate;
use crate::level::TestGroup;
use crate::scorecard::Against;

pub(super) use rows::{is_published, rows};

/// The part of a test's section, with each reference that has results of the test; empty if they have only rows.
pub fn view(run: &Run, group: &TestGroup<'_>, rate: Rate, against: &[Against<'_>]) -> Fragment {
    let mut parts = Fragment::default();
    for reference in references(against) {
        let mut own = Fragment::default();
        let claims = claims::claims(run, group, rate, reference);
        let theirs = events::of_reference(reference, group.test);
        if claims.rows.is_empty() && theirs.is_empty() {
            continue;
        }
        own.heading(4, &format!("Published: {}", reference.title))
            .how(&format!(
                "{}. Another platform, at another time, under another database: for orientation, without a verdict.",
                reference.document
            ))
            .table("words claims", &format!("Published figures of {}", group.test), &claims);
        if !theirs.is_empty() {
            let ours = of_events("yours", &events::of_run(group, rate));
            let mut beside = Fragment::default();
            beside.add(&ours).add(&of_events("theirs", &theirs));
            own.add(&beside.block("beside"));
        }
        parts.add(&own.block("published"));
    }
    parts
}

fn of_events(whose: &str, all: &[Section]) -> Fragment {
    let mut parts = Fragment::default();
    if all.is_empty() {
        parts.how("Yours: no timed event was seen.");
    }
    for events in all {
        parts.how(&format!("{whose} · {}", events.title));
        for block in &events.blocks {
            match block {
                Block::Table(table) => parts.table(whose, &events.title, table),
                Block::Sentence(note) => parts.how(note),
                Block::Caution(_) | Block::Chart(_) => &mut parts,
            };
        }
    }
    parts.block("whose")
}

fn references<'a>(against: &'a [Against<'a>]) -> impl Iterator<Item = &'a Reference> {
    against.iter().filter_map(|against| match against {
        Against::Reference(reference) => Some(*reference),
        Against::Run(_) => None,
    })
}
