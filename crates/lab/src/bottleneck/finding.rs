//! What was found, before it is put into words.

use archive::Resource;

/// What was found, before it is put into words.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Finding {
    NothingDone,
    /// Part of the jobs' time that was the driver's own.
    DriverAlone {
        pct: f64,
    },
    /// The jobs paused for most of their time.
    Paused {
        busy_pct: f64,
    },
    /// One resource took most of the busy time; others took a good part of it as well.
    Most {
        resource: Resource,
        pct: f64,
        others: Vec<(Resource, f64)>,
    },
    /// As much of the busy time went to what follows from too little memory.
    Memory {
        pct: f64,
        shortage: Shortage,
    },
    /// The server does not tell.
    Untold {
        pct: f64,
    },
    /// No resource took most; the largest parts.
    Several {
        parts: Vec<(Resource, f64)>,
    },
}

/// How short of memory the machine was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shortage {
    pub swap_mb_per_s: Option<f64>,
    pub pressure_pct: Option<f64>,
}
