//! Names, notes, and removal of measured runs. The record of a measurement stays as it was sealed.

use rusqlite::{OptionalExtension, Transaction, params};

use super::name::check_label;
use super::{ArchiveError, Result, read};
use crate::{Remark, Run, integrity};

pub const NOTE_CHARS_MAX: usize = 1000;

/// Renames a run; its own label removes the other name.
pub(super) fn rename(
    transaction: &Transaction<'_>,
    run_id: i64,
    name: &str,
    now: &str,
) -> Result<()> {
    let measured = read::measured_label(transaction, run_id)?;
    let name = (measured.as_deref() != Some(name)).then_some(name);
    if let Some(name) = name {
        check_label(name)?;
        refuse_taken(transaction, name, run_id)?;
    }
    annotate(transaction, run_id, "name", name, now)
}

/// Replaces the note of a run; an empty one removes it.
pub(super) fn note(
    transaction: &Transaction<'_>,
    run_id: i64,
    note: &str,
    now: &str,
) -> Result<()> {
    let reason = if note.chars().count() > NOTE_CHARS_MAX {
        "it is longer than 1000 characters; shorten it"
    } else if note.chars().any(|c| c.is_control() && c != '\n') {
        "it contains control characters; remove them"
    } else {
        ""
    };
    if !reason.is_empty() {
        return Err(ArchiveError::NoteUnusable { reason });
    }
    let note = Some(note.trim()).filter(|note| !note.is_empty());
    annotate(transaction, run_id, "note", note, now)
}

fn annotate(
    transaction: &Transaction<'_>,
    run_id: i64,
    column: &str,
    value: Option<&str>,
    now: &str,
) -> Result<()> {
    transaction.execute(
        &format!(
            "INSERT INTO annotation (run_id, {column}, changed_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (run_id) DO UPDATE SET {column} = ?2, changed_at = ?3"
        ),
        params![run_id, value, now],
    )?;
    Ok(())
}

/// Refuses a label that leads to another run, be it the one it was measured under or a later name.
pub(super) fn refuse_taken(transaction: &Transaction<'_>, label: &str, run_id: i64) -> Result<()> {
    let sql = "SELECT id FROM run WHERE label = ?1 AND id <> ?2
               UNION ALL SELECT run_id FROM annotation WHERE name = ?1 AND run_id <> ?2";
    let taken = transaction.query_row(sql, params![label, run_id], |row| row.get::<_, i64>(0));
    match taken.optional()? {
        None => Ok(()),
        Some(_) => Err(ArchiveError::LabelTaken {
            label: label.to_owned(),
        }),
    }
}

/// Removes runs with all that was measured, all of them or none. Their numbers and labels are remembered.
pub(super) fn delete(transaction: &Transaction<'_>, run_ids: &[i64], now: &str) -> Result<()> {
    for id in run_ids {
        let run = read::run_of(transaction, *id)?;
        if let Some(reason) = reason_to_keep(transaction, &run, run_ids)? {
            return Err(ArchiveError::NotDeleted {
                label: run.label,
                reason,
            });
        }
        transaction.execute(
            "INSERT INTO deleted_run VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                id,
                run.renamed_from.as_ref().unwrap_or(&run.label),
                run.plan_name,
                run.started_at,
                run.points.len() as i64,
                now
            ],
        )?;
    }
    for id in run_ids {
        remove(transaction, *id)?;
    }
    Ok(())
}

fn reason_to_keep(
    transaction: &Transaction<'_>,
    run: &Run,
    with: &[i64],
) -> Result<Option<String>> {
    let altered = !run.reasons.is_empty()
        || (run.points.iter()).any(|point| point.reasons.contains(&Remark::PointAltered));
    if altered {
        return Ok(Some(
            "it was changed after it was measured (its digests differ), and deleting it would hide that; keep it, or \
             start a new archive"
                .into(),
        ));
    }
    let Some(study) = &run.study else {
        return Ok(None);
    };
    let ids = read::run_ids(transaction)?;
    for id in ids.into_iter().filter(|id| !with.contains(id)) {
        let (label, part) = read::study_part(transaction, id)?;
        if part.is_some_and(|part| part.pairs_with(study)) {
            let all = match study.sides {
                2 => "whose other side is {label}; delete both",
                _ => "whose sides belong together, as {label}; delete all of them",
            };
            let all = all.replace("{label}", &label);
            return Ok(Some(format!(
                "it is one side of the study {}, {all}",
                study.name
            )));
        }
    }
    Ok(None)
}

fn remove(transaction: &Transaction<'_>, run_id: i64) -> Result<()> {
    let of_points = integrity::POINT_TABLES
        .iter()
        .map(|covered| covered.table)
        .filter(|table| *table != "point");
    for table in of_points {
        let sql = format!(
            "DELETE FROM {table} WHERE point_id IN (SELECT id FROM point WHERE run_id = ?1)"
        );
        transaction.execute(&sql, [run_id])?;
    }
    for table in ["point", "planned", "missing", "annotation"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE run_id = ?1"), [run_id])?;
    }
    transaction.execute("DELETE FROM run WHERE id = ?1", [run_id])?;
    Ok(())
}
