//! The section of one test: description, result rows, charts, notes.

use archive::{Component, Point, Remark, Run, Section};
use stats::scaling;

use super::columns::{COLUMNS, Column, ResultTable, RowView};
use super::figure::{Figure, id_of};
use super::load::Load;
use super::scaling::Laws;
use super::section::Fragment;
use super::sweep::{self, Rate, Sweep};
use super::{
    charts, devices, events, held_back, io_by_purpose, latency, machine, network, published,
    queries, rounds, timeline, times, transactions,
};
use crate::level::{CORES_LEFT_AVG, CORES_LEFT_PEAK, Level, TestGroup, derived};
use crate::number;
use crate::plans;
use crate::ramp;
use crate::remarks::{self, Line, Numbered};
use crate::scorecard::{Against, caution};
use crate::users;

pub struct View {
    pub id: String,
    pub code: String,
    pub title: String,
    /// One sentence per curve: best level, efficiency, saturation.
    pub summaries: Vec<String>,
    pub work: String,
    /// Result rows; with many figures, those of the machine have a separate table.
    pub tables: Vec<ResultTable>,
    pub held_back: Fragment,
    pub devices: Fragment,
    pub io_by_purpose: Fragment,
    pub times: Fragment,
    pub latency: Fragment,
    pub transactions: Fragment,
    pub figures: Vec<Figure>,
    /// Results that only the workload knows.
    pub sections: Fragment,
    pub published: Fragment,
    /// Charts of the machine over time, folded.
    pub machine: Vec<Figure>,
    /// Traffic of each network interface, folded with them.
    pub network: Fragment,
    /// Numbered notes; the flag marks those that make a point invalid.
    pub notes: Vec<Line>,
    /// Sentences for all rows of a curve, and reasons against comparing curves.
    pub standing: Vec<String>,
}

pub fn view<'a>(run: &'a Run, group: &TestGroup<'a>, against: &[Against<'a>]) -> View {
    let rate = sweep::rate_figure(group);
    let sweeps = sweep::sweeps(group, run, against, rate);
    let laws = Laws::of(&sweeps, rate, run);
    let mut notes = Numbered::default();
    let tables = tables(run, group, against, &mut notes);
    View {
        id: id_of(group.test),
        code: group.test.to_owned(),
        title: group.title.to_owned(),
        summaries: summaries(group, &sweeps, rate)
            .into_iter()
            .chain(ramps_and_plans(group))
            .collect(),
        work: work(group),
        tables,
        held_back: held_back::view(group, rate),
        devices: devices::view(group, rate),
        io_by_purpose: io_by_purpose::view(group, rate),
        times: times::view(group),
        latency: latency::view(group),
        transactions: transactions::view(group),
        figures: rounds::figures(&sweeps)
            .into_iter()
            .chain(figures(&sweeps, rate, &laws, Load::of(group)))
            .chain(queries::figures(run, group.test, &group.curves))
            .collect(),
        sections: sections(group),
        published: published::view(run, group, rate, against),
        machine: machine::figures(&sweeps, rate),
        network: network::view(&sweeps, rate),
        notes: notes.lines(),
        standing: standing(run, group, against),
    }
}

fn sections(group: &TestGroup<'_>) -> Fragment {
    let mut parts = Fragment::default();
    for curve in &group.curves {
        for mut section in Section::joined(curve.points().flat_map(Point::valid_sections)) {
            if group.curves.len() > 1 {
                section.title = format!("{}: {}", curve.label, section.title);
            }
            parts.results(4, &section);
        }
    }
    parts
}

/// "sqlite, duckdb: not comparable …", each sentence once.
fn standing(run: &Run, group: &TestGroup<'_>, against: &[Against<'_>]) -> Vec<String> {
    let caution = caution(run, against, group.test);
    // The caution covers this for all curves together.
    let covered = |note: &Remark| caution.is_some() && *note == Remark::EngineSpecific;
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for curve in &group.curves {
        let notes = remarks::standing(curve).into_iter();
        for note in notes.filter(|note| !covered(note)) {
            let note = note.to_string();
            match said.iter_mut().find(|(text, _)| *text == note) {
                Some((_, curves)) => curves.push(&curve.label),
                None => said.push((note, vec![&curve.label])),
            }
        }
    }
    let said = said
        .into_iter()
        .map(|(text, curves)| format!("{}: {text}.", curves.join(", ")));
    said.chain(caution.map(str::to_owned)).collect()
}

fn figures(sweeps: &[Sweep<'_>], rate: Rate, laws: &Laws<'_>, load: Load) -> Vec<Figure> {
    [
        charts::throughput(sweeps, rate, laws, load),
        charts::response(sweeps, load),
        charts::efficiency(sweeps, load),
        charts::percentiles(sweeps, rate),
    ]
    .into_iter()
    .flatten()
    .chain(timeline::figures(sweeps, rate))
    .chain(events::at_best(sweeps, rate))
    .chain(events::by_level(sweeps, load))
    .collect()
}

/// Request times of the device: a result in storage tests, elsewhere one of many causes.
const OF_STORAGE: [&str; 4] = [
    "read_await_ms",
    "read_await_ms_p99",
    "write_await_ms",
    "write_await_ms_p99",
];

const COLUMNS_MAX: usize = 18;
/// Figures of machine and engine, which explain the others.
const OF_MACHINE: [&str; 19] = [
    "cpu_pct_peak",
    "cpu_by_database_pct",
    "cpu_by_others_pct",
    CORES_LEFT_AVG,
    CORES_LEFT_PEAK,
    "busy_cores_mean",
    "read_iops",
    "write_iops",
    "total_iops",
    "read_mb_per_s",
    "write_mb_per_s",
    "total_mb_per_s",
    "engine_read_mb_per_s",
    "engine_write_mb_per_s",
    "read_by_others_mb_per_s",
    "write_by_others_mb_per_s",
    "redo_mb_per_s",
    "buffer_gets_per_s",
    "little_error_pct",
];

fn tables(
    run: &Run,
    group: &TestGroup<'_>,
    against: &[Against<'_>],
    notes: &mut Numbered,
) -> Vec<ResultTable> {
    let columns = columns(run, group, against);
    let is_of_machine = |column: &&&Column| OF_MACHINE.contains(&column.figure);
    let (own, of_machine): (Vec<&Column>, Vec<&Column>) = if columns.len() > COLUMNS_MAX {
        columns.iter().partition(|column| !is_of_machine(column))
    } else {
        (columns, Vec::new())
    };
    let mut tables = vec![table(run, group, against, None, &own, notes)];
    if !of_machine.is_empty() {
        let title = "Machine and engine during the test";
        tables.push(table(run, group, against, Some(title), &of_machine, notes));
    }
    tables
}

fn table(
    run: &Run,
    group: &TestGroup<'_>,
    against: &[Against<'_>],
    title: Option<&'static str>,
    columns: &[&Column],
    notes: &mut Numbered,
) -> ResultTable {
    let repeated = run.points.iter().any(|p| p.key.repetition > 1);
    let mut heads: Vec<[&'static str; 2]> = vec![["Tst", ""]];
    heads.extend(if is_of_users(group) {
        &[["users", ""]][..]
    } else {
        &[["#N", ""], ["#J", ""], ["#T", ""]]
    });
    heads.extend(columns.iter().map(|c| c.heads));
    if repeated {
        heads.push(["n", ""]);
    }
    let curves = group.curves.iter().map(|c| {
        let standing = remarks::standing(c);
        let rows = c.levels.iter();
        let rows = rows.map(|l| row(run, group, l, columns, repeated, &standing, notes));
        (c.label.clone(), rows.collect())
    });
    let mut curves: Vec<_> = curves.collect();
    curves.extend(published::rows(
        against, group.test, columns, repeated, notes,
    ));
    ResultTable {
        title,
        heads,
        curves,
    }
}

fn is_of_users(group: &TestGroup<'_>) -> bool {
    users::is_of_users(group.test)
}

fn columns(run: &Run, group: &TestGroup<'_>, against: &[Against<'_>]) -> Vec<&'static Column> {
    let known = |figure: &str| {
        let mut levels = group.curves.iter().flat_map(|c| &c.levels);
        levels.any(|l| derived(run, l, figure).is_some())
            || published::is_published(against, group.test, figure)
    };
    // The times in the driver's queue tell nothing of a database.
    let belongs = |figure: &str| match figure.starts_with("service_us_") {
        true => group.below_database(),
        false => group.component == Component::Storage || !OF_STORAGE.contains(&figure),
    };
    let columns = COLUMNS.iter().filter(|c| belongs(c.figure));
    columns.filter(|c| known(c.figure)).collect()
}

fn row(
    run: &Run,
    group: &TestGroup<'_>,
    level: &Level<'_>,
    columns: &[&Column],
    repeated: bool,
    standing: &[Remark],
    notes: &mut Numbered,
) -> RowView {
    let key = &level.first().key;
    let shown = level.shown();
    let parallelism = if is_of_users(group) {
        &[key.jobs][..]
    } else {
        &[key.nodes, key.jobs, key.threads]
    };
    let numbers = parallelism.iter().map(u32::to_string);
    let mut cells: Vec<String> = std::iter::once(level.number.to_string())
        .chain(numbers)
        .collect();
    cells.extend(
        columns
            .iter()
            .map(|c| (c.write)(derived(run, &shown, c.figure))),
    );
    let (bad, all) = (level.invalid(), level.points.len());
    if repeated {
        cells.push(all.to_string());
    }
    RowView {
        cells,
        mark: match bad {
            0 if level.extra() => "✓ extra".to_owned(),
            0 if remarks::is_late(level) => "✓ valid, started late".to_owned(),
            0 => "✓ valid".to_owned(),
            _ if bad == all => "✗ invalid".to_owned(),
            _ => format!("{} of {all} valid", all - bad),
        },
        class: if bad > 0 { "invalid" } else { "" },
        notes: remarks::of_level(level, standing)
            .iter()
            .map(|remark| notes.number(remark))
            .collect(),
    }
}

/// Sentences on ramps of users and query plans, by curve.
fn ramps_and_plans(group: &TestGroup<'_>) -> Vec<String> {
    let sentences = group.curves.iter().flat_map(|curve| {
        let said = ramp::sentences(curve).into_iter();
        let said = said.chain(plans::sentence(curve));
        said.map(|sentence| format!("{}: {sentence}", curve.label))
    });
    sentences.collect()
}

fn summaries(group: &TestGroup<'_>, sweeps: &[Sweep<'_>], rate: Rate) -> Vec<String> {
    sweeps
        .iter()
        .filter(|s| s.own)
        .map(|sweep| summary(group, sweep, rate))
        .collect()
}

/// "sqlite: at most 26,768 ops/s at DOP 4 (3.61 × the throughput at DOP 1, efficiency 90 %), p99 812 µs."
fn summary(group: &TestGroup<'_>, sweep: &Sweep<'_>, rate: Rate) -> String {
    let loads = sweep.loads();
    let best = loads
        .iter()
        .max_by(|a, b| a.rate.total_cmp(&b.rate).then(b.dop.cmp(&a.dop)));
    let Some(best) = best else {
        return format!("{}: no valid point.", sweep.label);
    };
    let at = |dop: u32| match group.below_database() {
        true => format!("with {dop} in flight"),
        false => format!("at DOP {dop}"),
    };
    let mut text = format!(
        "{}: at most {} {} {}",
        sweep.label,
        number::plain(best.rate),
        rate.unit,
        at(best.dop)
    );
    let scaled = scaling::scale(&loads);
    if let Some(at_best) = scaled
        .iter()
        .find(|s| s.dop == best.dop && scaled.len() > 1)
    {
        text.push_str(&format!(
            " ({} × the throughput {}, efficiency {:.0} %)",
            number::figure(at_best.speed_up),
            at(scaled[0].dop),
            at_best.efficiency * 100.0
        ));
    }
    if let Some(place) = scaling::saturation(&loads).filter(|_| loads.len() > 2) {
        let from = match group.below_database() {
            true => format!("{} in flight", place.dop),
            false => format!("DOP {}", place.dop),
        };
        text.push_str(&format!(", saturated from {from}"));
    }
    let place = sweep
        .levels
        .iter()
        .find(|p| p.counts() && p.dop == best.dop);
    if let Some(p99) = place.and_then(|p| p.response_us[2]) {
        text.push_str(&format!(", p99 {}", number::latency(Some(p99))));
    }
    text.push('.');
    text
}

/// Description of the work from the first level; the levels of a test share it except for the state of the cache.
fn work(group: &TestGroup<'_>) -> String {
    let levels = || group.curves.iter().flat_map(|c| &c.levels);
    let Some(first) = levels().next() else {
        return String::new();
    };
    let work = &first.first().work;
    let mut parts = Vec::new();
    if let Some(operations) = work.operations_per_job {
        let each = whole_ratio(group, |p| {
            let recorded = p.histograms.response.count();
            Some((p.figures.operations?, recorded as f64))
        });
        parts.push(match each {
            Some(each) => format!(
                "{} statements per job, {} operations each",
                number::count(operations),
                number::count(each)
            ),
            None => format!("{} operations per job", number::count(operations)),
        });
    }
    let rows = whole_ratio(group, |p| Some((p.figures.rows?, p.figures.operations?)));
    if let Some(rows) = rows {
        parts.push(format!("{} rows per operation", number::count(rows)));
    }
    if let Some(seconds) = work.seconds {
        parts.push(format!("{} s", number::figure(seconds)));
    }
    for (name, text) in [
        ("mode", &work.mode),
        ("size", &work.size),
        ("schedule", &work.schedule),
        ("data", &work.state),
        ("cache", &work.cache.to_string()),
    ] {
        if !text.is_empty() {
            parts.push(format!("{name}: {text}"));
        }
    }
    parts.join(" · ")
}

/// The whole number of parts per unit, if it is the same above one at every level.
fn whole_ratio(group: &TestGroup<'_>, parts: impl Fn(&Point) -> Option<(f64, f64)>) -> Option<u64> {
    let mut same = None;
    for level in group.curves.iter().flat_map(|c| &c.levels) {
        let (of, one) = parts(level.first())?;
        let each = of / one;
        let whole = each > 1.0 && each.is_finite() && each.fract() == 0.0;
        if !whole || same.is_some_and(|known| known != each) {
            return None;
        }
        same = Some(each);
    }
    same.map(|each| each as u64)
}
