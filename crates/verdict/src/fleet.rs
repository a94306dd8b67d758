//! Many systems before and after an update: the shift of their I/O times, with an interval over systems, and the
//! systems that shifted.
//!
//! One measure is primary and named before the figures are known; a shift is *called* from its interval only. All
//! other measures and strata are shown with intervals of the same confidence and without a call. The result is
//! observational, because the updated systems and times were not randomized.

mod json;
mod measure;
mod mix;
mod system;
mod which;
mod window;

use serde::Serialize;

pub use json::json;
pub use measure::{CONFIDENCE, Figure, Measure, SYSTEMS_MAX, SYSTEMS_MIN, Shift, resamples};
pub use mix::{
    Changed, MixClass, RATE_FACTOR_MAX, READ_PCT_CHANGE_MAX, SIZE_FACTOR_MAX, changed, class,
};
pub use system::{LeftOut, Pair, System, Times};
pub use which::{FALSE_SHARE_MAX, Named, WINDOWS_MIN, Which};
pub use window::{LIMITS, LIMITS_US_DEFAULT, Mix, Operation, Side, Window};

/// Share of the systems that may have changed their mix; beyond it nothing is called.
pub const CHANGED_MAX: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Limits of the shares in µs, with which the windows were summed.
    pub limits_us: [f64; LIMITS],
    pub primary: Measure,
    pub seed: u64,
}

/// Call of a shift of the fleet by the primary measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// The interval is above no shift.
    Higher,
    /// The interval is below no shift.
    Lower,
    /// The interval holds no shift: there may be none, or a small one.
    #[serde(rename = "not shown")]
    NotShown,
    /// Too few systems kept their mix.
    #[serde(rename = "refused: too few systems")]
    TooFew,
    /// Most systems have another mix than before: shifts by the update and by the work cannot be separated.
    #[serde(rename = "refused: other mix")]
    OtherMix,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    pub question: Question,
    pub systems: Vec<System>,
    pub left_out: LeftOut,
    /// Number of systems that changed their mix, by kind of change.
    pub changed: ChangedCount,
    pub call: Call,
    /// All measures over the systems that kept their mix, the primary first.
    pub shifts: Vec<Shift>,
    /// Primary measure by kind of work.
    pub strata: Vec<(MixClass, Shift)>,
    pub which: Which,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ChangedCount {
    #[serde(rename = "systems")]
    pub any: usize,
    #[serde(rename = "by_reads")]
    pub reads: usize,
    #[serde(rename = "by_size")]
    pub size: usize,
    #[serde(rename = "by_rate")]
    pub rate: usize,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FleetError {
    #[error(
        "no system has I/Os of the same kind before and after ({one_sided} have one side, {misordered} an \"after\" that is not \
         later than their \"before\"); import the missing side, or correct the times"
    )]
    NoPairs { one_sided: usize, misordered: usize },
    #[error(
        "no system has {operation}s before and after, which the primary measure is of; choose another one"
    )]
    NoPrimary { operation: &'static str },
    /// All buckets include times on both sides of the limit.
    #[error(
        "the buckets of all {systems} systems hold times on both sides of {limit_us} µs, so that the share up to it is unknown; \
         choose limits at which buckets end"
    )]
    Undecided { systems: usize, limit_us: f64 },
    #[error("{systems} systems are too many: the limit is {SYSTEMS_MAX}; split the fleet")]
    TooMany { systems: usize },
}

/// Judges a fleet by its windows.
pub fn judge(windows: &[Window], question: Question) -> Result<Fleet, FleetError> {
    let (systems, left_out) = system::systems(windows);
    if systems.is_empty() {
        return Err(FleetError::NoPairs {
            one_sided: left_out.one_sided.len(),
            misordered: left_out.misordered.len(),
        });
    }
    if systems.len() > SYSTEMS_MAX {
        return Err(FleetError::TooMany {
            systems: systems.len(),
        });
    }
    let primary = question.primary;
    let all: Vec<&System> = systems.iter().collect();
    refuse_without(primary, &all, question.limits_us)?;
    let of_class = |wanted: MixClass| -> Vec<&System> {
        let of = systems.iter().filter(|system| class(system) == wanted);
        of.collect()
    };
    let is_same = |system: &&System| class(system) != MixClass::Changed;
    let same: Vec<&System> = systems.iter().filter(is_same).collect();
    let others = Measure::all().filter(|measure| *measure != primary);
    let shifts: Vec<Shift> = std::iter::once(primary)
        .chain(others)
        .filter_map(|measure| measure::shift(measure, &same, question.seed))
        .collect();
    let strata = MixClass::ALL.into_iter().filter_map(|class| {
        let shift = measure::shift(primary, &of_class(class), question.seed)?;
        Some((class, shift))
    });
    let changed = count_changed(&systems);
    let is_other_mix = changed.any as f64 > CHANGED_MAX * systems.len() as f64;
    let called = shifts.first().filter(|shift| shift.measure == primary);
    Ok(Fleet {
        question,
        left_out,
        changed,
        call: if is_other_mix {
            Call::OtherMix
        } else {
            call(called)
        },
        strata: strata.collect(),
        which: which::which(primary, &same),
        shifts,
        systems,
    })
}

fn refuse_without(
    primary: Measure,
    systems: &[&System],
    limits_us: [f64; LIMITS],
) -> Result<(), FleetError> {
    let pairs = systems
        .iter()
        .filter(|s| s.pair(primary.operation).is_some());
    let pairs = pairs.count();
    if pairs == 0 {
        return Err(FleetError::NoPrimary {
            operation: primary.operation.name(),
        });
    }
    match primary.figure {
        Figure::Within(limit) if primary.shifts(systems).is_empty() => Err(FleetError::Undecided {
            systems: pairs,
            limit_us: limits_us[limit],
        }),
        _ => Ok(()),
    }
}

fn count_changed(systems: &[System]) -> ChangedCount {
    let mut count = ChangedCount::default();
    for system in systems {
        let changed = changed(system);
        count.any += usize::from(changed.any());
        count.reads += usize::from(changed.reads);
        count.size += usize::from(changed.size);
        count.rate += usize::from(changed.rate);
    }
    count
}

/// By the stated rule a shift is called if the whole interval of the primary measure is on one side of no shift.
fn call(primary: Option<&Shift>) -> Call {
    let Some(shift) = primary else {
        return Call::TooFew;
    };
    let none = match shift.measure.figure {
        Figure::Within(_) => 0.0,
        Figure::Mean => 1.0,
    };
    match &shift.interval {
        Err(_) => Call::TooFew,
        Ok(interval) if interval.low > none => Call::Higher,
        Ok(interval) if interval.high < none => Call::Lower,
        Ok(_) => Call::NotShown,
    }
}
