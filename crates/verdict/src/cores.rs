//! Spare cores of the host, by the measured use of its processors.

use archive::{CPU_S_MIN, Figures, Point, Remark, Run, export};
use stats::summary::median;

use crate::price::limit::{NotKnown, orders_at_limit};
use crate::price::{PriceList, Saved, saved_by_cores};
use crate::ramps::USERS;

/// Share of the needed cores that stays idle on average: for peaks, and because waits grow with use.
pub const HEADROOM: f64 = 0.3;
/// Threads that may share a core: the rule of document 000, "Capacity and sizing".
pub const THREADS_PER_CORE: u32 = 2;
/// Busy processors from which they are saturated: the load may need more of them than exist.
pub const SATURATED_PCT_MIN: f64 = 90.0;
/// Sums of shares miss a whole number of cores by less than this.
const ROUNDING: f64 = 1e-9;

/// Level of a target that determines the need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Largest number of users within the response-time limit.
    Supported,
    /// Best level of the test that then keeps the most cores busy.
    Best,
}

/// Cores that one level of a target does not need.
#[derive(Debug, Clone, PartialEq)]
pub struct SpareCores {
    pub target: String,
    pub test: String,
    pub level: Level,
    pub jobs: u32,
    pub threads: u32,
    /// Physical cores of the host, and threads per core.
    pub cores: u32,
    pub threads_per_core: f64,
    /// Cores kept busy, without those of other programs if known: median of the repetitions, lowest, highest. A
    /// thread counts as its part of a core.
    pub busy: [f64; 3],
    /// Median of the cores that other programs kept busy; `None` if it is unknown, and thus in `busy`.
    pub busy_by_others: Option<f64>,
    /// The processors were saturated in a repetition, so that the load may need more cores.
    pub is_saturated: bool,
    /// … and by the database, median; `None` if unknown.
    pub busy_by_database: Option<f64>,
    pub repetitions: usize,
    /// Cores needed with [`HEADROOM`], by the repetition with the highest use.
    pub cores_needed_by_use: u32,
    /// Cores needed for the number of concurrent threads; `None` for users with think time, most of whom wait.
    pub cores_needed_by_threads: Option<u32>,
}

impl SpareCores {
    /// Cores needed; all of them if they were saturated.
    pub fn cores_needed(&self) -> u32 {
        if self.is_saturated {
            return self.cores;
        }
        let by_threads = self.cores_needed_by_threads.unwrap_or(1);
        by_threads
            .max(self.cores_needed_by_use)
            .clamp(1, self.cores)
    }

    pub fn spare(&self) -> u32 {
        self.cores - self.cores_needed()
    }
}

/// Spare cores of each target of a run; empty if processors or their use are unknown.
pub fn spare_cores(run: &Run) -> Vec<SpareCores> {
    let targets = 0..run.targets.len() as u32;
    targets
        .filter_map(|target| of_target(run, target))
        .collect()
}

fn of_target(run: &Run, target: u32) -> Option<SpareCores> {
    let points = run.points.iter();
    let own: Vec<&Point> = points
        .filter(|point| point.key.target == target && point.valid())
        // Requests in flight at a device are no threads that need a core.
        .filter(|point| !point.work.below_database)
        .collect();
    match orders_at_limit(run, target) {
        Some(Ok((users, _))) => {
            let users = users.into_iter().min()?;
            let level = own.iter().copied();
            let level = level.filter(|p| p.key.test == USERS && p.key.jobs == users);
            of_level(run, &level.collect::<Vec<_>>(), Level::Supported)
        }
        // No load met the limit, so no core is spare.
        Some(Err(NotKnown::NotSupported | NotKnown::NoMemory)) => None,
        Some(Err(NotKnown::NoLimit)) => of_level(run, &best_level(&own, USERS)?, Level::Best),
        None => {
            let mut tests: Vec<&str> = Vec::new();
            for point in &own {
                if !tests.contains(&point.key.test.as_str()) {
                    tests.push(&point.key.test);
                }
            }
            let of_tests = tests
                .into_iter()
                .filter_map(|test| of_level(run, &best_level(&own, test)?, Level::Best));
            of_tests.max_by(|a, b| {
                let of = |left: &SpareCores| (left.cores_needed(), left.busy[2]);
                of(a)
                    .partial_cmp(&of(b))
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
        }
    }
}

/// Repetitions of the level with the highest rate of a test; extra measurements of contention do not count.
fn best_level<'r>(points: &[&'r Point], test: &str) -> Option<Vec<&'r Point>> {
    let is_extra = |point: &Point| {
        let mut notes = point.notes.iter();
        notes.any(|note| matches!(note, Remark::ContentionExtra { .. }))
    };
    let own = points.iter().copied();
    let own: Vec<&Point> = own
        .filter(|point| point.key.test == test && !is_extra(point))
        .collect();
    let level = |point: &Point| (point.key.step, point.key.jobs, point.key.threads);
    let levels = own.iter().map(|point| level(point));
    let rated = levels.filter_map(|of| {
        let points: Vec<&Point> = own.iter().copied().filter(|p| level(p) == of).collect();
        let rates = points.iter().map(|point| {
            let figures = &point.figures;
            figures.operations_per_s.or(figures.rows_per_s)
        });
        let rates: Vec<f64> = rates.flatten().collect();
        Some((median(&rates)?, points))
    });
    // Of equal levels the first one needs the fewest jobs.
    let best = rated.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map(|(_, points)| points)
}

fn of_level(run: &Run, points: &[&Point], level: Level) -> Option<SpareCores> {
    let first = points.first()?;
    let (cores, threads) = (run.platform.cores?, run.platform.threads?);
    let busy = |pct: f64| f64::from(cores) * (pct / 100.0).clamp(0.0, 1.0);
    let is_long = |point: &&&Point| point.figures.elapsed_s.is_none_or(|s| s >= CPU_S_MIN);
    let of = |figure: fn(&Figures) -> Option<f64>| -> Vec<f64> {
        let long = points.iter().filter(is_long);
        long.filter_map(|point| figure(&point.figures)).collect()
    };
    let all: Vec<f64> = of(own_pct).into_iter().map(busy).collect();
    let of_one = |figure| median(&of(figure)).map(busy);
    let whole_pct = of(|figures| figures.cpu_pct_avg);
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(0.0, f64::max);
    let key = &first.key;
    Some(SpareCores {
        target: run.targets.get(key.target as usize)?.name.clone(),
        test: key.test.clone(),
        level,
        jobs: key.jobs,
        threads: key.threads.max(1),
        cores,
        threads_per_core: f64::from(threads) / f64::from(cores.max(1)),
        busy: [median(&all)?, low, high],
        busy_by_others: of_one(|figures| figures.cpu_by_others_pct),
        is_saturated: whole_pct.iter().any(|pct| *pct >= SATURATED_PCT_MIN),
        busy_by_database: of_one(|figures| figures.cpu_by_database_pct),
        repetitions: all.len(),
        cores_needed_by_use: whole(high / (1.0 - HEADROOM)),
        cores_needed_by_threads: are_all_at_work(first).then(|| {
            let threads = u64::from(key.jobs) * u64::from(key.threads.max(1));
            let kept = threads.div_ceil(u64::from(THREADS_PER_CORE));
            u32::try_from(kept).unwrap_or(u32::MAX)
        }),
    })
}

/// Use of the processors without other programs, which the database does not need.
fn own_pct(figures: &Figures) -> Option<f64> {
    let others = figures.cpu_by_others_pct.unwrap_or(0.0);
    Some((figures.cpu_pct_avg? - others).max(0.0))
}

/// True if every job needs a processor all the time, as users without think time do.
fn are_all_at_work(point: &Point) -> bool {
    point.key.test != USERS || point.notes.contains(&Remark::NoThinkTime)
}

fn whole(cores: f64) -> u32 {
    (cores - ROUNDING).ceil().max(1.0) as u32
}

/// Savings from removing the spare cores.
pub fn saved(list: &PriceList, run: &Run, left: &SpareCores) -> Result<Vec<Saved>, String> {
    let platform = crate::price::Platform::of(list, run);
    let all = f64::from(left.cores);
    match platform.cores {
        Some((cores, origin)) if cores != all => Err(format!(
            "the prices are for {cores} cores ({}), and {all} were measured",
            origin.name()
        )),
        _ => saved_by_cores(
            list,
            platform.processor,
            all,
            f64::from(left.cores_needed()),
        ),
    }
}

/// The same for exports; with the amounts that they save if there are prices.
pub fn exported(run: &Run, prices: Option<&PriceList>) -> Vec<export::SpareCores> {
    let all = spare_cores(run);
    let each = all.into_iter().map(|left| {
        let saved = prices.map(|list| saved(list, run, &left).map(|saved| (list, saved)));
        let (saved, saved_unknown) = match saved {
            Some(Ok((list, saved))) => (Some(saved_in_all(list, saved)), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let [busy_cores, busy_cores_low, busy_cores_high] = left.busy;
        export::SpareCores {
            level: match left.level {
                Level::Supported => "supported",
                Level::Best => "best",
            },
            jobs: left.jobs,
            threads: left.threads,
            cores: left.cores,
            threads_per_core: left.threads_per_core,
            repetitions: left.repetitions,
            busy_cores,
            busy_cores_low,
            busy_cores_high,
            busy_cores_by_database: left.busy_by_database,
            busy_cores_by_others: left.busy_by_others,
            saturated: left.is_saturated,
            headroom_pct: HEADROOM * 100.0,
            cores_needed_by_use: left.cores_needed_by_use,
            cores_needed_by_threads: left.cores_needed_by_threads,
            cores_needed: left.cores_needed(),
            spare_cores: left.spare(),
            saved,
            saved_unknown,
            target: left.target,
            test: left.test,
        }
    });
    each.collect()
}

/// Amounts that fewer cores save, for exports.
pub fn saved_in_all(list: &PriceList, saved: Vec<Saved>) -> export::Saved {
    let items = saved.into_iter().map(|saved| export::SavedItem {
        part: saved.part,
        fewer: saved.fewer,
        list: saved.amount.list,
        net: saved.amount.net,
    });
    export::Saved {
        currency: list.currency.clone(),
        term_years: list.term_years,
        items: items.collect(),
    }
}

#[cfg(test)]
mod tests;
