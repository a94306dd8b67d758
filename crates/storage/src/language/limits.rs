//! Limits of definitions.

pub(super) const THREADS_MAX: u64 = 65_536;
pub(super) const BYTES_MAX: u64 = i64::MAX as u64;
pub(super) const SECTOR: u64 = 512;
pub(super) const TRANSFER_BYTES_MAX: u64 = 1 << 30;
/// No device does more I/Os per second.
pub(super) const IOPS_MAX: f64 = 1e9;
/// Largest compression ratio that the generator reaches.
pub(super) const COMPRESSION_MAX: f64 = 25.0;

/// Longest name of an SD: files have this name and an extension.
pub(super) const NAME_BYTES_MAX: usize = 200;
