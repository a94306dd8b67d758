//! How often a target is judged to be at rest while it still climbs, judged every five seconds. EVIDENCE quotes
//! the longer study, `examples/coverage`.

use crate::noise::{Noise, warm_ups};

const TRIALS: u32 = 300;

#[test]
fn a_slow_approach_is_not_called_rest() {
    for tau_s in [30.0, 60.0, 120.0, 300.0] {
        for (kind, sd) in [
            (Noise::Normal, 0.03),
            (Noise::Normal, 0.01),
            (Noise::Autocorrelated, 0.03),
        ] {
            for cap_s in [60, 300] {
                let (_, below) = warm_ups(TRIALS, 0.4, tau_s, kind, sd, cap_s);
                assert!(
                    below <= 0.05,
                    "τ = {tau_s} s, {kind:?} {sd}, {cap_s} s: {below}"
                );
            }
        }
    }
}

#[test]
fn a_target_at_rest_is_found_to_be() {
    let (found, _) = warm_ups(TRIALS, 1.0, 1.0, Noise::Normal, 0.03, 60);
    assert!(found > 0.75, "{found}");
    let (found, _) = warm_ups(TRIALS, 1.0, 1.0, Noise::Normal, 0.01, 30);
    assert!(found > 0.95, "{found}");
}
