//! Overview of the order-entry workload: throughput, response times and limits by number of users.

use verdict::ramps::{PERCENTILE, USERS};

use crate::level::{Curve, Level, TestGroup};
use crate::{number, ramp};

pub const HEADS: [&str; 7] = [
    "users",
    "new orders/min",
    "transactions/s",
    "response",
    "errors",
    "valid",
    "bottleneck",
];

pub struct Summary {
    pub target: String,
    pub percentile: f64,
    pub rows: Vec<Row>,
    pub sentences: Vec<String>,
}

pub struct Row {
    pub cells: [String; 7],
    pub invalid: bool,
}

pub fn summaries(groups: &[TestGroup<'_>]) -> Vec<Summary> {
    let of_users = groups.iter().filter(|group| is_of_users(group.test));
    of_users.flat_map(|g| &g.curves).map(summary).collect()
}

/// True if the jobs of a test are users, over all their transactions.
pub fn is_of_users(test: &str) -> bool {
    test == USERS
}

/// Transactions of the users, each a test with the same levels.
const TRANSACTIONS: [&str; 5] = [
    "NEW-ORDER",
    "PAYMENT",
    "ORDER-STATUS",
    "DELIVERY",
    "STOCK-LEVEL",
];

/// True if the levels of a test are numbers of users.
pub fn is_by_users(test: &str) -> bool {
    is_of_users(test) || TRANSACTIONS.contains(&test)
}

fn summary(curve: &Curve<'_>) -> Summary {
    let first = curve.levels.first().map(Level::first);
    let percentile = first.and_then(|point| point.work.limit_percentile);
    let percentile = percentile.unwrap_or(PERCENTILE);
    Summary {
        target: curve.label.clone(),
        percentile,
        rows: curve.levels.iter().map(|l| row(l, percentile)).collect(),
        sentences: ramp::sentences(curve),
    }
}

fn row(level: &Level<'_>, percentile: f64) -> Row {
    let shown = level.shown();
    let rate = |name: &str| number::figure_or_unknown(shown.figure(name));
    let response = shown.response();
    let response_us = (!response.is_empty()).then(|| response.percentile_us(percentile));
    let bottleneck = shown.first().held_back.bottleneck.as_ref();
    let (invalid, all) = (level.invalid(), level.points.len());
    Row {
        cells: [
            level.first().key.jobs.to_string(),
            rate("new_orders_per_min"),
            rate("operations_per_s"),
            number::latency(response_us),
            number::whole(shown.figure("errors")),
            match invalid {
                0 => "yes".to_owned(),
                _ if invalid == all => "NO".to_owned(),
                _ => format!("{} of {all}", all - invalid),
            },
            bottleneck.map_or_else(
                || number::UNKNOWN.to_owned(),
                |b| b.resource.name().to_owned(),
            ),
        ],
        invalid: invalid > 0,
    }
}
