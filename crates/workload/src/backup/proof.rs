//! Whether a restored database is the one that was backed up.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use archive::Remark;
use target::Target;
use target::source::Digest;

use crate::oltp;

/// What a restore was found to be worth.
pub(super) struct Proven {
    /// What makes the backup worthless.
    pub reasons: Vec<Remark>,
    pub rows: u64,
    pub conditions: u64,
    pub acknowledged: u64,
}

/// The digests of all tables of a database, by their names.
pub(super) type Digests = BTreeMap<String, Digest>;

/// Reads every row of every table.
///
/// # Errors
/// When the target fails.
pub(super) fn digests(target: &dyn Target) -> target::Result<Digests> {
    let source = target.source()?;
    let mut reader = source.open_reader()?;
    let mut digests = Digests::new();
    for mut table in source.tables()? {
        let unholdable = table
            .columns
            .iter_mut()
            .filter(|column| column.kind.is_err());
        unholdable.for_each(target::source::SourceColumn::read_as_text);
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

/// Holds a restored database against the digests of its source, the twelve conditions, and the log of the transactions that
/// were acknowledged before its backup.
///
/// # Errors
/// When the restored database fails.
pub(super) fn prove(
    restored: &dyn Target,
    engine: &str,
    before: &Digests,
    journal: &Path,
) -> oltp::Result<Proven> {
    let mut reasons = differences(before, &digests(restored)?);
    let checked = oltp::check(restored, engine, false)?;
    let conditions = checked.broken();
    if !conditions.is_empty() {
        reasons.push(Remark::RestoredUnsound { conditions });
    }
    let reconciled = oltp::reconcile(restored, journal)?;
    if !reconciled.is_sound() {
        reasons.push(Remark::RestoredLost {
            what: Box::new(reconciled.remark(None)),
        });
    }
    let holds = |finding: &&oltp::Finding| finding.verdict == oltp::Verdict::Holds;
    let sides = [
        reconciled.orders,
        reconciled.payments,
        reconciled.deliveries,
    ];
    Ok(Proven {
        reasons,
        rows: before.values().map(|digest| digest.rows).sum(),
        conditions: checked.findings.iter().filter(holds).count() as u64,
        acknowledged: sides.iter().map(|side| side.acknowledged).sum(),
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

/// Commits a change that changes no value: what a user waits for after a restore.
///
/// # Errors
/// When the target fails.
pub(super) fn first_commit(restored: &dyn Target) -> target::Result<Duration> {
    let begun = Instant::now();
    let mut session = restored.open_session()?;
    session.begin()?;
    session.batch("UPDATE warehouse SET w_name = w_name WHERE w_id = 1")?;
    session.commit()?;
    Ok(begun.elapsed())
}
