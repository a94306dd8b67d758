//! Before and after: shifts in the times of each kind of I/O from another run to this one.

mod charts;
mod published;

use archive::Run;
use verdict::compare::Terms;
use verdict::shift::{Shift, shifts};

use super::section::Fragment;
use crate::scorecard::Against;
use crate::shifted;

/// Most runs of a list with charts; the table has all.
const DRAWN_MAX: usize = 40;
/// Most runs for which the table is unfolded.
const GROUPS_OPEN_MAX: usize = 6;
/// The same for points of databases, which have many other figures besides device times.
const DRAWN_MAX_OF_DATABASES: usize = 12;

const HOW: &str = "Where repetitions are compared, the means are those of a typical one, and have the ratio that the interval is of; \
     percentiles are those of all I/Os.";

/// The section; empty if no other run has times below a database.
pub fn view(run: &Run, against: &[Against<'_>]) -> Fragment {
    let mut parts = Fragment::default();
    for other in against {
        if let Against::Run(before) = other {
            add(
                &mut parts,
                before,
                run,
                &shifts(before, run, Terms::default()),
            );
        }
    }
    parts.section("shift", "Before and after: storage I/O times")
}

fn add(parts: &mut Fragment, before: &Run, run: &Run, shifts: &[Shift]) {
    if shifts.is_empty() {
        return;
    }
    let names = [before.label.as_str(), run.label.as_str()];
    let (own, unissued): (Vec<Shift>, Vec<Shift>) =
        shifts.iter().cloned().partition(|shift| shift.is_issued);
    let groups: Vec<&[Shift]> = own.chunk_by(Shift::is_of_level).collect();
    let drawn_max = if shifts.iter().all(|shift| shift.is_of_database) {
        DRAWN_MAX_OF_DATABASES
    } else {
        DRAWN_MAX
    };
    let factors =
        shifted::factors(shifts).map_or_else(String::new, |factors| format!(" {factors}"));
    parts
        .heading(
            3,
            &format!("From run “{}” (A) to this run (B)", before.label),
        )
        .how(&format!(
            "Improvement: how much less time the mean I/O takes in B than in A.{factors} {HOW} {}",
            shifted::TIMES
        ))
        .caution(&shifted::caution(shifts).unwrap_or_default())
        .figures(&Vec::from_iter(charts::overview(&groups, names)));
    if let Some(published) = published::section(before, run, shifts) {
        parts.results(4, &published);
    }
    for (title_of_all, listed) in [
        ("All times", &own),
        ("Operations that these tests do not issue", &unissued),
    ] {
        let levels = listed.chunk_by(Shift::is_of_level).count();
        let is_open = levels <= GROUPS_OPEN_MAX && std::ptr::eq(listed, &own);
        let listed: Vec<&Shift> = listed.iter().collect();
        let table = shifted::table(&listed, usize::MAX, |shift| title(shift, run));
        let mut rows = Fragment::default();
        rows.table(
            "results",
            &format!("{title_of_all}, before and after"),
            &table,
        );
        parts.add(&rows.folded(title_of_all, is_open));
    }
    for (at, group) in groups.iter().take(drawn_max).enumerate() {
        let summary = format!("{}: over time, distributions, shift", title(&group[0], run));
        let mut drawn = Fragment::default();
        drawn.figures(&charts::of_run(group, names));
        parts.add(&drawn.folded(&summary, at == 0));
    }
    if groups.len() > drawn_max {
        let more = groups.len() - drawn_max;
        parts.how(&format!(
            "Runs not drawn: {more}; see the table of all times."
        ));
    }
}

fn title(shift: &Shift, run: &Run) -> String {
    let target = (run.targets.get(shift.target as usize)).filter(|_| run.targets.len() > 1);
    let target = target.map_or_else(String::new, |target| format!("{} ", target.name));
    format!("{target}{}, {}", shift.test, shifted::jobs(shift))
}
