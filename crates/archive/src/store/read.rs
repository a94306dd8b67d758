//! Reading: all rows of the archive are returned; a point that does not fit its digest is invalid.

use std::fmt::Display;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, ParamsFromIter, Row, params, params_from_iter};
use serde::de::DeserializeOwned;
use stats::HistogramSnapshot;

use super::rows::rows;
use super::{Result, RunName, RunSummary, document};
use crate::integrity;
use crate::{
    Bottleneck, Component, FIGURES, Figures, Histograms, Inventory, Missing, Platform, Point,
    PointKey, Remark, Resource, Run, RunState, Steady, StudyPart, TargetRecord, WorkDone,
};

/// The name that its user gave a run, else its label.
const CALLED: &str = "coalesce((SELECT name FROM annotation WHERE run_id = run.id), run.label)";

const KEY_COLUMNS: &str = "repetition, step, target, test, nodes, jobs, threads";
/// The key's columns as the parameters from the second on.
pub(super) const KEY_IS: &str =
    "(repetition, step, target, test, nodes, jobs, threads) = (?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// The parameters of [`KEY_IS`], the run in front of them.
pub(super) fn key_values(run_id: i64, k: &PointKey) -> ParamsFromIter<[Value; 8]> {
    params_from_iter([
        run_id.into(),
        k.repetition.into(),
        k.step.into(),
        k.target.into(),
        k.test.clone().into(),
        k.nodes.into(),
        k.jobs.into(),
        k.threads.into(),
    ])
}

pub(super) fn run_id(connection: &Connection, name: &RunName) -> Result<Option<i64>> {
    let row_id = |row: &Row<'_>| row.get(0);
    Ok(match name {
        RunName::Id(id) => connection.query_row("SELECT id FROM run WHERE id = ?1", [id], row_id),
        // The label that it was measured under finds a run as well.
        RunName::Label(label) => {
            let sql = "SELECT run_id FROM annotation WHERE name = ?1
                       UNION ALL SELECT id FROM run WHERE label = ?1 LIMIT 1";
            connection.query_row(sql, [label], row_id)
        }
        RunName::Last => {
            connection.query_row("SELECT id FROM run ORDER BY id DESC LIMIT 1", [], row_id)
        }
    }
    .optional()?)
}

pub(super) fn label(connection: &Connection, run_id: i64) -> Result<Option<String>> {
    let sql = format!("SELECT {CALLED} FROM run WHERE id = ?1");
    Ok(connection
        .query_row(&sql, [run_id], |row| row.get(0))
        .optional()?)
}

pub(super) fn measured_label(connection: &Connection, run_id: i64) -> Result<Option<String>> {
    let sql = "SELECT label FROM run WHERE id = ?1";
    Ok(connection
        .query_row(sql, [run_id], |row| row.get(0))
        .optional()?)
}

pub(super) fn planned(connection: &Connection, run_id: i64) -> Result<Vec<PointKey>> {
    keys(connection, "planned", "seq", run_id)
}

pub(super) fn finished(connection: &Connection, run_id: i64) -> Result<Vec<PointKey>> {
    keys(connection, "point", "id", run_id)
}

fn keys(connection: &Connection, table: &str, order: &str, run_id: i64) -> Result<Vec<PointKey>> {
    let sql = format!("SELECT {KEY_COLUMNS} FROM {table} WHERE run_id = ?1 ORDER BY {order}");
    rows(connection, &sql, [run_id], key)
}

pub(super) fn has_key(
    connection: &Connection,
    table: &str,
    run_id: i64,
    k: &PointKey,
) -> Result<bool> {
    let sql = format!("SELECT 1 FROM {table} WHERE run_id = ?1 AND {KEY_IS}");
    Ok(connection
        .prepare_cached(&sql)?
        .exists(key_values(run_id, k))?)
}

pub(super) fn point_id(
    connection: &Connection,
    run_id: i64,
    k: &PointKey,
) -> Result<Option<(i64, String)>> {
    let sql = format!("SELECT id, digest FROM point WHERE run_id = ?1 AND {KEY_IS}");
    let row = connection.query_row(&sql, key_values(run_id, k), |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    Ok(row.optional()?)
}

pub(super) fn unfinished(connection: &Connection, run_id: i64) -> Result<usize> {
    let sql = format!(
        "SELECT count(*) FROM (SELECT {KEY_COLUMNS} FROM planned WHERE run_id = ?1
         EXCEPT SELECT {KEY_COLUMNS} FROM point WHERE run_id = ?1)"
    );
    let count: i64 = connection.query_row(&sql, [run_id], |row| row.get(0))?;
    Ok(count as usize)
}

pub(super) fn run_is_unchanged(connection: &Connection, run_id: i64) -> Result<bool> {
    let stored: String =
        connection.query_row("SELECT digest FROM run WHERE id = ?1", [run_id], |row| {
            row.get(0)
        })?;
    Ok(stored == integrity::run_digest(connection, run_id)?)
}

pub(super) fn list_runs(connection: &Connection) -> Result<Vec<RunSummary>> {
    let ids = run_ids(connection)?.into_iter();
    ids.map(|id| summary(connection, id)).collect()
}

/// A run without its points: neither their figures nor their distributions are decoded.
fn summary(connection: &Connection, run_id: i64) -> Result<RunSummary> {
    let snapshot = connection.unchecked_transaction()?;
    let run = record(&snapshot, run_id)?;
    let count = |sql: &str| snapshot.query_row(sql, [run_id], |row| row.get::<_, u32>(0));
    let invalid = count(
        "SELECT count(*) FROM point JOIN reason ON point_id = point.id WHERE run_id = ?1 AND kind = 'invalid'",
    )?;
    let is_valid = run.valid() && invalid == 0 && are_unchanged(&snapshot, run_id)?;
    Ok(RunSummary {
        valid: is_valid,
        points_finished: count("SELECT count(*) FROM point WHERE run_id = ?1")? as usize,
        points_planned: run.points_planned as usize,
        targets: run.targets,
        renamed_from: run.renamed_from,
        note: run.note,
        id: run.id,
        label: run.label,
        plan_name: run.plan_name,
        state: run.state,
        started_at: run.started_at,
    })
}

fn are_unchanged(connection: &Connection, run_id: i64) -> Result<bool> {
    let digests = integrity::point_digests(connection, run_id)?;
    let sql = "SELECT id, digest FROM point WHERE run_id = ?1";
    let stored = rows(connection, sql, [run_id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    Ok(stored
        .iter()
        .all(|(id, digest)| digests.get(id) == Some(digest)))
}

/// Oldest first.
pub(super) fn run_ids(connection: &Connection) -> Result<Vec<i64>> {
    rows(connection, "SELECT id FROM run ORDER BY id", [], |row| {
        row.get(0)
    })
}

pub(super) fn study_part(
    connection: &Connection,
    run_id: i64,
) -> Result<(String, Option<StudyPart>)> {
    let sql = format!("SELECT {CALLED} AS label, study FROM run WHERE id = ?1");
    Ok(connection.query_row(&sql, [run_id], |row| {
        Ok((row.get("label")?, study(row, &mut Vec::new())?))
    })?)
}

pub(super) fn runs_of_plan(connection: &Connection, plan_name: &str) -> Result<Vec<(i64, String)>> {
    let sql = format!("SELECT id, {CALLED} FROM run WHERE plan_name = ?1 ORDER BY id");
    rows(connection, &sql, [plan_name], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Labels of the runs of a study, which begin with its name.
pub(super) fn labels_of_study(connection: &Connection, name: &str) -> Result<Vec<String>> {
    let sql = "SELECT label FROM run WHERE substr(label, 1, length(?1) + 1) = ?1 || '-' ORDER BY id LIMIT 5";
    rows(connection, sql, [name], |row| row.get(0))
}

pub(super) fn load_run(connection: &Connection, run_id: i64) -> Result<Run> {
    // One snapshot: another process may be appending to the run.
    let snapshot = connection.unchecked_transaction()?;
    run_of(&snapshot, run_id)
}

pub(super) fn load_record(connection: &Connection, run_id: i64) -> Result<Run> {
    let snapshot = connection.unchecked_transaction()?;
    record(&snapshot, run_id)
}

pub(super) fn run_of(snapshot: &Connection, run_id: i64) -> Result<Run> {
    let mut run = record(snapshot, run_id)?;
    run.points = points(snapshot, run_id, &|_| true)?;
    Ok(run)
}

/// A run without its points, and what is wrong with its record.
fn record(snapshot: &Connection, run_id: i64) -> Result<Run> {
    let mut reasons = Vec::new();
    if !run_is_unchanged(snapshot, run_id)? {
        reasons.push(Remark::RunAltered);
    }
    let missing = rows(
        snapshot,
        "SELECT target, test, title, reason AS text, code, fields FROM missing WHERE run_id = ?1 ORDER BY seq",
        [run_id],
        |row| {
            Ok(Missing {
                target: row.get(0)?,
                test: row.get(1)?,
                title: row.get(2)?,
                reason: remark(row)?,
            })
        },
    )?;
    let mut run = snapshot.query_row("SELECT * FROM run WHERE id = ?1", [run_id], |row| {
        run_record(row, &mut reasons)
    })?;
    run.missing = missing;
    let sql = "SELECT name, note FROM annotation WHERE run_id = ?1";
    let annotated = snapshot.query_row(sql, [run_id], |row| Ok((row.get(0)?, row.get(1)?)));
    if let Some((name, note)) = annotated.optional()? {
        run.note = note;
        if let Some(name) = name {
            run.renamed_from = Some(std::mem::replace(&mut run.label, name));
        }
    }
    run.points_planned = planned(snapshot, run_id)?.len() as u32;
    let lost = unfinished(snapshot, run_id)?;
    if run.state == RunState::Complete && lost > 0 {
        reasons.push(Remark::PointsGone {
            gone: lost as u64,
            planned: run.points_planned,
        });
    }
    run.reasons = reasons;
    Ok(run)
}

/// The finished points of a run whose keys are wanted, in the order in which they were entered.
pub(super) fn points(
    connection: &Connection,
    run_id: i64,
    is_wanted: &dyn Fn(&PointKey) -> bool,
) -> Result<Vec<Point>> {
    let found = rows(
        connection,
        "SELECT * FROM point WHERE run_id = ?1 ORDER BY id",
        [run_id],
        |row| {
            let wanted = is_wanted(&key(row)?);
            wanted
                .then(|| Ok((row.get("id")?, row.get("digest")?, point_record(row)?)))
                .transpose()
        },
    )?;
    (found.into_iter().flatten())
        .map(|(id, digest, (point, problems))| {
            complete_point(connection, id, digest, point, problems)
        })
        .collect()
}

fn run_record(row: &Row<'_>, reasons: &mut Vec<Remark>) -> rusqlite::Result<Run> {
    let state: String = row.get("state")?;
    Ok(Run {
        id: row.get("id")?,
        label: row.get("label")?,
        renamed_from: None,
        note: None,
        state: RunState::named(&state).unwrap_or_default(),
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
        tool_version: row.get("tool_version")?,
        plan_name: row.get("plan_name")?,
        plan_toml: row.get("plan_toml")?,
        seed: number(row, "seed", reasons)?,
        repetitions: row.get("repetitions")?,
        points_planned: 0,
        targets: json::<Vec<TargetRecord>>(row, "targets", reasons)?,
        platform: json::<Platform>(row, "platform", reasons)?,
        inventory: json::<Inventory>(row, "inventory", reasons)?,
        study: study(row, reasons)?,
        missing: Vec::new(),
        points: Vec::new(),
        reasons: Vec::new(),
    })
}

fn study(row: &Row<'_>, reasons: &mut Vec<Remark>) -> rusqlite::Result<Option<StudyPart>> {
    let there: Option<String> = row.get("study")?;
    there
        .map(|_| json::<StudyPart>(row, "study", reasons))
        .transpose()
}

/// The point's own row, and what in it could not be understood.
fn point_record(row: &Row<'_>) -> rusqlite::Result<(Point, Vec<Remark>)> {
    let mut problems = Vec::new();
    let component: String = row.get("component")?;
    let steady: Option<String> = row.get("steady")?;
    let mut figures = Figures::default();
    for figure in FIGURES {
        figures.set(figure.name, row.get(figure.name)?);
    }
    // The table's CHECK admits the four names alone.
    let component = Component::named(&component).unwrap_or(Component::Database);
    let mut point = Point {
        started_at: row.get("started_at")?,
        seed: number(row, "seed", &mut problems)?,
        configuration: row.get("configuration")?,
        definition: row.get("definition")?,
        work: json::<WorkDone>(row, "work", &mut problems)?,
        figures,
        steady: steady.map(|word| Steady::named(&word).unwrap_or(Steady::Trend)),
        ..Point::blank(key(row)?, row.get("title")?, component)
    };
    point.held_back.bottleneck = bottleneck(row, &mut problems)?;
    document::read(
        row.get_ref("document")?.as_str()?,
        &mut point,
        &mut problems,
    );
    Ok((point, problems))
}

/// The sentence of a point, and its resource, unknown if the word is.
fn bottleneck(row: &Row<'_>, problems: &mut Vec<Remark>) -> rusqlite::Result<Option<Bottleneck>> {
    let resource: Option<String> = row.get("bottleneck_resource")?;
    let sentence: Option<String> = row.get("bottleneck_sentence")?;
    let Some((word, sentence)) = resource.zip(sentence) else {
        return Ok(None);
    };
    let resource = Resource::named(&word).unwrap_or_else(|| {
        problems.push(Remark::ResourceUnknown { word });
        Resource::Unknown
    });
    Ok(Some(Bottleneck { resource, sentence }))
}

/// Adds the point's children, then says what is wrong with it.
fn complete_point(
    connection: &Connection,
    id: i64,
    digest: String,
    mut point: Point,
    problems: Vec<Remark>,
) -> Result<Point> {
    let sql = "SELECT kind, text, code, fields FROM reason WHERE point_id = ?1 ORDER BY seq";
    for (kind, remark) in rows(connection, sql, [id], |row| Ok((row.get(0)?, remark(row)?)))? {
        let kind: String = kind;
        match kind.as_str() {
            "invalid" => point.reasons.push(remark),
            _ => point.notes.push(remark),
        }
    }
    if digest != integrity::point_digest(connection, id)? {
        point.reasons.push(Remark::PointAltered);
    }
    point.reasons.extend(problems);
    let (service, service_problem) = histogram(connection, id, "service")?;
    let (response, response_problem) = histogram(connection, id, "response")?;
    point.histograms = Histograms { service, response };
    point.reasons.extend(service_problem);
    point.reasons.extend(response_problem);
    Ok(point)
}

/// A remark by its code and fields; its sentence where this version does not know them.
fn remark(row: &Row<'_>) -> rusqlite::Result<Remark> {
    let (code, fields): (String, String) = (row.get("code")?, row.get("fields")?);
    let text = row.get("text")?;
    Ok(Remark::of_parts(&code, &fields).unwrap_or_else(|_| Remark::of_unknown_code(text)))
}

/// One distribution; when it cannot be read an empty one, and the reason.
fn histogram(
    connection: &Connection,
    id: i64,
    kind: &str,
) -> Result<(HistogramSnapshot, Option<Remark>)> {
    let sql = "SELECT v2_deflate FROM histogram WHERE point_id = ?1 AND kind = ?2";
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached(sql)?
        .query_row(params![id, kind], |row| row.get(0))
        .optional()?;
    let Some(bytes) = bytes else {
        let gone = Remark::HistogramGone {
            kind: kind.to_owned(),
        };
        return Ok((HistogramSnapshot::default(), Some(gone)));
    };
    Ok(match HistogramSnapshot::decode(&bytes) {
        Ok(histogram) => (histogram, None),
        Err(error) => (
            HistogramSnapshot::default(),
            Some(Remark::HistogramUnreadable {
                kind: kind.to_owned(),
                error: error.to_string(),
            }),
        ),
    })
}

fn key(row: &Row<'_>) -> rusqlite::Result<PointKey> {
    Ok(PointKey {
        repetition: row.get("repetition")?,
        step: row.get("step")?,
        target: row.get("target")?,
        test: row.get("test")?,
        nodes: row.get("nodes")?,
        jobs: row.get("jobs")?,
        threads: row.get("threads")?,
    })
}

/// A column of JSON; when it does not fit our structs the default, and the reason.
fn json<T: DeserializeOwned + Default>(
    row: &Row<'_>,
    column: &str,
    problems: &mut Vec<Remark>,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    Ok(or_default(serde_json::from_str(&text), column, problems))
}

/// A column with an unsigned 64-bit number as text; likewise.
fn number(row: &Row<'_>, column: &str, problems: &mut Vec<Remark>) -> rusqlite::Result<u64> {
    let text: String = row.get(column)?;
    Ok(or_default(text.parse(), column, problems))
}

fn or_default<T: Default, E: Display>(
    read: std::result::Result<T, E>,
    column: &str,
    problems: &mut Vec<Remark>,
) -> T {
    read.unwrap_or_else(|error| {
        problems.push(Remark::ColumnUnreadable {
            column: column.to_owned(),
            error: error.to_string(),
        });
        T::default()
    })
}
