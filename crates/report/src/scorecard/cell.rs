//! Columns and cells of the scorecard.

use archive::Run;
use archive::reference::Reference;

/// What a run is set against: another run, or the published figures of another platform.
#[derive(Debug, Clone, Copy)]
pub enum Against<'a> {
    /// Another run, from this or another archive.
    Run(&'a Run),
    Reference(&'a Reference),
}

/// A value of the scorecard and what stands behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Value in the line's unit; the median where there are repetitions.
    pub value: f64,
    /// Degree of parallelism at which it was found.
    pub dop: u32,
    /// Smallest and largest over the repetitions, when there were at least two.
    pub range: Option<(f64, f64)>,
    pub repetitions: usize,
    /// Points of the same sweep that failed a check and were left out.
    pub invalid_left_out: usize,
    /// A contradiction or doubt recorded beside a published figure.
    pub doubt: Option<String>,
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The target cannot do the test.
    MissingCapability,
    /// It was measured, but no point passed its checks.
    Invalid,
    /// It is not in the run (or was not published).
    NotMeasured,
    /// It was measured, but the platform does not tell this figure.
    NotTold,
    /// No level kept the line's limit.
    OutOfLimit,
    /// Nothing but labelled extras was measured.
    OnlyExtras,
}

/// One cell of the scorecard.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Value(Measured),
    /// "–", and why.
    Absent {
        why: Absence,
        reason: String,
    },
}

/// One column: a target of a run, or a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What is printed at its head.
    pub title: String,
    /// Where it comes from: "this run", the label of another run, or the document.
    pub source: String,
    /// True for the targets of the run that is reported.
    pub own: bool,
}
