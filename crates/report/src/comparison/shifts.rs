//! Before and after, below a database, for a terminal.

use verdict::shift::Shift;

use crate::shifted;
use crate::terminal::table::{self, Align, Column, Table};
use crate::terminal::{Paint, clean};

use super::Shown;

/// Rows shown when not everything is asked for.
const ROWS_MAX: usize = 40;

/// The run of the list, or test and jobs of a database.
fn name(shift: &Shift) -> String {
    let test = clean(&shift.test);
    match shift.is_of_database {
        true => table::cut(&format!("{test}, {}", shifted::jobs(shift)), 28),
        false => table::cut(&test, 28),
    }
}

/// What two runs below a database say beside each other; nothing where neither tells times by operation.
pub fn shifts(compared: &[Shift], shown: Shown) -> String {
    if compared.is_empty() {
        return String::new();
    }
    let paint = Paint {
        colour: shown.colour,
    };
    let column = |heads, align, leave| Column {
        heads,
        align,
        leave,
    };
    let mut text = Table::new(vec![
        column(["run", "", ""], Align::Left, 0),
        column(["operation", "", ""], Align::Left, 0),
        column(["mean", "A → B", ""], Align::Right, 0),
        column(["improve-", "ment", ""], Align::Right, 0),
        column(["95 %", "interval", ""], Align::Right, 0),
        column(["p50", "A → B", ""], Align::Right, 1),
        column(["p99", "A → B", ""], Align::Right, 3),
        column(["> 1 ms", "A → B", ""], Align::Right, 2),
        column(["", "", ""], Align::Left, 0),
    ]);
    let limit = match shown.all {
        true => usize::MAX,
        false => ROWS_MAX,
    };
    // Of a database the whole time at the device is told; its parts are on the page and in the JSON.
    let is_part = |shift: &&Shift| shift.is_of_database && shift.phase != "whole" && !shown.all;
    let told: Vec<&Shift> = compared.iter().filter(|shift| !is_part(shift)).collect();
    for shift in told.iter().take(limit) {
        let (interval, verdict) = shifted::interval(shift);
        let latency = |of: fn(&archive::Latency) -> f64| {
            shifted::latencies(shift, |side| side.latency.as_ref().map(of))
        };
        text.row(
            vec![
                name(shift),
                clean(&shifted::of_shift(shift)),
                shifted::latencies(shift, |side| Some(side.mean_us)),
                shifted::improvement(shift),
                interval,
                latency(|l| l.p50_us),
                latency(|l| l.p99_us),
                shifted::tails(shift),
                verdict.to_owned(),
            ],
            verdict == "worse",
        );
    }
    let mut out = format!(
        "\n{}\n{}",
        paint.bold("Before and after: storage I/O times"),
        text.render(shown.width, &paint)
    );
    if told.len() > limit {
        let more = format!("  … and {} more\n", told.len() - limit);
        out.push_str(&paint.dim(&more));
    }
    if let Some(caution) = shifted::caution(compared) {
        let wrapped = table::wrap(&format!("  {caution}"), shown.width, 4);
        out.push_str(&paint.dim(&format!("{wrapped}\n")));
    }
    out
}
