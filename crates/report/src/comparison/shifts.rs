//! Before and after, below a database, for a terminal.

use archive::Section;
use verdict::shift::Shift;

use super::{Shown, in_terminal};
use crate::shifted;

const ROWS_MAX: usize = 40;

/// The comparison of two runs below a database; empty if neither has times by operation.
pub fn shifts(compared: &[Shift], shown: Shown) -> String {
    if compared.is_empty() {
        return String::new();
    }
    // For a database only the whole time at the device is listed; its parts are on the page and in the JSON.
    let is_part = |shift: &&Shift| shift.is_of_database && shift.phase != "whole" && !shown.all;
    let listed = compared.iter().filter(|shift| !is_part(shift));
    let (own, unissued): (Vec<&Shift>, Vec<&Shift>) = listed.partition(|shift| shift.is_issued);
    let sentences = std::iter::once(shifted::TIMES).chain(shifted::factors(compared));
    let sentences = sentences.map(str::to_owned);
    let mut sections = vec![sentences.chain(shifted::caution(compared)).fold(
        section("Before and after: storage I/O times", &own, shown),
        Section::sentence,
    )];
    if !unissued.is_empty() {
        sections.push(section(
            "Operations that these tests do not issue",
            &unissued,
            shown,
        ));
    }
    format!("\n{}", in_terminal(&sections, shown))
}

fn section(title: &str, listed: &[&Shift], shown: Shown) -> Section {
    let most = if shown.all { usize::MAX } else { ROWS_MAX };
    let title_of = |shift: &Shift| format!("{}, {}", shift.test, shifted::jobs(shift));
    let section = Section::new(title).table(shifted::table(listed, most, title_of));
    match listed.len().saturating_sub(most) {
        0 => section,
        more => section.sentence(format!("… and {more} more")),
    }
}
