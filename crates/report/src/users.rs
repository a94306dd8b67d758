//! Overview of the order-entry workload: throughput, response times and limits by number of users.

use archive::{Cell, Point, PointKey, Section, Table};
use verdict::ramps::{PERCENTILE, USERS};

use crate::level::{Curve, Level, TestGroup};
use crate::section::FAILED;
use crate::{number, ramp};

const HEADS: &str =
    "users | new orders [/min] | transactions [/s] | response | errors | valid | bottleneck";

/// The levels of one target, and the sentences on its supported users.
pub struct Summary {
    pub target: String,
    pub levels: Section,
    pub sentences: Vec<String>,
}

pub fn summaries(groups: &[TestGroup<'_>]) -> Vec<Summary> {
    let of_users = groups.iter().filter(|group| is_of_users(group.test));
    of_users.flat_map(|g| &g.curves).map(summary).collect()
}

/// True if the jobs of a test are users, over all their transactions.
pub fn is_of_users(test: &str) -> bool {
    test == USERS
}

/// The parallelism of a point; of I/Os below a database "8 in flight".
pub fn concurrency(point: &Point) -> String {
    match point.work.below_database {
        true => format!("{} in flight", point.key.jobs),
        false => parallelism(&point.key),
    }
}

/// "16 users", "4 sessions", "4 sessions × 2 threads".
pub fn parallelism(key: &PointKey) -> String {
    let sessions = || number::counted(u64::from(key.jobs), "session");
    match key.threads {
        _ if is_of_users(&key.test) => number::users(key.jobs),
        0 | 1 => sessions(),
        threads => format!("{} × {threads} threads", sessions()),
    }
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
    let mut table = Table::new(HEADS);
    curve
        .levels
        .iter()
        .for_each(|level| table.row(row(level, percentile)));
    let title = format!("Users on {} (response time: p{percentile})", curve.label);
    Summary {
        target: curve.label.clone(),
        levels: Section::new(title).table(table),
        sentences: ramp::sentences(curve),
    }
}

fn row(level: &Level<'_>, percentile: f64) -> [Cell; 7] {
    let shown = level.shown();
    let response = shown.response();
    let response_us = (!response.is_empty()).then(|| response.percentile_us(percentile));
    let bottleneck = shown.first().held_back.bottleneck.as_ref();
    let (invalid, all) = (level.invalid(), level.points.len());
    let valid = match invalid {
        0 => "yes".to_owned(),
        _ if invalid == all => format!("{FAILED} NO"),
        _ => format!("{FAILED} {} of {all}", all - invalid),
    };
    [
        f64::from(level.first().key.jobs).into(),
        shown.figure("new_orders_per_min").into(),
        shown.figure("operations_per_s").into(),
        number::latency(response_us).into(),
        number::whole(shown.figure("errors")).into(),
        valid.into(),
        bottleneck
            .map_or(number::UNKNOWN, |b| b.resource.name())
            .into(),
    ]
}
