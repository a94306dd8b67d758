//! What a resumed run does is written in the archive, not on the command line: what its user may not know of it is asked.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Result;
use archive::Run;

use crate::consent::Permission;

/// Asks before the targets are opened that an archive names: those of somebody else's archive, and servers whose settings
/// execute something.
///
/// # Errors
/// When the user does not agree, or nobody is there to be asked.
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

/// Who else than this user and root decides what is in the file.
fn stranger(archive: &Path) -> Result<Option<String>> {
    let found = std::fs::metadata(archive)?;
    Ok(match found.uid() {
        _ if found.mode() & 0o002 != 0 => Some("can be written by every user".into()),
        0 => None,
        uid if uid == host::user_id() => None,
        uid => Some(format!("belongs to another user (number {uid})")),
    })
}
