//! What no definition exceeds.

/// I/Os in flight on one SD.
pub(super) const THREADS_MAX: u64 = 65_536;
/// No file or device is larger.
pub(super) const BYTES_MAX: u64 = i64::MAX as u64;
pub(super) const SECTOR: u64 = 512;
pub(super) const TRANSFER_BYTES_MAX: u64 = 1 << 30;
/// No device does more I/Os a second.
pub(super) const IOPS_MAX: f64 = 1e9;
/// Largest ratio of compression there is a pattern for.
pub(super) const COMPRESSION_MAX: f64 = 25.0;

/// Longest name of an SD: files are named after it, with an ending.
pub(super) const NAME_BYTES_MAX: usize = 200;
