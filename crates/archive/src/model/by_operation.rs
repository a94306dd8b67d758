//! Times of a point's operations by kind and observer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Histogram, HistogramError, HistogramSnapshot};

/// A point's operations by kind; empty if all are of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByOperation {
    pub times: Vec<OperationTimes>,
    /// Means over time by the driver's clock.
    pub samples: Vec<OperationSample>,
    /// In the order of the script.
    pub transactions: Vec<TransactionKind>,
}

/// Transactions of one kind that were completed in the measured time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionKind {
    /// Name of the kind in the script.
    pub name: String,
    /// Number completed.
    pub completed: u64,
    /// Rows returned or changed.
    pub rows: u64,
}

impl TransactionKind {
    pub fn rows_per_transaction(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.rows as f64 / self.completed as f64)
    }
}

/// Times of the operations of one kind by one observer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationTimes {
    /// Observer: dbdyno, the kernel at the block device, or the array itself.
    #[schemars(extend("enum" = Self::OBSERVERS))]
    pub observer: String,
    /// The device or array; empty for the driver.
    pub subject: String,
    /// Kind of operation.
    #[schemars(extend("enum" = ["read", "write", "flush", "discard"]))]
    pub operation: String,
    /// Part of the time: "service" and "response" of the driver's operations, the others of requests of the device.
    #[schemars(extend("enum" = ["service", "response", "whole", "queue", "device"]))]
    pub phase: String,
    /// Number of operations.
    pub count: Option<u64>,
    /// Arithmetic mean, µs.
    pub mean_us: Option<f64>,
    /// Where the times come from, what they were compared with, or why there are no more.
    pub remark: String,
    /// HdrHistogram V2, deflated, in nanoseconds; null where only the mean is known.
    #[serde(rename = "histogram", with = "base64_text")]
    #[schemars(with = "Option<String>", extend("contentEncoding" = "base64"))]
    encoded: Option<Vec<u8>>,
}

impl OperationTimes {
    pub const OBSERVERS: [&'static str; 3] = ["driver", "device", "array"];

    pub fn of(observer: &str, subject: &str, operation: &str, phase: &str) -> Self {
        Self {
            observer: observer.to_owned(),
            subject: subject.to_owned(),
            operation: operation.to_owned(),
            phase: phase.to_owned(),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn counted(mut self, count: u64, mean_us: Option<f64>) -> Self {
        (self.count, self.mean_us) = (Some(count), mean_us);
        self
    }

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

    /// Removes a distribution that cannot be decoded.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn check(&mut self) -> Result<(), HistogramError> {
        let decoded = self.encoded.as_deref().map(HistogramSnapshot::decode);
        decoded
            .transpose()
            .map(drop)
            .inspect_err(|_| self.encoded = None)
    }

    /// Decoded on demand, because a run of thousands of points has many more of them.
    pub fn histogram(&self) -> Option<HistogramSnapshot> {
        // `check` decoded it once if it comes from an archive.
        HistogramSnapshot::decode(self.encoded.as_deref()?).ok()
    }

    /// The distribution as HdrHistogram's V2 deflate.
    pub fn encoded(&self) -> Option<&[u8]> {
        self.encoded.as_deref()
    }

    pub fn is(&self, observer: &str, operation: &str, phase: &str) -> bool {
        self.observer == observer && self.operation == operation && self.phase == phase
    }
}

/// Bytes as text in base64, unknown ones as null.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD as BASE64;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(
        bytes: &Option<Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        bytes
            .as_ref()
            .map(|bytes| BASE64.encode(bytes))
            .serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let bytes = text.map(|text| BASE64.decode(text)).transpose();
        bytes.map_err(D::Error::custom)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationSample {
    /// End of the interval, in seconds from the start of the point.
    pub at_s: f64,
    /// Kind of operation.
    #[schemars(extend("enum" = ["read", "write"]))]
    pub operation: String,
    /// Number completed in the interval.
    pub operations: u64,
    /// Mean service time, µs; null if none was completed.
    pub service_us_mean: Option<f64>,
    /// Mean response time, µs; null if none was completed.
    pub response_us_mean: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_gives_count_and_mean_unless_they_are_known_better() {
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
        let mut broken = OperationTimes {
            encoded: Some(vec![1]),
            ..OperationTimes::default()
        };
        assert!(broken.check().is_err() && broken.histogram().is_none());
        assert!(broken.check().is_ok());
    }
}
