//! Constraints on an RD, on each run, and on all runs together.

use super::error::{LanguageError, Result};
use super::format::FormatPolicy;
use super::rd::{CURVE_IOPS, Rd};
use super::sections::Sections;
use super::words::Definition;
use crate::run::{OpenFlags, Range, Run, Seek, Sizes, StorageDefinition, Stream};

/// Limit of the runs of one matrix, because several rounds of each are in memory until the last round.
const MATRIX_RUNS_MAX: usize = 500;
const STAMPED_NAME_MAX: usize = 8;

/// Elapsed time and warm-up are whole intervals, at least two of them.
pub(super) fn timing(rd: &Rd) -> Result<()> {
    let Rd {
        elapsed_s,
        interval_s,
        warmup_s,
        ..
    } = *rd;
    let wrong = |what: String| Err(rd.wrong(what));
    if elapsed_s < interval_s.saturating_mul(2) {
        return wrong(format!(
            "elapsed={elapsed_s} is less than two intervals of {interval_s} s; the first does not count"
        ));
    }
    if elapsed_s % interval_s != 0 {
        return wrong(format!(
            "elapsed={elapsed_s} is not a multiple of interval={interval_s}"
        ));
    }
    if warmup_s % interval_s != 0 {
        return wrong(format!(
            "warmup={warmup_s} is not a multiple of interval={interval_s}"
        ));
    }
    Ok(())
}

/// Every RD needs a rate, and 0 is not allowed.
pub(super) fn rates(rd: &Rd, is_first: bool) -> Result<()> {
    let wrong = |what: &str| Err(rd.wrong(what));
    if rd.rates.is_empty() || (!rd.variable && rd.rates.contains(&0.0)) {
        return wrong("iorate= parameter is missing, or is 0; give a number, max or curve");
    }
    if rd.variable && rd.rates.contains(&CURVE_IOPS) {
        return wrong("a curve and distribution=variable exclude each other");
    }
    if is_first && rd.rates[0] < 0.0 {
        return wrong("iorate= is a percentage of the previous run, but there is none");
    }
    Ok(())
}

/// Runs that take turns have separate rates, and few enough to be in memory until all are steady.
pub(super) fn matrix(rd: &Rd, runs: usize) -> Result<()> {
    if rd.steady.is_none_or(|steady| steady.matrix.is_none()) {
        return Ok(());
    }
    let wrong = |what: String| Err(rd.wrong(what));
    let is_relative = |rate: &f64| *rate < 0.0 || *rate == CURVE_IOPS;
    if rd.rates.iter().any(is_relative) {
        return wrong(
            "steady=matrix needs a rate for each run; give iorate= numbers or max, not a curve or a percentage"
                .to_owned(),
        );
    }
    if runs > MATRIX_RUNS_MAX {
        return wrong(format!(
            "steady=matrix would cycle through {runs} runs, but {MATRIX_RUNS_MAX} are allowed; use fewer values in its loops"
        ));
    }
    Ok(())
}

pub(super) fn run(rd: &Rd, run: &Run) -> Result<()> {
    let wrong = |what: String| Err(rd.place.wrong(format!("rd={}: {what}", run.name)));
    for sd in &run.storage {
        if sd.is_device() && sd.open_flags == OpenFlags::default() {
            return wrong(format!(
                "sd={} is a device; give it openflags=o_direct",
                sd.name
            ));
        }
    }
    for stream in &run.streams {
        let mut sds = stream.storage.iter().map(|index| &run.storage[*index]);
        if let Sizes::Uniform { align_bytes, .. } = stream.sizes
            && let Some(sd) = sds.find(|sd| sd.align_bytes != Some(align_bytes))
        {
            return wrong(format!(
                "wd={}: xfersize=(min,max,{align_bytes}) needs align={align_bytes} at sd={}",
                stream.workload, sd.name
            ));
        }
        let sequential = !matches!(stream.seek, Seek::Random { .. } | Seek::Poisson { .. });
        if stream.sequential_streams > 1 && !sequential {
            return wrong(format!(
                "wd={}: streams= is for sequential workloads; give seekpct=seq",
                stream.workload
            ));
        }
    }
    let is_validated = |sd: &&StorageDefinition| sd.content.validation.is_some();
    let mut sds = run.storage.iter().filter(is_validated);
    if let Some(sd) = sds.find(|sd| sd.open_flags.sync_each) {
        return wrong(format!(
            "sd={}: openflags=fdatasync cannot be used with data validation; o_dsync can",
            sd.name
        ));
    }
    if run.threads_shared.is_some() {
        concatenated(run).map_or(Ok(()), |what| wrong(what.to_owned()))?;
    }
    Ok(())
}

/// Problem of a run over concatenated SDs, if any.
fn concatenated(run: &Run) -> Option<&'static str> {
    let plain = |stream: &Stream| {
        stream.range == Range::Whole && stream.read_hit_pct == 0.0 && stream.write_hit_pct == 0.0
    };
    if run.threads_shared == Some(0) {
        return Some(
            "concatenated SDs need threads= of wd= or rd=, the number of I/Os in flight over all SDs; add one",
        );
    }
    let is_moved = |sd: &StorageDefinition| sd.offset_bytes > 0 || sd.align_bytes.is_some();
    if run.storage.iter().any(is_moved) {
        return Some("offset= and align= cannot be used with concatenated SDs");
    }
    if !run.streams.iter().all(plain) {
        return Some("range=, rhpct= and whpct= cannot be used with concatenated SDs");
    }
    None
}

/// Blocks keep their stamps from run to run, so sizes must fit over all of them.
pub(super) fn validation_over_all(runs: &[Run], sections: &Sections) -> Result<()> {
    let is_validated = |sd: &StorageDefinition| sd.content.validation.is_some();
    let validated = runs
        .iter()
        .filter(|run| run.storage.iter().any(is_validated));
    let streams = validated.flat_map(|run| &run.streams);
    let sizes: Vec<u64> = streams
        .flat_map(|stream| stream.sizes.parts_bytes())
        .collect();
    let Some(smallest) = sizes.iter().min() else {
        return Ok(());
    };
    let sds = runs.iter().flat_map(|run| &run.storage);
    let mut long = sds.filter(|sd| sd.name.len() > STAMPED_NAME_MAX);
    let defined = |sd: &StorageDefinition| {
        let mut all = sections.sds.named.iter();
        all.find(|defined| defined.name == sd.name)
    };
    if let Some(sd) = long.find_map(defined) {
        return Err(sd.wrong(format!(
            "with data validation, the name of an SD has at most {STAMPED_NAME_MAX} characters"
        )));
    }
    match sizes.iter().find(|size| **size % smallest != 0) {
        Some(size) => Err(LanguageError::Command(format!(
            "with data validation, all transfer sizes must be multiples of the smallest; {size} is not a multiple of {smallest}"
        ))),
        None => Ok(()),
    }
}

/// Files that journals are to prove are not overwritten by a format.
pub(super) fn format(policy: FormatPolicy, runs: &[Run]) -> Result<FormatPolicy> {
    let mut journals = runs.iter().flat_map(|run| &run.storage);
    let recovers = |sd: &StorageDefinition| sd.journal().is_some_and(|journal| journal.recover);
    match (journals.any(recovers), policy) {
        (true, FormatPolicy::Always) => Err(LanguageError::Command(
            "formatsds=yes would overwrite what journal=recover verifies; leave one of them out"
                .to_owned(),
        )),
        (true, _) => Ok(FormatPolicy::Never),
        (false, policy) => Ok(policy),
    }
}
