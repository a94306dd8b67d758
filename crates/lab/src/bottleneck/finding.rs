//! Findings, before they are put into words.

use archive::Resource;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Finding {
    NothingDone,
    DriverAlone {
        pct: f64,
    },
    Paused {
        busy_pct: f64,
    },
    /// One resource took most of the busy time, and others a notable part.
    Most {
        resource: Resource,
        pct: f64,
        others: Vec<(Resource, f64)>,
    },
    /// Most of the busy time was a consequence of too little memory.
    Memory {
        pct: f64,
        shortage: Shortage,
    },
    Unreported {
        pct: f64,
    },
    Several {
        parts: Vec<(Resource, f64)>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shortage {
    pub swap_mb_per_s: Option<f64>,
    pub pressure_pct: Option<f64>,
}
