//! The statements that this engine understands.

use engine::{Result, TargetError};

/// Most `work` of one statement.
const WORK_MAX: u32 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parsed {
    /// How many times the stated time is spent.
    pub(super) work: u32,
    pub(super) answer: i64,
}

/// Parses `work; answer N`, in any order.
pub(super) fn parse(sql: &str) -> Result<Parsed> {
    let (mut work, mut answer) = (0, None);
    for part in sql.split(';').map(str::trim).filter(|p| !p.is_empty()) {
        if part == "work" {
            work += 1;
            continue;
        }
        let number = part
            .strip_prefix("answer ")
            .and_then(|n| n.trim().parse().ok());
        match (number, answer) {
            (Some(number), None) => answer = Some(number),
            (Some(_), Some(_)) => return Err(wrong(sql, "it has two answers")),
            (None, _) => return Err(wrong(sql, &format!("\"{part}\" is neither of them"))),
        }
    }
    match answer {
        _ if work > WORK_MAX => Err(wrong(sql, &format!("it has more than {WORK_MAX} \"work\""))),
        None => Err(wrong(sql, "it has no answer")),
        Some(answer) => Ok(Parsed { work, answer }),
    }
}

fn wrong(sql: &str, what: &str) -> TargetError {
    // A foreign statement may be long.
    let shown: String = sql.trim().chars().take(60).collect();
    TargetError::statement(format!(
        "mock is not a database and understands only \"work\" and \"answer N\"; {what} (in \"{shown}\")"
    ))
}
