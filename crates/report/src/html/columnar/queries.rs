//! The queries of one user, or of several concurrent users.

use std::collections::BTreeSet;

use archive::{Point, Run};

use super::parts::{DISK, averaged, figure_of};

/// All queries of one user, as one figure.
const POWER: &str = "OLAP-POWER";
const THROUGHPUT: &str = "OLAP-THROUGHPUT";

pub(super) struct Queries {
    test: &'static str,
    users: u32,
}

impl Queries {
    /// One user, and each number of concurrent users.
    pub fn of(run: &Run) -> Vec<Self> {
        let of_test = |test: &'static str| {
            let users: BTreeSet<u32> = (run.points.iter())
                .filter(|point| point.key.test == test)
                .map(|point| point.key.jobs)
                .collect();
            users.into_iter().map(move |users| Self { test, users })
        };
        of_test(POWER).chain(of_test(THROUGHPUT)).collect()
    }

    /// The queries of one user, including runs with too few queries for an overall figure.
    pub fn alone() -> Self {
        Self {
            test: POWER,
            users: 1,
        }
    }

    pub fn who(&self) -> String {
        match self.users {
            1 => "1 user".into(),
            users => format!("{users} users"),
        }
    }

    pub fn is_alone(&self) -> bool {
        self.test == POWER
    }

    /// Degrees of parallelism of the replicas, which never clamp one.
    pub fn degrees(&self, run: &Run) -> BTreeSet<u32> {
        let mine = |point: &&Point| self.is_measured(point) && point.key.target != DISK;
        let points = run.points.iter().filter(mine);
        points.map(|point| point.key.threads).collect()
    }

    pub fn elapsed_s(&self, run: &Run, target: u32, dop: u32) -> Option<f64> {
        figure_of(self.points(run, target, dop), |point| {
            point.figures.elapsed_s
        })
    }

    pub fn cpu_pct_avg(&self, run: &Run, target: u32, dop: u32) -> Option<f64> {
        if !self.is_alone() {
            return figure_of(self.points(run, target, dop), |point| {
                point.figures.cpu_pct_avg
            });
        }
        averaged(self.queries(run, target, dop), |point| {
            point.figures.cpu_pct_avg
        })
    }

    pub fn cpu_pct_peak(&self, run: &Run, target: u32, dop: u32) -> Option<f64> {
        if !self.is_alone() {
            return figure_of(self.points(run, target, dop), |point| {
                point.figures.cpu_pct_peak
            });
        }
        let queries = self.queries(run, target, dop);
        queries
            .filter_map(|point| point.figures.cpu_pct_peak)
            .reduce(f64::max)
    }

    fn is_of(&self, point: &Point) -> bool {
        point.key.test == self.test && point.key.jobs == self.users
    }

    /// True for the points that determine the measured degrees of parallelism.
    fn is_measured(&self, point: &Point) -> bool {
        if self.is_alone() {
            is_query(point) || self.is_of(point)
        } else {
            self.is_of(point)
        }
    }

    fn points<'a>(
        &'a self,
        run: &'a Run,
        target: u32,
        dop: u32,
    ) -> impl Iterator<Item = &'a Point> {
        let dop = self.taken(run, target, dop);
        run.points.iter().filter(move |point| {
            self.is_of(point) && (point.key.target, Some(point.key.threads)) == (target, dop)
        })
    }

    fn queries<'a>(&self, run: &'a Run, target: u32, dop: u32) -> impl Iterator<Item = &'a Point> {
        let dop = self.taken(run, target, dop);
        run.points.iter().filter(move |point| {
            is_query(point) && (point.key.target, Some(point.key.threads)) == (target, dop)
        })
    }

    /// Codes of the queries measured on disk, in numerical order.
    pub fn codes(&self, run: &Run, dop: u32) -> Vec<String> {
        let numbers: BTreeSet<u32> = (self.queries(run, DISK, dop))
            .filter_map(|point| point.key.test.strip_prefix('Q')?.parse().ok())
            .collect();
        numbers
            .into_iter()
            .map(|number| format!("Q{number}"))
            .collect()
    }

    /// Mean time of one execution of a query.
    pub fn query_s(&self, run: &Run, target: u32, dop: u32, code: &str) -> Option<f64> {
        let points = (self.queries(run, target, dop)).filter(|point| point.key.test == code);
        figure_of(points, |point| {
            let operations = point.figures.operations.filter(|n| *n > 0.0)?;
            Some(point.figures.elapsed_s? / operations)
        })
    }

    /// The largest degree of a target up to `dop`.
    fn taken(&self, run: &Run, target: u32, dop: u32) -> Option<u32> {
        let mine = |point: &&Point| self.is_measured(point) && point.key.target == target;
        let degrees = run
            .points
            .iter()
            .filter(mine)
            .map(|point| point.key.threads);
        degrees.filter(|degree| *degree <= dop).max()
    }

    pub fn published_speed(&self) -> &'static str {
        if self.is_alone() {
            "Figures 6 and 12 of HPE's study show the same without numbers; its text says slightly more than 9 \
                 times at 3 TB (query-high)."
        } else {
            "Figures 10 and 13 of HPE's study show the same without numbers; its callout says more than 20 times at 3 TB."
        }
    }

    pub fn published_time(&self) -> &'static str {
        "HPE's study prints no times."
    }

    pub fn published_average(&self) -> &'static str {
        if self.is_alone() {
            "Figures 7 and 12 of HPE's study show the same without numbers."
        } else {
            "HPE's study has no such figure for several users."
        }
    }

    pub fn published_peak(&self) -> &'static str {
        if self.is_alone() {
            "Figures 8 and 12 of HPE's study show the same without numbers."
        } else {
            "Figures 11 and 14 of HPE's study show the same without numbers."
        }
    }
}

fn is_query(point: &Point) -> bool {
    let number = point.key.test.strip_prefix('Q');
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}
