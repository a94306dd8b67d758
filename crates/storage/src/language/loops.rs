//! Loops of RDs: values that replace those of the WDs, each in a separate run.

use super::error::Result;
use super::lexer::Parameter;
use super::limits::{BYTES_MAX, COMPRESSION_MAX, SECTOR, THREADS_MAX, TRANSFER_BYTES_MAX};
use super::value::{Unit, number_text};
use super::wd::seek_of;
use crate::run::{Run, Sizes, StorageDefinition, Stream};

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
        let at = parameter.clone();
        Ok(Self { over, values, at })
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
        let mut streams = |set: &dyn Fn(&mut Stream)| run.streams.iter_mut().for_each(set);
        let mut sds = |set: &dyn Fn(&mut StorageDefinition)| run.storage.iter_mut().for_each(set);
        match self.over {
            LoopOver::XferSize => streams(&|it| it.sizes = Sizes::Fixed(value as u64)),
            LoopOver::Threads => match &mut run.threads_shared {
                Some(threads) => *threads = value as u32,
                None => sds(&|sd| sd.threads = value as u32),
            },
            LoopOver::ReadPct => streams(&|it| it.read_pct = value),
            LoopOver::ReadHitPct => streams(&|it| it.read_hit_pct = value),
            LoopOver::WriteHitPct => streams(&|it| it.write_hit_pct = value),
            LoopOver::SeekPct => {
                let seek = seek_of(&self.at, value)?;
                streams(&|it| it.seek = seek);
            }
            LoopOver::HitArea => sds(&|sd| sd.hit_area_bytes = value as u64),
            LoopOver::CompRatio => sds(&|sd| sd.content.compression_ratio = value),
        }
        Ok(())
    }
}

fn check(over: LoopOver, value: f64, parameter: &Parameter) -> Result<()> {
    let within = |low: f64, high: f64, what: &str| {
        let fits = (low..=high).contains(&value);
        fits.then_some(()).ok_or_else(|| parameter.wrong(what))
    };
    let whole = |low, high| parameter.whole_of(value, low, high).map(drop);
    match over {
        LoopOver::XferSize => whole(1, TRANSFER_BYTES_MAX),
        LoopOver::Threads => whole(1, THREADS_MAX),
        LoopOver::ReadPct | LoopOver::ReadHitPct | LoopOver::WriteHitPct => {
            within(0.0, 100.0, "must be percentages from 0 to 100")
        }
        LoopOver::SeekPct => seek_of(parameter, value).map(drop),
        LoopOver::HitArea => whole(SECTOR, BYTES_MAX),
        LoopOver::CompRatio => {
            let what = format!("must be ratios from 1 to {COMPRESSION_MAX}");
            within(1.0, COMPRESSION_MAX, &what)
        }
    }
}
