//! Plain facts about throughput against the degree of parallelism; no model, nothing extrapolated.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    pub dop: u32,
    pub rate: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    pub dop: u32,
    /// `X(N) / X(base)`.
    pub speed_up: f64,
    /// `X(N) / X(base) · base / N`; 1 is perfect.
    pub efficiency: f64,
}

/// Speed-up and efficiency of every load, in ascending order of parallelism, relative to the smallest. Empty if no
/// load has a positive rate.
///
/// Golden: 100 at 1 and 150 at 2 give a speed-up of 1.5 and an efficiency of 0.75.
pub fn scale(loads: &[Load]) -> Vec<Scaled> {
    let sorted = ascending(loads);
    let Some(base) = sorted.first().filter(|b| b.rate > 0.0 && b.dop > 0) else {
        return Vec::new();
    };
    sorted
        .iter()
        .map(|l| Scaled {
            dop: l.dop,
            speed_up: l.rate / base.rate,
            efficiency: l.rate / base.rate * f64::from(base.dop) / f64::from(l.dop),
        })
        .collect()
}

/// The smallest parallelism that reaches 95 % of the largest measured throughput; `None` if it is the last one, after
/// which nothing was measured.
pub fn saturation(loads: &[Load]) -> Option<Load> {
    let best = loads.iter().map(|l| l.rate).fold(0.0, f64::max);
    let sorted = ascending(loads);
    let last = sorted.last()?.dop;
    let reached = |l: &Load| best > 0.0 && l.rate >= 0.95 * best;
    sorted.into_iter().find(reached).filter(|l| l.dop < last)
}

fn ascending(loads: &[Load]) -> Vec<Load> {
    let mut sorted = loads.to_vec();
    sorted.sort_by_key(|l| l.dop);
    sorted
}

/// Little's law as a check on the driver: with `N` jobs always busy, the sum of all response times divided by the
/// time the jobs were active is `N`. The rest was spent in the driver. Returns `|X·R − N| / N` in percent; `None` if
/// the jobs were never active.
///
/// `latency_s_total` is Σ response time, `active_s_total` Σ over jobs of (finish − start).
/// Golden: 9.5 s of responses in 10 s of work is 5 %.
pub fn little_error_pct(latency_s_total: f64, active_s_total: f64) -> Option<f64> {
    (active_s_total > 0.0)
        .then(|| (latency_s_total - active_s_total).abs() / active_s_total * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(dop: u32, rate: f64) -> Load {
        Load { dop, rate }
    }

    #[test]
    fn golden_scaling() {
        let points = [load(4, 160.0), load(1, 100.0), load(2, 150.0)];
        let scaled = scale(&points);
        assert_eq!((scaled[1].speed_up, scaled[1].efficiency), (1.5, 0.75));
        assert_eq!(saturation(&points), None, "it may go on rising");
        let flat = [load(1, 100.0), load(2, 99.0)];
        assert_eq!(saturation(&flat), Some(load(1, 100.0)));
        assert!(scale(&[]).is_empty() && saturation(&[]).is_none());
    }

    #[test]
    fn golden_little() {
        assert!((little_error_pct(9.5, 10.0).unwrap() - 5.0).abs() < 1e-9);
        assert_eq!(little_error_pct(1.0, 0.0), None);
    }
}
