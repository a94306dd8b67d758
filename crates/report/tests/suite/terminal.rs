//! The report for a terminal.

use report::{point_line, terminal};

#[test]
fn at_120_columns() {
    insta::assert_snapshot!(terminal(
        &crate::fixture::few(),
        &[crate::fixture::reference()],
        120,
        false
    ));
}

#[test]
fn at_80_columns() {
    insta::assert_snapshot!(terminal(&crate::fixture::few(), &[], 80, false));
}

#[test]
fn one_point_of_nulls() {
    insta::assert_snapshot!(terminal(&crate::fixture::single(), &[], 100, false));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let reference = archive::reference::load("dl980-violin").unwrap();
    for run in [
        crate::fixture::run(),
        crate::fixture::interrupted(),
        crate::fixture::single(),
    ] {
        for width in [80, 100, 120, 200] {
            let text = terminal(&run, std::slice::from_ref(&reference), width, false);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colours_add_nothing_but_colours() {
    let (run, references) = (crate::fixture::few(), [crate::fixture::reference()]);
    let plain = terminal(&run, &references, 120, false);
    let colourful = terminal(&run, &references, 120, true);
    assert!(
        !plain.contains('\u{1b}'),
        "an escape of the archive came through"
    );
    assert!(colourful.contains("\u{1b}[31m"));
    let mut stripped = colourful;
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m"] {
        stripped = stripped.replace(code, "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn a_line_for_each_point() {
    let run = crate::fixture::run();
    let line = |test: &str, jobs: u32| {
        let found = run
            .points
            .iter()
            .rfind(|p| p.key.test == test && p.key.jobs == jobs);
        let point = found.unwrap();
        point_line(&run.targets[point.key.target as usize].name, point)
    };
    let lines = [
        line("T611", 4),
        line("T421", 1),
        line("T616", 4),
        line("T311", 8),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_cores_left_need_a_wide_terminal() {
    let run = crate::fixture::few();
    let wide = terminal(&run, &[], 150, false);
    let row = wide.lines().find(|l| l.starts_with(" 14   9 T611"));
    // Two threads, half busy on average and 55 % at the peak.
    let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(cells[8..11], ["50", "1.0", "0.9"]);
    assert!(!terminal(&run, &[], 120, false).contains("cores"));
}

#[test]
fn notes_of_whole_tables_are_said_once() {
    let mut run = crate::fixture::few();
    let pool = "the pool is shared by all jobs";
    for point in run.points.iter_mut().filter(|p| p.key.target == 1) {
        point.notes.push(crate::fixture::remark(pool));
    }
    let jobs_of_t611 = run.points.iter_mut().filter(|p| p.key.test == "T611");
    for point in jobs_of_t611 {
        point
            .notes
            .push(crate::fixture::remark("holds for this table"));
        let elapsed_s = 0.01 * f64::from(point.key.jobs);
        point.notes.push(archive::Remark::Short { elapsed_s });
    }
    let text = terminal(&run, &[], 120, false);
    assert_eq!(text.matches(pool).count(), 1, "{text}");
    assert!(text.contains("duckdb [a]"), "{text}");
    assert!(text.contains(&format!("  a {pool}")));
    assert!(!text.contains("sqlite [a]"));
    let (_, table) = text.split_once("T611 · ").unwrap();
    let table = table.split("\n\n").next().unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[1], "holds for this table");
    assert_eq!(
        *lines.last().unwrap(),
        "  1 short: 10–80 ms; use a larger size for a reliable figure"
    );
}

/// A ramp of users begins with a line for each number of users, and the number supported within the limit.
#[test]
fn users_stand_before_everything_else() {
    let shown = terminal(&crate::fixture::ramp(), &[], 100, false);
    let (summary, rest) = shown.split_once("\nOLTP · ").unwrap();
    insta::assert_snapshot!("users", summary);
    assert!(!rest.contains("Supported within"), "said twice: {rest}");
}
