//! The results of the invariants as text and JSON.

use std::fmt::Write;

use serde_json::{Value, json};
use verdict::method::{Finding, Law, Outcome, Reading};

struct Words {
    id: &'static str,
    law: &'static str,
    unit: &'static str,
    decimals: usize,
}

const fn words(id: &'static str, law: &'static str, unit: &'static str, decimals: usize) -> Words {
    Words {
        id,
        law,
        unit,
        decimals,
    }
}

fn of(law: Law) -> Words {
    match law {
        Law::ThinkTime => words(
            "think_time",
            "twice the think time halves the rate",
            "times the rate",
            3,
        ),
        Law::ResponseTime => words(
            "response_time",
            "users = rate × (response + think time)",
            "users",
            2,
        ),
        Law::Users => words(
            "users",
            "twice the users give at most twice the rate",
            "times the rate",
            3,
        ),
        Law::OfferedRate => words(
            "offered_rate",
            "a rate below capacity is delivered",
            "operations/s",
            1,
        ),
        Law::HalvesRate => words(
            "halves_rate",
            "the same load twice gives the same rate",
            "operations/s",
            0,
        ),
        Law::HalvesMedian => words("halves_median", "... and the same median response", "µs", 1),
        Law::Statements => words(
            "statements",
            "100 more statements cost 100 times one",
            "ms",
            3,
        ),
        Law::Delay => words("delay", "50 ms more in the server show as that", "ms", 2),
        Law::Waits => words(
            "waits",
            "sessions that wait in the server = rate × time",
            "sessions",
            3,
        ),
        Law::Committed => words(
            "committed",
            "what was committed was changed, no more",
            "transactions",
            0,
        ),
        Law::Counts => words(
            "counts",
            "histograms count every operation",
            "operations",
            0,
        ),
        Law::Times => words(
            "times",
            "... and add up to the sessions' time",
            "s a point",
            4,
        ),
        Law::Floor => words("floor", "200 µs (on mock:) are measured as that", "µs", 1),
        Law::Slices => words(
            "slices",
            "... in slices too: sessions = rate × time",
            "sessions",
            3,
        ),
        Law::Clock => words("clock", "driver's and server's clocks run alike", "s", 4),
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub holds: usize,
    pub broken: usize,
    pub undecided: usize,
    pub not_offered: usize,
}

impl Counted {
    pub(super) fn of(findings: &[Finding]) -> Self {
        let mut counted = Self::default();
        for finding in findings {
            *match finding.outcome {
                Outcome::Holds(_) => &mut counted.holds,
                Outcome::Broken(_) => &mut counted.broken,
                Outcome::TooNoisy(_) | Outcome::BrokenOnce(_) | Outcome::Invalid { .. } => {
                    &mut counted.undecided
                }
                Outcome::NotOffered(_) => &mut counted.not_offered,
            } += 1;
        }
        counted
    }
}

fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Holds(_) => "holds",
        Outcome::Broken(_) => "broken",
        Outcome::TooNoisy(_) | Outcome::BrokenOnce(_) | Outcome::Invalid { .. } => "not_told",
        Outcome::NotOffered(_) => "not_offered",
    }
}

/// The reason why an invariant is undecided or unsupported.
fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Holds(_) | Outcome::Broken(_) => None,
        Outcome::TooNoisy(_) => Some("the machine is too noisy".to_owned()),
        Outcome::BrokenOnce(_) => Some("broken in one of two measurements".to_owned()),
        Outcome::Invalid {
            valid,
            repetitions,
            reason,
        } => Some(format!(
            "{valid} of {repetitions} repetitions are valid: {reason}"
        )),
        Outcome::NotOffered(why) => Some(why.clone()),
    }
}

fn reading(outcome: &Outcome) -> Option<&Reading> {
    match outcome {
        Outcome::Holds(reading)
        | Outcome::Broken(reading)
        | Outcome::TooNoisy(reading)
        | Outcome::BrokenOnce(reading) => Some(reading),
        Outcome::Invalid { .. } | Outcome::NotOffered(_) => None,
    }
}

fn numbers(law: Law, reading: &Reading) -> String {
    let Words { unit, decimals, .. } = of(law);
    let number = |x: f64| {
        if x.is_finite() {
            format!("{x:.decimals$}")
        } else {
            "–".to_owned()
        }
    };
    let Reading {
        expected,
        seen,
        low,
        high,
    } = *reading;
    let most = match law {
        Law::Users => "at most ",
        _ => "",
    };
    let range = if low < high {
        format!(" ({} to {})", number(low), number(high))
    } else {
        String::new()
    };
    format!(
        "{most}{} {unit} expected, {} seen{range}",
        number(expected),
        number(seen)
    )
}

pub(super) fn table(findings: &[Finding]) -> String {
    let width = findings.iter().map(|it| of(it.law).law.chars().count());
    let width = width.max().unwrap_or(0);
    let mut text = String::new();
    for Finding { law, outcome } in findings {
        let word = match name(outcome) {
            "broken" => "BROKEN",
            "not_told" => "undecided",
            "not_offered" => "–",
            other => other,
        };
        let decided = reading(outcome).map(|reading| numbers(*law, reading));
        let all: Vec<String> = reason(outcome).into_iter().chain(decided).collect();
        let _ = writeln!(
            text,
            "  {:width$}  {word:9}  {}",
            of(*law).law,
            all.join(": ")
        );
    }
    text
}

/// The final line: trust, or the reason against it.
pub(super) fn verdict(findings: &[Finding], own: Option<(f64, f64)>) -> String {
    let counted = Counted::of(findings);
    let decided = counted.holds + counted.broken;
    if counted.broken > 0 {
        let broken = findings.iter().filter(|it| it.outcome.is_broken());
        let broken: Vec<&str> = broken.map(|it| of(it.law).law).collect();
        return format!(
            "dbdyno does NOT measure this target rightly: {} of {decided} laws are broken: {}",
            counted.broken,
            broken.join("; ")
        );
    }
    let undecided = match counted.undecided {
        0 => String::new(),
        n => format!(", {n} undecided"),
    };
    if counted.holds == 0 {
        return format!(
            "whether dbdyno measures this target rightly is not known: no law could be decided{undecided}"
        );
    }
    let own = own.map_or_else(String::new, |(us, pct)| {
        format!(
            "; the driver's own cost is {us:.1} µs an operation, {pct:.0} % of a statement that asks for nothing"
        )
    });
    let holds = counted.holds;
    format!("dbdyno measures this target rightly: {holds} of {decided} laws hold{undecided}{own}")
}

pub(super) fn json(finding: &Finding) -> Value {
    let Words { id, law, unit, .. } = of(finding.law);
    let outcome = &finding.outcome;
    let of = |figure: fn(&Reading) -> f64| reading(outcome).map(figure);
    json!({
        "id": id, "law": law, "outcome": name(outcome), "unit": unit,
        "expected": of(|it| it.expected), "seen": of(|it| it.seen), "low": of(|it| it.low),
        "high": of(|it| it.high), "reason": reason(outcome),
    })
}
