//! Before and after: shifts in the times of each kind of I/O from another run to this one.

mod charts;
mod published;

use archive::{Latency, Run};
use askama::Template;
use verdict::compare::Terms;
use verdict::shift::{Shift, shifts};

use super::figure::{Figure, id_of};
use crate::scorecard::Against;
use crate::shifted;

/// Most runs of a list with charts; the table has all.
const DRAWN_MAX: usize = 40;
/// Most runs for which the table is unfolded.
const GROUPS_OPEN_MAX: usize = 6;
/// The same for points of databases, which have many other figures besides device times.
const DRAWN_MAX_OF_DATABASES: usize = 12;

#[derive(Template)]
#[template(path = "before_after.html", whitespace = "minimize")]
pub struct View {
    others: Vec<Other>,
}

struct Other {
    label: String,
    caution: Option<String>,
    factors: Option<&'static str>,
    tables: Vec<Rows>,
    overview: Vec<Figure>,
    published: Option<published::View>,
    drawn: Vec<Drawn>,
    more: usize,
}

/// Rows of all runs of the list, either in percent or in factors.
struct Rows {
    title: &'static str,
    is_open: bool,
    groups: Vec<(String, Vec<[String; 10]>)>,
}

/// The charts of one run of the list.
struct Drawn {
    id: String,
    title: String,
    figures: Vec<Figure>,
}

pub fn view(run: &Run, against: &[Against<'_>]) -> View {
    let others = against.iter().filter_map(|other| match other {
        Against::Run(before) => Some((before, shifts(before, run, Terms::default()))),
        Against::Reference(_) => None,
    });
    let shifted = others.filter(|(_, shifts)| !shifts.is_empty());
    View {
        others: shifted
            .map(|(before, shifts)| other(before, run, &shifts))
            .collect(),
    }
}

impl View {
    /// True if no other run has times below a database.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }
}

fn other(before: &Run, run: &Run, shifts: &[Shift]) -> Other {
    let names = [before.label.as_str(), run.label.as_str()];
    let (own, unissued): (Vec<Shift>, Vec<Shift>) =
        shifts.iter().cloned().partition(|shift| shift.is_issued);
    let groups: Vec<&[Shift]> = own.chunk_by(Shift::is_of_level).collect();
    let is_of_databases = shifts.iter().all(|shift| shift.is_of_database);
    let drawn_max = if is_of_databases {
        DRAWN_MAX_OF_DATABASES
    } else {
        DRAWN_MAX
    };
    let title = |group: &[Shift]| title(group, run);
    let drawn = groups.iter().take(drawn_max).enumerate();
    Other {
        label: before.label.clone(),
        caution: shifted::caution(shifts),
        factors: shifted::factors(shifts),
        tables: [
            ("All times", &own),
            ("Operations that these tests do not issue", &unissued),
        ]
        .into_iter()
        .filter(|(_, shifts)| !shifts.is_empty())
        .map(|(head, shifts)| {
            let groups = shifts.chunk_by(Shift::is_of_level);
            let groups: Vec<_> = groups.map(|group| (title(group), rows(group))).collect();
            Rows {
                title: head,
                is_open: groups.len() <= GROUPS_OPEN_MAX && std::ptr::eq(shifts, &own),
                groups,
            }
        })
        .collect(),
        overview: charts::overview(&groups, names).into_iter().collect(),
        published: published::view(before, run, shifts),
        drawn: drawn
            .map(|(at, group)| Drawn {
                id: format!("shift-{}-{at}", id_of(&before.label)),
                title: title(group),
                figures: charts::of_run(group, names),
            })
            .collect(),
        more: groups.len().saturating_sub(drawn_max),
    }
}

fn title(group: &[Shift], run: &Run) -> String {
    let Some(shift) = group.first() else {
        return String::new();
    };
    let target = (run.targets.get(shift.target as usize)).filter(|_| run.targets.len() > 1);
    let target = target.map_or_else(String::new, |target| format!("{} ", target.name));
    format!("{target}{}, {}", shift.test, shifted::jobs(shift))
}

fn rows(group: &[Shift]) -> Vec<[String; 10]> {
    let row = |shift: &Shift| {
        let (interval, verdict) = shifted::interval(shift);
        let of = |part: fn(&Latency) -> f64, beyond| {
            shifted::latencies(shift, |side| side.percentile_us(part, beyond))
        };
        [
            shifted::of_shift(shift),
            shifted::counts(shift),
            shifted::latencies(shift, |side| Some(side.mean_us)),
            shifted::improvement(shift),
            interval,
            verdict.to_owned(),
            of(|l| l.p50_us, 2),
            of(|l| l.p99_us, 100),
            of(|l| l.p99_9_us, 1000),
            shifted::tails(shift),
        ]
    };
    group.iter().map(row).collect()
}
