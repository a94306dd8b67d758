//! General parameters, and those of what is written, which SDs have too.

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
use super::words::Section;
use crate::run::{Dedup, DuplicateSets, ErrorLimit, Journal, Validation};

const DEDUP_RATIO_MAX: f64 = 1000.0;
const DEDUP_SETS_DEFAULT_PCT: f64 = 5.0;
const ERRORS_MAX: u64 = 1_000_000;
const LOOPS_MAX: u64 = 10_000;

/// How often the whole list of runs is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeat {
    Times(u32),
    /// Again and again until so many seconds have passed.
    Seconds(u32),
}

/// What holds for all runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct General {
    pub compression_ratio: f64,
    pub dedup: DedupAsked,
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

impl Default for General {
    fn default() -> Self {
        Self {
            compression_ratio: 1.0,
            dedup: DedupAsked::default(),
            pattern: None,
            validation: None,
            journal: None,
            errors: ErrorLimit::default(),
            format: FormatPolicy::default(),
            format_bytes: None,
            histogram: histogram::Buckets::default(),
            concatenate: false,
            skew_tolerance_pct: None,
            repeat: Repeat::Times(1),
            monitor: None,
            precondition: None,
        }
    }
}

/// What was said of deduplication, here or for an SD.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DedupAsked {
    ratio: Option<f64>,
    unit_bytes: Option<u64>,
    sets: Option<DuplicateSets>,
}

#[derive(Clone, Copy)]
pub(super) enum Key {
    CompressionRatio,
    CompressionShare,
    Dedup,
    Pattern,
    DataErrors,
    Validate,
    Journal,
    Command,
    FormatSds,
    FormatSize,
    Histogram,
    Monitor,
    Concatenate,
    FailedSkew,
    Loop,
    Timeout,
    WithoutMeaning,
    Precondition,
}

const KEYWORDS: &[(&str, Key)] = &[
    ("compratio", Key::CompressionRatio),
    ("compression", Key::CompressionShare),
    ("dedupratio", Key::Dedup),
    ("dedupunit", Key::Dedup),
    ("dedupsets", Key::Dedup),
    ("deduphotsets", Key::Dedup),
    ("dedupflipflop", Key::Dedup),
    ("pattern", Key::Pattern),
    ("data_errors", Key::DataErrors),
    ("dataerrors", Key::DataErrors),
    ("validate", Key::Validate),
    ("journal", Key::Journal),
    ("startcmd", Key::Command),
    ("start_cmd", Key::Command),
    ("endcmd", Key::Command),
    ("end_cmd", Key::Command),
    ("formatsds", Key::FormatSds),
    ("formatxfersize", Key::FormatSize),
    ("create_anchors", Key::WithoutMeaning),
    ("report", Key::WithoutMeaning),
    ("report_run_totals", Key::WithoutMeaning),
    ("histogram", Key::Histogram),
    ("monitor", Key::Monitor),
    ("messagescan", Key::WithoutMeaning),
    ("concatenatesds", Key::Concatenate),
    ("abort_failed_skew", Key::FailedSkew),
    ("timeout", Key::Timeout),
    ("loop", Key::Loop),
    ("port", Key::WithoutMeaning),
    ("ios_per_jvm", Key::WithoutMeaning),
    ("fwd_thread_adjust", Key::WithoutMeaning),
    ("misc", Key::WithoutMeaning),
    ("showlba", Key::WithoutMeaning),
    ("pattern_buffer", Key::WithoutMeaning),
    ("debug", Key::WithoutMeaning),
    // Not in the language: behind it, so that nothing is an abbreviation of it.
    ("precondition", Key::Precondition),
];

impl Section for General {
    const HEAD: &'static str = "";
    type Key = Key;
    const KEYWORDS: &'static [(&'static str, Key)] = KEYWORDS;

    fn take(&mut self, key: Key, parameter: &Parameter) -> Result<()> {
        match key {
            Key::CompressionRatio => self.compression_ratio = ratio(parameter, COMPRESSION_MAX)?,
            Key::CompressionShare => self.compression_ratio = share_to_ratio(parameter)?,
            Key::Dedup => self.dedup.set(parameter)?,
            Key::Pattern => self.pattern = Some(PathBuf::from(parameter.word()?)),
            Key::DataErrors => self.errors = errors(parameter)?,
            Key::Validate => self.validation = validation(parameter)?,
            Key::Journal => self.journal = journal(parameter)?,
            Key::Command => return Err(parameter.wrong(NO_COMMANDS)),
            Key::FormatSds => {
                self.format = if parameter.yes()? {
                    FormatPolicy::Always
                } else {
                    FormatPolicy::Never
                };
            }
            Key::FormatSize => {
                self.format_bytes = Some(parameter.whole(512, TRANSFER_BYTES_MAX, Unit::Amount)?);
            }
            Key::Histogram => self.histogram = histogram::buckets(parameter)?,
            Key::Monitor => self.monitor = Some(PathBuf::from(parameter.word()?)),
            Key::Concatenate => self.concatenate = parameter.yes()?,
            Key::FailedSkew => self.skew_tolerance_pct = Some(parameter.amount(Unit::Amount)?),
            Key::Loop => self.repeat = repeat(parameter)?,
            Key::Timeout => {
                return Err(parameter.wrong(
                    "a time-out is not supported; leave it out (Ctrl-C ends a run and keeps its results)",
                ));
            }
            Key::WithoutMeaning => {}
            Key::Precondition => self.precondition = Some(Precondition::read(parameter)?),
        }
        Ok(())
    }
}

impl DedupAsked {
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

    /// What it comes to; `self` goes before `general`.
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

/// The older form: percent that are left.
fn share_to_ratio(parameter: &Parameter) -> Result<f64> {
    let left_pct = parameter.percent()?;
    Ok((100.0 / left_pct.max(100.0 / COMPRESSION_MAX)).min(COMPRESSION_MAX))
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

/// `loop=n` or `loop=ns|nm|nh`.
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
