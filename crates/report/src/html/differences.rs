//! Differences in configuration between the run and its comparisons.

use archive::Run;
use verdict::difference::{Difference, are_set_apart, differences};

use super::inventory::known;
use super::section::Fragment;
use crate::scorecard::Against;
use crate::section::of_texts;

/// Most rows of a table: a page is read; `dbdyno compare` has the rest.
const DIFFERENCES_MAX: usize = 200;
const HOW: &str = "Differences in plan, targets and machine. Look here first when figures differ.";

pub fn view(run: &Run, against: &[Against<'_>]) -> Fragment {
    let mut parts = Fragment::default();
    for other in against {
        if let Against::Run(other) = other {
            add(&mut parts, run, other);
        }
    }
    parts.section("differences", "Configuration differences")
}

fn add(parts: &mut Fragment, run: &Run, other: &Run) {
    let all = differences(run, other);
    let label = &other.label;
    if all.is_empty() && are_set_apart(run, other) {
        parts.sentence(&format!(
            "Only what was set for one side differs between this run and “{label}”."
        ));
        return;
    }
    if all.is_empty() {
        parts.sentence(&format!(
            "No recorded difference between this run and “{label}”."
        ));
        return;
    }
    let row = |d: &Difference| {
        let subject = d.subject.strip_suffix(" bytes").unwrap_or(&d.subject);
        let [a, b] = [&d.a, &d.b].map(|value| known(&d.subject, value));
        [subject.to_owned(), a, b]
    };
    let rows = all.iter().take(DIFFERENCES_MAX).map(row);
    let table = of_texts(&["setting", "this run", &format!("run “{label}”")], rows);
    let more = all.len().saturating_sub(DIFFERENCES_MAX);
    parts
        .how(HOW)
        .table("words", &format!("Differences from {label}"), &table)
        .more(more, "");
}
