//! Restore of a backup elsewhere, with its checks, and the figures and reasons for its point.

use std::time::{Duration, Instant};

use archive::{Point, Remark};
use engine::{BackupMethod, BackupOptions, Method, RestoreOptions, Restored};

use super::figures::{TB_PER_H, per};
use super::proof::{self, Evidence, Proven};
use super::repository::Repository;

pub struct Chosen<'m> {
    pub name: String,
    pub about: BackupMethod,
    pub options: BackupOptions,
    pub method: &'m dyn Method,
}

pub struct RestoreResult {
    pub copy_took: Duration,
    pub replay_took: Duration,
    pub first_commit_took: Duration,
    pub proven: Proven,
    pub files: u64,
    pub proof_took: Duration,
}

/// Restores a backup elsewhere and checks the copy against the evidence about its source.
///
/// # Errors
/// The reason why the backup is invalid.
pub fn restore_and_prove(
    method: &Chosen<'_>,
    repository: &Repository,
    engine: &str,
    evidence: &Evidence,
) -> std::result::Result<RestoreResult, Vec<Remark>> {
    let failed = |error: &dyn std::fmt::Display| {
        vec![Remark::RestoreFailed {
            error: error.to_string(),
        }]
    };
    let looking = Instant::now();
    let files = repository.check().map_err(|e| failed(&e))?;
    let files = files.map_err(|what| vec![Remark::BackupDamaged { what }])?;
    let verified = method.method.verify(&repository.backup());
    if let Some(what) = verified.map_err(|e| failed(&e))? {
        return Err(vec![Remark::BackupNotVerified { what }]);
    }
    let looked = looking.elapsed();
    let Restored {
        target,
        copy_took,
        replay_took,
    } = (method.method)
        .restore(&RestoreOptions {
            options: method.options,
            point: evidence.point(),
            from: &repository.backup(),
            into: &repository.restored(),
        })
        .map_err(|e| failed(&e))?;
    let first_commit_took = proof::first_commit(target.as_ref()).map_err(|e| failed(&e))?;
    let proving = Instant::now();
    let proven = proof::prove(target.as_ref(), engine, evidence);
    let proven = proven.map_err(|e| failed(&e))?;
    Ok(RestoreResult {
        copy_took,
        replay_took,
        first_commit_took,
        files,
        proof_took: looked + proving.elapsed(),
        proven,
    })
}

/// Enters figures and checks of a restore, or the reasons why the figures of the backup are invalid.
pub(super) fn enter_restore(
    point: &mut Point,
    logical_bytes: u64,
    evidence: &Evidence,
    restored: std::result::Result<RestoreResult, Vec<Remark>>,
) {
    let restored = match restored {
        Ok(restored) => restored,
        Err(reasons) => return point.reasons.extend(reasons),
    };
    let took = restored.copy_took + restored.replay_took + restored.first_commit_took;
    let figures = &mut point.figures;
    figures.restore_copy_s = Some(restored.copy_took.as_secs_f64());
    figures.restore_replay_s = Some(restored.replay_took.as_secs_f64());
    figures.restore_first_commit_s = Some(restored.first_commit_took.as_secs_f64());
    figures.restore_tb_per_h = per(logical_bytes as f64 / TB_PER_H, took.as_secs_f64());
    figures.restore_per_backup = figures
        .elapsed_s
        .and_then(|backup_s| per(took.as_secs_f64(), backup_s));
    if restored.proven.reasons.is_empty() {
        let took_s = restored.proof_took.as_secs_f64();
        let notes = evidence.notes(&restored.proven, restored.files, took_s);
        point.notes.extend(notes);
    }
    point.reasons.extend(restored.proven.reasons);
}
