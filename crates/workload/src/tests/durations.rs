//! Estimated durations of plans.

use super::{plan, registry};

fn duration_s(text: &str) -> f64 {
    let plan = plan(text, &[]).unwrap();
    registry().duration_s(&plan, "postgres", 0).unwrap()
}

/// Tests below the database take their seconds at any size and with any number of jobs: 256 MiB at 250 MB/s, a second
/// of warm-up, and three measured ones or as many as the step sets.
#[test]
fn golden_time_of_a_step_below_the_database() {
    let step = "name = 'p'\n[[step]]\nuse = 'library'\ntests = ['D111', 'D122']\nsize = 'medium'\njobs = [1, 512]\n";
    let file_s = 1.073_741_824;
    assert!((duration_s(step) - 4.0 * (file_s + 4.0)).abs() < 1e-9);
    let longer = format!("{step}mode = 'time'\nseconds = 9.5\n");
    assert!((duration_s(&longer) - 4.0 * (file_s + 11.0)).abs() < 1e-9);
}

/// A warehouse is checked before and after the users work, in a second each, or not at all.
#[test]
fn golden_time_of_the_checks_of_order_entry() {
    let of_check = |check: &str| {
        duration_s(&format!(
            "name = 'p'\n[[step]]\nuse = 'oltp'\nseconds = 2\n[step.oltp]\ndo = 'run'\nusers = 8\nwarehouses = 3\n{check}\n"
        ))
    };
    let none_s = of_check("check = 'none'");
    for check in ["", "check = 'light'"] {
        assert!((of_check(check) - none_s - 6.0).abs() < 1e-9, "{check}");
    }
}
