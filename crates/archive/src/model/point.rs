//! One point: one test at one degree of parallelism, measured once. The result row of the design.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Histogram, HistogramSnapshot};

use super::{
    ByOperation, CacheState, DeviceUse, EngineIo, EventClass, EventSource, Execution, Figures,
    HeldBack, InterfaceUse, Observed, Section,
};
use crate::remark::Remark;

words! {
    #[derive(Default)]
    pub enum Component {
        /// Processor alone.
        #[default]
        Cpu = "cpu",
        /// Processor, memory and the engine's cache.
        Server = "server",
        /// Storage, through the database or below it.
        Storage = "storage",
        /// Everything together.
        Database = "database",
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PointKey {
    /// Repetition of the whole plan, from 1.
    pub repetition: u32,
    /// Step of the plan, from 1.
    pub step: u32,
    /// Target, as an index into the run's targets.
    pub target: u32,
    /// Test code, e.g. "T611".
    pub test: String,
    /// Nodes of the cluster (#N).
    pub nodes: u32,
    /// Database sessions at work (#J).
    pub jobs: u32,
    /// Parallel degree inside one job (#T).
    pub threads: u32,
}

impl PointKey {
    /// Test code of the points at which a database at work is observed, without a load of ours.
    pub const OBSERVATION: &str = "OBSERVE";

    /// The first repetition of the first step on the first target, by one node and one thread per job.
    pub fn of(test: impl Into<String>, jobs: u32) -> Self {
        Self {
            repetition: 1,
            step: 1,
            target: 0,
            test: test.into(),
            nodes: 1,
            jobs,
            threads: 1,
        }
    }

    pub fn dop(&self) -> u32 {
        self.jobs * self.threads
    }

    /// True for an observation: there are no jobs of ours whose response times would be known.
    pub fn is_observation(&self) -> bool {
        self.test == Self::OBSERVATION
    }
}

words! {
    /// Was the throughput steady?
    pub enum Steady {
        /// Within the limits.
        Yes = "yes",
        /// Scattered beyond the limits.
        No = "no",
        /// Rising or falling.
        Trend = "trend",
    }
}

/// Work of a point, and its bound.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkDone {
    /// "work" (a fixed amount per job) or "time".
    pub mode: String,
    /// Size class that scales the amount of work.
    pub size: String,
    /// Operations declared for each job.
    pub operations_per_job: Option<u64>,
    /// Seconds declared.
    pub seconds: Option<f64>,
    /// "closed", "open constant 500/s" …
    pub schedule: String,
    /// State of the data before the point.
    pub state: String,
    /// State of the caches before the point.
    pub cache: CacheState,
    /// Percentile of the response times that had to meet a limit.
    pub limit_percentile: Option<f64>,
    /// That limit, µs.
    pub limit_response_us: Option<f64>,
    /// Degree of parallelism requested for a statement; `threads` is the one that the engine used.
    pub threads_requested: Option<u32>,
    /// Start of the server by its own clock, of several nodes the latest; null if unknown, and for servers that
    /// dbdyno starts itself.
    pub server_since: Option<String>,
    /// True if I/Os went directly to files or devices, without a database.
    pub below_database: bool,
    /// Fingerprint of the statement's plan, without numbers that change from one execution to the next.
    pub plan: Option<String>,
}

/// Part of the jobs' time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimedEvent {
    /// Name of the event, e.g. "DB CPU".
    pub event: String,
    /// Class of the event.
    pub class: EventClass,
    /// How often it happened.
    pub waits: Option<u64>,
    /// Time spent in it by all jobs, in seconds.
    pub time_s: f64,
    /// Part of the jobs' time, in percent.
    pub share_pct: f64,
    /// How it is known.
    pub source: EventSource,
}

/// One interval of the time series of a point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// End of the interval, in seconds from the start of the point; of slices, from its first slice.
    pub at_s: f64,
    /// Operations completed in the interval, per second.
    pub operations_per_s: Option<f64>,
    /// 99th percentile of the response times in the interval, µs.
    pub response_us_p99: Option<f64>,
    /// Host processors not idle, in percent.
    pub cpu_pct: Option<f64>,
    /// … of which waiting for I/O.
    pub cpu_iowait_pct: Option<f64>,
    /// Device reads per second.
    pub read_iops: Option<f64>,
    /// Device writes per second.
    pub write_iops: Option<f64>,
    /// Device reads, 10^6 bytes per second.
    pub read_mb_per_s: Option<f64>,
    /// Device writes, 10^6 bytes per second.
    pub write_mb_per_s: Option<f64>,
    /// Memory in use, 10^6 bytes.
    pub memory_used_mb: Option<f64>,
    /// Host processors in user mode, with nice.
    pub cpu_user_pct: Option<f64>,
    /// Host processors in the kernel, with interrupts.
    pub cpu_system_pct: Option<f64>,
    /// Received and sent by the host's interfaces without loopback, 10^6 bytes per second.
    pub network_mb_per_s: Option<f64>,
    /// TCP segments retransmitted in the interval.
    pub tcp_retransmits: Option<f64>,
    /// Open TCP sockets at the end of the interval.
    pub tcp_sockets: Option<f64>,
    /// Memory that the kernel caches files in, 10^6 bytes.
    pub page_cache_mb: Option<f64>,
    /// Page faults in the interval that had to read from a device.
    pub major_faults: Option<f64>,
    /// Swapped in and out in the interval, 10^6 bytes.
    pub swap_mb: Option<f64>,
    /// Part of the interval in which some task waited for a processor, in percent.
    pub pressure_cpu_pct: Option<f64>,
    /// … for memory.
    pub pressure_memory_pct: Option<f64>,
    /// … for I/O.
    pub pressure_io_pct: Option<f64>,
}

/// The two distributions of a point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histograms {
    /// From the actual start to the end of an operation.
    pub service: HistogramSnapshot,
    /// From the intended start to the end of an operation.
    pub response: HistogramSnapshot,
}

impl Histograms {
    pub fn of(service: &Histogram, response: &Histogram) -> Self {
        Self {
            service: service.into(),
            response: response.into(),
        }
    }
}

/// Percentiles of one distribution as exported, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    pub mean_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub p99_9_us: f64,
    pub max_us: f64,
}

impl Latency {
    pub fn of(histogram: &HistogramSnapshot) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            mean_us: histogram.mean_us(),
            p50_us: histogram.percentile_us(50.0),
            p90_us: histogram.percentile_us(90.0),
            p95_us: histogram.percentile_us(95.0),
            p99_us: histogram.percentile_us(99.0),
            p99_9_us: histogram.percentile_us(99.9),
            max_us: histogram.max_us(),
        })
    }

    /// The percentiles under their exported name endings: `service_us_` + "p99" …
    pub fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("mean", self.mean_us),
            ("p50", self.p50_us),
            ("p90", self.p90_us),
            ("p95", self.p95_us),
            ("p99", self.p99_us),
            ("p99_9", self.p99_9_us),
            ("max", self.max_us),
        ]
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    pub key: PointKey,
    pub title: String,
    pub component: Component,
    pub started_at: String,
    pub seed: u64,
    /// Fingerprint of everything that was configured: host, target, test definition, plan.
    pub configuration: String,
    /// Fingerprint of the test definition with its SQL.
    pub definition: String,
    pub work: WorkDone,
    pub figures: Figures,
    /// Service and response times; empty for tests without single operations.
    pub histograms: Histograms,
    /// … of each kind of operation, where there are several.
    pub by_operation: ByOperation,
    /// Steady state, `None` when the point was too short to say.
    pub steady: Option<Steady>,
    /// Where the time went, longest first.
    pub timed_events: Vec<TimedEvent>,
    pub held_back: HeldBack,
    pub samples: Vec<Sample>,
    /// Block devices below the database; empty if they were not observed.
    pub devices: Vec<DeviceUse>,
    /// The engine's own I/O by purpose and direction; empty if it was not queried.
    pub engine_io: Vec<EngineIo>,
    /// Network interfaces of the host; empty if they were not observed.
    pub interfaces: Vec<InterfaceUse>,
    /// Executions of its statements in their order, if there are few; else empty.
    pub executions: Vec<Execution>,
    /// Tables of an observation; empty for other points.
    pub observed: Vec<Observed>,
    /// Results that only its workload knows, as tables, charts and sentences.
    pub sections: Vec<Section>,
    /// Why the point is invalid; empty means valid.
    pub reasons: Vec<Remark>,
    /// Remarks that do not make the point invalid.
    pub notes: Vec<Remark>,
}

impl Point {
    pub fn blank(key: PointKey, title: String, component: Component) -> Self {
        Self {
            key,
            title,
            component,
            ..Self::default()
        }
    }

    pub fn valid(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Sections that may be read: none of an invalid point.
    pub fn valid_sections(&self) -> &[Section] {
        if self.valid() { &self.sections } else { &[] }
    }
}
