//! Backups by method: rates of backup and restore with their proofs, next to published rates of another platform.

mod impact;

use std::collections::BTreeSet;

use archive::reference;
use archive::{Point, Remark, Run};
use askama::Template;

use super::figure::Figure;
use crate::level;
use crate::number;

/// Prefix of their test codes.
const OF_METHOD: &str = "BACKUP-";
const REFERENCE: &str = "superdome-xp1024";
/// Kinds of published figures for this section.
const KINDS: [&str; 2] = ["backup", "restore"];

/// Suffixes of the names of a published range's ends.
const RANGE_ENDS: [&str; 2] = [": lower end", ": upper end"];
const COLUMNS: [(&str, &str); 19] = [
    ("backup TB/h", "backup_tb_per_h"),
    ("backup s", "elapsed_s"),
    ("tool's clock s", "backup_tool_s"),
    ("database MB", "backup_logical_mb"),
    ("repository MB", "backup_repository_mb"),
    ("ratio", "backup_ratio"),
    ("CPU s/GB", "backup_cpu_s_per_gb"),
    ("tool's memory MB", "backup_tool_memory_mb"),
    ("log MB", "backup_log_mb"),
    ("archived log MB", "backup_archived_mb"),
    ("restore TB/h", "restore_tb_per_h"),
    ("copy s", "restore_copy_s"),
    ("replay s", "restore_replay_s"),
    ("first commit s", "restore_first_commit_s"),
    ("restore ÷ backup", "restore_per_backup"),
    ("users alone 1/s", "foreground_alone_per_s"),
    ("users beside 1/s", "foreground_beside_per_s"),
    ("p95 alone µs", "foreground_alone_us_p95"),
    ("p95 beside µs", "foreground_beside_us_p95"),
];
/// Figures that not every backup has.
const OPTIONAL: [&str; 8] = [
    "backup_tool_s",
    "backup_tool_memory_mb",
    "backup_log_mb",
    "backup_archived_mb",
    "foreground_alone_per_s",
    "foreground_beside_per_s",
    "foreground_alone_us_p95",
    "foreground_beside_us_p95",
];

#[derive(Template)]
#[template(path = "backup.html", whitespace = "minimize")]
pub struct View {
    heads: Vec<&'static str>,
    rows: Vec<Row>,
    impact: Vec<Figure>,
    published_title: String,
    published: Vec<[String; 2]>,
}

struct Row {
    name: String,
    cells: Vec<String>,
    /// Its proofs, or the reason why it is invalid.
    proof: String,
    class: &'static str,
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

pub fn view(run: &Run) -> View {
    let backups = run.points.iter();
    let backups = backups.filter(|point| is_backup(point));
    let backups: Vec<&Point> = backups.collect();
    let knows = |name: &str| {
        backups
            .iter()
            .any(|point| point.figures.get(name).is_some())
    };
    let columns = COLUMNS.into_iter();
    let columns = columns.filter(|(_, name)| !OPTIONAL.contains(name) || knows(name));
    let columns: Vec<(&str, &str)> = columns.collect();
    let rows = backups.iter().map(|point| row(run, point, &columns));
    let rows: Vec<Row> = rows.collect();
    let named = backups.iter().map(|point| (name(run, point), *point));
    let impact = impact::figures(&named.collect::<Vec<_>>());
    let (published_title, published) = if rows.is_empty() {
        Default::default()
    } else {
        published().unwrap_or_default()
    };
    View {
        heads: columns.iter().map(|(head, _)| *head).collect(),
        rows,
        impact,
        published_title,
        published,
    }
}

fn row(run: &Run, point: &Point, columns: &[(&str, &str)]) -> Row {
    // Figures of a backup that failed a proof must not be read.
    let figure = |name: &str| point.figures.get(name).filter(|_| point.valid());
    let cells = columns.iter();
    let cells = cells.map(|(_, name)| number::figure_or_unknown(figure(name)));
    let is_proof = |note: &&Remark| {
        matches!(
            note,
            Remark::RestoreProven { .. }
                | Remark::RestoreProvenBeside { .. }
                | Remark::BackupDiscarded {}
        )
    };
    let proof = match (point.reasons.first(), point.notes.iter().find(is_proof)) {
        (Some(reason), _) => format!("✗ {reason}"),
        (None, Some(Remark::BackupDiscarded {})) => format!("– {}", Remark::BackupDiscarded {}),
        (None, Some(proof)) => format!("✓ {proof}"),
        (None, None) => number::UNKNOWN.to_owned(),
    };
    Row {
        name: name(run, point) + &repetition(run, point),
        cells: cells.collect(),
        proof,
        class: if point.valid() { "" } else { "invalid" },
    }
}

/// Number of the repetition, if there are several.
fn repetition(run: &Run, point: &Point) -> String {
    if run.points.iter().any(|other| other.key.repetition > 1) {
        format!(", repetition {}", point.key.repetition)
    } else {
        String::new()
    }
}

/// Method and channels, with the target if there are several.
fn name(run: &Run, point: &Point) -> String {
    let method = point.key.test.strip_prefix(OF_METHOD).unwrap_or_default();
    let name = method.to_lowercase() + &channels(point.key.threads);
    let target = point.key.target;
    let is_other = |other: &Point| is_backup(other) && other.key.target != target;
    if run.points.iter().any(is_other) {
        format!("{} {name}", level::target_name(run, target))
    } else {
        name
    }
}

fn is_backup(point: &Point) -> bool {
    point.key.test.starts_with(OF_METHOD)
}

fn channels(number: u32) -> String {
    match number {
        1 => String::new(),
        _ => format!(", {number} channels"),
    }
}

fn published() -> Option<(String, Vec<[String; 2]>)> {
    let reference = reference::load(REFERENCE).ok()?;
    let stated = reference.stated.iter();
    let stated = stated.filter(|figure| KINDS.contains(&figure.kind.as_str()));
    let rows = stated.map(|figure| {
        // Some values are already printed with their unit.
        let value = if figure.printed.ends_with(&figure.unit) {
            figure.printed.clone()
        } else {
            format!("{} {}", figure.printed, figure.unit)
        };
        // The ends of a range are printed together, as the range.
        let name = RANGE_ENDS
            .iter()
            .find_map(|end| figure.name.strip_suffix(end));
        [name.unwrap_or(&figure.name).to_owned(), value]
    });
    // The document repeats some figures; the table does not.
    let mut rows: Vec<[String; 2]> = rows.collect();
    let mut printed = BTreeSet::new();
    rows.retain(|row| printed.insert(row.clone()));
    Some((reference.title.clone(), rows))
}
