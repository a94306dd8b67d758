//! Before and after, below a database, for a terminal.

use verdict::shift::Shift;

use crate::shifted;
use crate::terminal::table::{self, Align, Column, Table};
use crate::terminal::{Paint, clean};

use super::Shown;

const ROWS_MAX: usize = 40;
const NAME_WIDTH: usize = 28;

/// The run of the list, or for a database its test and jobs.
fn name(shift: &Shift) -> String {
    let jobs = format!(", {}", shifted::jobs(shift));
    let room = NAME_WIDTH.saturating_sub(jobs.chars().count());
    table::cut(&clean(&shift.test), room) + &jobs
}

/// The comparison of two runs below a database; empty if neither has times by operation.
pub fn shifts(compared: &[Shift], shown: Shown) -> String {
    if compared.is_empty() {
        return String::new();
    }
    let paint = Paint {
        colour: shown.colour,
    };
    // For a database only the whole time at the device is listed; its parts are on the page and in the JSON.
    let is_part = |shift: &&Shift| shift.is_of_database && shift.phase != "whole" && !shown.all;
    let listed = compared.iter().filter(|shift| !is_part(shift));
    let (own, unissued): (Vec<&Shift>, Vec<&Shift>) = listed.partition(|shift| shift.is_issued);
    let mut out = format!("\n{}\n", paint.bold("Before and after: storage I/O times"));
    out.push_str(&rows(&own, shown, &paint));
    let factors = shifted::factors(compared).map(str::to_owned);
    for sentence in factors.into_iter().chain(shifted::caution(compared)) {
        let wrapped = table::wrap(&format!("  {sentence}"), shown.width, 4);
        out.push_str(&paint.dim(&format!("{wrapped}\n")));
    }
    if !unissued.is_empty() {
        out.push_str(&paint.bold("Operations that these tests do not issue"));
        out.push('\n');
        out.push_str(&rows(&unissued, shown, &paint));
    }
    out
}

fn rows(listed: &[&Shift], shown: Shown, paint: &Paint) -> String {
    let limit = if shown.all { usize::MAX } else { ROWS_MAX };
    let column = |heads, align, leave| Column {
        heads,
        align,
        leave,
    };
    let mut text = Table::new(vec![
        column(["run", "", ""], Align::Left, 0),
        column(["operation", "", ""], Align::Left, 0),
        column(["I/Os", "A → B", ""], Align::Right, 0),
        column(["mean", "A → B", ""], Align::Right, 0),
        column(["improve-", "ment", ""], Align::Right, 0),
        column(["95 %", "interval", ""], Align::Right, 0),
        column(["p50", "A → B", ""], Align::Right, 1),
        column(["p99", "A → B", ""], Align::Right, 3),
        column(["> 1 ms", "A → B", ""], Align::Right, 2),
        column(["", "", ""], Align::Left, 0),
    ]);
    for shift in listed.iter().take(limit) {
        let (interval, verdict) = shifted::interval(shift);
        let latency = |of: fn(&archive::Latency) -> f64, beyond| {
            shifted::latencies(shift, |side| side.percentile_us(of, beyond))
        };
        text.row(
            vec![
                name(shift),
                clean(&shifted::of_shift(shift)),
                shifted::counts(shift),
                shifted::latencies(shift, |side| Some(side.mean_us)),
                shifted::improvement(shift),
                interval,
                latency(|l| l.p50_us, 2),
                latency(|l| l.p99_us, 100),
                shifted::tails(shift),
                verdict.to_owned(),
            ],
            verdict == "worse",
        );
    }
    let mut out = text.render(shown.width, paint);
    if listed.len() > limit {
        let more = format!("  … and {} more\n", listed.len() - limit);
        out.push_str(&paint.dim(&more));
    }
    out
}
