//! Expands RDs into the list of runs: sets of SDs, then loops in the order they were written, then rates.

use super::Overrides;
use super::checks;
use super::error::{LanguageError, Result};
use super::names::chosen;
use super::rd::{CURVE_IOPS, MAX_IOPS, Rd, SdChoice};
use super::resolve::{PARTS_MAX, Resolver, too_many_parts};
use super::sections::Sections;
use super::value::number_text;
use super::words::Definition;
use crate::run::{CurvePoint, Rate, Run};

pub(super) const RUNS_MAX: usize = 10_000;
/// Fixed seed of random sets: the list must be the same whenever it is printed or carried out.
const SETS_SEED: u64 = 1;

pub(super) fn runs(sections: &Sections, overrides: &Overrides) -> Result<Vec<Run>> {
    let names = sections.sds.named.iter().map(|sd| sd.name.as_str());
    let mut expansion = Expansion {
        resolver: Resolver {
            sections,
            overrides,
            sd_names: names.collect(),
        },
        runs: Vec::new(),
        parts: 0,
    };
    for (number, rd) in sections.rds.named.iter().enumerate() {
        expansion.add(number, rd)?;
    }
    if expansion.runs.is_empty() {
        return Err(LanguageError::Command(
            "there is no rd= in the parameter files; add a run definition".to_owned(),
        ));
    }
    checks::validation_over_all(&expansion.runs, sections)?;
    match sections.general.precondition {
        Some(precondition) => precondition.precede(expansion.runs),
        None => Ok(expansion.runs),
    }
}

struct Expansion<'a> {
    resolver: Resolver<'a>,
    runs: Vec<Run>,
    /// Streams and SDs so far, summed over runs.
    parts: usize,
}

/// Suffix of the run's name, and the SDs that replace those of the WDs.
type SdSet = (String, Option<Vec<usize>>);

impl Expansion<'_> {
    fn add(&mut self, number: usize, rd: &Rd) -> Result<()> {
        let mut rd = rd.clone();
        self.resolver.overrides.apply(&mut rd);
        checks::timing(&rd)?;
        checks::rates(&rd, self.runs.is_empty())?;
        if let Some(matrix) = rd.steady.as_mut().and_then(|steady| steady.matrix.as_mut()) {
            *matrix = number;
        }
        let sets = self.sd_sets(&rd)?;
        let is_curve = rd.rates.contains(&CURVE_IOPS);
        let rates = match (rd.variable, is_curve) {
            (true, _) => 1,
            (_, true) => 1 + rd.curve_pct.len(),
            _ => rd.rates.len(),
        };
        let loops = rd.loops.iter().map(|over| over.values.len());
        let many = loops
            .chain([sets.len(), rates])
            .fold(1_usize, usize::saturating_mul);
        if self.runs.len().saturating_add(many) > RUNS_MAX {
            return Err(rd.place.wrong(format!(
                "rd={} would make {many} runs, but {RUNS_MAX} are allowed in total; use fewer values in its loops",
                rd.name
            )));
        }
        checks::matrix(&rd, many)?;
        let combinations: usize = rd.loops.iter().map(|over| over.values.len()).product();
        for (suffix, sds) in sets {
            let base = self.resolver.run(&rd, &suffix, sds.as_deref())?;
            for combination in 0..combinations {
                let run = looped(&rd, &base, combination)?;
                checks::run(&rd, &run)?;
                self.push_rates(&rd, &run)?;
            }
        }
        Ok(())
    }

    fn push_rates(&mut self, rd: &Rd, run: &Run) -> Result<()> {
        let controlled = run.rate.is_controlled();
        if let (true, Some(at)) = (rd.variable, &rd.rates_at) {
            let steps = rd.steps(at)?;
            return self.push(rd, run.with_rate(Rate::Variable { steps }));
        }
        for rate in &rd.rates {
            if *rate == CURVE_IOPS {
                self.push_curve(rd, run, controlled)?;
                continue;
            }
            let rate_of_run = match *rate {
                MAX_IOPS => Rate::max(controlled, false),
                pct if pct < 0.0 => Rate::PercentOfPrevious { pct: -pct },
                iops => Rate::Fixed { iops },
            };
            let mut one = run.with_rate(rate_of_run);
            if rd.rates.len() > 1 {
                if !one.loops.is_empty() {
                    one.loops.push(' ');
                }
                one.loops += &format!("iorate={}", rate_label(*rate));
            }
            self.push(rd, one)?;
        }
        Ok(())
    }

    fn push_curve(&mut self, rd: &Rd, run: &Run, controlled: bool) -> Result<()> {
        let maximum_run = self.runs.len();
        self.push(rd, run.with_rate(Rate::max(controlled, true)))?;
        for pct in &rd.curve_pct {
            let point = CurvePoint {
                pct: *pct,
                maximum_run,
                shares_observed: !controlled,
            };
            let mut run = run.with_rate(Rate::Curve(point));
            run.name = format!("{}_({}%)", run.name, number_text(*pct, false));
            self.push(rd, run)?;
        }
        Ok(())
    }

    fn push(&mut self, rd: &Rd, mut run: Run) -> Result<()> {
        self.parts += run.streams.len() + run.storage.len();
        if self.parts > PARTS_MAX {
            return Err(too_many_parts(rd));
        }
        if self.runs.is_empty() {
            run.pause_s = 0;
        }
        self.runs.push(run);
        Ok(())
    }

    fn sd_sets(&self, rd: &Rd) -> Result<Vec<SdSet>> {
        let name = |index: usize| self.resolver.sd_names[index];
        let count = self.resolver.sd_names.len();
        if count == 0 {
            return Err(rd.wrong("no sd= is defined before it"));
        }
        Ok(match &rd.sds {
            SdChoice::OfWorkloads => vec![(String::new(), None)],
            SdChoice::Named(patterns) => {
                let sds = chosen(patterns, &self.resolver.sd_names, "sd", &rd.place)?;
                vec![(String::new(), Some(sds))]
            }
            SdChoice::Single => (0..count)
                .map(|index| (format!("_{}", name(index)), Some(vec![index])))
                .collect(),
            SdChoice::Growing => (0..count)
                .map(|last| (span(name(0), name(last)), Some((0..=last).collect())))
                .collect(),
            SdChoice::Sets(many) => {
                let names =
                    |set: &[usize]| set.iter().map(|at| format!("_{}", name(*at))).collect();
                let sets = by_lot(count, *many).into_iter();
                sets.map(|set| (names(&set), Some(set))).collect()
            }
        })
    }
}

/// The run of one combination of the loops' values; the last loop varies fastest.
fn looped(rd: &Rd, base: &Run, combination: usize) -> Result<Run> {
    let mut run = base.clone();
    let mut left = combination;
    let mut labels = Vec::with_capacity(rd.loops.len());
    for over in rd.loops.iter().rev() {
        let value = over.values[left % over.values.len()];
        left /= over.values.len();
        labels.push(over.label(value));
        over.apply(value, &mut run)?;
    }
    labels.reverse();
    run.loops = labels.join(" ");
    Ok(run)
}

fn rate_label(rate: f64) -> String {
    match rate {
        MAX_IOPS => "max".to_owned(),
        pct if pct < 0.0 => format!("{}%", number_text(-pct, false)),
        iops => number_text(iops, false),
    }
}

fn span(first: &str, last: &str) -> String {
    if first == last {
        format!("_{first}")
    } else {
        format!("_{first}-{last}")
    }
}

/// All of `count` in a random order, cut into sets; the last may be smaller.
fn by_lot(count: usize, many: usize) -> Vec<Vec<usize>> {
    let mut random = stats::random::Random::new(SETS_SEED);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, random.index(last + 1));
    }
    order.chunks(many).map(<[usize]>::to_vec).collect()
}
