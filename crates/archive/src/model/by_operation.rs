//! Times of the kinds of operation of a point: reads apart from writes, and by whom they were timed.

use stats::{Histogram, HistogramError, HistogramSnapshot};

/// What is known of a point's operations by their kind; empty for work whose operations are all of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByOperation {
    /// Times, one entry for each observer, operation and part of the time.
    pub times: Vec<OperationTimes>,
    /// Means over time, as the driver saw them.
    pub samples: Vec<OperationSample>,
    /// What each kind of transaction did, in the order in which a script names them.
    pub transactions: Vec<TransactionKind>,
}

/// What the transactions of one kind did, of those that were completed in the time that counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionKind {
    /// Its name in the script.
    pub name: String,
    /// How many were completed.
    pub completed: u64,
    /// Rows that they returned or changed.
    pub rows: u64,
}

impl TransactionKind {
    /// Rows of one transaction on average; `None` where none was completed.
    pub fn rows_per_transaction(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.rows as f64 / self.completed as f64)
    }
}

/// How long the operations of one kind took, by one who timed them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperationTimes {
    /// Who timed: one of [`OperationTimes::OBSERVERS`].
    pub observer: String,
    /// What was timed: the block device or the array by its name; empty for all the driver did.
    pub subject: String,
    /// "read", "write", "flush" or "discard".
    pub operation: String,
    /// Part of the time: "service" and "response" of the driver's, "whole", "queue" and "device" of requests.
    pub phase: String,
    /// How many.
    pub count: Option<u64>,
    /// Arithmetic mean, µs, as exact as the observer tells it.
    pub mean_us: Option<f64>,
    /// Where it comes from, what it was held against, or why nothing more is known.
    pub remark: String,
    /// The distribution as the archive keeps it; `None` where only the mean is known.
    encoded: Option<Vec<u8>>,
}

impl OperationTimes {
    /// Who times: dbdyno itself, the kernel at the block device, the storage array by its own reporter.
    pub const OBSERVERS: [&'static str; 3] = ["driver", "device", "array"];

    /// Times of which nothing is known yet.
    pub fn of(observer: &str, subject: &str, operation: &str, phase: &str) -> Self {
        Self {
            observer: observer.to_owned(),
            subject: subject.to_owned(),
            operation: operation.to_owned(),
            phase: phase.to_owned(),
            ..Self::default()
        }
    }

    /// These times with a count and a mean.
    #[must_use]
    pub fn counted(mut self, count: u64, mean_us: Option<f64>) -> Self {
        (self.count, self.mean_us) = (Some(count), mean_us);
        self
    }

    /// These times with what is to be said of them.
    #[must_use]
    pub fn remarked(mut self, remark: String) -> Self {
        self.remark = remark;
        self
    }

    /// These times with their distribution, from which count and mean are taken unless they are known better.
    #[must_use]
    pub fn with(mut self, histogram: &Histogram) -> Self {
        self.count = self.count.or(Some(histogram.count()));
        let mean_us = (!histogram.is_empty()).then(|| histogram.mean_us());
        self.mean_us = self.mean_us.or(mean_us);
        self.encoded = Some(histogram.encode());
        self
    }

    /// These times with a distribution as [`Histogram::encode`] wrote it.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn with_encoded(mut self, bytes: Vec<u8>) -> Result<Self, HistogramError> {
        HistogramSnapshot::decode(&bytes)?;
        self.encoded = Some(bytes);
        Ok(self)
    }

    /// The distribution. It is kept encoded, because a run of thousands of points has many more of them.
    pub fn histogram(&self) -> Option<HistogramSnapshot> {
        // What was read from an archive was decoded once, when it was read.
        HistogramSnapshot::decode(self.encoded.as_deref()?).ok()
    }

    /// The distribution as HdrHistogram's V2 deflate.
    pub fn encoded(&self) -> Option<&[u8]> {
        self.encoded.as_deref()
    }

    /// Whether these are the times of this observer, operation and part.
    pub fn is(&self, observer: &str, operation: &str, phase: &str) -> bool {
        self.observer == observer && self.operation == operation && self.phase == phase
    }
}

/// One kind of operation in one interval of the time series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperationSample {
    /// End of the interval, in seconds from the start of the point.
    pub at_s: f64,
    /// "read" or "write".
    pub operation: String,
    /// How many completed.
    pub operations: u64,
    /// Mean service time, µs; `None` where none completed.
    pub service_us_mean: Option<f64>,
    /// Mean response time, µs; `None` where none completed.
    pub response_us_mean: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_tells_count_and_mean_unless_they_are_known_better() {
        let mut histogram = Histogram::new();
        histogram.record_ns(1_000);
        histogram.record_ns(3_000);
        let times = OperationTimes::default().with(&histogram);
        assert_eq!(times.count, Some(2));
        assert!(times.mean_us.is_some_and(|us| (us - 2.0).abs() < 0.002));
        assert_eq!(times.histogram(), Some((&histogram).into()));
        let exact = OperationTimes::of("device", "vda", "read", "whole").counted(5, Some(2.25));
        let times = exact.with(&histogram);
        assert_eq!((times.count, times.mean_us), (Some(5), Some(2.25)));
        assert!(OperationTimes::default().with_encoded(vec![1]).is_err());
    }
}
