//! Writing: one transaction for a run, one for a point, one for the end.

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Transaction, params};

use super::annotate::refuse_taken;
use super::document::json;
use super::finite::finite;
use super::name::{check_label, made_up_label};
use super::{ArchiveError, NewRun, Result, document, read};
use crate::{Bottleneck, FIGURES, Missing, Point, PointKey, Remark, RunState, Until, integrity};

/// Kind of the remarks that make a point invalid.
const INVALID: &str = "invalid";

/// Most points that a run may be planned with; beyond it a plan is a typing error.
const POINTS_PLANNED_MAX: usize = 1_000_000;

/// Enters a run; `take` takes its lock before anybody else can see it.
pub(super) fn create_runs(
    transaction: &Transaction<'_>,
    new: &[NewRun],
    mut take: impl FnMut(i64, &str) -> Result<()>,
) -> Result<Vec<i64>> {
    new.iter().try_for_each(check_plan)?;
    let each = new
        .iter()
        .map(|new| insert_run(transaction, new, &mut take));
    each.collect()
}

fn insert_run(
    transaction: &Transaction<'_>,
    new: &NewRun,
    take: &mut impl FnMut(i64, &str) -> Result<()>,
) -> Result<i64> {
    // The number of a run that was deleted would lead to another one.
    let sql = "SELECT max(coalesce((SELECT max(id) FROM run), 0),
                          coalesce((SELECT max(id) FROM deleted_run), 0)) + 1";
    let id: i64 = transaction.query_row(sql, [], |row| row.get(0))?;
    let label = free_label(transaction, id, new.label.as_deref())?;
    transaction.execute(
        "INSERT INTO run (id, label, state, started_at, tool_version, plan_name, plan_toml,
                          seed, repetitions, targets, platform, inventory, study, digest)
         VALUES (?1, ?2, 'running', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, '')",
        params![
            id,
            label,
            new.started_at,
            new.tool_version,
            new.plan_name,
            new.plan_toml,
            new.seed.to_string(),
            new.repetitions,
            json(&new.targets),
            json(&new.platform),
            json(&new.inventory),
            new.study.as_ref().map(json),
        ],
    )?;
    insert_planned(transaction, id, &new.planned)?;
    for missing in &new.missing {
        insert_missing(transaction, id, missing)?;
    }
    seal_run(transaction, id)?;
    take(id, &label)?;
    Ok(id)
}

fn check_plan(new: &NewRun) -> Result<()> {
    let bad = |what: String| Err(ArchiveError::BadPlan(what));
    if new.planned.len() > POINTS_PLANNED_MAX {
        return bad(format!(
            "it has {} points; the limit is {POINTS_PLANNED_MAX}",
            new.planned.len()
        ));
    }
    let mut seen = HashSet::new();
    for key in &new.planned {
        if !seen.insert(key) {
            return bad(format!("the point {key:?} occurs twice"));
        }
        if key.target as usize >= new.targets.len() {
            return bad(format!(
                "the point {key:?} names a target that the run does not have"
            ));
        }
    }
    Ok(())
}

fn free_label(transaction: &Transaction<'_>, id: i64, wanted: Option<&str>) -> Result<String> {
    let Some(label) = wanted else {
        return Ok(made_up_label(id));
    };
    check_label(label)?;
    refuse_taken(transaction, label, id)?;
    Ok(label.to_owned())
}

fn insert_planned(transaction: &Transaction<'_>, run_id: i64, planned: &[PointKey]) -> Result<()> {
    let mut insert =
        transaction.prepare("INSERT INTO planned VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    for (seq, k) in planned.iter().enumerate() {
        insert.execute(params![
            run_id,
            seq as i64,
            k.repetition,
            k.step,
            k.target,
            k.test,
            k.nodes,
            k.jobs,
            k.threads
        ])?;
    }
    Ok(())
}

pub(super) fn append_points(
    transaction: &Transaction<'_>,
    run_id: i64,
    points: &[Point],
) -> Result<()> {
    for point in points {
        let mut point = finite(point);
        let document = document::write(&mut point)?;
        let key = || Box::new(point.key.clone());
        if read::has_key(transaction, "point", run_id, &point.key)? {
            return Err(ArchiveError::PointTwice { run_id, key: key() });
        }
        if !read::has_key(transaction, "planned", run_id, &point.key)? {
            return Err(ArchiveError::NotPlanned { run_id, key: key() });
        }
        let id = insert_point(transaction, run_id, &point, document)?;
        insert_children(transaction, id, &point)?;
        seal_point(transaction, id)?;
    }
    Ok(())
}

fn seal_point(transaction: &Transaction<'_>, id: i64) -> Result<()> {
    let digest = integrity::point_digest(transaction, id)?;
    transaction.execute(
        "UPDATE point SET digest = ?1 WHERE id = ?2",
        params![digest, id],
    )?;
    Ok(())
}

/// A point whose digest did not match before stays one that does not: its mark is not renewed.
pub(super) fn invalidate(
    transaction: &Transaction<'_>,
    run_id: i64,
    keys: &[PointKey],
    reason: &Remark,
) -> Result<()> {
    for key in keys {
        let Some((id, digest)) = read::point_id(transaction, run_id, key)? else {
            let key = Box::new(key.clone());
            return Err(ArchiveError::NotThere { run_id, key });
        };
        let is_whole = integrity::point_digest(transaction, id)? == digest;
        insert_remark(transaction, id, INVALID, reason)?;
        if is_whole {
            seal_point(transaction, id)?;
        }
    }
    Ok(())
}

pub(super) fn skip(
    transaction: &Transaction<'_>,
    run_id: i64,
    keys: &[PointKey],
    missing: &Missing,
) -> Result<()> {
    let is_whole = read::run_is_unchanged(transaction, run_id)?;
    for key in keys {
        if read::has_key(transaction, "point", run_id, key)? {
            let key = Box::new(key.clone());
            return Err(ArchiveError::PointTwice { run_id, key });
        }
        transaction.execute(
            &format!("DELETE FROM planned WHERE run_id = ?1 AND {}", read::KEY_IS),
            read::key_values(run_id, key),
        )?;
    }
    insert_missing(transaction, run_id, missing)?;
    if is_whole {
        seal_run(transaction, run_id)?;
    }
    Ok(())
}

pub(super) fn set_until(
    transaction: &Transaction<'_>,
    sides: [i64; 2],
    until: &Until,
) -> Result<()> {
    for run_id in sides {
        let is_whole = read::run_is_unchanged(transaction, run_id)?;
        let (_, Some(mut part)) = read::study_part(transaction, run_id)? else {
            let what = format!("run {run_id} is no side of a study");
            return Err(ArchiveError::BadPlan(what));
        };
        // While it goes on, its last look may be put off.
        let pairs = match until.ended {
            Some(_) => until.pairs(),
            None => part.rounds() as u32,
        };
        let beyond = read::finished(transaction, run_id)?;
        if let Some(key) = beyond.into_iter().find(|key| key.repetition > pairs) {
            let key = Box::new(key);
            return Err(ArchiveError::PointTwice { run_id, key });
        }
        part.until = Some(until.clone());
        transaction.execute(
            "UPDATE run SET study = ?1, repetitions = ?2 WHERE id = ?3",
            params![json(&part), pairs, run_id],
        )?;
        transaction.execute(
            "DELETE FROM planned WHERE run_id = ?1 AND repetition > ?2",
            params![run_id, pairs],
        )?;
        if is_whole {
            seal_run(transaction, run_id)?;
        }
    }
    Ok(())
}

fn insert_point(
    transaction: &Transaction<'_>,
    run_id: i64,
    point: &Point,
    document: String,
) -> Result<i64> {
    let key = &point.key;
    let bottleneck = |part: fn(&Bottleneck) -> &str| -> Value {
        (point.held_back.bottleneck.as_ref())
            .map(|b| part(b).to_owned())
            .into()
    };
    let mut columns: Vec<(&str, Value)> = vec![
        ("run_id", run_id.into()),
        ("repetition", key.repetition.into()),
        ("step", key.step.into()),
        ("target", key.target.into()),
        ("test", key.test.clone().into()),
        ("nodes", key.nodes.into()),
        ("jobs", key.jobs.into()),
        ("threads", key.threads.into()),
        ("title", point.title.clone().into()),
        ("component", point.component.name().to_owned().into()),
        ("started_at", point.started_at.clone().into()),
        ("seed", point.seed.to_string().into()),
        ("configuration", point.configuration.clone().into()),
        ("definition", point.definition.clone().into()),
        ("steady", point.steady.map(|s| s.name().to_owned()).into()),
        ("work", json(&point.work).into()),
        ("bottleneck_resource", bottleneck(|b| b.resource.name())),
        ("bottleneck_sentence", bottleneck(|b| &b.sentence)),
        ("digest", String::new().into()),
        ("document", document.into()),
    ];
    columns.extend(
        FIGURES
            .iter()
            .map(|f| (f.name, point.figures.get(f.name).into())),
    );
    let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let sql = format!(
        "INSERT INTO point ({}) VALUES ({})",
        names.join(", "),
        vec!["?"; names.len()].join(", ")
    );
    transaction
        .prepare_cached(&sql)?
        .execute(rusqlite::params_from_iter(values))?;
    Ok(transaction.last_insert_rowid())
}

fn insert_children(transaction: &Transaction<'_>, id: i64, point: &Point) -> Result<()> {
    let mut insert = transaction.prepare_cached("INSERT INTO histogram VALUES (?1, ?2, ?3)")?;
    insert.execute(params![id, "service", point.histograms.service.encoded()])?;
    insert.execute(params![id, "response", point.histograms.response.encoded()])?;

    let reasons = point.reasons.iter().map(|reason| (INVALID, reason));
    let notes = point.notes.iter().map(|note| ("note", note));
    for (kind, remark) in reasons.chain(notes) {
        insert_remark(transaction, id, kind, remark)?;
    }
    Ok(())
}

/// After the remarks of the point. The sentence is stored for people with sqlite3.
fn insert_remark(
    transaction: &Transaction<'_>,
    id: i64,
    kind: &str,
    remark: &Remark,
) -> Result<()> {
    let (code, fields) = remark.parts();
    let sql = "INSERT INTO reason (point_id, seq, kind, text, code, fields)
               SELECT ?1, coalesce(max(seq) + 1, 0), ?2, ?3, ?4, ?5 FROM reason WHERE point_id = ?1";
    let mut insert = transaction.prepare_cached(sql)?;
    insert.execute(params![id, kind, remark.to_string(), code, fields])?;
    Ok(())
}

fn insert_missing(transaction: &Transaction<'_>, run_id: i64, missing: &Missing) -> Result<()> {
    let Missing {
        target,
        test,
        title,
        reason,
    } = missing;
    let (code, fields) = reason.parts();
    let sql = "INSERT INTO missing (run_id, seq, target, test, title, reason, code, fields)
               SELECT ?1, coalesce(max(seq) + 1, 0), ?2, ?3, ?4, ?5, ?6, ?7 FROM missing WHERE run_id = ?1";
    let mut insert = transaction.prepare_cached(sql)?;
    insert.execute(params![
        run_id,
        target,
        test,
        title,
        reason.to_string(),
        code,
        fields
    ])?;
    Ok(())
}

pub(super) fn finish_run(
    transaction: &Transaction<'_>,
    run_id: i64,
    state: RunState,
    finished_at: Option<&str>,
) -> Result<()> {
    if state == RunState::Complete {
        let missing = read::unfinished(transaction, run_id)?;
        if missing > 0 {
            return Err(ArchiveError::NotComplete { run_id, missing });
        }
    }
    // A record that was changed keeps its old digest: a new one would hide the change.
    let unchanged = read::run_is_unchanged(transaction, run_id)?;
    transaction.execute(
        "UPDATE run SET state = ?1, finished_at = ?2 WHERE id = ?3",
        params![state.name(), finished_at, run_id],
    )?;
    if unchanged {
        seal_run(transaction, run_id)?;
    }
    Ok(())
}

fn seal_run(transaction: &Transaction<'_>, run_id: i64) -> Result<()> {
    let digest = integrity::run_digest(transaction, run_id)?;
    transaction.execute(
        "UPDATE run SET digest = ?1 WHERE id = ?2",
        params![digest, run_id],
    )?;
    Ok(())
}
