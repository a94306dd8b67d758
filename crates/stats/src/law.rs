//! The Universal Scalability Law as a formula.

/// X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// λ: throughput of one job.
    pub rate_of_one: f64,
    /// σ ≥ 0, contention: the share of work for which jobs queue.
    pub contention: f64,
    /// κ ≥ 0, coherency: the cost of keeping every pair of jobs in agreement.
    pub coherency: f64,
}

impl Law {
    /// Throughput at a parallelism; beyond the measured range it is an extrapolation, to be drawn dashed.
    pub fn rate(&self, dop: f64) -> f64 {
        self.rate_of_one * dop
            / (1.0 + self.contention * (dop - 1.0) + self.coherency * dop * (dop - 1.0))
    }

    /// ⌊√((1 − σ)/κ)⌋, at least 1: the parallelism of the maximum; `None` if there is none. Only
    /// [`crate::usl::Fit::peak`] knows if it was observed; by itself it must not be shown.
    pub fn turning_point(&self) -> Option<u32> {
        let squared = (1.0 - self.contention).max(0.0) / self.coherency;
        let dop = squared.sqrt().floor().max(1.0);
        (self.coherency > 0.0 && dop < f64::from(u32::MAX)).then_some(dop as u32)
    }
}
