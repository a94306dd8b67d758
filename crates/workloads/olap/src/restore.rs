//! Restore of the rows from before a refresh, and the sums that verify it.

use std::sync::atomic::AtomicBool;

use engine::{Session, Target};

use super::metadata::{Metadata, OWNED, REFRESHED};
use super::refresh::{RefreshSet, Statements};
use super::{OlapError, Result, Scale};

/// Prefix of the names of all stored facts.
const BEFORE: &str = "before_";
const SUMS: [(&str, &[&str]); 2] = [
    ("orders", &["o_orderkey", "o_custkey", "o_totalprice"]),
    (
        "lineitem",
        &[
            "l_orderkey",
            "l_partkey",
            "l_suppkey",
            "l_linenumber",
            "l_quantity",
            "l_extendedprice",
        ],
    ),
];
/// Two sums of amounts are equal within half of the last digit, because one engine adds floating-point numbers.
const HALF_PLACE: f64 = 0.005;

/// Stores the sums of the current rows, and that the sets up to `sets` may change them from now on.
///
/// # Errors
/// When they are already changed, or the target fails.
pub(super) fn note_refresh(session: &mut dyn Session, sets: u32) -> Result<()> {
    let metadata = Metadata::of_whole(session)?;
    if metadata.refreshed.is_some() {
        let scale = metadata.scale;
        return Err(OlapError::Refreshed { scale });
    }
    let mut facts = sums(session)?;
    facts.push((REFRESHED.to_owned(), sets.to_string()));
    let facts: Vec<(&str, String)> = (facts.iter())
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    Ok(OWNED.insert(session, &facts)?)
}

/// Restores the rows that a refresh changed, and compares counts and sums with the stored ones; false if nothing had
/// changed.
///
/// # Errors
/// When there is no complete database, the sums differ, or the target fails.
pub fn undo_refreshes(target: &dyn Target) -> Result<bool> {
    let mut session = target.open_session()?;
    let metadata = Metadata::of_whole(session.as_mut())?;
    let Some(sets) = metadata.refreshed else {
        return Ok(false);
    };
    undo(session.as_mut(), metadata.scale, sets)?;
    for (table, _) in SUMS {
        session.analyse(table)?;
    }
    verify(session.as_mut())?;
    OWNED.forget_facts(session.as_mut(), BEFORE)?;
    drop(session);
    target.checkpoint()?;
    Ok(true)
}

/// Each set has a transaction of its own: an interrupted restore starts over, and undoing twice does no harm.
fn undo(session: &mut dyn Session, scale: Scale, sets: u32) -> Result<()> {
    let never = AtomicBool::new(false);
    let statements = Statements::prepare(session)?;
    for number in 1..=sets {
        session.begin()?;
        let set = RefreshSet { scale, number };
        match statements.undo(session, set, &never) {
            Ok(()) => session.commit()?,
            Err(error) => {
                // The first error is reported.
                let _ = session.rollback();
                return Err(error.into());
            }
        }
    }
    Ok(())
}

fn verify(session: &mut dyn Session) -> Result<()> {
    let noted = OWNED.read(session)?;
    for (name, found) in sums(session)? {
        let right = noted.get(&name).cloned().unwrap_or_default();
        if !is_same(&found, &right) {
            let what = name.trim_start_matches(BEFORE).to_owned();
            return Err(OlapError::NotPutBack { what, found, right });
        }
    }
    Ok(())
}

fn sums(session: &mut dyn Session) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for (table, columns) in SUMS {
        let terms: Vec<String> = columns.iter().map(|c| format!("sum({c})")).collect();
        let sql = format!("SELECT count(*), {} FROM {table}", terms.join(", "));
        let cells = session.texts(&sql)?.into_iter().flatten();
        let names = [table].into_iter().chain(columns.iter().copied());
        all.extend(names.zip(cells).map(|(name, cell)| {
            // An empty table has no sums.
            (format!("{BEFORE}{name}"), cell.unwrap_or_default())
        }));
    }
    Ok(all)
}

fn is_same(found: &str, right: &str) -> bool {
    let amounts = || {
        let is_amount = found.contains('.') || right.contains('.');
        let pair = found.parse::<f64>().ok().zip(right.parse::<f64>().ok());
        pair.filter(|_| is_amount)
    };
    found == right || amounts().is_some_and(|(a, b)| (a - b).abs() < HALF_PLACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_same_to_the_last_place() {
        assert!(is_same("17", "17") && !is_same("17", "18"));
        assert!(is_same("2269.83", "2269.8300000004") && !is_same("2269.83", "2269.84"));
        assert!(is_same("5", "5.00") && !is_same("9007199254740993", "9007199254740992"));
        assert!(!is_same("", "0"));
    }
}
