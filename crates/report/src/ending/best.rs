//! The best figures of a run, with throughput and response time side by side.

use archive::{Point, Run};

use crate::html::observed;
use crate::level::{self, TestGroup};
use crate::main_figures::{MainFigure, best_of, main_figures};
use crate::terminal::Paint;
use crate::terminal::table::{Align, Column, Table, cut};
use crate::{number, users};

pub const TARGETS_MAX: usize = 3;
/// Most rows.
pub const ROWS_MAX: usize = 6;
/// Longest and shortest name, and the room that a value of a target needs.
const NAME_MAX: usize = 32;
const NAME_MIN: usize = 12;
const VALUE_WIDTH: usize = 10;

pub fn lines(
    run: &Run,
    groups: &[TestGroup<'_>],
    rows_max: usize,
    width: usize,
    paint: &Paint,
) -> Vec<String> {
    if let Some(point) = run.points.iter().find(|point| point.key.is_observation()) {
        return observation(point, width, paint);
    }
    let mut found = main_figures(run, groups);
    let is_main = |test: &str| found.iter().any(|main| main.test == test);
    let by_users = groups.iter().filter(|group| users::is_by_users(group.test));
    let by_users = by_users.filter(|group| !is_main(group.test));
    let by_users: Vec<MainFigure<'_>> = by_users.flat_map(|group| best_of(run, group)).collect();
    found.extend(by_users);
    // A stable sort leaves figures of the same importance in their order.
    found.sort_by_key(|main| main.says().is_none());
    let mut rows: Vec<Vec<&MainFigure<'_>>> = Vec::new();
    for main in &found {
        let is_same = |row: &&mut Vec<&MainFigure<'_>>| {
            row.iter()
                .any(|of| (of.test, of.figure) == (main.test, main.figure))
        };
        match rows.iter_mut().find(is_same) {
            Some(row) => row.push(main),
            None => rows.push(vec![main]),
        }
    }
    rows.truncate(rows_max);
    table(run, &rows, width, paint)
}

/// Name, then for each target value with unit, parallelism and p95; heads only where there are several targets.
fn table(run: &Run, rows: &[Vec<&MainFigure<'_>>], width: usize, paint: &Paint) -> Vec<String> {
    let targets = run.targets.len().min(TARGETS_MAX);
    let heads: Vec<String> = (0..targets)
        .map(|at| level::target_name(run, at as u32))
        .collect();
    let column = |head, align, leave| Column {
        heads: ["", "", head],
        align,
        leave,
    };
    let is_alone = targets == 1;
    let mut columns = vec![column("", Align::Left, 0)];
    for (at, head) in (0..).zip(&heads) {
        let [head, p95] = if is_alone {
            ["", ""]
        } else {
            [head.as_str(), "p95"]
        };
        // The first database stays; of the others, the last one leaves first.
        columns.push(column(head, Align::Right, at));
        columns.push(column("", Align::Left, 9));
        columns.push(column(p95, Align::Left, 8));
    }
    let name_max = width.saturating_sub(VALUE_WIDTH * (targets + 1));
    let name_max = name_max.clamp(NAME_MIN, NAME_MAX);
    let mut table = Table::unruled(columns);
    for row in rows {
        let Some(first) = row.first() else {
            continue;
        };
        let unit = if is_alone {
            String::new()
        } else {
            format!(" [{}]", first.unit)
        };
        let name = cut(&format!("  {}{unit}", first.name), name_max);
        let cells = (0..targets).flat_map(|target| {
            let own = row.iter().find(|main| main.target as usize == target);
            texts(own.copied(), is_alone)
        });
        table.row(std::iter::once(name).chain(cells).collect(), false);
    }
    let text = table.render(width, paint);
    text.lines().map(str::to_owned).collect()
}

fn texts(main: Option<&MainFigure<'_>>, is_alone: bool) -> [String; 3] {
    let Some(main) = main else {
        return [number::UNKNOWN.to_owned(), String::new(), String::new()];
    };
    let value = number::three_digits(main.value());
    let dop = format!("@{}", main.level.dop());
    let p95 = main.latency("p95").map(|us| number::latency(Some(us)));
    if is_alone {
        let p95 = p95.map(|p95| format!("p95 {p95}"));
        return [
            format!("{value} {}", main.unit),
            dop,
            p95.unwrap_or_default(),
        ];
    }
    [value, dop, p95.unwrap_or_default()]
}

fn observation(point: &Point, width: usize, paint: &Paint) -> Vec<String> {
    let column = |align| Column {
        heads: [""; 3],
        align,
        leave: 0,
    };
    let mut table = Table::unruled(vec![column(Align::Left), column(Align::Right)]);
    let known = observed::facts(point).into_iter();
    for (name, value) in known.filter(|(_, value)| value != number::UNKNOWN) {
        let room = width.saturating_sub(VALUE_WIDTH).max(NAME_MIN);
        table.row(vec![cut(&format!("  {name}"), room), value], false);
    }
    let text = table.render(width, paint);
    text.lines().map(str::to_owned).collect()
}
