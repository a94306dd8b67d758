//! I/Os on validated SDs are chains: a block is read and proven before it is overwritten and, if requested, read
//! again afterwards. Only the I/O of the stream is in the figures. Writes with an `fdatasync` each are chains as
//! well, and there the whole chain is in the figures.

use super::backend::{Backend, Request};
use super::error::Operation;
use super::phase::{Phase, Step};
use super::proof::Corruption;
use super::worker::Worker;

impl<B: Backend> Worker<'_, B> {
    /// Begins the chain for the I/O in slot `number`, whose blocks are already taken.
    pub(crate) fn begin_chain(&mut self, number: usize) {
        let slot = &mut self.slots[number];
        let request = slot.request;
        let Some(validated) = &self.validated[request.file as usize] else {
            return;
        };
        let address = request.offset - self.offsets[request.file as usize];
        let blocks = validated.proof.range(address, u64::from(request.length));
        if request.operation == Operation::Read {
            slot.phase = Phase::Read;
        } else if !validated.settings.no_preread && validated.proof.is_known(blocks) {
            slot.phase = Phase::ReadBefore;
        } else {
            self.begin_write(number);
        }
    }

    fn begin_write(&mut self, number: usize) {
        let slot = &mut self.slots[number];
        slot.phase = Phase::Write;
        let request = slot.request;
        let address = request.offset - self.offsets[request.file as usize];
        let length = u64::from(request.length);
        if let Some(validated) = &mut self.validated[request.file as usize] {
            // SAFETY: the slot and its buffer, which holds the largest write, belong to this chain.
            let data = unsafe { std::slice::from_raw_parts_mut(request.buffer, length as usize) };
            validated.proof.stamp(data, address);
            if let Some(journal) = &mut validated.journal {
                for block in validated.proof.range(address, length) {
                    journal.before(block, validated.proof.next_generation(block));
                }
            }
        }
    }

    /// Continues the chain in slot `number` after one of its requests has completed, wholly or partly.
    #[cold]
    pub(crate) fn go_on(&mut self, number: usize, is_whole: bool, now_ns: u64) -> Step {
        let request = self.slots[number].request;
        let phase = self.slots[number].phase;
        if matches!(phase, Phase::WriteThenSync | Phase::Sync) {
            return self.synchronize(number, is_whole);
        }
        let found = match phase {
            Phase::Write => {
                self.settle_write(&request, is_whole);
                None
            }
            _ if is_whole => self.prove(number),
            _ => None,
        };
        let is_good = is_whole && found.is_none();
        if phase == Phase::ReadBefore && is_good && !self.is_ending() {
            // The figures are about the write, so the time of its proof is excluded.
            self.slots[number].times.issued_ns = now_ns;
            self.begin_write(number);
            return Step::Next;
        }
        let validated = &self.validated[request.file as usize];
        let again = validated
            .as_ref()
            .is_some_and(|v| v.settings.read_after_write);
        let slot = &mut self.slots[number];
        if phase == Phase::Write && is_good && again {
            slot.phase = Phase::ReadAfter;
            slot.measured = slot.times;
            return Step::Next;
        }
        if phase == Phase::ReadAfter {
            slot.times = slot.measured;
        }
        let address = request.offset - self.offsets[request.file as usize];
        if let Some(validated) = &mut self.validated[request.file as usize] {
            let blocks = validated.proof.range(address, u64::from(request.length));
            validated.proof.give_back(blocks);
        }
        Step::Done(found.map(Corruption::fault))
    }

    /// Goes from the write in slot `number` to its `fdatasync`, or ends after that.
    fn synchronize(&mut self, number: usize, is_whole: bool) -> Step {
        let slot = &mut self.slots[number];
        if slot.phase == Phase::WriteThenSync && is_whole {
            slot.measured = slot.times;
            slot.phase = Phase::Sync;
            return Step::Next;
        }
        if slot.phase == Phase::Sync {
            slot.times.submitted_ns = slot.measured.submitted_ns;
        }
        slot.phase = Phase::Plain;
        Step::Done(None)
    }

    /// Checks the data that the slot has read against what is known; nothing is known of a corrupted block
    /// afterwards.
    fn prove(&mut self, number: usize) -> Option<Corruption> {
        let slot = &self.slots[number];
        let request = slot.request;
        let address = request.offset - self.offsets[request.file as usize];
        let validated = self.validated[request.file as usize].as_mut()?;
        // SAFETY: the read into this buffer has completed, and the slot belongs to this chain.
        let data = unsafe {
            std::slice::from_raw_parts(slot.buffer(Operation::Read), request.length as usize)
        };
        let corruption = validated.proof.check(data, address).err()?;
        validated.proof.set(corruption.block, 0);
        Some(corruption)
    }

    /// Gives the blocks of a finished write their next generation, or marks them unknown if the write was partial.
    fn settle_write(&mut self, request: &Request, is_whole: bool) {
        let address = request.offset - self.offsets[request.file as usize];
        let Some(validated) = &mut self.validated[request.file as usize] else {
            return;
        };
        for block in validated.proof.range(address, u64::from(request.length)) {
            let generation = validated.proof.next_generation(block);
            validated
                .proof
                .set(block, if is_whole { generation } else { 0 });
            if let Some(journal) = validated.journal.as_mut().filter(|_| is_whole) {
                journal.after(block, generation);
            }
        }
    }
}
