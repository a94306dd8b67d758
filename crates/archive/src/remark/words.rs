//! The parts of sentences that depend on values.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use stats::words::{bytes, counted};

use super::parts::{
    BracketEnd, Broken, LimitChanged, PendingWrites, RateTried, Reconciled, RoundsRole,
    RoundsWindow,
};

const UNKNOWN: &str = "–";

fn joined<T>(all: &[T], separator: &str, words: impl Fn(&T) -> String) -> String {
    all.iter().map(words).collect::<Vec<_>>().join(separator)
}

pub(super) fn list(numbers: &[u32]) -> String {
    joined(numbers, ", ", u32::to_string)
}

/// "the interaction of a and b, or of c and d".
pub(super) fn interactions(pairs: &[String]) -> String {
    match pairs {
        [] => UNKNOWN.to_owned(),
        pairs => format!("the interaction of {}", pairs.join(", or of ")),
    }
}

pub(super) fn allowed(allowed: bool) -> &'static str {
    if allowed { "; allowed by the plan" } else { "" }
}

pub(super) fn heat(hottest_c: Option<f64>) -> String {
    hottest_c.map_or(String::new(), |c| format!(" ({c:.0} °C)"))
}

pub(super) fn limits(limits: &[LimitChanged]) -> String {
    joined(limits, ", ", |LimitChanged { key, limit, usual }| {
        format!("{key} is {limit} instead of {usual}")
    })
}

pub(super) fn bracket(missed_per_s: Option<f64>, settled: bool, holds_above: bool) -> String {
    let mut text = match missed_per_s {
        Some(missed) => format!("{missed:.1}/s do not"),
        None => "every higher rate tried met it too".to_owned(),
    };
    if !settled {
        text += "; the search ran out of measurements before the bracket was narrow enough";
    }
    if holds_above {
        text += "; a higher rate met it again: the target is too irregular for a single rate";
    }
    text
}

pub(super) fn rates(rates: &[RateTried]) -> String {
    joined(rates, ", ", |rate| {
        let RateTried {
            rate_per_s,
            held,
            of,
        } = rate;
        format!("{rate_per_s:.1}/s met it in {held} of {of}")
    })
}

pub(super) fn remote_cost(cost_pct: Option<f64>) -> String {
    match cost_pct {
        None => "at an unknown cost".to_owned(),
        Some(pct) => format!("which uses {pct:.1} % of one of its CPUs"),
    }
}

/// With three digits, where no more are known.
pub(super) fn three_digits(ms: Option<f64>) -> String {
    ms.map_or(UNKNOWN.to_owned(), |ms| {
        let before_the_point = ms.abs().log10().floor() as i32 + 1;
        let places = (3 - before_the_point.max(0)).max(0) as usize;
        format!("{ms:.places$}")
    })
}

pub(super) fn users(users: u32) -> String {
    counted(u64::from(users), "user")
}

pub(super) fn sessions(sessions: u64) -> String {
    counted(sessions, "session")
}

pub(super) fn condition(number: u32) -> String {
    match number {
        0 => "the row-count condition".into(),
        number => format!("condition {number}"),
    }
}

/// "condition 3, the row-count condition".
pub(super) fn conditions(numbers: &[u32]) -> String {
    let each: Vec<String> = numbers.iter().copied().map(condition).collect();
    each.join(", ")
}

/// "a, b", or that there is none.
pub(super) fn names(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.join(", "),
    }
}

pub(super) fn unsound(broken: &[Broken], errors: &[String]) -> String {
    let each = broken.iter().map(|broken| {
        let name = condition(broken.condition);
        format!("{name} is violated in {} places", broken.count)
    });
    let all: Vec<String> = each.chain(errors.iter().cloned()).collect();
    all.join(", ")
}

/// Orders, payments and deliveries compared with the tables, and the first that are missing.
pub(super) fn reconciled(sides: [&Reconciled; 3], places: &[String]) -> String {
    let named = ["new orders", "payments", "deliveries"]
        .into_iter()
        .zip(sides);
    let each = named.map(|(name, side)| {
        format!(
            "{name}: {} acknowledged, {} missing, {} in the tables but not acknowledged (at most {} were in flight)",
            side.acknowledged, side.missing, side.unacknowledged, side.unacknowledged_max
        )
    });
    let mut text = each.collect::<Vec<_>>().join(", ");
    if !places.is_empty() {
        text += &format!("; missing: {}", places.join(", "));
    }
    text
}

pub(super) fn kept_at(log: &Option<String>) -> String {
    log.as_ref()
        .map_or(String::new(), |log| format!("; the log is kept at {log}"))
}

pub(super) fn streams(refreshed: bool) -> &'static str {
    if refreshed {
        "answers were not compared because refreshes changed the orders during the queries"
    } else {
        "no refresh stream"
    }
}

pub(super) fn refreshes(refreshed: bool) -> &'static str {
    if refreshed {
        " and both refresh functions"
    } else {
        ", without refresh functions"
    }
}

pub(super) fn bytes_or_unknown(known: Option<u64>) -> String {
    known.map_or(UNKNOWN.to_owned(), bytes)
}

pub(super) fn codecs(codecs: &BTreeMap<String, Vec<String>>) -> String {
    let each = codecs.iter();
    let each = each.map(|(codec, columns)| format!("{codec}: {}", columns.join(" ")));
    each.collect::<Vec<_>>().join("; ")
}

/// The most frequent first; a message that is the only one needs no count.
pub(super) fn messages(messages: &BTreeMap<String, u64>) -> String {
    let mut counted: Vec<_> = messages.iter().collect();
    counted.sort_by_key(|(_, count)| Reverse(**count));
    match &counted[..] {
        [] => "no message".to_owned(),
        [(message, _)] => (*message).clone(),
        several => {
            let each = several.iter().map(|(message, count)| match count {
                0 => (*message).clone(),
                count => format!("{count} × {message}"),
            });
            each.collect::<Vec<_>>().join("; ")
        }
    }
}

pub(super) fn or_nothing(cell: &Option<String>) -> &str {
    cell.as_deref().unwrap_or("nothing")
}

pub(super) fn recovered(unread: u64, pending: &PendingWrites) -> String {
    let mut text = String::new();
    if unread > 0 {
        text += &format!(", {unread} not read");
    }
    match pending.count {
        0 => text += "; no write was pending",
        count => {
            text += &format!(
                "; {count} more had a pending write: {}",
                pending_writes(pending)
            );
        }
    }
    text
}

fn pending_writes(pending: &PendingWrites) -> String {
    let settled = pending.new + pending.old + pending.first + pending.ignored;
    let counts = [
        (pending.new, "with the new data"),
        (pending.old, "with the old data"),
        (pending.first, "with an incomplete first write"),
        (pending.ignored, "ignored"),
        (pending.count.saturating_sub(settled), "corrupted"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    parts.join(", ")
}

/// A value of rounds with as many digits as its size needs.
fn round_value(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.3}")
    } else {
        format!("{value:.0}")
    }
}

pub(super) fn round_values(values: &[f64]) -> String {
    joined(values, ", ", |value| round_value(*value))
}

pub(super) fn of_run(run: &Option<String>) -> String {
    run.as_ref().map_or(String::new(), |run| format!("{run}: "))
}

/// The verdict on the rounds of a run; without a window there were fewer than `needed` to say anything.
pub(super) fn rounds(
    (run, role): (&str, RoundsRole),
    (done, needed): (u64, u64),
    unit: &str,
    window: Option<(bool, &RoundsWindow)>,
) -> String {
    let of = match role {
        RoundsRole::Alone => String::new(),
        RoundsRole::ForAll => format!("{run}, which decides for the matrix: "),
        RoundsRole::Other => format!("{run}: "),
    };
    let Some((steady, window)) = window else {
        return format!(
            "{of}stopped after {done} rounds: {needed} are needed to judge whether it is steady"
        );
    };
    let verdict = match (role, steady) {
        (RoundsRole::Other, true) => "steady as well".to_owned(),
        (RoundsRole::Other, false) => "not steady by itself".to_owned(),
        (_, true) => format!("steady at round {done}"),
        (_, false) => format!("not steady within {done} rounds"),
    };
    format!(
        "{of}{verdict}: rounds {}-{done} have a mean of {} {unit}, a range of {:.1} % (at most {}) and a slope of {:.1} % \
         (at most {})",
        (done + 1).saturating_sub(needed),
        round_value(window.mean),
        window.range_pct,
        window.range_pct_max,
        window.slope_pct,
        window.slope_pct_max
    )
}

pub(super) fn bracket_ends(ends: &[BracketEnd]) -> String {
    joined(ends, "; ", |end| {
        let seen = joined(&end.seen, ", ", |seen| {
            let waited = match seen.not_begun {
                0 => String::new(),
                count => format!(" and {count} not started"),
            };
            format!("{:.3} ms of {} I/Os{waited}", seen.response_ms, seen.ios)
        });
        format!("at {:.1}/s {seen}", end.rate_per_s)
    })
}

#[cfg(test)]
mod tests {
    use crate::Remark;

    #[test]
    fn ends_of_ramps_have_their_reason() {
        let ends = [
            Remark::RampTooSlow {
                users: 500,
                limit_ms: 50.0,
                response_ms: 52.0,
            },
            Remark::RampFlat {
                users: 160,
                users_since: 1,
                completed_per_s: 100.04,
            },
            Remark::RampFailed {
                users: 200,
                errors_pct: 1.25,
                limit_pct: 1.0,
            },
        ];
        assert_eq!(
            ends.map(|end| end.to_string()),
            [
                "the ramp ended at 500 users: the response time exceeded its limit of 50 ms at two steps in a row (last: 52.0 \
                 ms)",
                "the ramp ended at 160 users: throughput has not risen by more than 1 % since 1 user (last: 100.0/s)",
                "the ramp ended at 200 users: 1.25 % of the operations failed, more than 1 %"
            ]
        );
    }

    #[test]
    fn what_was_broken_is_named_by_its_number() {
        let unsound = Remark::UnsoundAfterwards {
            broken: vec![
                super::Broken {
                    condition: 0,
                    count: 1,
                },
                super::Broken {
                    condition: 3,
                    count: 5,
                },
            ],
            errors: Vec::new(),
        };
        assert_eq!(
            unsound.to_string(),
            "the consistency check after the users failed: the row-count condition is violated in 1 places, condition 3 is \
             violated in 5 places"
        );
    }
}
