//! Any input gives a sentence or a list within its limits, without a panic.

use storage::language::{command_line, script, simulation};
use storage::run::{Rate, Run};
use testing::{Source, each_seed, peak_bytes};

use super::{example, read};

const RUNS_MAX: usize = 10_000;
/// Memory limit for 10,000 runs with their streams and SDs.
const MEMORY_BYTES_MAX: usize = 512 << 20;

/// Pieces of files, so that random input passes the first character.
const PIECES: &[&str] = &[
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
];

/// Any characters, most of them of one byte.
fn text(source: &mut Source, length_max: usize) -> String {
    let length = source.below(length_max + 1);
    let bytes = source.bytes(length);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn piece(source: &mut Source) -> String {
    match source.below(9) {
        0 => text(source, 6),
        _ => (*source.pick(PIECES)).to_owned(),
    }
}

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

/// A valid file with pieces inserted, removed or doubled.
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

/// Asserts a list within its limits or a sentence, in bounded memory.
fn is_read_or_refused(text: &str) {
    let (read, taken) = peak_bytes(|| read(text));
    assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes for {text:?}");
    match read {
        Ok(script) => sound(&script.runs),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[test]
fn any_text_is_read_or_refused() {
    each_seed(2_000, |source| is_read_or_refused(&text(source, 200)));
}

#[test]
fn any_pieces_are_read_or_refused() {
    each_seed(1_000, |source| {
        let pieces: String = (0..source.below(60)).map(|_| piece(source)).collect();
        is_read_or_refused(&pieces);
        is_read_or_refused(&format!(
            "sd=sd1,lun=/d/f\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=1,elapsed=8,{pieces}"
        ));
    });
}

#[test]
fn any_options_are_understood_or_refused() {
    let options = [
        "-f", "-o", "-s", "-e", "-i", "-w", "-m", "-j", "-v", "-c", "-r", "-d", "x=1", "10", "+",
        "out",
    ];
    let file = std::fs::read_to_string(example("parm1.txt")).unwrap();
    each_seed(2_000, |source| {
        let mut arguments = vec!["-f".to_owned(), "p".to_owned()];
        for _ in 0..source.below(6) {
            arguments.push(match source.below(4) {
                0 => piece(source),
                _ => (*source.pick(&options)).to_owned(),
            });
        }
        if let Ok(command) = command_line(&arguments)
            && let Ok(script) = script(&command, &|_| Ok(file.clone()))
        {
            sound(&script.runs);
        }
    });
}

#[test]
fn damaged_examples_are_read_or_refused() {
    let examples =
        [1, 2, 3].map(|n| std::fs::read_to_string(example(&format!("parm{n}.txt"))).unwrap());
    each_seed(1_000, |source| {
        let text = source.pick(&examples);
        let (at, cut) = (source.below(2000), source.below(12));
        is_read_or_refused(&damaged(text, at, cut, &piece(source)));
    });
}
