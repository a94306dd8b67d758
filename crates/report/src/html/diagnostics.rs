//! Charts of the pairs of each primary metric, folded, with a sentence about each oddity.

use archive::Table;
use stats::summary::median;
use verdict::compare::{Comparison, Oddity, Pair, Row, Scatter};
use verdict::metric;

use super::figure::{Figure, grouped};
use super::section::Fragment;
use crate::comparison::{between_words, odd_words, within_words};
use crate::metric_name::label;
use crate::number::{self, percent};
use crate::remarks::sentence;
use chart::{Axis, Bar, Chart, Dash, Series, Shape, Tick, Trace, bars};

const METRICS_MAX: usize = 4;
const PAIRS_MIN: usize = 3;
/// Width over which the points of a column are spread.
const COLUMN: f64 = 0.6;
/// Colour and marker of pairs by the side measured first.
const MARKED: [(usize, Shape); 2] = [(0, Shape::Circle), (1, Shape::Square)];

/// The charts of a study, folded; empty for other comparisons or with too few pairs.
pub fn view(compared: &Comparison) -> Fragment {
    let rows: Vec<&Row> = compared
        .primary()
        .filter(|row| row.pairs.len() >= PAIRS_MIN)
        .collect();
    let mut parts = Fragment::default();
    for row in rows.iter().take(METRICS_MAX) {
        parts.heading(4, &label(row)).figures(&figures(row));
    }
    let more = rows.len().saturating_sub(METRICS_MAX);
    parts.more(
        more,
        " primary metrics; the full comparison of the two runs lists what is odd about them",
    );
    let odd = match rows.iter().map(|row| row.oddities.len()).sum() {
        0 => "nothing odd was found".to_owned(),
        1 => "one thing is odd".to_owned(),
        odd => format!("{odd} things are odd"),
    };
    let summary = format!(
        "Diagnostics of the study: pairs over time, order, carry-over, residuals, scatter ({odd})"
    );
    parts.folded(&summary, false)
}

fn figures(row: &Row) -> Vec<Figure> {
    let mut figures = vec![
        over_time(row),
        by_order(row),
        carry_over(row),
        residuals(row),
    ];
    figures.extend(row.scatter.as_ref().map(components));
    figures
}

fn change_pct(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// "+2.5", and "0".
fn change_label(pct: f64) -> String {
    match (pct * 100.0).round() / 100.0 {
        0.0 => "0".to_owned(),
        pct => format!("{pct:+}"),
    }
}

fn said(row: &Row, is_of_chart: fn(&Oddity) -> bool) -> Vec<String> {
    let own = row.oddities.iter().filter(|oddity| is_of_chart(oddity));
    let mut said: Vec<String> = own
        .map(|oddity| sentence(&odd_words(oddity, is_in_slices(row))))
        .collect();
    if said.is_empty() {
        said.push(
            "Nothing here that noise alone would show in less than one of a hundred studies."
                .to_owned(),
        );
    }
    said
}

fn position_of(pair: &Pair) -> f64 {
    f64::from(pair.number)
}

fn last(row: &Row) -> u32 {
    row.pairs.iter().map(|pair| pair.number).max().unwrap_or(1)
}

fn marks(label: &str, of: usize, points: Vec<(f64, f64)>) -> Series {
    let (colour, shape) = MARKED[of];
    Series::new(
        label,
        colour,
        shape,
        Dash::None,
        points.into_iter().map(|(x, y)| (x, Some(y))).collect(),
    )
}

/// An axis of changes that holds all values.
fn changes(title: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
    let low = values.clone().fold(0.0, f64::min);
    let high = values.fold(0.0, f64::max);
    Axis::around_zero(title, low, high, change_label)
}

/// A chart of changes in percent, with a line at zero.
fn chart(title: &str, x: Axis, y: &str, series: Vec<Series>, others: Vec<Trace>) -> String {
    let zero = Trace {
        colour: 7,
        dash: Dash::Solid,
        points: vec![(x.low, 0.0), (x.high, 0.0)],
        band: Vec::new(),
    };
    let of_series = series.iter().flat_map(|series| &series.points);
    let of_bands = others.iter().flat_map(|trace| &trace.band);
    let values = of_series.filter_map(|(_, y)| *y);
    let values = values.chain(of_bands.flat_map(|(_, low, high)| [*low, *high]));
    let y = changes(y, values);
    Chart {
        traces: std::iter::once(zero).chain(others).collect(),
        ..Chart::new(title, x, y, series)
    }
    .render()
}

fn over_time(row: &Row) -> Figure {
    let ends = (0.5, f64::from(last(row)) + 0.5);
    let level = |colour, dash, at: Option<f64>, (low, high): (f64, f64)| Trace {
        colour,
        dash,
        points: at.map_or(Vec::new(), |at| vec![(ends.0, at), (ends.1, at)]),
        band: vec![(ends.0, low, high), (ends.1, low, high)],
    };
    let band = row.band.equivalence;
    let practical = (change_pct(1.0 / (1.0 + band)), change_pct(1.0 + band));
    let mut traces = vec![level(7, Dash::Solid, None, practical)];
    if let Some(ratio) = row
        .result
        .ratio
        .filter(|r| r.low > 0.0 && r.high.is_finite())
    {
        let interval = (change_pct(ratio.low), change_pct(ratio.high));
        let estimate = Some(change_pct(ratio.estimate));
        traces.push(level(2, Dash::Dashed, estimate, interval));
    }
    let of = |is_a_first: bool| -> Vec<(f64, f64)> {
        let own = row
            .pairs
            .iter()
            .filter(|pair| pair.is_a_first == is_a_first);
        own.map(|pair| (position_of(pair), change_pct(pair.ratio())))
            .collect()
    };
    let series = vec![
        marks("A first", 0, of(true)),
        marks("B first", 1, of(false)),
    ];
    let x = Axis::numbered("pair", last(row));
    let mut figure = Figure::new(
        "Ratio of each pair, in the order of time".to_owned(),
        chart("Ratio by pair", x, "B against A, %", series, traces),
        "Grey: no difference, and the practical band. Green: the ratio with its interval, dashed. Pairs should scatter around it \
         alike from the first to the last."
            .to_owned(),
        of_pairs(row),
    );
    figure.said = said(row, |oddity| {
        matches!(oddity, Oddity::Moved { .. } | Oddity::Outlier { .. })
    });
    figure
}

fn of_pairs(row: &Row) -> Table {
    let is_time = metric::unit(&row.metric.figure) == Some("µs");
    let value = |value: f64| {
        if is_time {
            number::latency(Some(value))
        } else {
            number::figure(value)
        }
    };
    let rows = row.pairs.iter().map(|pair| {
        let cells = vec![
            pair.number.to_string(),
            if pair.is_a_first { "A" } else { "B" }.to_owned(),
            pair.started_at[0].clone(),
            pair.started_at[1].clone(),
            value(pair.figures[0]),
            value(pair.figures[1]),
            format!("{:.4}", pair.ratio()),
        ];
        (String::new(), cells)
    });
    let heads = ["pair", "first", "A begun", "B begun", "A", "B", "B / A"];
    grouped(&heads, rows)
}

/// Two columns, of pairs or slices by the side measured first, with their medians.
fn columns(row: &Row, of_order: impl Fn(&Pair) -> [Option<f64>; 2], y: &str) -> (String, Table) {
    let count = f64::from(last(row));
    let of = |column: usize| -> Vec<(f64, f64)> {
        let points = row.pairs.iter().filter_map(|pair| {
            let shift = (position_of(pair) - (count + 1.0) / 2.0) / count * COLUMN;
            Some((1.0 + column as f64 + shift, of_order(pair)[column]?))
        });
        points.collect()
    };
    let middle = |column: usize| {
        let values: Vec<f64> = of(column).iter().map(|(_, y)| *y).collect();
        let at = median(&values)?;
        let x = 1.0 + column as f64;
        Some(Trace {
            colour: MARKED[column].0,
            dash: Dash::Dashed,
            points: vec![(x - COLUMN / 2.0, at), (x + COLUMN / 2.0, at)],
            band: Vec::new(),
        })
    };
    let tick = |at: f64, label: &str| Tick {
        at,
        label: label.to_owned(),
    };
    let x = Axis {
        ticks: vec![tick(1.0, "A first"), tick(2.0, "B first")],
        ..Axis::numbered("", 2)
    };
    let series = vec![marks("", 0, of(0)), marks("", 1, of(1))];
    let traces = (0..2).filter_map(middle).collect();
    let svg = chart(y, x, y, series, traces);
    let text = |value: Option<f64>| match value {
        Some(pct) => format!("{pct:+.2} %"),
        None => number::UNKNOWN.to_owned(),
    };
    let rows = row.pairs.iter().map(|pair| {
        let [a, b] = of_order(pair);
        (
            String::new(),
            vec![pair.number.to_string(), text(a), text(b)],
        )
    });
    (svg, grouped(&["pair", "A first", "B first"], rows))
}

/// True if slices show the effect of order, and not blocks.
fn is_in_slices(row: &Row) -> bool {
    row.pairs.iter().any(|pair| pair.by_order.is_some())
}

/// The content of the columns: slices of all pairs, or pairs of one order each.
fn subject(row: &Row) -> &'static str {
    if is_in_slices(row) {
        "slices of each pair"
    } else {
        "pairs"
    }
}

fn by_order(row: &Row) -> Figure {
    let of_order = |pair: &Pair| match (&pair.by_order, pair.is_a_first) {
        (Some(order), _) => order.ratio.map(|ratio| Some(change_pct(ratio))),
        (None, true) => [Some(change_pct(pair.ratio())), None],
        (None, false) => [None, Some(change_pct(pair.ratio()))],
    };
    let (svg, table) = columns(row, of_order, "B against A, %");
    let subject = subject(row);
    let mut figure = Figure::new(
        "First against second".to_owned(),
        svg,
        format!(
            "The ratio in {subject} where A was first, and where B was, from left to right in the order of time, with the medians. \
             If the second gains or loses by being second, one column lies above the other."
        ),
        table,
    );
    figure.said = said(row, |oddity| matches!(oddity, Oddity::Order { .. }));
    figure
}

fn carry_over(row: &Row) -> Figure {
    let levels: Vec<f64> = row.pairs.iter().map(both).collect();
    let middle = median(&levels).unwrap_or(1.0);
    let of_order = |pair: &Pair| match (&pair.by_order, pair.is_a_first) {
        (Some(order), _) => order.level.map(|level| Some(change_pct(level))),
        (None, true) => [Some(change_pct(both(pair) / middle)), None],
        (None, false) => [None, Some(change_pct(both(pair) / middle))],
    };
    let (svg, table) = columns(row, of_order, "both sides, %");
    let subject = subject(row);
    let mut figure = Figure::new(
        "AB against BA (carry-over)".to_owned(),
        svg,
        format!(
            "Both sides together, by the median of all, in {subject} where A was first, and where B was. If A leaves something else \
             to B than B to A, one column lies above the other, and the ratio is wrong."
        ),
        table,
    );
    figure.said = said(row, |oddity| matches!(oddity, Oddity::CarryOver { .. }));
    figure
}

fn both(pair: &Pair) -> f64 {
    (pair.figures[0] * pair.figures[1]).sqrt()
}

fn residuals(row: &Row) -> Figure {
    let of = |side: usize| -> Vec<(f64, f64)> {
        let figures: Vec<f64> = row.pairs.iter().map(|pair| pair.figures[side]).collect();
        let middle = median(&figures).unwrap_or(1.0);
        let pairs = row.pairs.iter().map(|pair| {
            let is_first = pair.is_a_first == (side == 0);
            let shift = if is_first { -0.2 } else { 0.2 };
            (
                position_of(pair) + shift,
                change_pct(pair.figures[side] / middle),
            )
        });
        pairs.collect()
    };
    let sides = [of(0), of(1)];
    let cells = row.pairs.iter().zip(sides[0].iter().zip(&sides[1]));
    let cells = cells.map(|(pair, (a, b))| {
        let text = |pct: f64| format!("{pct:+.2} %");
        (
            String::new(),
            vec![pair.number.to_string(), text(a.1), text(b.1)],
        )
    });
    let table = grouped(&["pair", "A", "B"], cells);
    let [a, b] = sides;
    let series = vec![marks("A", 0, a), marks("B", 1, b)];
    let x = Axis::numbered("pair", last(row));
    let title = "against its median, %";
    let mut figure = Figure::new(
        "Residuals in the order of time".to_owned(),
        chart("Residuals", x, title, series, Vec::new()),
        "Each block against the median of its side, whoever was first on the left. What moves both sides alike is the machine's, and \
         pairing takes it out; what moves one alone is in the ratio."
            .to_owned(),
        table,
    );
    figure.said = said(row, |oddity| matches!(oddity, Oddity::Drifted { .. }));
    figure
}

fn components(scatter: &Scatter) -> Figure {
    let parts = &scatter.components;
    let bar = |label: &str, share: f64, colour: usize, hollow: bool| Bar {
        label: label.to_owned(),
        value: Some(share),
        text: format!("{} %", percent(share)),
        colour,
        hollow,
    };
    let all = [
        bar("a pair, in all", parts.total, 7, false),
        bar(within_words(scatter.within), parts.within, 0, false),
        bar(between_words(scatter.between), parts.between, 1, false),
        bar(
            "with points twice as long",
            parts.with_blocks_longer(2.0),
            7,
            true,
        ),
    ];
    let rows = all
        .iter()
        .map(|bar| (String::new(), vec![bar.label.clone(), bar.text.clone()]));
    let table = grouped(&["scatter of", "standard deviation"], rows);
    let share = parts.within_share;
    Figure::new(
        "Where the scatter of a pair comes from".to_owned(),
        bars("Components of the scatter", &all),
        format!(
            "Standard deviations of the ratio; their squares add up. Of the variance, {:.0} % comes from within (95 % interval {:.0} \
             to {:.0} %).",
            share.estimate * 100.0,
            share.low * 100.0,
            share.high * 100.0
        ),
        table,
    )
}
