//! The archive itself: its rows, and values that it cannot store.

macro_rules! record {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// The digest of a point differs.
PointAltered => "the archive row was changed after it was measured (digest differs)";
/// The digest of a run's record differs.
RunAltered => "the archive's record of the run was changed after it was written (digest differs)";
/// Points of a complete run are missing.
PointsGone { gone: u64, planned: u32 } =>
    "{gone} of the {planned} points of this complete run are missing from the archive";
/// A distribution is missing.
HistogramGone { kind: String } => "the {kind} histogram is missing from the archive";
/// A distribution cannot be decoded.
HistogramUnreadable { kind: String, error: String } => "{kind} times: {error}";
/// A column holds an invalid value.
ColumnUnreadable { column: String, error: String } => "the archive's column `{column}` cannot be read: {error}";
/// A bottleneck names an unknown resource.
ResourceUnknown { word: String } => "bottleneck_resource: unknown resource \"{word}\"";
/// A distribution of a kind of operation cannot be read.
OperationTimesUnreadable { observer: String, operation: String, phase: String, error: String } =>
    "{observer} {operation} {phase} times: {error}";
/// A figure was not a number.
FigureNotANumber { figure: String } => "{figure} was not a number and is unknown";
/// The declared seconds were not a number.
SecondsNotANumber => "the declared seconds were not a number and are unknown";
/// Samples had values that were not numbers.
SamplesNotANumber { samples: u64 } => "{samples} samples had values that were not numbers";
/// Timed events had a time that was not a number.
TimedEventsNotANumber { events: u64 } => "{events} timed events without a time were left out";
/// A background event had a value that was not a number.
BackgroundNotANumber => "a background event had a value that was not a number";
/// A mean time was not a number.
MeanNotANumber => "a mean time of operations was not a number and is unknown";
/// Devices had values that were not numbers.
DevicesNotANumber { devices: u64 } => "{devices} devices had values that were not numbers";
/// The engine's own account of its I/O had values that were not numbers.
EngineIoNotANumber => "the engine's own account of its I/O had a value that was not a number";
/// Interfaces had a time that was not a number.
InterfacesNotANumber { interfaces: u64 } =>
    "the time of {interfaces} network interfaces was not a number and is unknown";
/// Latencies beyond the end of the histogram.
LatenciesClipped { latencies: u64 } => "{latencies} latencies were longer than an hour and count as one hour";
/// The time series of a point are too long for the archive.
SeriesThinned { one_of: u64 } => "the time series is too long for the archive: one sample of {one_of} is stored";
/// A remark that this version does not know, as its sentence.
Text { text: String } => "{text}";

    } };
}
