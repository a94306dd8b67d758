//! Comparison of a restored database with its source.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use archive::Remark;
use engine::source::Digest;
use engine::{OWN_TABLES, Target};

pub enum Evidence {
    /// The state of the source after the log of acknowledged transactions ended.
    Same { digests: Digests, journal: PathBuf },
    /// All of the first log, and nothing that the second log does not contain, because users worked during the backup.
    DuringWork { before: PathBuf, during: PathBuf },
    /// State at a named point after the backup: the log up to it, and nothing of the log after it.
    Point {
        name: String,
        digests: Digests,
        journal: PathBuf,
        later: PathBuf,
    },
}

impl Evidence {
    pub fn point(&self) -> Option<&str> {
        match self {
            Self::Point { name, .. } => Some(name),
            Self::Same { .. } | Self::DuringWork { .. } => None,
        }
    }

    /// Notes about a copy that passed.
    pub(super) fn notes(&self, proven: &Proven, files: u64, took_s: f64) -> Vec<Remark> {
        let same = |digests: &Digests| Remark::RestoreProven {
            files,
            tables: digests.len() as u64,
            rows: digests.values().map(|digest| digest.rows).sum(),
            conditions: proven.conditions,
            acknowledged: proven.acknowledged,
            took_s,
        };
        match self {
            Self::Same { digests, .. } => vec![same(digests)],
            Self::DuringWork { .. } => vec![Remark::RestoreProvenUnderLoad {
                files,
                conditions: proven.conditions,
                before: proven.acknowledged,
                during: proven.others,
                took_s,
            }],
            Self::Point { name, digests, .. } => vec![
                same(digests),
                Remark::RestoredToPoint {
                    point: name.clone(),
                    before: proven.acknowledged,
                    after: proven.others,
                },
            ],
        }
    }
}

pub struct Proven {
    pub reasons: Vec<Remark>,
    pub conditions: u64,
    /// Acknowledged transactions that the copy must contain.
    pub acknowledged: u64,
    /// Transactions of the second log, which the copy may or must not contain.
    pub others: u64,
}

/// Digests of all tables by name.
pub type Digests = BTreeMap<String, Digest>;

/// Reads every row of every table except the register, because some restores assign new identities to tables.
pub fn digests(target: &dyn Target) -> engine::Result<Digests> {
    let source = target.source()?;
    let mut reader = source.open_reader()?;
    let mut digests = Digests::new();
    let mut tables = source.tables()?;
    tables.retain(|table| table.name != OWN_TABLES);
    for mut table in tables {
        let unholdable = table
            .columns
            .iter_mut()
            .filter(|column| column.kind.is_err());
        unholdable.for_each(engine::source::SourceColumn::read_as_text);
        let mut digest = Digest::default();
        for part in source.parts(&table, 1) {
            reader.read(&table, &part, &mut |row| {
                digest.add(row);
                Ok(())
            })?;
        }
        digests.insert(table.label(), digest);
    }
    Ok(digests)
}

/// Checks a restored database against the evidence and the twelve conditions.
pub(super) fn prove(
    restored: &dyn Target,
    engine: &str,
    evidence: &Evidence,
) -> oltp::Result<Proven> {
    let mut reasons = match evidence {
        Evidence::Same { digests: of, .. } | Evidence::Point { digests: of, .. } => {
            differences(of, &digests(restored)?)
        }
        Evidence::DuringWork { .. } => Vec::new(),
    };
    let checked = oltp::check(restored, engine, false)?;
    let broken = checked.broken();
    if !broken.is_empty() {
        reasons.push(Remark::RestoredUnsound { conditions: broken });
    }
    let (journal, other) = match evidence {
        Evidence::Same { journal, .. } => (journal, None),
        Evidence::DuringWork { before, during } => (before, Some(during)),
        Evidence::Point { journal, later, .. } => (journal, Some(later)),
    };
    let own = oltp::reconcile(restored, journal)?;
    let other = other.map(|other| oltp::reconcile(restored, other));
    let other = other.transpose()?;
    let is_sound = match (evidence, &other) {
        // Transactions during the backup follow the first log, and all of them are in the second.
        (Evidence::DuringWork { .. }, Some(during)) => own.holds_all() && during.holds_no_more(),
        (Evidence::Point { .. }, Some(later)) => own.is_sound() && later.holds_none(),
        _ => own.is_sound(),
    };
    if !is_sound {
        let wrong = other.as_ref().filter(|_| own.holds_all()).unwrap_or(&own);
        reasons.push(Remark::RestoredLost {
            what: Box::new(wrong.remark(None)),
        });
    }
    let holds = |finding: &&oltp::Finding| finding.verdict == oltp::Verdict::Holds;
    Ok(Proven {
        reasons,
        conditions: checked.findings.iter().filter(holds).count() as u64,
        acknowledged: own.acknowledged(),
        others: other.map_or(0, |other| other.acknowledged()),
    })
}

fn differences(before: &Digests, after: &Digests) -> Vec<Remark> {
    let only = |one: &Digests, other: &Digests| -> Vec<String> {
        let names = one.keys().filter(|name| !other.contains_key(*name));
        names.cloned().collect()
    };
    let (only_source, only_restored) = (only(before, after), only(after, before));
    let mut reasons = Vec::new();
    if !only_source.is_empty() || !only_restored.is_empty() {
        reasons.push(Remark::RestoredTables {
            only_source,
            only_restored,
        });
    }
    for (table, digest) in before {
        let Some(restored) = after.get(table).filter(|restored| *restored != digest) else {
            continue;
        };
        reasons.push(Remark::RestoredDiffers {
            table: table.clone(),
            rows: digest.rows,
            checksum: format!("{:016x}", digest.sum),
            rows_restored: restored.rows,
            checksum_restored: format!("{:016x}", restored.sum),
        });
    }
    reasons
}

/// Commits an update that changes no value, to time the first commit after a restore.
pub(super) fn first_commit(restored: &dyn Target) -> engine::Result<Duration> {
    let begun = Instant::now();
    let mut session = restored.open_session()?;
    session.begin()?;
    session.batch("UPDATE warehouse SET w_name = w_name WHERE w_id = 1")?;
    session.commit()?;
    Ok(begun.elapsed())
}
