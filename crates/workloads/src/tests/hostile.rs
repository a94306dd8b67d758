//! Damaged plans are read or refused with a sentence, in bounded memory.

use testing::{each_seed, peak_bytes};

use lab::{Plan, Registry};

use super::registry;

const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Valid and invalid pieces of plans.
const PIECES: &[&str] = &[
    "[[step]]",
    "[step.oltp]",
    "jobs = [1, 2, 4]",
    "jobs = [0]",
    "seconds = 1e999",
    "seconds = nan",
    "repeat = -1",
    "repeat = 18446744073709551616",
    "tests = [\"*\"]",
    "size = \"small\"",
    "[",
    "]",
    "\"",
    "\"\"\"",
    "= =",
    "\u{0}",
    "a.b.c.d = 1",
    "x = {y = {z = {}}}",
    "mode = \"closed\"",
    "rate = [1e308]",
    "users = [4294967296]",
    "\r",
    "#",
    "1979-05-27",
    "0x",
    "''",
];

fn is_read_or_refused(workloads: &Registry, text: &str) {
    let (read, taken) = peak_bytes(|| Plan::parse(workloads, text, &[]));
    assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes for {text:?}");
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn a_damaged_plan_is_read_or_refused() {
    let plans: Vec<String> = Plan::built_in()
        .iter()
        .map(|name| Plan::text(name).unwrap())
        .collect();
    let workloads = registry();
    each_seed(2_000, |source| {
        let mut bytes = source.pick(&plans).clone().into_bytes();
        match source.below(2) {
            0 => source.mutate(&mut bytes),
            _ => {
                let at = source.below(bytes.len());
                let piece = source.pick(PIECES).as_bytes().to_vec();
                bytes.splice(at..at, piece);
            }
        }
        is_read_or_refused(&workloads, &String::from_utf8_lossy(&bytes));
    });
}

/// Nested values are refused before the stack overflows.
#[test]
fn deep_values_are_refused() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("x = {}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(Plan::parse(&registry(), &text, &[]).is_err());
    }
    let dotted = format!("{} = 1", vec!["a"; 50_000].join("."));
    assert!(Plan::parse(&registry(), &dotted, &[]).is_err());
}
