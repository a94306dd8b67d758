//! Limits of driver time, stalls and waiting beyond which a point is invalid: the table `[validity]` of a plan.

use archive::Remark;
use archive::remark::LimitChanged;
use serde::{Deserialize, Serialize};

pub(crate) const KEYS: [&str; 5] = [
    "driver_pct_max",
    "driver_thread_pct_max",
    "late_starts_pct_max",
    "stall_pct_max",
    "waiting_pct_max",
];

/// Limits of checks, in percent; 100 disables a check.
///
/// Plans for measurements leave the defaults. Other limits are for the rows of a machine that is busy with something
/// else: every point then says so, and has another fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Validity {
    /// Share of the jobs' time that may be the driver's own.
    pub driver_pct_max: f64,
    /// Share of its time that a thread of an event loop may be on a processor, before its clients wait for it.
    pub driver_thread_pct_max: f64,
    /// Share of the operations that may begin more than 1 ms late.
    pub late_starts_pct_max: f64,
    /// Share of the point that may pass without a completed operation.
    pub stall_pct_max: f64,
    /// Share of the operations arriving at a rate that may wait at the end of the window.
    pub waiting_pct_max: f64,
}

impl Default for Validity {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Validity {
    pub const USUAL: Self = Self {
        driver_pct_max: 25.0,
        driver_thread_pct_max: 95.0,
        late_starts_pct_max: 1.0,
        stall_pct_max: 25.0,
        waiting_pct_max: 5.0,
    };

    pub fn is_usual(&self) -> bool {
        *self == Self::USUAL
    }

    pub fn note(&self) -> Option<Remark> {
        let usual = Self::USUAL.limits();
        let differing = self.limits().into_iter().zip(usual);
        let limits: Vec<LimitChanged> = differing
            .filter(|((_, limit), (_, usual))| limit != usual)
            .map(|((key, limit), (_, usual))| LimitChanged {
                key: key.to_owned(),
                limit,
                usual,
            })
            .collect();
        (!limits.is_empty()).then_some(Remark::LimitsChanged { limits })
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let is_pct = |limit: f64| (0.0..=100.0).contains(&limit);
        match self.limits().into_iter().find(|(_, limit)| !is_pct(*limit)) {
            Some((key, limit)) => Err(format!(
                "validity: {key} = {limit} is not between 0 and 100"
            )),
            None => Ok(()),
        }
    }

    fn limits(&self) -> [(&'static str, f64); 5] {
        let [own, thread, late, stall, waiting] = KEYS;
        [
            (own, self.driver_pct_max),
            (thread, self.driver_thread_pct_max),
            (late, self.late_starts_pct_max),
            (stall, self.stall_pct_max),
            (waiting, self.waiting_pct_max),
        ]
    }
}
