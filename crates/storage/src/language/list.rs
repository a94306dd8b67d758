//! The list of runs as it is shown before anything is done.

use super::value::number_text;
use crate::run::{Rate, Run, Steady, curve_rate_iops};

/// What heads every report of a run: `rd1; I/O rate: 2000; elapsed=4 warmup=1; For loops: None`. `rate` is what the
/// rate came to, for runs whose rate depends on runs before them.
#[must_use]
pub fn heading(run: &Run, rate_iops: Option<f64>) -> String {
    let elapsed = match run.elapsed_s {
        Some(seconds) => format!("elapsed={seconds}"),
        None => "elapsed=(none)".to_owned(),
    };
    let warmup = if run.warmup_s > 0 {
        format!(" warmup={}", run.warmup_s)
    } else {
        String::new()
    };
    let rounds = match run.steady {
        None => String::new(),
        Some(Steady {
            rounds_max,
            matrix: None,
        }) => format!("; steady={rounds_max}"),
        Some(Steady { rounds_max, .. }) => format!("; steady=(matrix,{rounds_max})"),
    };
    format!(
        "RD={}; I/O rate: {}; {elapsed}{warmup}; For loops: {}{rounds}",
        run.name,
        rate_text(run, rate_iops),
        run.loops_text()
    )
}

fn rate_text(run: &Run, rate_iops: Option<f64>) -> String {
    match (&run.rate, rate_iops) {
        (Rate::Max { controlled, curve }, _) => {
            let control = if *controlled {
                "Controlled"
            } else {
                "Uncontrolled"
            };
            let aim = if *curve { "curve" } else { "MAX" };
            format!("{control} {aim}")
        }
        (Rate::Variable { steps }, _) => {
            let steps: Vec<String> = steps
                .iter()
                .map(|step| format!("{}*{}s", number_text(step.iops, false), step.seconds))
                .collect();
            format!("variable {}", steps.join(" "))
        }
        (_, Some(iops)) => number_text(iops, false),
        (Rate::Fixed { iops }, None) => number_text(*iops, false),
        // Nothing has run: the points show what they would be of 10,000.
        (Rate::Curve(point), None) => number_text(curve_rate_iops(0.0, point.pct), false),
        (Rate::PercentOfPrevious { pct }, None) => {
            format!("{}% of the run before", number_text(*pct, false))
        }
    }
}

/// What a simulation prints.
#[must_use]
pub fn simulation(runs: &[Run]) -> String {
    let mut text: String = runs
        .iter()
        .map(|run| format!("Simulating {}\n", heading(run, None)))
        .collect();
    text.push_str("Vdbench simulation completed successfully\n");
    text
}
