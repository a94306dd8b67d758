//! General parameters, and parameters of contents, which SDs have as well.

use std::path::PathBuf;

use super::content::{journal, validation};
use super::error::Result;
use super::format::FormatPolicy;
use super::histogram;
use super::lexer::Parameter;
use super::limits::{COMPRESSION_MAX, TRANSFER_BYTES_MAX};
use super::precondition::Precondition;
use super::refused::NO_COMMANDS;
use super::value::{Unit, begins};
use super::words::{Keywords, Section, keywords, put};
use crate::run::{Dedup, DuplicateSets, ErrorLimit, Journal, Validation};

const DEDUP_RATIO_MAX: f64 = 1000.0;
const DEDUP_SETS_DEFAULT_PCT: f64 = 5.0;
const ERRORS_MAX: u64 = 1_000_000;
const LOOPS_MAX: u64 = 10_000;
const NO_TIMEOUT: &str =
    "a time-out is not supported; leave it out (Ctrl-C ends a run and keeps its results)";

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeat {
    Times(u32),
    Seconds(u32),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct General {
    pub compression_ratio: Option<f64>,
    pub dedup: DedupParameters,
    pub pattern: Option<PathBuf>,
    pub validation: Option<Validation>,
    pub journal: Option<Journal>,
    pub errors: ErrorLimit,
    pub format: FormatPolicy,
    pub format_bytes: Option<u64>,
    pub histogram: histogram::Buckets,
    pub concatenate: bool,
    pub skew_tolerance_pct: Option<f64>,
    pub repeat: Repeat,
    pub monitor: Option<PathBuf>,
    pub precondition: Option<Precondition>,
}

impl Default for Repeat {
    fn default() -> Self {
        Self::Times(1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DedupParameters {
    ratio: Option<f64>,
    unit_bytes: Option<u64>,
    sets: Option<DuplicateSets>,
}

impl Section for General {
    const HEAD: &'static str = "";
    const KEYWORDS: Keywords<Self> = keywords! {
        "compratio" => |general, p| put(&mut general.compression_ratio, ratio(p, COMPRESSION_MAX).map(Some));
        "compression" => |general, p| put(&mut general.compression_ratio, share_to_ratio(p).map(Some));
        "dedupratio" "dedupunit" "dedupsets" "deduphotsets" "dedupflipflop" => |general, p| general.dedup.set(p);
        "pattern" => |general, p| put(&mut general.pattern, p.word().map(|word| Some(word.into())));
        "data_errors" "dataerrors" => |general, p| put(&mut general.errors, errors(p));
        "validate" => |general, p| put(&mut general.validation, validation(p));
        "journal" => |general, p| put(&mut general.journal, journal(p));
        "startcmd" "start_cmd" "endcmd" "end_cmd" => |_, p| Err(p.wrong(NO_COMMANDS));
        "formatsds" => |general, p| put(&mut general.format, policy(p));
        "formatxfersize" => |general, p|
            put(&mut general.format_bytes, p.whole(512, TRANSFER_BYTES_MAX, Unit::Amount).map(Some));
        "histogram" => |general, p| put(&mut general.histogram, histogram::buckets(p));
        "monitor" => |general, p| put(&mut general.monitor, p.word().map(|word| Some(word.into())));
        "concatenatesds" => |general, p| put(&mut general.concatenate, p.yes());
        "abort_failed_skew" => |general, p| put(&mut general.skew_tolerance_pct, p.amount(Unit::Amount).map(Some));
        "timeout" => |_, p| Err(p.wrong(NO_TIMEOUT));
        "loop" => |general, p| put(&mut general.repeat, repeat(p));
        // How the other tool is started, reports and traces: read, and ignored.
        "create_anchors" "report" "report_run_totals" "messagescan" "port" "ios_per_jvm" => |_, _| Ok(());
        "fwd_thread_adjust" "misc" "showlba" "pattern_buffer" "debug" => |_, _| Ok(());
        // Not in the language: last, so that nothing is an abbreviation of it.
        "precondition" => |general, p| put(&mut general.precondition, Precondition::read(p).map(Some));
    };
}

impl DedupParameters {
    pub fn set(&mut self, parameter: &Parameter) -> Result<()> {
        match parameter.key.as_str() {
            key if begins("dedupratio", key) => {
                self.ratio = Some(ratio(parameter, DEDUP_RATIO_MAX)?)
            }
            key if begins("dedupunit", key) => {
                let unit_bytes = parameter.whole(512, TRANSFER_BYTES_MAX, Unit::Amount)?;
                if !unit_bytes.is_multiple_of(512) {
                    return Err(parameter.wrong("must be a multiple of 512"));
                }
                self.unit_bytes = Some(unit_bytes);
            }
            key if begins("dedupsets", key) => self.sets = Some(sets(parameter)?),
            key if begins("dedupflipflop", key) && !parameter.yes()? => {}
            _ => {
                return Err(parameter.wrong(
                    "hot sets and flip-flop for deduplication are not supported; leave them out",
                ));
            }
        }
        Ok(())
    }

    pub fn resolved(self, general: Self) -> std::result::Result<Option<Dedup>, String> {
        let ratio = self.ratio.or(general.ratio).unwrap_or(1.0);
        if ratio == 1.0 {
            return Ok(None);
        }
        let unit_bytes = self.unit_bytes.or(general.unit_bytes);
        let unit_bytes = unit_bytes
            .ok_or("dedupratio= needs dedupunit=; give the size of the compared blocks")?;
        let sets = self
            .sets
            .or(general.sets)
            .unwrap_or(DuplicateSets::Percent(DEDUP_SETS_DEFAULT_PCT));
        Ok(Some(Dedup {
            ratio,
            unit_bytes,
            sets,
        }))
    }
}

/// A ratio of 1 or more, as `2` or `2:1`.
pub(super) fn ratio(parameter: &Parameter, high: f64) -> Result<f64> {
    let word = parameter.word()?;
    let number = super::value::number(word.strip_suffix(":1").unwrap_or(word), Unit::Amount);
    match number {
        Some(ratio) if (1.0..=high).contains(&ratio) => Ok(ratio),
        _ => Err(parameter.wrong(format!("must be a ratio from 1 to {high}"))),
    }
}

/// The older form gives the percentage that remains.
fn share_to_ratio(parameter: &Parameter) -> Result<f64> {
    let left_pct = parameter.percent()?;
    Ok((100.0 / left_pct.max(100.0 / COMPRESSION_MAX)).min(COMPRESSION_MAX))
}

fn policy(parameter: &Parameter) -> Result<FormatPolicy> {
    Ok(if parameter.yes()? {
        FormatPolicy::Always
    } else {
        FormatPolicy::Never
    })
}

fn sets(parameter: &Parameter) -> Result<DuplicateSets> {
    let number = parameter.number(Unit::Amount)?;
    if (-100.0..0.0).contains(&number) {
        return Ok(DuplicateSets::Percent(-number));
    }
    Ok(DuplicateSets::Count(parameter.whole_of(
        number,
        1,
        u64::from(u32::MAX),
    )?))
}

fn errors(parameter: &Parameter) -> Result<ErrorLimit> {
    let Ok(numbers) = parameter.numbers(Unit::Amount) else {
        return Err(parameter.wrong(
            "give a number of errors, or (errors,seconds); commands and the removal of an SD \
                                    are not supported",
        ));
    };
    let (count, after_first_s) = match numbers[..] {
        [count] => (count, None),
        [count, seconds] => (
            count,
            Some(parameter.whole_of(seconds, 1, u64::from(u32::MAX))? as u32),
        ),
        _ => return Err(parameter.wrong("give a number of errors, or (errors,seconds)")),
    };
    let count_max = parameter.whole_of(count, 1, ERRORS_MAX)? as u32;
    Ok(ErrorLimit {
        count_max,
        after_first_s,
    })
}

pub(super) fn repeat(parameter: &Parameter) -> Result<Repeat> {
    let word = parameter.word()?;
    if word.ends_with(['s', 'm', 'h']) {
        return Ok(Repeat::Seconds(
            parameter.whole(1, u64::from(u32::MAX), Unit::Time)? as u32,
        ));
    }
    Ok(Repeat::Times(
        parameter.whole(1, LOOPS_MAX, Unit::Amount)? as u32
    ))
}
