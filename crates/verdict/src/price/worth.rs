//! Prices of a run's figures: the total divided by each.

use archive::{Component, Point, Run};
use stats::summary::median;

use super::bill::{Bill, Money};
use super::limit::{NotKnown, orders_at_limit};
use crate::metric::Metric;
use crate::ramps::USERS;

/// Random I/Os per second of a disk with 15,000 rpm, from the document below, which compares 147,000 with about 600
/// disks.
const IOPS_PER_DISK_15K: f64 = 147_000.0 / 600.0;
/// Source of that figure.
pub const DISKS_SOURCE: &str = "Benchware, Oracle 11.2 on HP ProLiant DL980 with Violin VMA 3205, 2012, slide \"Random write\": 147,000 IOPS need about 600 disks with 15,000 rpm, which is 245 IOPS each";

/// Disks with 15,000 rpm that `iops` random I/Os per second would need.
pub fn disks_15k(iops: f64) -> f64 {
    (iops / IOPS_PER_DISK_15K).ceil()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    OrdersAtLimit,
    Iops,
    GbInMemory,
    QueriesPerHour,
}

impl What {
    pub fn name(self) -> &'static str {
        match self {
            Self::OrdersAtLimit => "thousand_orders_per_min_at_limit",
            Self::Iops => "iops",
            Self::GbInMemory => "gb_in_memory",
            Self::QueriesPerHour => "scaled_query_per_h",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::OrdersAtLimit => "1,000 new orders/min at the limit",
            Self::Iops => "I/O per second",
            Self::GbInMemory => "GB of tables in memory",
            Self::QueriesPerHour => "scaled query per hour",
        }
    }

    pub fn figure_unit(self) -> &'static str {
        match self {
            Self::OrdersAtLimit => "new orders/min",
            Self::Iops => "IOPS",
            Self::GbInMemory => "GB",
            Self::QueriesPerHour => "queries/h",
        }
    }

    fn size(self) -> f64 {
        match self {
            Self::OrdersAtLimit => 1_000.0,
            _ => 1.0,
        }
    }
}

/// A figure and the price of one unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Worth {
    pub what: What,
    pub target: String,
    /// Test, with its level if all repetitions agree: "T626@8".
    pub place: String,
    /// Figure: median of the repetitions, the lowest and the highest.
    pub figure: Result<[f64; 3], NotKnown>,
    pub repetitions: usize,
    /// Price of one unit, at the median, at the highest and at the lowest figure; `None` without a figure or a total
    /// for ratios.
    pub price: Option<[Money; 3]>,
}

pub fn worth(bill: &Bill, run: &Run) -> Vec<Worth> {
    let total = bill.for_ratios().ok();
    let mut all = Vec::new();
    for (number, target) in run.targets.iter().enumerate() {
        let of =
            |what, place, values: Vec<f64>| of_values(what, &target.name, place, values, total);
        let unknown = |what, place: String, why| Worth {
            what,
            target: target.name.clone(),
            place,
            figure: Err(why),
            repetitions: 0,
            price: None,
        };
        if let Some(orders) = orders_at_limit(run, number as u32) {
            all.push(match orders {
                Ok((users, values)) => of(What::OrdersAtLimit, at(USERS, &users), values),
                Err(why) => unknown(What::OrdersAtLimit, USERS.to_owned(), why),
            });
        }
        if let Some((place, values)) = best_iops(run, number as u32) {
            all.push(of(What::Iops, place, values));
        }
        // The tables of a test are no capacity: the figure is the amount of tables with the same compression that the
        // memory holds.
        for (place, factors) in
            of_tests(run, number as u32, "compress_factor", |test| test == LIFTED)
        {
            all.push(match bill.memory_gb {
                Some(gb) => {
                    let held = factors.iter().map(|factor| gb * factor).collect();
                    of(What::GbInMemory, place, held)
                }
                None => unknown(What::GbInMemory, place, NotKnown::NoMemory),
            });
        }
        for (place, values) in of_tests(run, number as u32, "scaled_queries_per_h", |_| true) {
            all.push(of(What::QueriesPerHour, place, values));
        }
    }
    all
}

const LIFTED: &str = "LIFT-ALL";

fn of_values(
    what: What,
    target: &str,
    place: String,
    values: Vec<f64>,
    total: Option<Money>,
) -> Worth {
    let middle = median(&values).unwrap_or_default();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let price_at = |value: f64| {
        total.map(|money| Money {
            list: money.list / (value / what.size()),
            net: money.net / (value / what.size()),
        })
    };
    let prices = [middle, high, low].map(price_at);
    let price = match prices {
        [Some(middle), Some(low), Some(high)] => Some([middle, low, high]),
        _ => None,
    };
    Worth {
        what,
        target: target.to_owned(),
        place,
        figure: Ok([middle, low, high]),
        repetitions: values.len(),
        price,
    }
}

/// The test of storage with the most I/Os per second at the device.
fn best_iops(run: &Run, target: u32) -> Option<(String, Vec<f64>)> {
    let of_storage = |test: &str| {
        let mut points = run.points.iter();
        points.any(|p| p.key.test == test && p.component == Component::Storage)
    };
    let all = of_tests(run, target, "total_iops", of_storage);
    all.into_iter().max_by(|(_, a), (_, b)| {
        let [a, b] = [a, b].map(|values| median(values).unwrap_or_default());
        a.total_cmp(&b)
    })
}

/// Every test of a target with a figure above 0, with its best in each repetition.
fn of_tests(
    run: &Run,
    target: u32,
    figure: &str,
    wanted: impl Fn(&str) -> bool,
) -> Vec<(String, Vec<f64>)> {
    let Some(record) = run.targets.get(target as usize) else {
        return Vec::new();
    };
    let mut tests: Vec<&str> = Vec::new();
    for point in run.points.iter().filter(|p| p.key.target == target) {
        let test = point.key.test.as_str();
        if !tests.contains(&test) && wanted(test) {
            tests.push(test);
        }
    }
    let of_test = |test: &str| {
        let metric = Metric {
            target: Some(record.name.clone()),
            test: test.to_owned(),
            level: None,
            figure: figure.to_owned(),
        };
        let points: Vec<(&Point, f64)> = metric.points(run).into_iter().flatten().collect();
        let points: Vec<_> = points
            .into_iter()
            .filter(|(_, value)| *value > 0.0)
            .collect();
        let dops: Vec<u32> = points
            .iter()
            .map(|(p, _)| p.key.jobs * p.key.threads.max(1))
            .collect();
        let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
        (!values.is_empty()).then(|| (at(test, &dops), values))
    };
    tests.into_iter().filter_map(of_test).collect()
}

/// "T626@8", or "T626" if the repetitions differ.
fn at(test: &str, levels: &[u32]) -> String {
    match levels {
        [first, others @ ..] if others.iter().all(|other| other == first) => {
            format!("{test}@{first}")
        }
        _ => test.to_owned(),
    }
}

#[cfg(test)]
mod tests;
