//! Seconds that plans set for their points.

use super::{plan, registry};

fn timed_s(text: &str) -> f64 {
    let plan = plan(text, &[]).unwrap();
    registry().timed_s(&plan, "postgres", 0).unwrap()
}

/// Tests below the database take their seconds at any size and with any number of jobs: a second of warm-up, and three that
/// count or as many as the step sets.
#[test]
fn golden_time_of_a_step_below_the_database() {
    let step = "name = 'p'\n[[step]]\nuse = 'library'\ntests = ['D111', 'D122']\nsize = 'medium'\njobs = [1, 512]\n";
    assert_eq!(timed_s(step), 4.0 * 4.0);
    assert_eq!(
        timed_s(&format!("{step}mode = 'time'\nseconds = 9.5\n")),
        4.0 * 11.0
    );
}

#[test]
fn work_of_a_fixed_amount_sets_no_seconds() {
    let step =
        "name = 'p'\n[[step]]\nuse = 'library'\ntests = ['T611']\nsize = 'quick'\njobs = [1, 4]\n";
    assert_eq!(timed_s(step), 0.0);
    assert_eq!(
        timed_s(&format!("{step}mode = 'time'\nseconds = 9.5\n")),
        2.0 * 9.5
    );
}
