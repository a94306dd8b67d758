//! The report for a terminal: a table per test and target in the published layout, footnotes with reasons, missing capabilities, and the
//! scorecard.

mod general;
pub(crate) mod section;
pub(crate) mod table;
mod text;

use archive::reference::Reference;
use archive::{Component, Latency, Point, Remark, Run, RunState, Section, Steady};

use crate::delivered::delivered;
use crate::level::{self, CORES_LEFT_AVG, CORES_LEFT_PEAK, Curve, Level, TestGroup};
use crate::remarks::{self, Numbered};
use crate::scorecard::{self, Against};
use crate::users;
use crate::{devices, held_back, io_by_purpose, number, scorecard::scorecard, transactions};
use general::General;
use table::{Align, Column, Table};
pub(crate) use text::{Paint, clean};

pub fn terminal(run: &Run, references: &[Reference], width: usize, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = head(run, width, &paint);
    let groups = level::tests(run, scorecard::rank);
    let put = |out: &mut String, own: &Section| {
        if !own.blocks.is_empty() {
            *out += &format!("\n{}", section::section(own, width, &paint));
        }
    };
    for summary in users::summaries(&groups) {
        let levels = summary
            .sentences
            .into_iter()
            .fold(summary.levels, Section::sentence);
        put(&mut out, &levels);
    }
    let general = General::of(&groups);
    for group in &groups {
        for curve in &group.curves {
            out.push('\n');
            out.push_str(&test_table(run, group, curve, &general, width, &paint));
        }
    }
    out.push_str(&general.render(width, &paint));
    put(&mut out, &level::missing(run));
    let against: Vec<Against<'_>> = references.iter().map(Against::Reference).collect();
    put(
        &mut out,
        &scorecard::section(&scorecard(run, &against), scorecard::half),
    );
    delivered(run, &groups)
        .iter()
        .for_each(|delivered| put(&mut out, delivered));
    out
}

/// One line about a point just measured on `target`.
pub fn point_line(target: &str, point: &Point) -> String {
    let key = &point.key;
    let figures = &point.figures;
    let rate = match (figures.operations_per_s, figures.rows_per_s) {
        (Some(ops), _) if ops > 0.0 => Some(format!("{} ops/s", number::figure(ops))),
        (_, rows) => rows.map(|rows| format!("{} rows/s", number::figure(rows))),
    };
    let orders = figures.new_orders_per_min;
    let orders = orders.map(|orders| format!("{} new orders/min", number::figure(orders)));
    let p99 = Latency::of(&point.histograms.response).map(|l| l.p99_us);
    let p99 = p99.map(|p99| format!("p99 {}", number::latency(Some(p99))));
    let cpu = figures.cpu_pct_avg;
    let cpu = cpu.map(|cpu| format!("CPU {} %", number::whole(Some(cpu))));
    let elapsed = figures
        .elapsed_s
        .map(|s| format!("{} s", number::figure(s)));
    let mark = match (point.valid(), point.steady) {
        (false, _) => {
            let reasons: Vec<String> = point.reasons.iter().map(Remark::to_string).collect();
            format!("INVALID: {}", reasons.join("; "))
        }
        (true, Some(Steady::No)) => "valid, scattered".to_owned(),
        (true, Some(Steady::Trend)) => "valid, rising or falling".to_owned(),
        (true, _) => "valid".to_owned(),
    };
    // Unknown figures are omitted: most are known for the point that this one is part of.
    let known = [rate, orders, p99, cpu, elapsed].into_iter().flatten();
    let what = format!("{target} {} {}", key.test, point.title);
    let parts = [what, users::concurrency(point)].into_iter().chain(known);
    let parts: Vec<String> = parts.chain([mark]).collect();
    clean(&parts.join(" · "))
}

fn head(run: &Run, width: usize, paint: &Paint) -> String {
    let state = match run.state {
        RunState::Complete => "complete",
        RunState::Running => "running (or killed; it can be resumed)",
        RunState::Interrupted => "interrupted (it can be resumed)",
    };
    let invalid = run.points.iter().filter(|p| !p.valid()).count();
    let validity = match (invalid, run.points.len()) {
        (_, 0) => "nothing measured".to_owned(),
        (0, n) => format!("all {n} valid"),
        (bad, n) => paint.red(&format!("{bad} of {n} INVALID")),
    };
    let targets: Vec<String> = run
        .targets
        .iter()
        .map(|t| clean(format!("{} ({} {})", t.name, t.engine, t.engine_version).trim()))
        .collect();
    let targets = match run.is_of_parameter_file() {
        true => clean(&level::storage_name(run)),
        false => targets.join(" · "),
    };
    let plan = format!(
        "plan {} · started {}",
        run.plan_name,
        stats::words::date(&run.started_at)
    );
    let mut out = format!(
        "{}\n{}\n{}\n{} of {} points · {state} · {validity}\n",
        paint.bold(&table::cut(
            &clean(&format!("Run {} “{}”", run.id, run.label)),
            width
        )),
        table::wrap(&clean(&plan), width, 2),
        table::wrap(&targets, width, 2),
        run.points.len(),
        run.points_planned,
    );
    if let Some(label) = &run.renamed_from {
        out.push_str(&table::wrap(
            &clean(&format!("measured as “{label}”")),
            width,
            2,
        ));
        out.push('\n');
    }
    if let Some(note) = &run.note {
        out.push_str(&table::wrap(&clean(&format!("note: {note}")), width, 2));
        out.push('\n');
    }
    for target in &run.targets {
        if let Some(missing) = &target.rights_missing {
            let text = clean(&format!("{}: {missing}", target.name));
            out.push_str(&table::wrap(&text, width, 2));
            out.push('\n');
        }
    }
    for remark in run.unsound() {
        let text = format!(
            "published protocol, unsound: {}",
            clean(&remark.to_string())
        );
        out.push_str(&table::wrap(&text, width, 2));
        out.push('\n');
    }
    for reason in &run.reasons {
        let text = format!("run invalid: {}", clean(&reason.to_string()));
        out.push_str(&paint.red(&table::wrap(&text, width, 2)));
        out.push('\n');
    }
    out
}

fn test_table(
    run: &Run,
    group: &TestGroup<'_>,
    curve: &Curve<'_>,
    general: &General,
    width: usize,
    paint: &Paint,
) -> String {
    let mut numbered = Numbered::default();
    let standing = remarks::standing(curve);
    let rate = scorecard::rate_figure(group).unwrap_or_default();
    let results = results(group, curve);
    let mut table = Table::new(columns(run, &results));
    for level in &curve.levels {
        let mark = mark(level, &standing, &mut numbered);
        table.row(row(run, level, &results, mark), level.invalid() > 0);
    }
    let title = format!(
        "{} · {} · {} · {}",
        group.test,
        group.title,
        group.component.name(),
        curve.label
    );
    let (letters, own) = general.divide(&standing);
    let title = table::cut(
        &clean(&title),
        width.saturating_sub(table::length(&letters)),
    );
    let mut out = format!("{}{}\n", paint.bold(&title), paint.dim(&letters));
    for note in own {
        out.push_str(&paint.dim(&table::wrap(&clean(&note), width, 2)));
        out.push('\n');
    }
    out.push_str(&table.render(width, paint));
    for (number, line) in numbered.lines().iter().enumerate() {
        let invalid = if line.invalid { "invalid: " } else { "" };
        let note = format!("{:>3}  {invalid}{}", number + 1, clean(&line.text));
        out.push_str(&paint.dim(&table::wrap(&note, width, 5)));
        out.push('\n');
    }
    for sentence in transactions::sentences(curve)
        .into_iter()
        .chain(held_back::sentences(curve))
        .chain(devices::sentences(curve, rate))
        .chain(io_by_purpose::sentences(curve, rate))
    {
        out.push_str(&table::wrap(&clean(&sentence), width, 2));
        out.push('\n');
    }
    for own in Section::joined(curve.points().flat_map(Point::valid_sections)) {
        out.push_str(&section::section(&own, width, paint));
    }
    out
}

type Shown = ([&'static str; 3], &'static str, fn(Option<f64>) -> String);

/// Results that only certain tests have.
const RESULTS: [Shown; 4] = [
    (
        ["on disk", "", "[MB]"],
        "table_disk_mb",
        number::figure_or_unknown,
    ),
    (
        ["memory", "", "[MB]"],
        "table_memory_mb",
        number::figure_or_unknown,
    ),
    (
        ["factor", "", ""],
        "compress_factor",
        number::figure_or_unknown,
    ),
    (
        ["queries/h", "scaled", ""],
        "scaled_queries_per_h",
        number::figure_or_unknown,
    ),
];

/// Request times of the device, a result of storage tests.
const OF_STORAGE: [Shown; 4] = [
    (
        ["read", "mean", "[ms]"],
        "read_await_ms",
        number::figure_or_unknown,
    ),
    (
        ["read", "p99", "[ms]"],
        "read_await_ms_p99",
        number::figure_or_unknown,
    ),
    (
        ["write", "mean", "[ms]"],
        "write_await_ms",
        number::figure_or_unknown,
    ),
    (
        ["write", "p99", "[ms]"],
        "write_await_ms_p99",
        number::figure_or_unknown,
    ),
];

/// Next to the time since the intended start, which the driver may prolong.
const BELOW: [Shown; 1] = [(["service", "p99", ""], "service_us_p99", number::latency)];

fn results(group: &TestGroup<'_>, curve: &Curve<'_>) -> Vec<&'static Shown> {
    let is_known =
        |figure| (curve.levels.iter()).any(|level| level.shown().figure(figure).is_some());
    let is_of_storage = group.component == Component::Storage;
    let of_storage = OF_STORAGE.iter().filter(|_| is_of_storage);
    let below = BELOW.iter().filter(|_| group.below_database());
    (RESULTS.iter().chain(of_storage).chain(below))
        .filter(|(_, figure, _)| is_known(figure))
        .collect()
}

/// Heads of a column, its figure and format, and the order in which columns go if the terminal is narrow; 0 stays.
type Layout = (
    [&'static str; 3],
    &'static str,
    fn(Option<f64>) -> String,
    u8,
);

/// The columns of the published result tables, with p99.
const FIGURES: [Layout; 14] = [
    (
        ["Rows/sec", "", "[rps]"],
        "rows_per_s",
        number::figure_or_unknown,
        0,
    ),
    (
        ["Ops/sec", "", "[ops]"],
        "operations_per_s",
        number::figure_or_unknown,
        0,
    ),
    (["CPU", "", "[%]"], "cpu_pct_avg", number::whole, 0),
    (
        ["cores", "left", "avg"],
        CORES_LEFT_AVG,
        number::one_decimal,
        10,
    ),
    (
        ["cores", "left", "peak"],
        CORES_LEFT_PEAK,
        number::one_decimal,
        10,
    ),
    (["read", "", "[iops]"], "read_iops", number::whole, 3),
    (["write", "", "[iops]"], "write_iops", number::whole, 3),
    (["total", "", "[iops]"], "total_iops", number::whole, 7),
    (
        ["read", "", "[MB/s]"],
        "read_mb_per_s",
        number::figure_or_unknown,
        4,
    ),
    (
        ["write", "", "[MB/s]"],
        "write_mb_per_s",
        number::figure_or_unknown,
        4,
    ),
    (
        ["total", "", "[MB/s]"],
        "total_mb_per_s",
        number::figure_or_unknown,
        7,
    ),
    (
        ["redo", "", "[MB/s]"],
        "redo_mb_per_s",
        number::figure_or_unknown,
        5,
    ),
    (
        ["Time", "", "[sec]"],
        "elapsed_s",
        number::figure_or_unknown,
        0,
    ),
    (["p99", "", ""], "response_us_p99", number::latency, 0),
];

/// The published columns, with "n" for repetitions and a validity mark.
fn columns(run: &Run, results: &[&Shown]) -> Vec<Column<'static>> {
    let right = |heads: [&'static str; 3], leave: u8| Column {
        heads,
        align: Align::Right,
        leave,
    };
    let of_key = [
        ("Run", 9),
        ("Tst", 8),
        ("Code", 0),
        ("#N", 6),
        ("#J", 0),
        ("#T", 0),
    ];
    let of_key = of_key.map(|(head, leave)| right(["", "", head], leave));
    let figures = FIGURES
        .iter()
        .map(|(heads, .., leave)| right(*heads, *leave));
    let results = results.iter().map(|(heads, figure, _)| {
        let is_of_storage = OF_STORAGE.iter().any(|(_, own, _)| own == figure);
        right(*heads, if is_of_storage { 2 } else { 0 })
    });
    let n = is_repeated(run).then(|| right(["", "", "n"], 0));
    let valid = Column {
        align: Align::Left,
        ..right(["", "", "valid"], 0)
    };
    let all = of_key.into_iter().chain(figures).chain(results);
    all.chain(n).chain([valid]).collect()
}

fn is_repeated(run: &Run) -> bool {
    run.repetitions > 1 || run.points.iter().any(|p| p.key.repetition > 1)
}

fn row(run: &Run, level: &Level<'_>, results: &[&Shown], mark: String) -> Vec<String> {
    let key = &level.first().key;
    let shown = level.shown();
    let value = |figure: &str| level::derived(run, &shown, figure);
    let of_key = [
        run.id.to_string(),
        level.number.to_string(),
        clean(&key.test),
        key.nodes.to_string(),
        key.jobs.to_string(),
        key.threads.to_string(),
    ];
    let figures = FIGURES
        .iter()
        .map(|(_, figure, write, _)| write(value(figure)));
    let results = results
        .iter()
        .map(|(_, figure, write)| write(value(figure)));
    let n = is_repeated(run).then(|| level.points.len().to_string());
    let all = of_key.into_iter().chain(figures).chain(results);
    all.chain(n).chain([mark]).collect()
}

/// "yes", "yes, late", "NO", "1 of 3" or "extra", followed by the numbers of the footnotes.
fn mark(level: &Level<'_>, standing: &[Remark], numbered: &mut Numbered) -> String {
    let (bad, all) = (level.invalid(), level.points.len());
    let mut mark = match bad {
        0 if level.extra() => "extra".to_owned(),
        0 if remarks::is_late(level) => "yes, late".to_owned(),
        0 => "yes".to_owned(),
        _ if bad == all => "NO".to_owned(),
        _ => format!("{} of {all}", all - bad),
    };
    let mut numbers: Vec<usize> = remarks::of_level(level, standing)
        .iter()
        .map(|remark| numbered.number(remark))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !numbers.is_empty() {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        mark.push_str(&format!(" {}", numbers.join(",")));
    }
    mark
}
