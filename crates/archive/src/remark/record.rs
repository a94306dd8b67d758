//! The archive itself: what became of its rows, and of values that cannot be kept.

macro_rules! record {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// The digest of a point differs.
PointAltered => "the archive row was changed after it was measured (digest differs)";
/// The digest of a run's record differs.
RunAltered => "the archive's record of the run was changed after it was written (digest differs)";
/// Points of a complete run are gone.
PointsGone { gone: u64, planned: u32 } =>
    "{gone} of the {planned} points of this complete run are gone from the archive";
/// A distribution is gone.
HistogramGone { kind: String } => "the {kind} histogram is gone from the archive";
/// A distribution cannot be decoded.
HistogramUnreadable { kind: String, error: String } => "{kind} times: {error}";
/// A column holds what nobody wrote.
ColumnUnreadable { column: String, error: String } => "the archive's column `{column}` cannot be read: {error}";
/// A bottleneck has a resource that there is not.
ResourceUnknown { word: String } => "bottleneck_resource: \"{word}\" is no resource";
/// A distribution of waits cannot be read.
WaitsUnreadable { class: String, error: String } =>
    "the archive's histogram of the waits \"{class}\" cannot be read: {error}";
/// A distribution of a kind of operation cannot be read.
OperationTimesUnreadable { observer: String, operation: String, phase: String, error: String } =>
    "{observer} {operation} {phase} times: {error}";
/// A figure was no number.
FigureNotANumber { figure: String } => "{figure} was not a number and is left unknown";
/// The declared seconds were no number.
SecondsNotANumber => "the declared seconds were not a number and are left unknown";
/// Samples had values that are no number.
SamplesNotANumber { samples: u64 } => "{samples} samples held what was not a number";
/// Timed events had a time that is no number.
TimedEventsNotANumber { events: u64 } => "{events} timed events without a time were left out";
/// A background event had a value that is no number.
BackgroundNotANumber => "a background event held what was not a number";
/// A mean time was no number.
MeanNotANumber => "a mean time of operations was not a number and is left unknown";
/// Latencies beyond the end of the histogram.
LatenciesClipped { latencies: u64 } => "{latencies} latencies were longer than an hour and count as one hour";
/// A sentence of an earlier release, kept as it was.
Text { text: String } => "{text}";

    } };
}
