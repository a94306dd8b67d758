//! Backups by method: rates of backup and restore with their proofs, beside what was published of another platform.

use archive::reference;
use archive::{Point, Remark, Run};
use askama::Template;

use crate::level;
use crate::number;

/// What their codes begin with.
const OF_METHOD: &str = "BACKUP-";
/// Whose figures stand beside.
const REFERENCE: &str = "superdome-xp1024";
/// The kinds of published figures that belong here.
const KINDS: [&str; 2] = ["backup", "restore"];

/// Heads, figures and how they are written.
const COLUMNS: [(&str, &str); 11] = [
    ("backup TB/h", "backup_tb_per_h"),
    ("backup s", "elapsed_s"),
    ("database MB", "backup_logical_mb"),
    ("repository MB", "backup_repository_mb"),
    ("ratio", "backup_ratio"),
    ("CPU s/GB", "backup_cpu_s_per_gb"),
    ("restore TB/h", "restore_tb_per_h"),
    ("copy s", "restore_copy_s"),
    ("replay s", "restore_replay_s"),
    ("first commit s", "restore_first_commit_s"),
    ("restore ÷ backup", "restore_per_backup"),
];

/// The section.
#[derive(Template)]
#[template(path = "backup.html", whitespace = "minimize")]
pub struct View {
    heads: Vec<&'static str>,
    rows: Vec<Row>,
    published_title: String,
    published: Vec<[String; 2]>,
}

/// One backup.
struct Row {
    name: String,
    cells: Vec<String>,
    /// Its proofs, or why it is worth nothing.
    proof: String,
    /// Class: "" or "invalid".
    class: &'static str,
}

impl View {
    /// True where nothing was backed up.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Builds the view.
pub fn view(run: &Run) -> View {
    let backups = (run.points.iter()).filter(|point| point.key.test.starts_with(OF_METHOD));
    let rows: Vec<Row> = backups.map(|point| row(run, point)).collect();
    let (published_title, published) = match rows.is_empty() {
        true => Default::default(),
        false => published().unwrap_or_default(),
    };
    View {
        heads: COLUMNS.iter().map(|(head, _)| *head).collect(),
        rows,
        published_title,
        published,
    }
}

fn row(run: &Run, point: &Point) -> Row {
    let method = point.key.test.strip_prefix(OF_METHOD).unwrap_or_default();
    // A backup that failed a proof has no figures.
    let figure = |name: &str| point.figures.get(name).filter(|_| point.valid());
    let cells = COLUMNS.map(|(_, name)| number::figure_or_unknown(figure(name)));
    let is_proof = |note: &&Remark| matches!(note, Remark::RestoreProven { .. });
    let proof = match (point.reasons.first(), point.notes.iter().find(is_proof)) {
        (Some(reason), _) => format!("✗ {reason}"),
        (None, Some(proof)) => format!("✓ {proof}"),
        (None, None) => number::UNKNOWN.to_owned(),
    };
    Row {
        name: format!(
            "{} {}, repetition {}",
            level::target_name(run, point.key.target),
            method.to_lowercase(),
            point.key.repetition
        ),
        cells: cells.into(),
        proof,
        class: match point.valid() {
            true => "",
            false => "invalid",
        },
    }
}

/// Title and rows of what was published.
fn published() -> Option<(String, Vec<[String; 2]>)> {
    let reference = reference::load(REFERENCE).ok()?;
    let stated = reference.stated.iter();
    let stated = stated.filter(|figure| KINDS.contains(&figure.kind.as_str()));
    let rows = stated.map(|figure| {
        // Some are printed with their unit.
        let value = match figure.printed.ends_with(&figure.unit) {
            true => figure.printed.clone(),
            false => format!("{} {}", figure.printed, figure.unit),
        };
        [figure.name.clone(), value]
    });
    Some((reference.title.clone(), rows.collect()))
}
