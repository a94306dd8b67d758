//! Coverage over fifty tables with columns of many kinds, made by the engine itself.

use columnar::Level;
use columnar::size::Budget;
use engine::source::Source;
use stats::random::Random;

use crate::{in_file, sized, source, truth};

/// Columns by name, over the row number i.
const COLUMNS: [(&str, &str); 28] = [
    ("serial", "i"),
    ("squares", "i * i * 3"),
    ("seconds", "TIMESTAMP '2024-01-01' + to_seconds(i)"),
    ("batch", "'batch ' || (i // 1000)"),
    ("runs", "i // 37"),
    ("long_runs", "i // 5000"),
    ("of_3", "(hash(i) % 3)::INTEGER"),
    ("of_100", "(hash(i * 3) % 100)::INTEGER"),
    ("of_100000", "(hash(i * 5) % 100000)::INTEGER"),
    ("large", "(hash(i * 7) % 1000000000000)::BIGINT"),
    ("cents", "((hash(i * 11) % 100000) / 100.0)::DECIMAL(12,2)"),
    ("double", "(hash(i * 13) % 1000000) / 997.0"),
    ("word_of_5", "'w' || (hash(i * 17) % 5)"),
    ("word_of_500", "'name' || (hash(i * 19) % 500)"),
    ("word_of_20000", "'name' || (hash(i * 23) % 20000)"),
    ("word_of_300000", "'name' || (hash(i * 29) % 300000)"),
    ("digits", "md5(i::VARCHAR)"),
    ("period", "'period ' || (i // 40000)"),
    (
        "sparse",
        "CASE WHEN hash(i * 31) % 1000 < 10 THEN hash(i) % 1000000 END",
    ),
    ("walk", "i * 7 + (hash(i * 37) % 50)"),
    ("day", "DATE '2020-01-01' + (i // 700)::INTEGER"),
    (
        "any_day",
        "DATE '2020-01-01' + (hash(i * 41) % 2500)::INTEGER",
    ),
    (
        "skewed",
        "'/item/' || (hash(i * 43) % (1 + hash(i * 47) % 50000))",
    ),
    (
        "document",
        "'{\"user\": ' || (hash(i * 53) % 5000) || ', \"agent\": ' || (hash(i * 59) % 40) || '}'",
    ),
    ("numbered", "'customer#' || lpad(i::VARCHAR, 9, '0')"),
    ("flag", "hash(i * 61) % 2 = 0"),
    ("constant", "7"),
    (
        "stretches",
        "CASE WHEN (i // 10000) % 10 = 0 THEN hash(i) % 100000 END",
    ),
];

/// Hard shapes: everything sorted, and next to nothing in a column.
const HARD: [&[&str]; 4] = [
    &["serial", "seconds", "batch"],
    &["of_3", "word_of_5", "flag"],
    &["squares", "word_of_500"],
    &["numbered", "serial"],
];

/// Columns of a shape: the hard ones first, then one to seven at random.
fn columns(shape: u64) -> Vec<(&'static str, &'static str)> {
    if let Some(hard) = HARD.get(shape as usize) {
        return (COLUMNS.iter().copied())
            .filter(|(name, _)| hard.contains(name))
            .collect();
    }
    let mut random = Random::new(shape);
    let mut left = COLUMNS.to_vec();
    (0..=random.index(7))
        .map(|_| left.swap_remove(random.index(left.len())))
        .collect()
}

fn made(directory: &std::path::Path, shape: u64, rows: u64) -> Box<dyn Source> {
    let url = format!("duckdb:{}/{shape}.db", directory.display());
    let columns: Vec<String> = (columns(shape).iter())
        .map(|(name, of)| format!("{of} AS {name}"))
        .collect();
    in_file(&url, |session| {
        let columns = columns.join(", ");
        session
            .batch(&format!(
                "CREATE TABLE t AS SELECT {columns} FROM range({rows}) r(i)"
            ))
            .unwrap();
    });
    source(&url)
}

/// Numbers of intervals that held, and of all, and a line for each level with a failure.
pub fn trials(shape: u64, rows: u64, seeds: u64, levels: &[Level]) -> (u64, u64, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let source = made(directory.path(), shape, rows);
    let budget = Budget {
        time: None,
        ..Budget::default()
    };
    let truths: Vec<f64> = (levels.iter())
        .map(|level| truth(source.as_ref(), *level))
        .collect();
    let (mut held, mut all, mut missed) = (0, 0, Vec::new());
    for seed in 1..=seeds {
        let sizes = sized(source.as_ref(), levels, budget, seed);
        for (level, truth) in levels.iter().zip(&truths) {
            let found = sizes.total(*level).unwrap();
            all += 1;
            held += u64::from(found.covers(*truth));
            if !found.covers(*truth) {
                let names: Vec<&str> = columns(shape).iter().map(|(name, _)| *name).collect();
                missed.push(format!(
                    "{names:?} at {level}, seed {seed}: {found:?}, and it is {truth}"
                ));
            }
        }
    }
    (held, all, missed)
}

#[test]
fn sizes_of_sorted_and_of_repeated_values_are_held() {
    for shape in [0, 1] {
        let levels = [Level::QueryHigh, Level::CapacityLow];
        let (_, _, missed) = trials(shape, 260_000, 2, &levels);
        assert_eq!(missed, [""; 0]);
    }
}
