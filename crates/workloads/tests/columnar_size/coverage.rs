//! Coverage of the predictions: seeded trials on the analytical workload's tables and on tables of other shapes, each
//! compared with a real copy. scripts/columnar-size-coverage.sh is the long version.

use std::sync::atomic::AtomicBool;

use columnar::Level;
use columnar::size::Budget;
use engines::open;
use olap::{LoadOptions, Scale, load};

use crate::fifty::trials;
use crate::shapes::{TUNED, UNTUNED};
use crate::{in_file, sized, source, truth};

/// Trials, rows of each shape and scale of the analytical workload (0 leaves it out), as "20,1000000,0.1".
const REQUESTED: &str = "DBDYNO_SIZE_COVERAGE";

#[test]
fn predictions_are_true_as_often_as_they_say() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().display();
    let mut wrong = Vec::new();
    println!("| data | level | truth | covered | worst error | mean half width |");
    println!("|---|---|---|---|---|---|");
    let Ok(requested) = std::env::var(REQUESTED) else {
        let url = format!("sqlite:{place}/short.db");
        in_file(&url, |session| TUNED[2].load(session, 260_000, 7));
        wrong.extend(table(TUNED[2].name, &url, 1));
        return assert_eq!(wrong, [""; 0]);
    };
    let numbers: Vec<f64> = requested.split(',').map(|n| n.parse().unwrap()).collect();
    let [trials, rows, scale] = numbers[..] else {
        panic!("{REQUESTED}={requested} is not TRIALS,ROWS,SCALE")
    };
    let (trials, rows) = (trials as u64, rows as u64);
    if scale > 0.0 {
        let url = format!("sqlite:{place}/analytical.db");
        load_analytical(&url, scale);
        wrong.extend(table("analytical workload", &url, trials));
    }
    for shape in TUNED.iter().chain(&UNTUNED) {
        let url = format!("sqlite:{place}/{}.db", shape.name);
        in_file(&url, |session| shape.load(session, rows, 7));
        wrong.extend(table(shape.name, &url, trials));
    }
    wrong.extend(of_fifty(rows));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const SEEDS: u64 = 3;

/// Prints the coverage at all levels of fifty shapes; returns the intervals that failed if they are more than one in
/// twenty.
fn of_fifty(rows: u64) -> Vec<String> {
    let (mut held, mut all, mut missed) = (0, 0, Vec::new());
    for shape in 0..50 {
        let (of_shape, trials, lines) = trials(shape, rows, SEEDS, &Level::ALL);
        held += of_shape;
        all += trials;
        missed.extend(lines);
    }
    println!("fifty shapes of {rows} rows: {held} of {all} intervals held the truth");
    missed.iter().for_each(|line| println!("{line}"));
    if held * 20 >= all * 19 {
        Vec::new()
    } else {
        missed
    }
}

fn load_analytical(url: &str, scale: f64) {
    let options = LoadOptions {
        scale: Scale::new(scale).unwrap(),
        jobs: None,
        replace: true,
    };
    let target = open(&engines::parse(url).unwrap()).unwrap();
    let never = AtomicBool::new(false);
    load(target.as_ref(), "sqlite", &options, &never, &|_| {}).unwrap();
}

/// Prints the lines of a database, one for each level; returns those with a coverage below 19 of 20 trials or an
/// estimate that is off by more than a tenth.
fn table(name: &str, url: &str, trials: u64) -> Vec<String> {
    let source = source(url);
    let truths = Level::ALL.map(|level| truth(source.as_ref(), level));
    let mut found = Level::ALL.map(|_| Vec::new());
    // The test judges the estimate and not the machine, so no time limit ends the reading.
    let budget = Budget {
        time: None,
        ..Budget::default()
    };
    for seed in 1..=trials {
        let sizes = sized(source.as_ref(), &Level::ALL, budget, seed);
        for (level, found) in Level::ALL.into_iter().zip(&mut found) {
            found.push(sizes.total(level).unwrap());
        }
    }
    let mut wrong = Vec::new();
    for ((level, truth), found) in Level::ALL.into_iter().zip(truths).zip(found) {
        let covered = found.iter().filter(|size| size.covers(truth)).count();
        let error = |size: &stats::Interval| 100.0 * (size.estimate / truth - 1.0);
        let worst = found.iter().map(error);
        let worst = worst.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
        let half = found
            .iter()
            .map(|size| 50.0 * (size.high - size.low) / size.estimate);
        let half = half.sum::<f64>() / trials as f64;
        let line = format!(
            "| {name} | {level} | {:.1} MB | {covered} of {trials} | {worst:+.1} % | {half:.1} % |",
            truth / 1e6,
        );
        println!("{line}");
        if (covered as u64) < (trials * 19).div_ceil(20) || worst.abs() > 10.0 {
            wrong.push(line);
        }
    }
    wrong
}
