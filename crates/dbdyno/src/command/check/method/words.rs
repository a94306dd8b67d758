//! The results of the invariants as text and JSON.

use std::fmt::Write;

use serde_json::{Value, json};
use verdict::method::{Finding, Invariant, Outcome, Reading};

struct Words {
    id: &'static str,
    invariant: &'static str,
    unit: &'static str,
    decimals: usize,
}

/// `Invariant: id, invariant, unit, decimals;` for each invariant.
macro_rules! words {
    ($($of:ident: $id:literal, $invariant:literal, $unit:literal, $decimals:literal;)*) => {
        fn of(invariant: Invariant) -> Words {
            match invariant {
                $(Invariant::$of => Words { id: $id, invariant: $invariant, unit: $unit, decimals: $decimals },)*
            }
        }
    };
}

words! {
    ThinkTime: "think_time", "twice the think time halves the rate", "times the rate", 3;
    ResponseTime: "response_time", "users = rate × (response + think time)", "users", 2;
    Users: "users", "twice the users give at most twice the rate", "times the rate", 3;
    OfferedRate: "offered_rate", "a rate below capacity is delivered", "operations/s", 1;
    HalvesRate: "halves_rate", "the same load twice gives the same rate", "operations/s", 0;
    HalvesMedian: "halves_median", "... and the same median response", "µs", 1;
    Statements: "statements", "100 more statements cost 100 times one", "ms", 3;
    Delay: "delay", "50 ms more in the server show as that", "ms", 2;
    Waits: "waits", "sessions that wait in the server = rate × time", "sessions", 3;
    Committed: "committed", "what was committed was changed, no more", "transactions", 0;
    Counts: "counts", "histograms count every operation", "operations", 0;
    Times: "times", "... and add up to the sessions' time", "s a point", 4;
    Floor: "floor", "200 µs (on mock:) are measured as that", "µs", 1;
    Slices: "slices", "... in slices too: sessions = rate × time", "sessions", 3;
    Clock: "clock", "driver's and server's clocks run alike", "s", 4;
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
        Outcome::TooNoisy(_) | Outcome::BrokenOnce(_) | Outcome::Invalid { .. } => "undecided",
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

fn numbers(invariant: Invariant, reading: &Reading) -> String {
    let Words { unit, decimals, .. } = of(invariant);
    let number = |x: f64| {
        let known = Some(x).filter(|x| x.is_finite());
        known.map_or("–".to_owned(), |x| format!("{x:.decimals$}"))
    };
    let Reading { expected, seen, .. } = *reading;
    let (low, high) = (reading.low, reading.high);
    let most = match invariant {
        Invariant::Users => "at most ",
        _ => "",
    };
    let range = if low < high {
        format!(" ({} to {})", number(low), number(high))
    } else {
        String::new()
    };
    let (expected, seen) = (number(expected), number(seen));
    format!("{most}{expected} {unit} expected, {seen} seen{range}")
}

pub(super) fn table(findings: &[Finding]) -> String {
    let width = findings
        .iter()
        .map(|it| of(it.invariant).invariant.chars().count());
    let width = width.max().unwrap_or(0);
    let mut text = String::new();
    for Finding { invariant, outcome } in findings {
        let word = match name(outcome) {
            "broken" => "BROKEN",
            "not_offered" => "–",
            other => other,
        };
        let decided = reading(outcome).map(|reading| numbers(*invariant, reading));
        let all: Vec<String> = reason(outcome).into_iter().chain(decided).collect();
        let (invariant, words) = (of(*invariant).invariant, all.join(": "));
        let _ = writeln!(text, "  {invariant:width$}  {word:9}  {words}");
    }
    text
}

/// The final line: trust, or the reason against it.
pub(super) fn verdict(findings: &[Finding], own: Option<(f64, f64)>) -> String {
    let counted = Counted::of(findings);
    let decided = counted.holds + counted.broken;
    if counted.broken > 0 {
        let broken = findings.iter().filter(|it| it.outcome.is_broken());
        let broken: Vec<&str> = broken.map(|it| of(it.invariant).invariant).collect();
        let (count, broken) = (counted.broken, broken.join("; "));
        return format!(
            "dbdyno does NOT measure this target rightly: {count} of {decided} invariants are broken: {broken}"
        );
    }
    let undecided = match counted.undecided {
        0 => String::new(),
        n => format!(", {n} undecided"),
    };
    if counted.holds == 0 {
        return format!(
            "whether dbdyno measures this target rightly is not known: no invariant could be decided{undecided}"
        );
    }
    let own = own.map_or_else(String::new, |(us, pct)| {
        format!(
            "; the driver's own cost is {us:.1} µs an operation, {pct:.0} % of a statement that asks for nothing"
        )
    });
    let holds = counted.holds;
    format!(
        "dbdyno measures this target rightly: {holds} of {decided} invariants hold{undecided}{own}"
    )
}

pub(super) fn json(finding: &Finding) -> Value {
    let Words {
        id,
        invariant,
        unit,
        ..
    } = of(finding.invariant);
    let outcome = &finding.outcome;
    let of = |figure: fn(&Reading) -> f64| reading(outcome).map(figure);
    json!({
        "id": id, "invariant": invariant, "outcome": name(outcome), "unit": unit,
        "expected": of(|it| it.expected), "seen": of(|it| it.seen), "low": of(|it| it.low),
        "high": of(|it| it.high), "reason": reason(outcome),
    })
}
