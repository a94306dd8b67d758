//! Run definitions (RDs): rate, duration and loops of WDs.

use stats::steady::ROUNDS_MIN;

use super::error::{Position, Result};
use super::flags;
use super::lexer::Parameter;
use super::limits::IOPS_MAX;
use super::loops::{Loop, LoopOver};
use super::refused::{NO_COMMANDS, NO_FILE_SYSTEMS, NO_REPLAY};
use super::value::{Unit, begins, number};
use super::words::{Definition, Keywords, Section, keywords, put};
use crate::run::{Arrivals, DataLimit, OpenFlags, RateStep, Steady, Stop};

/// Number for `max` in rates and in reports of the requested rate.
pub const MAX_IOPS: f64 = 9_999_988.0;
pub(super) const CURVE_IOPS: f64 = 9_999_977.0;
/// Ten years exceed any intended duration.
const SECONDS_MAX: u64 = 10 * 366 * 86_400;
const ELAPSED_DEFAULT_S: u32 = 30;
const INTERVAL_DEFAULT_S: u32 = 1;
/// Limit of the sum over all steps of a variable rate.
const VARIABLE_SECONDS_MAX: u32 = 3600;
/// Default and largest number of rounds until steady.
const ROUNDS_DEFAULT: u32 = 25;
const ROUNDS_MAX: u64 = 1000;
/// Amounts of data below this are multiples of the size.
const TIMES_BELOW: f64 = 100.0;

/// Selection of SDs by an RD.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum SdChoice {
    #[default]
    OfWorkloads,
    Named(Vec<String>),
    Single,
    /// The first, the first two, and so on.
    Growing,
    /// Random sets of this size.
    Sets(usize),
}

#[derive(Debug, Clone)]
pub(super) struct Rd {
    pub name: String,
    pub place: Position,
    pub wds: Vec<String>,
    pub sds: SdChoice,
    pub rates: Vec<f64>,
    pub rates_at: Option<Parameter>,
    pub curve_pct: Vec<f64>,
    pub stop: Stop,
    pub elapsed_s: u32,
    pub interval_s: u32,
    pub warmup_s: u32,
    pub pause_s: u32,
    pub loops: Vec<Loop>,
    pub arrivals: Arrivals,
    pub variable: bool,
    pub open_flags: Option<OpenFlags>,
    /// The number of its matrix is set when the list is made.
    pub steady: Option<Steady>,
}

impl Default for Rd {
    fn default() -> Self {
        Self {
            name: String::new(),
            place: Position::default(),
            wds: Vec::new(),
            sds: SdChoice::default(),
            rates: Vec::new(),
            rates_at: None,
            curve_pct: vec![10.0, 50.0, 70.0, 80.0, 90.0, 100.0],
            stop: Stop::default(),
            elapsed_s: ELAPSED_DEFAULT_S,
            interval_s: INTERVAL_DEFAULT_S,
            warmup_s: 0,
            pause_s: 0,
            loops: Vec::new(),
            arrivals: Arrivals::default(),
            variable: false,
            open_flags: None,
            steady: None,
        }
    }
}

impl Definition for Rd {
    fn label(&self) -> (&str, &Position) {
        (&self.name, &self.place)
    }

    fn named(self, name: String, place: Position) -> Self {
        Self {
            name,
            place,
            ..self
        }
    }
}

impl Section for Rd {
    const HEAD: &'static str = "rd";
    const KEYWORDS: Keywords<Self> = keywords! {
        "wd" => |rd, p| put(&mut rd.wds, Ok(p.values.clone()));
        "sd" => |rd, p| put(&mut rd.sds, sd_choice(p));
        "fsd" => no_file_systems;
        "iorate" => |rd, p| { rd.rates_at = Some(p.clone()); put(&mut rd.rates, rates(p)) };
        "maxdata" => |rd, p| put(&mut rd.stop.data_max, data_limit(p));
        "maxdataread" "maxdata_read" => |rd, p| put(&mut rd.stop.read_max, data_limit(p));
        "maxdatawritten" "maxdata_written" => |rd, p| put(&mut rd.stop.written_max, data_limit(p));
        "curve" => |rd, p| put(&mut rd.curve_pct, curve(p));
        "stopcurve" => |rd, p| put(&mut rd.stop.response_ms_max, p.amount(Unit::Amount).map(Some));
        "elapsed" => |rd, p| put(&mut rd.elapsed_s, seconds(p, 1));
        "interval" => |rd, p| put(&mut rd.interval_s, seconds(p, 1));
        "warmup" => |rd, p| put(&mut rd.warmup_s, seconds(p, 0));
        "replay" => |_, p| Err(p.wrong(NO_REPLAY));
        "pause" => |rd, p| put(&mut rd.pause_s, seconds(p, 0));
        "xfersize" "forxfersize" => |rd, p| rd.set_loop(LoopOver::XferSize, p);
        "threads" "forthreads" => |rd, p| rd.set_loop(LoopOver::Threads, p);
        "rdpct" "forrdpct" => |rd, p| rd.set_loop(LoopOver::ReadPct, p);
        "rhpct" "forrhpct" => |rd, p| rd.set_loop(LoopOver::ReadHitPct, p);
        "whpct" "forwhpct" => |rd, p| rd.set_loop(LoopOver::WriteHitPct, p);
        "seekpct" "forseekpct" => |rd, p| rd.set_loop(LoopOver::SeekPct, p);
        "hitarea" "forhitarea" => |rd, p| rd.set_loop(LoopOver::HitArea, p);
        "compratio" "forcompratio" => |rd, p| rd.set_loop(LoopOver::CompRatio, p);
        "distribution" => Self::set_distribution;
        "startcmd" "start_cmd" "endcmd" "end_cmd" => |_, p| Err(p.wrong(NO_COMMANDS));
        "fwd" "fwdrate" "operations" "format" => no_file_systems;
        "openflags" => |rd, p| put(&mut rd.open_flags, flags::open_flags(p).map(Some));
        "mount" => no_file_systems;
        // Not in the language: last, so that nothing is an abbreviation of it.
        "steady" => |rd, p| put(&mut rd.steady, steady(p));
    };
}

impl Rd {
    /// Replaces the values of an inherited loop, which keeps its position.
    fn set_loop(&mut self, over: LoopOver, parameter: &Parameter) -> Result<()> {
        let new = Loop::read(over, parameter)?;
        match self.loops.iter_mut().find(|old| old.over == new.over) {
            Some(old) => *old = new,
            None => self.loops.push(new),
        }
        Ok(())
    }

    fn set_distribution(&mut self, parameter: &Parameter) -> Result<()> {
        self.arrivals = Arrivals::Exponential;
        self.variable = false;
        for word in &parameter.values {
            match word.as_str() {
                word if begins("exponential", word) => self.arrivals = Arrivals::Exponential,
                word if begins("uniform", word) => self.arrivals = Arrivals::Uniform,
                word if begins("deterministic", word) => self.arrivals = Arrivals::Deterministic,
                word if begins("spike", word) => self.arrivals = Arrivals::Spike,
                word if begins("variable", word) => self.variable = true,
                _ => {
                    let what = "supported values are exponential, uniform, deterministic, spike and variable";
                    return Err(parameter.wrong(what));
                }
            }
        }
        Ok(())
    }

    pub fn steps(&self, parameter: &Parameter) -> Result<Vec<RateStep>> {
        if !self.rates.len().is_multiple_of(2) {
            let what = "with distribution=variable, give pairs iorate=(rate,seconds,…)";
            return Err(parameter.wrong(what));
        }
        let mut steps = Vec::with_capacity(self.rates.len() / 2);
        for pair in self.rates.chunks_exact(2) {
            let iops = pair[0];
            if !(0.0..CURVE_IOPS).contains(&iops) {
                let what = "with distribution=variable, every rate must be a number";
                return Err(parameter.wrong(what));
            }
            let seconds = parameter.whole_of(pair[1], 1, u64::from(VARIABLE_SECONDS_MAX))? as u32;
            steps.push(RateStep { iops, seconds });
        }
        let seconds = steps.iter().map(|step| u64::from(step.seconds));
        let total: u64 = seconds.sum();
        if total > u64::from(VARIABLE_SECONDS_MAX) {
            return Err(parameter.wrong(format!(
                "the steps last {total} s in total; at most {VARIABLE_SECONDS_MAX} s are allowed"
            )));
        }
        if steps.iter().all(|step| step.iops == 0.0) {
            return Err(parameter.wrong("every rate is 0; give at least one above 0"));
        }
        Ok(steps)
    }
}

fn no_file_systems(_: &mut Rd, parameter: &Parameter) -> Result<()> {
    Err(parameter.wrong(NO_FILE_SYSTEMS))
}

fn sd_choice(parameter: &Parameter) -> Result<SdChoice> {
    let [word] = parameter.values.as_slice() else {
        return Ok(SdChoice::Named(parameter.values.clone()));
    };
    match word.as_str() {
        "single" => Ok(SdChoice::Single),
        "range" => Ok(SdChoice::Growing),
        _ => match word.strip_prefix("setsof") {
            Some(many) => match many.parse() {
                Ok(many) if many > 0 => Ok(SdChoice::Sets(many)),
                _ => Err(parameter.wrong("give the number of SDs in a set, such as setsof4")),
            },
            None => Ok(SdChoice::Named(vec![word.clone()])),
        },
    }
}

fn rates(parameter: &Parameter) -> Result<Vec<f64>> {
    let parse = |text: &str| match text.to_ascii_lowercase().as_str() {
        "max" => Some(MAX_IOPS),
        "curve" => Some(CURVE_IOPS),
        _ => number(text, Unit::Amount),
    };
    let rates = parameter.numbers_or(&parse, Unit::Amount)?;
    if rates.iter().any(|rate| *rate > IOPS_MAX) {
        return Err(parameter
            .wrong("no device does more than 10^9 I/Os per second; give a lower rate, or max"));
    }
    if rates.contains(&CURVE_IOPS) && rates.len() > 1 {
        return Err(parameter
            .wrong("curve cannot be combined with other rates; give those in a separate rd="));
    }
    Ok(rates)
}

fn curve(parameter: &Parameter) -> Result<Vec<f64>> {
    const PCT_MAX: f64 = 1000.0;
    // `50%` means 50.
    let points = parameter.numbers(Unit::Amount)?;
    let points: Vec<f64> = points.iter().map(|point| point.abs()).collect();
    if points.iter().any(|point| *point < 1.0 || *point > PCT_MAX) {
        return Err(parameter.wrong(format!(
            "points of a curve must be percentages from 1 to {PCT_MAX}"
        )));
    }
    Ok(points)
}

fn data_limit(parameter: &Parameter) -> Result<Option<DataLimit>> {
    let value = parameter.amount(Unit::Amount)?;
    if value == 0.0 {
        return Err(parameter.wrong("give an amount of data above 0"));
    }
    Ok(Some(if value < TIMES_BELOW {
        DataLimit::TimesSize(value)
    } else {
        DataLimit::Bytes(value.min(u64::MAX as f64) as u64)
    }))
}

/// `yes`, `no`, or the largest number of rounds; `matrix`, or `(matrix,rounds)`, if all runs of the RD take turns.
fn steady(parameter: &Parameter) -> Result<Option<Steady>> {
    let wrong = || parameter.wrong("give yes, no, a number of rounds, matrix, or (matrix,rounds)");
    let (matrix, rounds) = match parameter.values.as_slice() {
        [word] if begins("matrix", word) => (Some(0), None),
        [word, rounds] if begins("matrix", word) => (Some(0), Some(rounds)),
        [word] if begins("yes", word) => (None, None),
        [word] if begins("no", word) => return Ok(None),
        [rounds] => (None, Some(rounds)),
        _ => return Err(wrong()),
    };
    let rounds_max = match rounds {
        None => ROUNDS_DEFAULT,
        Some(text) => {
            let many = number(text, Unit::Amount).ok_or_else(wrong)?;
            parameter.whole_of(many, ROUNDS_MIN as u64, ROUNDS_MAX)? as u32
        }
    };
    Ok(Some(Steady { rounds_max, matrix }))
}

pub(super) fn seconds(parameter: &Parameter, low: u64) -> Result<u32> {
    let seconds = parameter.whole(low, SECONDS_MAX, Unit::Time)?;
    u32::try_from(seconds).map_err(|_| parameter.wrong("that is too long"))
}
