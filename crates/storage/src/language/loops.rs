//! Loops of RDs: values that replace those of the WDs, each in a separate run.

use super::error::Result;
use super::lexer::Parameter;
use super::limits::{BYTES_MAX, COMPRESSION_MAX, SECTOR, THREADS_MAX, TRANSFER_BYTES_MAX};
use super::value::{Unit, number_text};
use super::wd::seek_of;
use crate::run::{Run, Sizes};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopOver {
    XferSize,
    Threads,
    ReadPct,
    ReadHitPct,
    WriteHitPct,
    SeekPct,
    HitArea,
    CompRatio,
}

#[derive(Debug, Clone)]
pub(super) struct Loop {
    pub over: LoopOver,
    pub values: Vec<f64>,
    at: Parameter,
}

impl Loop {
    pub fn read(over: LoopOver, parameter: &Parameter) -> Result<Self> {
        let values = parameter.numbers(Unit::Amount)?;
        for value in &values {
            check(over, *value, parameter)?;
        }
        Ok(Self {
            over,
            values,
            at: parameter.clone(),
        })
    }

    pub fn label(&self, value: f64) -> String {
        let (name, sized) = match self.over {
            LoopOver::XferSize => ("xfersize", true),
            LoopOver::Threads => ("threads", false),
            LoopOver::ReadPct => ("rdpct", false),
            LoopOver::ReadHitPct => ("rhpct", false),
            LoopOver::WriteHitPct => ("whpct", false),
            LoopOver::SeekPct => ("seekpct", false),
            LoopOver::HitArea => ("hitarea", true),
            LoopOver::CompRatio => ("compratio", false),
        };
        format!("{name}={}", number_text(value, sized))
    }

    /// Puts a value, which was checked when it was read, into a run.
    pub fn apply(&self, value: f64, run: &mut Run) -> Result<()> {
        match self.over {
            LoopOver::XferSize => {
                run.streams
                    .iter_mut()
                    .for_each(|stream| stream.sizes = Sizes::Fixed(value as u64));
            }
            LoopOver::Threads => match &mut run.threads_shared {
                Some(threads) => *threads = value as u32,
                None => run
                    .storage
                    .iter_mut()
                    .for_each(|sd| sd.threads = value as u32),
            },
            LoopOver::ReadPct => run
                .streams
                .iter_mut()
                .for_each(|stream| stream.read_pct = value),
            LoopOver::ReadHitPct => run
                .streams
                .iter_mut()
                .for_each(|stream| stream.read_hit_pct = value),
            LoopOver::WriteHitPct => run
                .streams
                .iter_mut()
                .for_each(|stream| stream.write_hit_pct = value),
            LoopOver::SeekPct => {
                let seek = seek_of(&self.at, value)?;
                run.streams.iter_mut().for_each(|stream| stream.seek = seek);
            }
            LoopOver::HitArea => run
                .storage
                .iter_mut()
                .for_each(|sd| sd.hit_area_bytes = value as u64),
            LoopOver::CompRatio => {
                run.storage
                    .iter_mut()
                    .for_each(|sd| sd.content.compression_ratio = value);
            }
        }
        Ok(())
    }
}

fn check(over: LoopOver, value: f64, parameter: &Parameter) -> Result<()> {
    match over {
        LoopOver::XferSize => parameter.whole_of(value, 1, TRANSFER_BYTES_MAX).map(|_| ()),
        LoopOver::Threads => parameter.whole_of(value, 1, THREADS_MAX).map(|_| ()),
        LoopOver::ReadPct | LoopOver::ReadHitPct | LoopOver::WriteHitPct => {
            if (0.0..=100.0).contains(&value) {
                return Ok(());
            }
            Err(parameter.wrong("must be percentages from 0 to 100"))
        }
        LoopOver::SeekPct => seek_of(parameter, value).map(|_| ()),
        LoopOver::HitArea => parameter.whole_of(value, SECTOR, BYTES_MAX).map(|_| ()),
        LoopOver::CompRatio => {
            if (1.0..=COMPRESSION_MAX).contains(&value) {
                return Ok(());
            }
            Err(parameter.wrong(format!("must be ratios from 1 to {COMPRESSION_MAX}")))
        }
    }
}
