//! Backups by method: rates of backup and restore with their proofs, next to published rates of another platform.

mod impact;

use archive::reference;
use archive::{Cell, Column, Point, Remark, Run, Table};

use super::section::Fragment;
use crate::level;
use crate::number;

/// Prefix of their test codes.
const OF_METHOD: &str = "BACKUP-";
const REFERENCE: &str = "superdome-xp1024";
/// Kinds of published figures for this section.
const KINDS: [&str; 2] = ["backup", "restore"];

/// Suffixes of the names of a published range's ends.
const RANGE_ENDS: [&str; 2] = [": lower end", ": upper end"];
const COLUMNS: [(&str, &str, &str); 19] = [
    ("backup", "TB/h", "backup_tb_per_h"),
    ("backup", "s", "elapsed_s"),
    ("tool's clock", "s", "backup_tool_s"),
    ("database", "MB", "backup_logical_mb"),
    ("repository", "MB", "backup_repository_mb"),
    ("ratio", "", "backup_ratio"),
    ("CPU", "s/GB", "backup_cpu_s_per_gb"),
    ("tool's memory", "MB", "backup_tool_memory_mb"),
    ("log", "MB", "backup_log_mb"),
    ("archived log", "MB", "backup_archived_mb"),
    ("restore", "TB/h", "restore_tb_per_h"),
    ("copy", "s", "restore_copy_s"),
    ("replay", "s", "restore_replay_s"),
    ("first commit", "s", "restore_first_commit_s"),
    ("restore ÷ backup", "", "restore_per_backup"),
    ("users alone", "1/s", "foreground_alone_per_s"),
    ("users during it", "1/s", "foreground_during_per_s"),
    ("p95 alone", "µs", "foreground_alone_us_p95"),
    ("p95 during it", "µs", "foreground_during_us_p95"),
];
/// Figures that not every backup has.
const OPTIONAL: [&str; 8] = [
    "backup_tool_s",
    "backup_tool_memory_mb",
    "backup_log_mb",
    "backup_archived_mb",
    "foreground_alone_per_s",
    "foreground_during_per_s",
    "foreground_alone_us_p95",
    "foreground_during_us_p95",
];

const HOW: &str = "Each backup was restored to another place, and the restored database was compared with its source. Rates count the bytes \
     of the database without free pages, until they are durable; the restore ends with its first commit. Figures of a backup that failed \
     a proof are “–”; a method that discards what it reads is no backup, and shows the time without the medium.";

pub fn view(run: &Run) -> Fragment {
    let backups: Vec<&Point> = run.points.iter().filter(|point| is_backup(point)).collect();
    let mut parts = Fragment::default();
    if backups.is_empty() {
        return parts;
    }
    let knows = |name: &str| {
        backups
            .iter()
            .any(|point| point.figures.get(name).is_some())
    };
    let columns = COLUMNS.into_iter();
    let columns: Vec<(&str, &str, &str)> = columns
        .filter(|(.., name)| !OPTIONAL.contains(name) || knows(name))
        .collect();
    let mut rates = Table::new("method");
    (rates.columns).extend(
        columns
            .iter()
            .map(|(name, unit, _)| Column::new(name, unit)),
    );
    let mut proofs = Vec::new();
    for point in &backups {
        let name = name(run, point) + &repetition(run, point);
        // Figures of a backup that failed a proof must not be read.
        let figure = |figure: &str| point.figures.get(figure).filter(|_| point.valid());
        let cells = columns.iter().map(|(.., of)| Cell::from(figure(of)));
        rates.row(std::iter::once(name.as_str().into()).chain(cells));
        proofs.push((name, proof(point)));
    }
    let named = backups.iter().map(|point| (name(run, point), *point));
    parts
        .how(HOW)
        .table("", "Backup and restore by method", &rates)
        .figures(&impact::figures(&named.collect::<Vec<_>>()))
        .heading(3, "Proofs")
        .facts("", proofs);
    if let Some((title, figures)) = published() {
        let title = format!("Published: {title}");
        parts
            .heading(3, &title)
            .table("", "Published backup and restore", &figures);
    }
    parts.section("backup", "Backup and restore")
}

/// Its proofs, or the reason why it is invalid.
fn proof(point: &Point) -> String {
    let is_proof = |note: &&Remark| {
        matches!(
            note,
            Remark::RestoreProven { .. }
                | Remark::RestoreProvenUnderLoad { .. }
                | Remark::BackupDiscarded {}
        )
    };
    match (point.reasons.first(), point.notes.iter().find(is_proof)) {
        (Some(reason), _) => format!("✗ {reason}"),
        (None, Some(Remark::BackupDiscarded {})) => format!("– {}", Remark::BackupDiscarded {}),
        (None, Some(proof)) => format!("✓ {proof}"),
        (None, None) => number::UNKNOWN.to_owned(),
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

fn published() -> Option<(String, Table)> {
    let reference = reference::load(REFERENCE).ok()?;
    let stated = reference.stated.iter();
    let mut table = Table::new("figure | published");
    for figure in stated.filter(|figure| KINDS.contains(&figure.kind.as_str())) {
        // Some values are already printed with their unit.
        let value = if figure.printed.ends_with(&figure.unit) {
            figure.printed.clone()
        } else {
            format!("{} {}", figure.printed, figure.unit)
        };
        // The ends of a range are printed together, as the range.
        let name = (RANGE_ENDS.iter()).find_map(|end| figure.name.strip_suffix(end));
        let row = vec![name.unwrap_or(&figure.name).into(), value.into()];
        // The document repeats some figures; the table does not.
        if !table.rows.contains(&row) {
            table.row(row);
        }
    }
    Some((reference.title, table))
}
