//! State of validated blocks from one run to the next, and recovery before a run.

use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::buffers::Buffers;
use super::error::{EngineError, IoFault, Obstacle, Operation};
use super::files::{Extent, OpenStorage, SECTOR_BYTES};
use super::journal::{Journal, Left, recover};
use super::proof::{BLOCKS_MAX, Corruption, Proof};
use super::recovery::Recovery;
use crate::run::{Run, StorageDefinition, Validation};

/// Bytes of a read in the proof after a recovery.
const READ_BYTES: u64 = 1 << 20;
/// Corrupted blocks that are described.
const FAULTS_MAX: usize = 64;

/// State of validated blocks over all runs of one execution: a later run proves what an earlier one wrote.
#[derive(Debug, Default)]
pub struct Proofs {
    known: Mutex<HashMap<PathBuf, Proof>>,
}

impl Proofs {
    /// No code under the lock can panic halfway.
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Proof>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Validated {
    pub settings: Validation,
    pub proof: Proof,
    pub journal: Option<Journal>,
}

#[derive(Debug, Default)]
pub(crate) struct Recovered {
    pub faults: Vec<IoFault>,
    pub faults_count: u64,
    pub journals: Vec<Recovery>,
    pub is_all: bool,
}

/// Begins validation on the SDs of a run that need it; the first run on an SD recovers its journal if requested.
pub(crate) fn begin(
    run: &Run,
    storage: &[OpenStorage],
    proofs: Option<&Proofs>,
) -> Result<(Vec<Option<Validated>>, Recovered), EngineError> {
    let mut recovered = Recovered::default();
    let mut all = Vec::with_capacity(run.storage.len());
    for (index, (sd, open)) in run.storage.iter().zip(storage).enumerate() {
        let is_used = run.streams.iter().any(|s| s.storage.contains(&index));
        let Some(settings) = sd.content.validation.clone().filter(|_| is_used) else {
            if let Some(proofs) = proofs.filter(|_| run.writes_to(index)) {
                // Writes without stamps invalidate what was known.
                proofs.lock().remove(&sd.path);
            }
            all.push(None);
            continue;
        };
        let mut proof = empty(run, index, &open.extent)?.ignoring_zeros(settings.ignore_zero_reads);
        let known = proofs.and_then(|proofs| proofs.lock().remove(&sd.path));
        match (known, &settings.journal) {
            (Some(known), _) if known.fits(&proof) => {
                proof = known.ignoring_zeros(settings.ignore_zero_reads);
            }
            (_, Some(journal)) if journal.recover => {
                let left = recover(journal, &sd.name, &proof)?;
                proof = prove_all(sd, open, left, &settings, &mut recovered)?;
                recovered.is_all |= journal.recover_only;
            }
            _ => {}
        }
        // Without writes the journal stays as it was found.
        let journal = settings.journal.as_ref().filter(|it| !it.recover_only);
        let journal = journal
            .map(|journal| Journal::begin(journal, &sd.name, &proof))
            .transpose()?;
        all.push(Some(Validated {
            settings,
            proof,
            journal,
        }));
    }
    Ok((all, recovered))
}

impl Validated {
    pub fn finish(
        self,
        sd: &StorageDefinition,
        proofs: Option<&Proofs>,
    ) -> Result<(), EngineError> {
        let journal = self.journal;
        let closed = journal.map_or(Ok(()), |journal| journal.finish(&self.proof));
        if let Some(proofs) = proofs {
            let mut proof = self.proof;
            proof.proven = 0;
            proofs.lock().insert(sd.path.clone(), proof);
        }
        closed
    }
}

/// A proof without knowledge, or the reason why the SD cannot be validated.
pub(crate) fn empty(run: &Run, index: usize, extent: &Extent) -> Result<Proof, EngineError> {
    let sd = &run.storage[index];
    let block = run.transfer_bytes_min(index);
    let sizes = run.streams_beside(index);
    let sizes = sizes.flat_map(|stream| stream.sizes.parts_bytes());
    let mut sizes = sizes.chain(sd.align_bytes);
    let are_whole = sizes.all(|size| size.is_multiple_of(block));
    if !are_whole || !block.is_multiple_of(SECTOR_BYTES) {
        let what = format!(
            "SD {} cannot be validated: all transfers and align= must be multiples of the smallest transfer, which \
             must be a multiple of 512",
            sd.name
        );
        return Err(EngineError::unusable(run, what));
    }
    let blocks = extent.size_bytes / block;
    if blocks > BLOCKS_MAX {
        let what = "blocks to be validated on one SD";
        return Err(EngineError::too_many(run, blocks, what, BLOCKS_MAX));
    }
    let (size_bytes, offset_bytes) = (extent.size_bytes, extent.offset_bytes);
    Ok(Proof::new(&sd.name, size_bytes, block, offset_bytes))
}

/// Reads the blocks that the journal knows, and settles those whose write was in progress: old, new, or corrupted.
fn prove_all(
    sd: &StorageDefinition,
    open: &OpenStorage,
    left: Left,
    settings: &Validation,
    recovered: &mut Recovered,
) -> Result<Proof, EngineError> {
    let Left {
        mut proof,
        under_way,
    } = left;
    let journal = settings.journal.clone().unwrap_or_default();
    let mut found = Recovery {
        sd: sd.name.clone(),
        ..Recovery::default()
    };
    found.pending.count = under_way.len() as u64;
    if journal.ignore_pending {
        under_way.keys().for_each(|block| proof.set(*block, 0));
        found.pending.ignored = found.pending.count;
    }
    let buffer = Buffers::new(READ_BYTES.max(proof.block_bytes))?;
    let step = (READ_BYTES / proof.block_bytes).max(1);
    let mut block = 0;
    while block < proof.blocks() {
        let end = (block + step).min(proof.blocks());
        let is_open = |b: &u64| !journal.ignore_pending && under_way.contains_key(b);
        let is_wanted = |b: u64| is_open(&b) || (proof.generation(b) > 0 && !journal.skip_read_all);
        if (block..end).any(is_wanted) {
            let length = ((end - block) * proof.block_bytes) as usize;
            // SAFETY: the mapping is at least this long, and nothing else refers to it.
            let data = unsafe { std::slice::from_raw_parts_mut(buffer.at(0), length) };
            let at = block * proof.block_bytes;
            let read = open.file.read_exact_at(data, at + open.extent.offset_bytes);
            read.map_err(|reason| {
                let access = "verifying what the journal recorded";
                EngineError::of_sd(sd, Obstacle::Open { access, reason })
            })?;
            for (number, content) in (block..end).zip(data.chunks(proof.block_bytes as usize)) {
                let new = under_way.get(&number).filter(|_| is_open(&number)).copied();
                if let Err(corruption) = settle(&mut proof, number, new, content, &mut found) {
                    recovered.report(sd, corruption, proof.block_bytes);
                }
            }
        } else {
            let known = (block..end).filter(|b| proof.generation(*b) > 0);
            found.unread += known.count() as u64;
        }
        block = end;
    }
    recovered.journals.push(found);
    Ok(proof)
}

/// Checks one block against its generation, or also against the one that was being written.
fn settle(
    proof: &mut Proof,
    block: u64,
    new: Option<u8>,
    content: &[u8],
    found: &mut Recovery,
) -> Result<(), Corruption> {
    let at = block * proof.block_bytes;
    let old = proof.generation(block);
    let count = match new {
        Some(new) if proof.check_block(content, at, new).is_ok() => {
            proof.set(block, new);
            &mut found.pending.new
        }
        Some(_) if old == 0 => &mut found.pending.first,
        None if old == 0 => return Ok(()),
        _ => {
            if let Err(corruption) = proof.check_block(content, at, old) {
                proof.set(block, 0);
                found.corrupted += 1;
                return Err(corruption);
            }
            match new {
                Some(_) => &mut found.pending.old,
                None => &mut found.proven,
            }
        }
    };
    *count += 1;
    Ok(())
}

impl Recovered {
    pub fn blocks_proven(&self) -> u64 {
        let blocks = |it: &Recovery| it.proven + it.pending.new + it.pending.old;
        self.journals.iter().map(blocks).sum()
    }

    fn report(&mut self, sd: &StorageDefinition, corruption: Corruption, size_bytes: u64) {
        self.faults_count += 1;
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(IoFault {
                sd: sd.name.clone(),
                path: sd.path.clone(),
                workload: "journal recovery".to_owned(),
                operation: Operation::Read,
                offset_bytes: corruption.block * size_bytes + sd.offset_bytes,
                size_bytes,
                at: Duration::ZERO,
                what: corruption.fault(),
            });
        }
    }
}
