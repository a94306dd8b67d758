//! The metrics, and the order of all tests.

use std::sync::OnceLock;

use archive::Component;
use serde::Deserialize;

/// The rule that chooses one value among the levels of a sweep.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Rule {
    /// The value at one job; the smallest parallelism of those.
    Speed,
    Maximum,
    Minimum,
    /// The largest value among the levels whose mean service time meets the limit.
    Within {
        /// Limit of the mean service time, µs.
        limit_us: f64,
    },
    /// The value at the level with the largest other figure.
    AtMaximum {
        of: String,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Line {
    pub component: Component,
    pub group: String,
    pub label: String,
    pub test: String,
    /// Figure of the result row, or a latency percentile such as `service_us_p99`.
    pub figure: String,
    pub unit: String,
    /// Printed value = figure × scale.
    #[serde(default = "one")]
    pub scale: f64,
    /// Service times are per row, because an operation is a batch of rows.
    #[serde(default)]
    pub per_row: bool,
    /// The first screen of the page shows it.
    #[serde(default)]
    pub headline: bool,
    /// How the sentence on top of the page says the figure, with {} in its place.
    pub says: Option<String>,
    #[serde(flatten)]
    pub rule: Rule,
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
struct File {
    line: Vec<Line>,
}

/// All metrics, in the order in which they are printed.
pub fn lines() -> &'static [Line] {
    static LINES: OnceLock<Vec<Line>> = OnceLock::new();
    LINES.get_or_init(|| {
        toml::from_str::<File>(include_str!("../../scorecard.toml"))
            .expect("scorecard.toml is embedded and a test of this module reads it")
            .line
    })
}

/// Rank of a test in the scorecard; other tests come last.
pub fn rank(test: &str) -> usize {
    let in_card = lines().iter().position(|l| l.test == test);
    let place = |codes: &[&str]| codes.iter().position(|code| *code == test);
    let in_order_entry = || place(&ORDER_ENTRY);
    // Queries come after order entry.
    let of_query = || Some(ORDER_ENTRY.len() + query_number(test)?);
    let of_refresh = || Some(ORDER_ENTRY.len() + QUERIES_MAX + 1 + place(&AROUND_QUERIES)?);
    in_card
        .or_else(|| {
            let in_workload = in_order_entry().or_else(of_query).or_else(of_refresh)?;
            Some(lines().len() + in_workload)
        })
        .unwrap_or(usize::MAX)
}

/// The number of a query of the analytical workload, from its code.
pub fn query_number(test: &str) -> Option<usize> {
    let number = test.strip_prefix('Q')?.parse().ok()?;
    (1..=QUERIES_MAX).contains(&number).then_some(number)
}

const QUERIES_MAX: usize = 22;
/// Its points after the queries.
const AROUND_QUERIES: [&str; 3] = ["RF1", "RF2", "OLAP-LOAD"];

/// Points of the order-entry workload: the users' first, loads and checks last.
const ORDER_ENTRY: [&str; 10] = [
    "OLTP",
    "NEW-ORDER",
    "PAYMENT",
    "ORDER-STATUS",
    "DELIVERY",
    "STOCK-LEVEL",
    "OLTP-LOAD",
    "OLTP-BEFORE",
    "OLTP-AFTER",
    "OLTP-CHECK",
];

/// The figure that represents a test's throughput: that of its first line with a rate.
pub fn throughput_line(test: &str) -> Option<&'static Line> {
    lines().iter().find(|l| {
        l.test == test
            && matches!(l.rule, Rule::Speed | Rule::Maximum | Rule::Within { .. })
            && !l.figure.contains("_us_")
    })
}
