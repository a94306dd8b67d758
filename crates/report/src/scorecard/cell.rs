//! Columns and cells of the scorecard.

use archive::Run;
use archive::reference::Reference;

/// A comparison of a run: another run, or the published figures of another platform.
#[derive(Debug, Clone, Copy)]
pub enum Against<'a> {
    /// Another run, from this or another archive.
    Run(&'a Run),
    Reference(&'a Reference),
}

/// A value of the scorecard with its context.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Value in the line's unit, the median over repetitions.
    pub value: f64,
    pub dop: u32,
    /// Smallest and largest over at least two repetitions.
    pub range: Option<(f64, f64)>,
    pub repetitions: usize,
    /// Points of the same sweep that failed a check and were left out.
    pub invalid_left_out: usize,
    /// A contradiction or doubt about a published figure.
    pub doubt: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    MissingCapability,
    /// It was measured, but every point failed its checks.
    Invalid,
    /// It is not in the run (or was not published).
    NotMeasured,
    /// It was measured, but the platform does not report this figure.
    NotReported,
    OutOfLimit,
    OnlyExtras,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Value(Measured),
    Absent { why: Absence, reason: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub title: String,
    /// Source: "this run", the label of another run, or the document.
    pub source: String,
    pub own: bool,
}
