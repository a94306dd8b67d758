//! Counters and histograms as OpenMetrics: no quantiles, which cannot be added up.

use std::collections::BTreeMap;
use std::fmt::Write;

use archive::stream::{Snapshot, StreamEvent};

/// Bounds of the histograms are powers of two of nanoseconds, where buckets of the snapshots end too: 2^10 ns (1 µs)
/// …
const FIRST: u32 = 10;
/// … to 2^36 ns (69 s); longer latencies are in the last one.
const LAST: u32 = 36;
const BOUNDS: usize = (LAST - FIRST + 1) as usize;

#[derive(Debug, Default)]
pub struct Metrics {
    run: String,
    /// The current point is the last one.
    points: Vec<PointCounts>,
    users: Option<u32>,
}

/// Most points that are shown, the newest: a scraper stores the others.
const POINTS_MAX: usize = 16;

/// Name of the operations of a point with a single kind.
const ALL: &str = "all";

#[derive(Debug)]
struct PointCounts {
    labels: String,
    operations: BTreeMap<String, Operation>,
}

#[derive(Debug, Default)]
struct Operation {
    operations: u64,
    errors: u64,
    response: Buckets,
    service: Buckets,
}

#[derive(Debug, Default)]
struct Buckets {
    counts: [u64; BOUNDS],
    total: u64,
}

impl Buckets {
    fn add(&mut self, filled: &[(u64, u64)]) {
        for (end_ns, count) in filled {
            // A bucket ends one nanosecond below the bound.
            if let Some(bucket) = (FIRST..=LAST).position(|power| *end_ns < 1 << power) {
                self.counts[bucket] += count;
            }
            self.total += count;
        }
    }
}

impl Metrics {
    pub fn take(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::RunBegins { run, .. } => {
                self.run = escaped(run);
            }
            StreamEvent::PointBegins(head) => {
                let key = &head.key;
                let labels = format!(
                    "run=\"{}\",repetition=\"{}\",step=\"{}\",test=\"{}\",target=\"{}\",jobs=\"{}\",threads=\"{}\"",
                    self.run,
                    key.repetition,
                    key.step,
                    escaped(&key.test),
                    escaped(&head.target_name),
                    key.jobs,
                    key.threads
                );
                if self.points.len() == POINTS_MAX {
                    self.points.remove(0);
                }
                // A point is measured again after a resume, or continues when a study alternates: it stays one
                // series.
                self.points.retain(|point| point.labels != labels);
                self.points.push(PointCounts {
                    labels,
                    operations: BTreeMap::new(),
                });
                self.users = Some(key.jobs);
            }
            StreamEvent::Snapshot(snapshot) => self.count(snapshot),
            StreamEvent::RunEnds { .. } => self.users = None,
            StreamEvent::PointEnds(_)
            | StreamEvent::Remark { .. }
            | StreamEvent::Verdict { .. } => {}
        }
    }

    fn count(&mut self, snapshot: &Snapshot) {
        let Some(point) = self.points.last_mut() else {
            return;
        };
        // An observation counts no operations: no series is not a series of zeros.
        if let Some(operations) = snapshot.operations
            && snapshot.by_operation.is_empty()
        {
            let all = point.operations.entry(ALL.into()).or_default();
            all.operations += operations;
            all.errors += snapshot.errors.unwrap_or_default();
            all.response.add(&snapshot.response_ns);
            all.service.add(&snapshot.service_ns);
        }
        for of_kind in &snapshot.by_operation {
            let operation = (point.operations)
                .entry(escaped(&of_kind.operation))
                .or_default();
            operation.operations += of_kind.operations;
            operation.errors += of_kind.errors;
            operation.response.add(&of_kind.response_ns);
            operation.service.add(&of_kind.service_ns);
        }
    }

    pub fn text(&self, viewers_dropped: u64) -> String {
        let mut text = String::new();
        if !self.run.is_empty() {
            text.push_str("# TYPE dbdyno_run info\n# HELP dbdyno_run The current run.\n");
            line(
                &mut text,
                "dbdyno_run_info",
                &format!("run=\"{}\"", self.run),
                "1",
            );
        }
        self.counter(&mut text, "operations", "Operations that ended.", |o| {
            o.operations
        });
        self.counter(&mut text, "errors", "Operations that failed.", |o| o.errors);
        let response = "From the intended start of an operation to its end.";
        self.histogram(&mut text, "response_time", response, |o| &o.response);
        let service = "From the start of an operation to its end.";
        self.histogram(&mut text, "service_time", service, |o| &o.service);
        if let (Some(users), Some(point)) = (self.users, self.points.last()) {
            text.push_str("# TYPE dbdyno_users gauge\n# HELP dbdyno_users Jobs or virtual users of the current point.\n");
            line(&mut text, "dbdyno_users", &point.labels, &users.to_string());
        }
        text.push_str("# TYPE dbdyno_viewers_dropped counter\n# HELP dbdyno_viewers_dropped Viewers that stopped reading.\n");
        let _ = writeln!(text, "dbdyno_viewers_dropped_total {viewers_dropped}");
        text.push_str("# EOF\n");
        text
    }

    fn counter(&self, text: &mut String, name: &str, help: &str, of: impl Fn(&Operation) -> u64) {
        let _ = writeln!(
            text,
            "# TYPE dbdyno_{name} counter\n# HELP dbdyno_{name} {help}"
        );
        let name = format!("dbdyno_{name}_total");
        for (labels, operation) in self.series() {
            line(text, &name, &labels, &of(operation).to_string());
        }
    }

    fn series(&self) -> impl Iterator<Item = (String, &Operation)> {
        self.points.iter().flat_map(|point| {
            let labels = |name: &str| format!("{},operation=\"{name}\"", point.labels);
            let operations = point.operations.iter();
            operations.map(move |(name, operation)| (labels(name), operation))
        })
    }

    fn histogram<'m>(
        &'m self,
        text: &mut String,
        name: &str,
        help: &str,
        of: impl Fn(&'m Operation) -> &'m Buckets,
    ) {
        let name = format!("dbdyno_{name}_seconds");
        let _ = writeln!(
            text,
            "# TYPE {name} histogram\n# UNIT {name} seconds\n# HELP {name} {help}"
        );
        for (labels, operation) in self.series() {
            let buckets = of(operation);
            let mut sum = 0;
            let bounds = (FIRST..=LAST).map(|power| (1u64 << power) as f64 / 1e9);
            let bounds = bounds.map(|bound_s| format!("{bound_s:?}"));
            let counts = buckets.counts.iter();
            for (bound, count) in bounds.zip(counts) {
                sum += count;
                let labels = format!("{labels},le=\"{bound}\"");
                line(text, &format!("{name}_bucket"), &labels, &sum.to_string());
            }
            let labels = format!("{labels},le=\"+Inf\"");
            let total = buckets.total.to_string();
            line(text, &format!("{name}_bucket"), &labels, &total);
        }
    }
}

fn line(text: &mut String, name: &str, labels: &str, value: &str) {
    let _ = writeln!(text, "{name}{{{labels}}} {value}");
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use archive::PointKey;
    use archive::stream::{OperationSnapshot, PointHead};

    use super::*;

    fn begins() -> StreamEvent {
        StreamEvent::PointBegins(PointHead {
            key: PointKey {
                step: 2,
                ..PointKey::of("T611", 4)
            },
            title: String::new(),
            target_name: "sqlite".into(),
        })
    }

    #[test]
    fn histograms_are_cumulative_and_labels_escaped() {
        let mut metrics = Metrics::default();
        metrics.take(&StreamEvent::RunBegins {
            run: "a \"b\"".into(),
            at: String::new(),
            planned: 1,
            todo: 1,
        });
        metrics.take(&begins());
        for _ in 0..2 {
            metrics.take(&StreamEvent::Snapshot(Box::new(Snapshot {
                operations: Some(6),
                errors: Some(1),
                response_ns: vec![(1023, 3), (131_071, 2), (u64::MAX, 1)],
                ..Snapshot::default()
            })));
        }
        let text = metrics.text(0);
        let labels = "run=\"a \\\"b\\\"\",repetition=\"1\",step=\"2\",test=\"T611\",target=\"sqlite\",jobs=\"4\",threads=\"1\"";
        let users = format!("dbdyno_users{{{labels}}} 4");
        let labels = format!("{labels},operation=\"all\"");
        for line in [
            users,
            format!("dbdyno_operations_total{{{labels}}} 12"),
            format!("dbdyno_errors_total{{{labels}}} 2"),
            format!("dbdyno_response_time_seconds_bucket{{{labels},le=\"1.024e-6\"}} 6"),
            format!("dbdyno_response_time_seconds_bucket{{{labels},le=\"6.5536e-5\"}} 6"),
            format!("dbdyno_response_time_seconds_bucket{{{labels},le=\"0.000131072\"}} 10"),
            format!("dbdyno_response_time_seconds_bucket{{{labels},le=\"+Inf\"}} 12"),
        ] {
            assert!(text.lines().any(|l| l == line), "no {line} in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn what_is_not_counted_has_no_series() {
        let mut metrics = Metrics::default();
        metrics.take(&begins());
        metrics.take(&StreamEvent::Snapshot(Box::default()));
        let text = metrics.text(0);
        assert!(!text.contains("dbdyno_operations_total{"), "{text}");
        assert!(text.contains("dbdyno_users{"), "{text}");
    }

    #[test]
    fn kinds_of_operations_are_series_of_their_own() {
        let mut metrics = Metrics::default();
        metrics.take(&begins());
        let of = |operation: &str, operations| OperationSnapshot {
            operation: operation.into(),
            operations,
            response_ns: vec![(1023, operations)],
            ..OperationSnapshot::default()
        };
        metrics.take(&StreamEvent::Snapshot(Box::new(Snapshot {
            operations: Some(9),
            response_ns: vec![(1023, 9)],
            by_operation: vec![of("payment", 4), of("new-order", 5)],
            ..Snapshot::default()
        })));
        let text = metrics.text(0);
        let values = |family: &str| -> Vec<&str> {
            let lines = text.lines().filter(|line| line.starts_with(family));
            lines
                .filter_map(|line| line.split("operation=").nth(1))
                .collect()
        };
        assert_eq!(
            values("dbdyno_operations_total{"),
            ["\"new-order\"} 5", "\"payment\"} 4"]
        );
        let buckets = values("dbdyno_response_time_seconds_bucket");
        assert!(buckets.contains(&"\"payment\",le=\"+Inf\"} 4"), "{text}");
        assert!(!text.contains("\"all\""), "nothing is counted twice");
    }
}
