//! Text on shifts for page and terminal.

use archive::{Latency, Table};
use stats::Warning;
use stats::compare::Verdict;
use verdict::compare::verdict_word;
use verdict::shift::{Certainty, Repetitions, Shares, Shift, Side};

use crate::number;
use crate::users;

/// Subject of a time: "write, service time".
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

pub fn of_shift(shift: &Shift) -> String {
    let what = what(&shift.observer, &shift.operation, &shift.phase);
    match shift.place.as_str() {
        // Without a named device, the data's is meant.
        "" | "data" => what,
        place => format!("{what} ({place})"),
    }
}

/// Concurrency: "8 in flight", for a database "8 sessions", for order entry "8 users"; "8 → 16 sessions" after a change.
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
        (true, 1) => format!("{count} sessions"),
        (true, threads) => format!("{count} × {threads}"),
    }
}

/// Meaning of the times, and the reason why those at the device do not add up to the driver's.
pub const TIMES: &str = "Service time starts when the kernel has the I/O; time since the intended start also includes waiting for a device \
     that is too slow. Times at the device are measured by the kernel for each request, which is a part of an I/O or several merged \
     ones, of other programs too; times at the array are reported by the array.";
/// Repetitions of a list on each side that give up to 23 primary metrics an interval.
const LISTS_MIN: usize = 6;
/// Beyond this many times the time before, a factor reads better than a percentage.
const FACTOR_MIN: f64 = 2.0;

/// True if the improvements of these shifts are factors: rows of one column have one scale, so that they can be compared.
pub fn are_factors<'s>(shifts: impl IntoIterator<Item = &'s Shift>) -> bool {
    let is_large = |shift: &Shift| {
        let high = shift.ratio_interval().map(|ratio| ratio.high);
        (shift.ratio().into_iter().chain(high)).any(|ratio| ratio > FACTOR_MIN)
    };
    shifts.into_iter().any(is_large)
}

/// "-12.3 %": less time than before is an improvement; or "× 3.21": the mean takes that many times as long; "–" if unknown.
fn improvement(shift: &Shift, is_factor: bool) -> String {
    match (shift.ratio(), shift.improvement_pct()) {
        (Some(ratio), _) if is_factor => format!("× {}", number::figure(ratio)),
        (_, improved) => improved.map_or_else(|| number::UNKNOWN.to_owned(), percent),
    }
}

/// The interval of the improvement and its verdict; "–" without one.
fn interval(shift: &Shift, is_factor: bool) -> (String, &'static str) {
    let text = match (shift.ratio_interval(), shift.improvement_interval_pct()) {
        (Some(ratio), _) if is_factor => {
            format!(
                "× {} … {}",
                number::figure(ratio.low),
                number::figure(ratio.high)
            )
        }
        (_, Some((low, high))) => format!("{:.1} … {}", low + 0.0, percent(high)),
        (_, None) => number::UNKNOWN.to_owned(),
    };
    let verdict = match &shift.certainty {
        _ if shift.has_too_few() => "too few I/Os",
        Certainty::Repetitions(compared) => verdict_word(compared.verdict),
        Certainty::Within { .. } => "within these runs",
        Certainty::Nothing => "no verdict",
    };
    (text, verdict)
}

/// Operations of both sides: "12,345 → 98".
pub fn counts(shift: &Shift) -> String {
    let [before, after] =
        [&shift.before, &shift.after].map(|side| number::whole(Some(side.count as f64)));
    format!("{before} → {after}")
}

pub fn factors(shifts: &[Shift]) -> Option<&'static str> {
    are_factors(shifts).then_some("× N: the mean I/O takes N times as long in B as in A.")
}

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
    let of = |side: &Side| match side.known_shares() {
        Some(shares) => format!("{} %", number::figure(share_pct(shares))),
        None => number::UNKNOWN.to_owned(),
    };
    format!("{} → {}", of(&shift.before), of(&shift.after))
}

/// Consequence of measuring one run after the other.
pub fn order_words(trusted: bool) -> &'static str {
    if trusted {
        "verdicts hold only if nothing but the recorded differences changed in between, as you vouched"
    } else {
        "no verdict, because a change of the machine in between would look like an effect"
    }
}

/// Meaning of intervals without a verdict; `None` if all have one.
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
    let is_unjudged = |shift: &&Shift| {
        let is_judged = matches!(shift.certainty, Certainty::Repetitions(_));
        !is_judged && !shift.has_too_few() && shift.is_issued
    };
    let unjudged: Vec<&Shift> = shifts.iter().filter(is_unjudged).collect();
    let of = unjudged.iter().map(|shift| shift.repetitions);
    let few = of.clone().find(|of| of.made < of.needed);
    let rare = of.filter(|of| of.made >= of.needed && of.usable < of.needed);
    match (few, rare.min_by_key(|of| of.usable)) {
        (Some(few), _) => Some(too_few(
            &few,
            unjudged.iter().any(|shift| shift.is_of_database),
        )),
        (None, Some(rare)) => Some(format!(
            "Rows without a verdict: their operations were frequent enough to have a mean in fewer than {} of the {} {}, in one \
             row in {}.",
            rare.needed,
            rare.made,
            words(&rare),
            rare.usable,
        )),
        (None, None) => None,
    }
}

fn words(repetitions: &Repetitions) -> &'static str {
    if repetitions.is_paired {
        "pairs"
    } else {
        "repetitions"
    }
}

fn too_few(few: &Repetitions, is_of_database: bool) -> String {
    let needed = few.needed;
    let how = match (few.is_paired, is_of_database) {
        (true, _) => format!("`--repeat {needed}`"),
        (false, true) => format!("`repeat = {needed}` in the plan"),
        (false, false) => format!(
            "-l {}, enough for the primary metrics too",
            needed.max(LISTS_MIN)
        ),
    };
    format!(
        "Too few {} for a verdict: {} of the {needed} that it needs ({how}). An interval “within these runs” reflects only the scatter \
         of the intervals within each run, not the variation from run to run.",
        words(few),
        few.made,
    )
}

const HEADS: &str = "operation | I/Os [A → B] | mean [A → B] | improvement | 95 % interval | verdict | p50 [A → B] | \
     beyond 1 ms [A → B] | p99 [A → B] | p99.9 [A → B]";

/// The times of each level, at most so many of them, under the title of the level.
pub fn table(shifts: &[&Shift], most: usize, title: impl Fn(&Shift) -> String) -> Table {
    let mut table = Table::new(HEADS);
    let shown = &shifts[..shifts.len().min(most)];
    let is_factor = are_factors(shown.iter().copied());
    for group in shown.chunk_by(|a, b| a.is_of_level(b)) {
        table.heading(title(group[0]));
        (group.iter()).for_each(|shift| table.row(row(shift, is_factor)));
    }
    table
}

fn row(shift: &Shift, is_factor: bool) -> [String; 10] {
    let (interval, verdict) = interval(shift, is_factor);
    let of = |part: fn(&Latency) -> f64, beyond| {
        latencies(shift, |side| side.percentile_us(part, beyond))
    };
    [
        of_shift(shift),
        counts(shift),
        latencies(shift, |side| Some(side.mean_us)),
        improvement(shift, is_factor),
        interval,
        verdict.to_owned(),
        of(|l| l.p50_us, 2),
        tails(shift),
        of(|l| l.p99_us, 100),
        of(|l| l.p99_9_us, 1000),
    ]
}

fn percent(value: f64) -> String {
    format!("{:.1} %", value + 0.0)
}
