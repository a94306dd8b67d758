//! A run during its measurement, from its stream of events ([`archive::stream`]): in the browser, for scrapers, in a
//! file.
//!
//! * [`hub`]: stores the events of this process, numbered, within a bound; a file gets each of them.
//! * [`server`]: the page, the events as server-sent events, and the metrics, over HTTP.
//! * [`metrics`]: counters and histograms of the current point, as OpenMetrics.
//! * [`replay`]: the events of a run that is in the archive.
//!
//! None of it is in the measured path, and a viewer who stops reading is dropped.

#![forbid(unsafe_code)]

pub mod hub;
pub mod metrics;
pub mod replay;
pub mod server;

pub use hub::Hub;
pub use server::{Address, LiveError, Server};
