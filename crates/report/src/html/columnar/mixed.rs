//! Mutual cost of an order-entry load and analytical queries: on the same server, and with queries on a copy in memory.

use std::collections::BTreeSet;

use archive::{Point, Remark, Run, Section, Table};
use stats::Histogram;

use super::parts::{DISK, figure_of, name, of_table};
use crate::number;

/// Codes of the points of one kind of mixed load.
struct Codes {
    /// Order entry without queries.
    users_alone: &'static str,
    queries_alone: &'static str,
    users: &'static str,
    queries: &'static str,
    title: &'static str,
    /// Resources that both share, in a sentence or two.
    shared: &'static str,
}

/// On separate tables, and on the same tables.
const KINDS: [Codes; 2] = [
    Codes {
        users_alone: "MIXED-OLTP-ALONE",
        queries_alone: "MIXED-OLAP-ALONE",
        users: "MIXED-OLTP",
        queries: "MIXED-OLAP",
        title: "Interference between order entry and queries",
        shared: "The order-entry tables are in the same server as the analytical tables (embedded databases: in a separate file): \
         both share processors, memory, log and devices, but no rows. Copies in memory hold the analytical tables, which \
         order entry does not change.",
    },
    Codes {
        users_alone: "HTAP-OLTP-ALONE",
        queries_alone: "HTAP-OLAP-ALONE",
        users: "HTAP-OLTP",
        queries: "HTAP-OLAP",
        title: "Order entry and queries on the same tables",
        shared: "The queries read the tables on which the users work, or a copy in memory that follows them, each in a snapshot of \
         its own that was proven to be one; the totals that prove it are read between the queries and are not in their times.",
    },
];
/// Percentile of the response time in the table.
const PERCENTILE: f64 = 95.0;

/// The tables of each kind that was measured.
pub(super) fn tables(run: &Run) -> Vec<Section> {
    let both = KINDS.iter().filter_map(|codes| table(run, codes));
    both.chain(freshness(run)).collect()
}

/// A line for order entry alone, and one for each target with concurrent queries; `None` without a measurement.
fn table(run: &Run, codes: &Codes) -> Option<Section> {
    let keys: BTreeSet<(u32, u32, u32)> = (run.points.iter())
        .filter(|point| point.key.test == codes.users)
        .map(|point| (point.key.step, point.key.target, point.key.threads))
        .collect();
    if keys.is_empty() {
        return None;
    }
    let degrees: BTreeSet<u32> = keys.iter().map(|(_, _, threads)| *threads).collect();
    let mut table = Table::new(HEADS);
    let mut alone = Side::default();
    let mut step = None;
    for (of_step, target, threads) in keys {
        let side = |test: &str| Side::of(run, test, of_step, target);
        let first = side(codes.users_alone);
        if !first.0.is_empty() || step != Some(of_step) {
            step = Some(of_step);
            alone = first;
            table.row(line("order entry alone".into(), &alone, &alone, None));
        }
        let name = at_degree(name(run, target), threads, &degrees);
        let queries = [codes.queries, codes.queries_alone].map(|test| side(test).at(threads));
        let users = side(codes.users).at(threads);
        let label = if target == DISK {
            format!("with queries on the rows, {name}")
        } else {
            format!("with queries on the copy, {name}")
        };
        table.row(line(label, &users, &alone, Some(&queries)));
    }
    Some(of_table(codes.title.into(), table, how(run, codes)))
}

const HEADS: &str = "measurement | new orders [/min] | of alone [%] | p95 [ms] | CPU [%] | per query [s] | \
     per query alone [s] | slowdown [×]";

fn how(run: &Run, codes: &Codes) -> String {
    let users = run
        .points
        .iter()
        .find(|point| point.key.test == codes.users);
    let executed = run
        .points
        .iter()
        .find(|point| point.key.test == codes.queries);
    let count = |point: Option<&Point>| point.map_or(0, |point| point.key.jobs);
    let size = users.map_or(String::new(), |point| point.work.size.clone());
    format!(
        "Order-entry users: {}, with {size}; query users: {}. {} Each measurement of order entry starts with a fresh \
         database, and its consistency conditions are checked afterwards. p95: response time of all transactions. CPU: whole machine, both loads and the driver together. s per query: mean \
         over complete passes of all queries.",
        count(users),
        count(executed),
        codes.shared
    )
}

/// The name with its degree of parallelism if there are several.
fn at_degree(name: String, threads: u32, degrees: &BTreeSet<u32>) -> String {
    match degrees.len() {
        1 => name,
        _ => format!("{name} @{threads}"),
    }
}

/// Age of the copies that followed order entry; `None` without such a copy.
fn freshness(run: &Run) -> Option<Section> {
    let is_of_copy = |point: &&Point| {
        let has_age = point.figures.copy_age_ms_p50.is_some() || !point.valid();
        point.key.test == FOLLOWED && point.key.target != DISK && has_age
    };
    let keys: BTreeSet<(u32, u32, u32)> = (run.points.iter().filter(is_of_copy))
        .map(|point| (point.key.step, point.key.target, point.key.threads))
        .collect();
    let degrees: BTreeSet<u32> = keys.iter().map(|(_, _, threads)| *threads).collect();
    let row = |(step, target, threads): &(u32, u32, u32)| {
        let side = Side::of(run, FOLLOWED, *step, *target).at(*threads);
        let cell =
            |value: fn(&Point) -> Option<f64>| number::whole(figure_of(side.points(), value));
        vec![
            at_degree(name(run, *target), *threads, &degrees),
            cell(|point| point.figures.copy_age_ms_p50),
            cell(|point| point.figures.copy_age_ms_p95),
            cell(|point| point.figures.copy_age_ms_max),
            cell(|point| point.figures.copy_lag_transactions_p50),
            cell(|point| point.figures.copy_lag_transactions_p95),
            cell(|point| point.figures.copy_lag_transactions_max),
            cell(|point| followed(point).map(|(cycles, _)| cycles)),
            cell(|point| followed(point).map(|(_, took_ms)| took_ms)),
        ]
    };
    let mut table = Table::new(FRESHNESS_HEADS);
    keys.iter().map(row).for_each(|row| table.row(row));
    let how = "Age: time from the snapshot of the source that the copy is of to the start of a query. Transactions: those that \
              users completed in this time, which the copy lacks. Cycle: from before a snapshot of the source until it is \
              visible in the copy. After the last transaction each table of the copy was compared with the source; where they \
              differed, the figures are –.";
    let title = "Freshness of the copies that followed order entry";
    (!table.rows.is_empty()).then(|| of_table(title.into(), table, how.into()))
}

/// Queries during order entry whose copy follows.
const FOLLOWED: &str = "HTAP-OLAP";
const FRESHNESS_HEADS: &str = "copy | age (ms) [p50] | age (ms) [p95] | age (ms) [max] | transactions [p50] | transactions [p95] | \
     transactions [max] | cycles | cycle p50 [ms]";

/// Cycles of a following copy, and their median duration.
fn followed(point: &Point) -> Option<(f64, f64)> {
    point.notes.iter().find_map(|note| match note {
        Remark::CopyFollowed {
            cycles,
            took_ms_p50,
            ..
        } => Some((*cycles as f64, *took_ms_p50)),
        _ => None,
    })
}

/// One line; queries are absent for order entry alone.
fn line(
    label: String,
    users: &Side<'_>,
    alone: &Side<'_>,
    queries: Option<&[Side<'_>; 2]>,
) -> Vec<String> {
    let orders = users.orders_per_min();
    let share = |part: Option<f64>, whole: Option<f64>| Some(part? / whole.filter(|n| *n > 0.0)?);
    let [beside_s, alone_s] = match queries {
        Some(queries) => [queries[0].query_s(), queries[1].query_s()],
        None => [None, None],
    };
    let of_alone_pct = share(orders, alone.orders_per_min()).map(|share| share * 100.0);
    vec![
        label,
        number::whole(orders),
        number::whole(of_alone_pct),
        number::figure_or_unknown(users.response_ms()),
        number::whole(figure_of(users.points(), |point| point.figures.cpu_pct_avg)),
        number::figure_or_unknown(beside_s),
        number::figure_or_unknown(alone_s),
        number::figure_or_unknown(share(beside_s, alone_s)),
    ]
}

#[derive(Default)]
struct Side<'r>(Vec<&'r Point>);

impl<'r> Side<'r> {
    fn of(run: &'r Run, test: &str, step: u32, target: u32) -> Self {
        let is_mine = |point: &&Point| {
            point.key.test == test && (point.key.step, point.key.target) == (step, target)
        };
        Self(run.points.iter().filter(is_mine).collect())
    }

    fn at(self, threads: u32) -> Self {
        let is_mine = |point: &&Point| point.key.threads == threads;
        Self(self.0.into_iter().filter(is_mine).collect())
    }

    fn points(&self) -> impl Iterator<Item = &'r Point> {
        self.0.iter().copied()
    }

    fn orders_per_min(&self) -> Option<f64> {
        figure_of(self.points(), |point| point.figures.new_orders_per_min)
    }

    fn query_s(&self) -> Option<f64> {
        figure_of(self.points(), |point| {
            if let Some(rate) = point.figures.queries_per_min.filter(|n| *n > 0.0) {
                return Some(f64::from(point.key.jobs) * 60.0 / rate);
            }
            let operations = point.figures.operations.filter(|n| *n > 0.0)?;
            Some(f64::from(point.key.jobs) * point.figures.elapsed_s? / operations)
        })
    }

    /// Merged over the repetitions; `None` if one of them is invalid.
    fn response_ms(&self) -> Option<f64> {
        let mut all = Histogram::default();
        for point in self.points() {
            if !point.valid() {
                return None;
            }
            all.merge_snapshot(&point.histograms.response);
        }
        (!all.is_empty()).then(|| all.percentile_us(PERCENTILE) / 1e3)
    }
}
