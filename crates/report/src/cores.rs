//! Spare cores, in words.

use archive::PointKey;
use verdict::cores::{HEADROOM, Level, SpareCores, THREADS_PER_CORE, saved as found, spare_cores};
use verdict::price::{PriceList, Saved};

use crate::number;
use crate::prices::amount;
use crate::users::{self, parallelism};

pub const CORES_BEFORE_CLOCK: &str =
    "Choose a CPU by its number of cores first, then by its clock rate.";

/// "pg, OLTP at 400 users, the most within the limit: 10.6 of 32 cores busy (9.6 … 11.2 in 3 repetitions). 16 cores are enough
/// with 30 % of them idle: 16 can be removed, unless other work needs them."
pub fn left(left: &SpareCores) -> String {
    let [middle, low, high] = left.busy.map(number::figure);
    let range = match left.repetitions {
        1 => String::new(),
        n => format!(" ({low} … {high} in {n} repetitions)"),
    };
    let out = match left.spare() {
        0 if left.is_saturated => "the CPUs were saturated, so none can be removed; how many more the load would use is unknown.".to_owned(),
        0 => "none can be removed.".to_owned(),
        1 => "1 can be removed, unless other work needs it.".to_owned(),
        n => format!("{n} can be removed, unless other work needs them."),
    };
    format!(
        "{}: {middle} of {} busy{range}. {}: {out}",
        place(left),
        number::counted(u64::from(left.cores), "core"),
        enough(left)
    )
}

fn place(left: &SpareCores) -> String {
    if left.test == PointKey::OBSERVATION {
        return format!("{}, as observed", left.target);
    }
    let key = PointKey {
        threads: left.threads,
        ..PointKey::of(&left.test, left.jobs)
    };
    let level = parallelism(&key);
    let why = match left.level {
        Level::Supported => "the most within the limit",
        Level::Best if users::is_of_users(&left.test) => "the best level",
        Level::Best => "the best level of the test that needs most cores",
    };
    format!("{}, {} at {level}, {why}", left.target, left.test)
}

fn enough(left: &SpareCores) -> String {
    let cores = |n: u32| match n {
        1 => "1 core is enough".to_owned(),
        n => format!("{n} cores are enough"),
    };
    let idle = format!("with {} % idle", number::percent(HEADROOM));
    if left.is_saturated {
        let by_threads = left.cores_needed_by_threads.unwrap_or(1);
        return match by_threads.max(left.cores_needed_by_use) {
            1 => format!("At least 1 core is needed {idle}"),
            n => format!("At least {n} cores are needed {idle}"),
        };
    }
    match left.cores_needed_by_threads {
        Some(threads) if threads > left.cores_needed_by_use => format!(
            "By their use {} {idle}, but no more than {THREADS_PER_CORE} threads should share a core, which takes {threads}",
            cores(left.cores_needed_by_use)
        ),
        _ if left.cores_needed_by_use > left.cores => format!(
            "{} would be needed {idle}",
            number::counted(u64::from(left.cores_needed_by_use), "core")
        ),
        _ => {
            let text = cores(left.cores_needed_by_use);
            format!("{text} {idle}")
        }
    }
}

/// Weaknesses of the sentence; empty if it lets no core go.
pub fn cautions(left: &SpareCores) -> Vec<String> {
    if left.spare() == 0 {
        return Vec::new();
    }
    let mut said = Vec::new();
    if left.repetitions == 1 {
        said.push("Measured once.".to_owned());
    }
    if let Some(own) = left.busy_by_database {
        let own = number::figure(own);
        said.push(format!("The database alone kept {own} cores busy."));
    }
    said.push(match left.busy_by_others {
        Some(others) => format!(
            "Other programs kept {} cores busy, which are not counted.",
            number::figure(others)
        ),
        None => "Other programs count: their share is unknown.".to_owned(),
    });
    if left.threads_per_core > 1.0 {
        let threads = number::figure(left.threads_per_core);
        said.push(format!(
            "A core has {threads} threads, and a busy one counts as 1/{threads} of a core; alone on its core it does more work than that, so that \
             fewer cores may be busier than this says."
        ));
    }
    said.push(
        "With fewer cores work waits longer: measure with so many before you buy.".to_owned(),
    );
    said
}

/// Savings on one item: "Oracle Database Enterprise Edition: 8 fewer, 380,000 USD net saved (380,000 list, over 3 years where paid
/// yearly)".
pub fn saved(list: &PriceList, of: &Saved) -> String {
    let years = match list.term_years {
        Some(years) => format!(", over {years} years where paid yearly"),
        None => String::new(),
    };
    format!(
        "{}: {} fewer, {} {} net saved ({} list{years})",
        of.part,
        of.fewer,
        amount(of.amount.net),
        list.currency,
        amount(of.amount.list),
    )
}

/// Savings without the spare cores of each target: a head, and a line for each item.
pub fn all_saved(list: &PriceList, run: &archive::Run) -> Vec<(String, Vec<String>)> {
    let left = spare_cores(run).into_iter().filter(|left| left.spare() > 0);
    let of = left.map(|left| {
        let lines = match found(list, run, &left) {
            Ok(items) if items.is_empty() => vec![format!(
                "{} has no item with quantity = \"per core\": fewer cores save nothing.",
                list.file
            )],
            Ok(items) => items
                .iter()
                .map(|item| format!("{}.", saved(list, item)))
                .collect(),
            Err(why) => vec![format!("Unknown: {why}.")],
        };
        let cores = number::counted(u64::from(left.spare()), "spare core");
        (format!("{}, without {cores}:", left.target), lines)
    });
    of.collect()
}
