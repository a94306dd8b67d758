//! `precondition=` brings storage to a known state before the first run. It is not a keyword of vdbench.

use std::collections::BTreeSet;

use super::error::{LanguageError, Result};
use super::lexer::Parameter;
use super::limits::TRANSFER_BYTES_MAX;
use super::value::Unit;
use crate::run::{
    FILL_TRANSFER_BYTES, Range, Rate, Run, StorageDefinition, Stream, fill_transfer_bytes,
};

pub const PRECONDITION_NAME: &str = "SD_precondition";
/// A larger number would be a mistake.
const TIMES_MAX: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Precondition {
    times: u32,
    transfer_bytes: u64,
}

impl Precondition {
    /// `n` passes, or `(n,bytes)` with transfers of this size.
    pub fn read(parameter: &Parameter) -> Result<Self> {
        let numbers = parameter.numbers(Unit::Amount)?;
        let (times, transfer) = match numbers[..] {
            [times] => (times, FILL_TRANSFER_BYTES as f64),
            [times, transfer] => (times, transfer),
            _ => {
                return Err(
                    parameter.wrong("give the number of overwrites, or (number,transfer size)")
                );
            }
        };
        let transfer_bytes = parameter.whole_of(transfer, 512, TRANSFER_BYTES_MAX)?;
        if !transfer_bytes.is_multiple_of(512) {
            return Err(parameter.wrong("the transfer size must be a multiple of 512"));
        }
        Ok(Self {
            times: parameter.whole_of(times, 1, TIMES_MAX)? as u32,
            transfer_bytes,
        })
    }

    pub fn precede(self, mut runs: Vec<Run>) -> Result<Vec<Run>> {
        let fill = self.fill(&runs)?;
        // Points of curves refer to the run of their maximum by index.
        for run in &mut runs {
            if let Rate::Curve(point) = &mut run.rate {
                point.maximum_run += self.times as usize;
            }
        }
        let before = (1..=self.times).map(|time| Run {
            loops: format!("time={time}"),
            ..fill.clone()
        });
        Ok(before.chain(runs).collect())
    }

    fn fill(self, runs: &[Run]) -> Result<Run> {
        let mut storage: Vec<StorageDefinition> = Vec::new();
        let mut streams = Vec::new();
        let mut seen = BTreeSet::new();
        for sd in runs.iter().flat_map(Run::used_storage) {
            if sd.journal().is_some_and(|journal| journal.recover) {
                return Err(LanguageError::Command(
                    "precondition= would overwrite what journal=recover verifies; leave one of them out"
                        .to_owned(),
                ));
            }
            // Several SDs may name one file.
            if !seen.insert((&sd.path, sd.offset_bytes, sd.size_bytes)) {
                continue;
            }
            let transfer_bytes = sd.size_bytes.map_or(self.transfer_bytes, |size_bytes| {
                fill_transfer_bytes(size_bytes, self.transfer_bytes)
            });
            streams.push(Stream::fill(
                &format!("{PRECONDITION_NAME}_{}", sd.name),
                storage.len(),
                transfer_bytes,
                Range::Whole,
            ));
            storage.push(sd.to_fill(sd.threads));
        }
        Ok(Run::fill(
            PRECONDITION_NAME,
            String::new(),
            storage,
            streams,
        ))
    }
}
