//! Whatever a file holds: no panic, a sentence or a list within its limits.

use proptest::prelude::*;
use storage::language::simulation;
use storage::run::{Rate, Run};

use super::{example, read};

const RUNS_MAX: usize = 10_000;

/// Pieces that files are made of, so that chance meets more than refusals of the first character.
fn piece() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(vec![
        "sd=",
        "wd=",
        "rd=",
        "hd=",
        "fsd=",
        "default",
        "sd1",
        "sd2",
        "wd1",
        "wd2",
        "sd*",
        "lun=/d/f",
        "size=1g",
        "count=(1,9)",
        "threads=",
        "xf=",
        "forx=",
        "rdpct=",
        "seekpct=",
        "skew=50",
        "iorate=",
        "curve",
        "max",
        "(4k,50,8k,50)",
        "(1-64,d)",
        "(100-900,100)",
        "elapsed=4",
        "interval=2",
        "range=(1,2)",
        "single",
        "range",
        "setsof2",
        "openflags=o_direct",
        "concat=yes",
        "validate=yes",
        "50%",
        "-1",
        "eof",
        "poisson",
        "dist=variable",
        ",",
        ",",
        ",",
        "\n",
        "\n",
        " ",
        "\"",
        "(",
        ")",
        "=",
        "include=x",
        "%04d",
        "1e9",
        "9999999999999999999g",
        "*",
        "#",
        "$x",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => ".{0,6}"]
}

/// What must hold of every list.
fn sound(runs: &[Run]) {
    assert!(!runs.is_empty() && runs.len() <= RUNS_MAX);
    for (index, run) in runs.iter().enumerate() {
        let shares: f64 = run.streams.iter().map(|stream| stream.share).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{}: {shares}", run.name);
        for stream in &run.streams {
            assert!(
                !stream.storage.is_empty()
                    && stream.storage.iter().all(|sd| *sd < run.storage.len())
            );
            assert!((0.0..=100.0).contains(&stream.read_pct) && stream.size_bytes_max() > 0);
        }
        assert!(run.intervals().unwrap() >= run.first_counted_interval());
        if let Rate::Curve(point) = &run.rate {
            assert!(
                point.maximum_run < index
                    && matches!(runs[point.maximum_run].rate, Rate::Max { curve: true, .. })
            );
        }
    }
    assert_eq!(simulation(runs).lines().count(), runs.len() + 1);
}

/// A file that is right, with pieces put in, taken away or doubled.
fn damaged(text: &str, at: usize, cut: usize, put: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let at = at % (characters.len() + 1);
    let rest = (at + cut).min(characters.len());
    characters[..at]
        .iter()
        .copied()
        .chain(put.chars())
        .chain(characters[rest..].iter().copied())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        if let Ok(script) = read(&text) {
            sound(&script.runs);
        }
    }

    #[test]
    fn any_pieces_are_read_or_refused(pieces in proptest::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        for text in [text.clone(), format!("sd=sd1,lun=/d/f\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=1,elapsed=8,{text}")] {
            if let Ok(script) = read(&text) {
                sound(&script.runs);
            }
        }
    }

    #[test]
    fn damaged_examples_are_read_or_refused(which in 1..4, at in 0_usize..2000, cut in 0_usize..12, put in piece()) {
        let text = std::fs::read_to_string(example(&format!("parm{which}.txt"))).unwrap();
        if let Ok(script) = read(&damaged(&text, at, cut, &put)) {
            sound(&script.runs);
        }
    }
}
