//! Consent to resumed runs: their targets come from the archive, not from the command line, so that the user may not know them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Result;
use archive::Run;

use crate::consent::Permission;

/// Asks before the targets of an archive are opened: those of another user's archive, and servers whose settings execute something.
pub(super) fn agree(permission: &Permission, archive: &Path, runs: &[&Run]) -> Result<()> {
    let mut reasons = Vec::new();
    if let Some(who) = stranger(archive)? {
        let mut urls: Vec<&str> = runs
            .iter()
            .flat_map(|run| &run.targets)
            .map(|target| target.url.as_str())
            .collect();
        urls.dedup();
        reasons.push(format!(
            "{} {who}, and to resume the run opens what it names: {}",
            archive.display(),
            urls.join(", ")
        ));
    }
    for run in runs {
        for url in lab::nodes::urls_of_run(run)? {
            let executed = engines::executed_settings(&url);
            if !executed.is_empty() {
                let reason = format!(
                    "{} would be started with settings that execute programs, load libraries or use files by name ({})",
                    url,
                    executed.join(", ")
                );
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
    }
    if reasons.is_empty() {
        Ok(())
    } else {
        permission.agree(&reasons.join("; "), "start a new run")
    }
}

/// A user other than this one and root who can change the file.
fn stranger(archive: &Path) -> Result<Option<String>> {
    let found = std::fs::metadata(archive)?;
    Ok(match found.uid() {
        _ if found.mode() & 0o002 != 0 => Some("can be written by every user".into()),
        0 => None,
        uid if uid == host::user_id() => None,
        uid => Some(format!("belongs to another user (number {uid})")),
    })
}
