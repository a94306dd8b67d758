//! Words for shifts that page and terminal share.

use stats::Warning;
use stats::compare::Verdict;
use stats::ratio::fewest_a_side;
use verdict::compare::{CONFIDENCE, verdict_word};
use verdict::shift::{Certainty, Shares, Shift, Side};

use crate::number;
use crate::users;

/// What was timed: "write, service time".
pub fn what(observer: &str, operation: &str, phase: &str) -> String {
    let part = match (observer, phase) {
        ("driver", "service") => "service time",
        ("driver", _) => "since the intended start",
        ("device", "queue") => "in the device's queue",
        ("device", "device") => "in the device",
        ("device", _) => "at the device",
        _ => "at the array",
    };
    format!("{operation}, {part}")
}

/// What was timed in a shift.
pub fn of_shift(shift: &Shift) -> String {
    let what = what(&shift.observer, &shift.operation, &shift.phase);
    match shift.place.as_str() {
        // The device of the data is the one that is meant where no other is named.
        "" | "data" => what,
        place => format!("{what} ({place})"),
    }
}

/// How many were at work: "8 in flight", of a database "8 jobs", of order entry "8 users"; "8 → 16 jobs" where that was changed.
pub fn jobs(shift: &Shift) -> String {
    let count = match (shift.jobs, shift.jobs_after) {
        (a, b) if a == b => a.to_string(),
        (a, b) => format!("{a} → {b}"),
    };
    match (shift.is_of_database, shift.threads) {
        (true, _) if users::is_by_users(&shift.test) => match count.as_str() {
            "1" => "1 user".to_owned(),
            count => format!("{count} users"),
        },
        (false, _) => format!("{count} in flight"),
        (true, 1) if count == "1" => "1 job".to_owned(),
        (true, 1) => format!("{count} jobs"),
        (true, threads) => format!("{count} × {threads}"),
    }
}

/// "-12.3 %": less time than before is an improvement; "–" where there was none before.
pub fn improvement(shift: &Shift) -> String {
    let improved = shift.improvement_pct();
    improved.map_or_else(|| number::UNKNOWN.to_owned(), percent)
}

/// The interval of the improvement with the verdict it carries; "–" where there is none.
pub fn interval(shift: &Shift) -> (String, &'static str) {
    let text = shift.improvement_interval_pct().map_or_else(
        || number::UNKNOWN.to_owned(),
        |(low, high)| format!("{:.1} … {}", low + 0.0, percent(high)),
    );
    let verdict = match &shift.certainty {
        Certainty::Repetitions(compared) => verdict_word(compared.verdict),
        Certainty::Within { .. } => "within these runs",
        Certainty::Nothing => "no verdict",
    };
    (text, verdict)
}

/// Two latencies: "330 µs → 260 µs".
pub fn latencies(shift: &Shift, of: impl Fn(&Side) -> Option<f64>) -> String {
    format!(
        "{} → {}",
        number::latency(of(&shift.before)),
        number::latency(of(&shift.after))
    )
}

/// Shares beyond 1 ms: "4.1 % → 0.2 %".
pub fn tails(shift: &Shift) -> String {
    shares(shift, |shares| shares.above_1_ms_pct)
}

/// Shares of both sides: "4.1 % → 0.2 %".
pub fn shares(shift: &Shift, share_pct: impl Fn(&Shares) -> f64) -> String {
    let of = |side: &Side| match &side.shares {
        Some(shares) => format!("{} %", number::figure(share_pct(shares))),
        None => number::UNKNOWN.to_owned(),
    };
    format!("{} → {}", of(&shift.before), of(&shift.after))
}

/// What it means that one run was made after the other.
pub fn order_words(trusted: bool) -> &'static str {
    match trusted {
        false => "no verdict, because a change of the machine in between would look like an effect",
        true => {
            "verdicts hold only if nothing but the recorded differences changed in between, as you vouched"
        }
    }
}

/// What the intervals mean where no verdict is possible; `None` where all have one.
pub fn caution(shifts: &[Shift]) -> Option<String> {
    let untrusted = |shift: &Shift| {
        matches!(&shift.certainty, Certainty::Repetitions(found) if found.warnings.contains(&Warning::NotInterleaved)
            && found.verdict == Verdict::Inconclusive)
    };
    if shifts.iter().any(untrusted) {
        return Some(format!(
            "One run was made after the other: {}.",
            order_words(false)
        ));
    }
    let judged = |shift: &Shift| matches!(shift.certainty, Certainty::Repetitions(_));
    (!shifts.iter().all(judged)).then(|| {
        let fewest = fewest_a_side(CONFIDENCE);
        let how = match shifts.iter().any(|shift| shift.is_of_database) {
            true => format!("`repeat = {fewest}` in the plan"),
            false => format!("-l {fewest}"),
        };
        format!(
            "Too few repetitions for a verdict. An interval “within these runs” reflects only the scatter of the \
             intervals within each run, not the variation from run to run. A verdict needs {fewest} repetitions of each \
             ({how}), preferably alternating.",
        )
    })
}

fn percent(value: f64) -> String {
    format!("{:.1} %", value + 0.0)
}
