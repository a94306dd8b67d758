//! Settings of the kernel for block devices during a run: applied, read back, and restored, also after a kill.
//!
//! The former values are in a journal below `/run`, which a restart of the machine empties as it resets the settings.
//! Its writer holds a lock on it; the next process that finds one without a holder restores everything.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::LockableFile;

/// Names in plans, each with its file below `/sys/block/DEVICE/queue`.
pub const SETTINGS: [(&str, &str); 8] = [
    ("scheduler", "scheduler"),
    ("read_ahead_kb", "read_ahead_kb"),
    ("nr_requests", "nr_requests"),
    ("max_sectors_kb", "max_sectors_kb"),
    ("nomerges", "nomerges"),
    ("rq_affinity", "rq_affinity"),
    ("wbt_lat_us", "wbt_lat_usec"),
    ("write_cache", "write_cache"),
];

/// Most settings of one journal; eight devices with all settings have fewer.
const CHANGES_MAX: usize = 128;

/// Prefix of a journal that is not locked yet, and is ignored.
const UNLOCKED_YET: &str = ".";
/// Number of journals of this process so far: threads may measure at the same time.
static JOURNALS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    #[error("host.{name}: device {device} has no such setting ({reason})")]
    NoSetting {
        name: String,
        device: String,
        reason: std::io::Error,
    },
    #[error(
        "host.{name} of device {device} can be set by root alone; run as root, or leave it out"
    )]
    NotAllowed { name: String, device: String },
    /// The kernel refused the value, or changed it.
    #[error(
        "host.{name} = {requested} cannot be set on device {device}: it is {now}{choice}",
        choice = choice(known)
    )]
    Refused {
        name: String,
        device: String,
        requested: String,
        now: String,
        /// Values that the kernel offers; empty if it names none.
        known: String,
    },
    /// The journal cannot be written, without which a kill would leave the settings behind.
    #[error("{}: the settings of the host cannot be saved for restoring them ({reason}), so none is made", path.display())]
    Journal {
        path: PathBuf,
        reason: std::io::Error,
    },
}

fn choice(known: &str) -> String {
    match known {
        "" => String::new(),
        known => format!("; it can be {known}"),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    device: String,
    name: String,
    before: String,
    after: String,
}

#[derive(Debug, Clone)]
pub struct Tuning {
    devices: PathBuf,
    journals: PathBuf,
}

#[derive(Debug)]
pub struct TunedSettings {
    tuning: Tuning,
    changes: Vec<Change>,
    journal: Option<Journal>,
}

#[derive(Debug)]
struct Journal {
    path: PathBuf,
    file: LockableFile,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            devices: "/sys/block".into(),
            journals: "/run/dbdyno-host".into(),
        }
    }
}

impl Tuning {
    /// Makes each setting on each device, and reads it back. Fails if one cannot be made; then all are as before.
    pub fn apply(
        &self,
        devices: &[String],
        settings: &BTreeMap<String, String>,
    ) -> Result<TunedSettings, TuningError> {
        let mut tuned = TunedSettings {
            tuning: self.clone(),
            changes: Vec::new(),
            journal: None,
        };
        for device in devices {
            for (name, requested) in settings {
                let before = self.value(device, name)?;
                if before.now == *requested {
                    continue;
                }
                let change = Change {
                    device: device.clone(),
                    name: name.clone(),
                    before: before.now,
                    after: requested.clone(),
                };
                tuned.note(&change)?;
                // Dropping the settings so far restores them.
                self.change(&change, &before.known)?;
            }
        }
        Ok(tuned)
    }

    /// Restores the settings of killed processes. Values that others have changed since stay.
    pub fn restore_abandoned(&self) {
        let Ok(entries) = fs::read_dir(&self.journals) else {
            return;
        };
        let is_ours = fs::symlink_metadata(&self.journals)
            .is_ok_and(|folder| folder.is_dir() && folder.uid() == user());
        if !is_ours {
            return;
        }
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(UNLOCKED_YET.as_bytes()) {
                continue;
            }
            let path = entry.path();
            let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else {
                continue;
            };
            let file = LockableFile::from(file);
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let changes = text.lines().take(CHANGES_MAX).map(serde_json::from_str);
            // The last line may be truncated, before its change was made.
            let changes: Vec<Change> = changes.filter_map(Result::ok).collect();
            self.restore(&changes);
            let _ = fs::remove_file(&path);
        }
    }

    fn restore(&self, changes: &[Change]) {
        for change in changes.iter().rev() {
            let is_known = SETTINGS.iter().any(|(name, _)| *name == change.name)
                && !change.device.contains(['/', '\0'])
                && change.device != "..";
            let is_ours = is_known
                && self
                    .value(&change.device, &change.name)
                    .is_ok_and(|value| value.now == change.after);
            if is_ours {
                // A device that has disappeared takes its settings with it.
                let _ = fs::write(self.file(&change.device, &change.name), &change.before);
            }
        }
    }

    fn change(&self, change: &Change, known: &str) -> Result<(), TuningError> {
        let Change {
            device,
            name,
            after,
            ..
        } = change;
        let written = fs::write(self.file(device, name), after);
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                Err(TuningError::NotAllowed {
                    name: name.clone(),
                    device: device.clone(),
                })
            }
            _ => {
                let now = self.value(device, name)?.now;
                if now == *after {
                    Ok(())
                } else {
                    Err(TuningError::Refused {
                        name: name.clone(),
                        device: device.clone(),
                        requested: after.clone(),
                        now,
                        known: known.to_owned(),
                    })
                }
            }
        }
    }

    fn value(&self, device: &str, name: &str) -> Result<Value, TuningError> {
        let text = fs::read_to_string(self.file(device, name));
        let text = text.map_err(|reason| TuningError::NoSetting {
            name: name.to_owned(),
            device: device.to_owned(),
            reason,
        })?;
        Ok(Value::of(text.trim()))
    }

    fn file(&self, device: &str, name: &str) -> PathBuf {
        let known = SETTINGS.iter().find(|(known, _)| *known == name);
        let file = known.map_or(name, |(_, file)| file);
        // A name with a slash (cciss/c0d0) has an exclamation mark there.
        let device = device.replace('/', "!");
        self.devices.join(device).join("queue").join(file)
    }

    fn journal(&self) -> Result<Journal, TuningError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |reason| TuningError::Journal { path, reason }
        };
        let made = fs::DirBuilder::new().mode(0o700).create(&self.journals);
        match made {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(failed(&self.journals)(error));
            }
            _ => {}
        }
        let number = JOURNALS.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let path = self.journals.join(&name);
        let new = self.journals.join(format!("{UNLOCKED_YET}{name}"));
        // A killed process of the same number may have left one.
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)
            .map_err(failed(&new))?;
        file.lock().map_err(failed(&new))?;
        // It gets its name once it is locked: otherwise another process might take it for one that was left behind.
        fs::rename(&new, &path).map_err(failed(&path))?;
        Ok(Journal {
            path,
            file: file.into(),
        })
    }
}

struct Value {
    now: String,
    /// All possible values; empty if the file does not list them.
    known: String,
}

impl Value {
    /// The value in brackets, as in "none [mq-deadline] bfq"; other files show only their value.
    fn of(text: &str) -> Self {
        let chosen = text
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'));
        match chosen {
            Some((now, _)) => Self {
                now: now.to_owned(),
                known: text.replace(['[', ']'], "").replace(' ', ", "),
            },
            None => Self {
                now: text.to_owned(),
                known: String::new(),
            },
        }
    }
}

impl TunedSettings {
    /// Enters a change into the journal, before it is made.
    fn note(&mut self, change: &Change) -> Result<(), TuningError> {
        if self.journal.is_none() {
            self.journal = Some(self.tuning.journal()?);
        }
        if let Some(Journal { path, file }) = &mut self.journal {
            let line = serde_json::to_string(change)
                .expect("a change holds only texts, which JSON can write");
            let written = writeln!(file, "{line}").and_then(|()| file.sync_data());
            written.map_err(|reason| TuningError::Journal {
                path: path.clone(),
                reason,
            })?;
        }
        self.changes.push(change.clone());
        Ok(())
    }
}

impl Drop for TunedSettings {
    fn drop(&mut self) {
        self.tuning.restore(&self.changes);
        if let Some(journal) = &self.journal {
            // A remaining journal would do no harm: the next process finds nothing to restore.
            let _ = fs::remove_file(&journal.path);
        }
    }
}

fn user() -> u32 {
    geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> (tempfile::TempDir, Tuning) {
        let root = tempfile::tempdir().unwrap();
        for device in ["vda", "vdb"] {
            let queue = root.path().join("block").join(device).join("queue");
            fs::create_dir_all(&queue).unwrap();
            fs::write(queue.join("read_ahead_kb"), "128\n").unwrap();
            fs::write(queue.join("nr_requests"), "64\n").unwrap();
        }
        let tuning = Tuning {
            devices: root.path().join("block"),
            journals: root.path().join("journals"),
        };
        (root, tuning)
    }

    fn settings(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn devices() -> [String; 2] {
        ["vda".to_owned(), "vdb".to_owned()]
    }

    fn read_ahead(tuning: &Tuning, device: &str) -> String {
        tuning.value(device, "read_ahead_kb").unwrap().now
    }

    #[test]
    fn settings_hold_until_the_end() {
        let (_root, tuning) = machine();
        let requested = settings(&[("read_ahead_kb", "4096"), ("nr_requests", "64")]);
        let tuned = tuning.apply(&devices(), &requested).unwrap();
        assert_eq!(read_ahead(&tuning, "vda"), "4096");
        // Settings that had the value already are not restored.
        let expected = ["vda", "vdb"].map(|d| format!("{d} read_ahead_kb: 128 → 4096"));
        let change = |c: &Change| format!("{} {}: {} → {}", c.device, c.name, c.before, c.after);
        let changes: Vec<String> = tuned.changes.iter().map(change).collect();
        assert_eq!(changes, expected);
        assert_eq!(fs::read_dir(&tuning.journals).unwrap().count(), 1);
        fs::write(tuning.file("vdb", "read_ahead_kb"), "16").unwrap();
        drop(tuned);
        assert_eq!(read_ahead(&tuning, "vda"), "128");
        assert_eq!(read_ahead(&tuning, "vdb"), "16");
        assert_eq!(fs::read_dir(&tuning.journals).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_put_back_by_the_next() {
        let (_root, tuning) = machine();
        let requested = settings(&[("read_ahead_kb", "4096")]);
        let mut tuned = tuning.apply(&devices(), &requested).unwrap();
        tuning.restore_abandoned();
        assert_eq!(read_ahead(&tuning, "vda"), "4096");
        // As after a kill: the lock goes, the journal stays, and its last line is torn.
        let journal = tuned.journal.take().unwrap();
        let mut torn = OpenOptions::new().append(true).open(&journal.path).unwrap();
        torn.write_all(b"{\"device\":\"vd").unwrap();
        drop((journal, torn));
        tuned.changes.clear();
        drop(tuned);
        tuning.restore_abandoned();
        assert_eq!(read_ahead(&tuning, "vda"), "128");
        assert_eq!(read_ahead(&tuning, "vdb"), "128");
        assert_eq!(fs::read_dir(&tuning.journals).unwrap().count(), 0);
    }

    #[test]
    fn a_journal_that_is_not_locked_yet_is_left_alone() {
        let (_root, tuning) = machine();
        fs::create_dir(&tuning.journals).unwrap();
        let new = tuning.journals.join(".1-0");
        fs::write(&new, "").unwrap();
        tuning.restore_abandoned();
        assert!(new.exists());
    }

    #[test]
    fn a_journal_of_others_reaches_no_other_file() {
        let (root, tuning) = machine();
        let other = root.path().join("secret");
        fs::write(&other, "kept").unwrap();
        fs::create_dir(&tuning.journals).unwrap();
        for (device, name) in [
            ("../../secret", "scheduler"),
            ("vda", "../../../secret"),
            ("..", "scheduler"),
        ] {
            let line = format!(
                "{{\"device\":\"{device}\",\"name\":\"{name}\",\"before\":\"lost\",\"after\":\"kept\"}}\n"
            );
            fs::write(tuning.journals.join("1-0"), line).unwrap();
            tuning.restore_abandoned();
            assert_eq!(fs::read_to_string(&other).unwrap(), "kept");
        }
    }

    #[test]
    fn a_refused_setting_is_reported_and_leaves_all_as_before() {
        let (_root, tuning) = machine();
        let requested = settings(&[("read_ahead_kb", "4096"), ("scheduler", "bfq")]);
        let error = tuning
            .apply(&devices(), &requested)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("host.scheduler: device vda has no such setting"),
            "{error}"
        );
        assert_eq!(read_ahead(&tuning, "vda"), "128");
        let value = Value::of("none [mq-deadline] bfq");
        assert_eq!(
            (value.now.as_str(), value.known.as_str()),
            ("mq-deadline", "none, mq-deadline, bfq")
        );
    }
}
