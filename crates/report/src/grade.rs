//! The grade of a run: good to use, indicative, do not use; docs/METHODOLOGY.md has the rule.

mod reason;
#[cfg(test)]
mod tests;

use archive::{
    Figures, Grade, Graded, Point, Remark, Resource, RightsMissing, Run, RunState, Steady,
    TargetRecord,
};

use stats::summary::median;

use crate::level;
use crate::main_figures::{MainFigure, REPETITIONS_MIN, main_figures};
use crate::{number, scorecard};
pub use reason::{Part, Reason};

/// Distance from the median beyond which a difference that matters could be noise.
const SPREAD_PCT_MAX: f64 = 5.0;
/// One of so many main figures may lie further apart.
const VARYING_SHARE: usize = 10;
/// Share of the processors or of the device's bytes that leaves other figures than those of an idle machine.
const OTHERS_HEAVY_PCT: f64 = 25.0;
const OTHERS_HEAVY_IO_PCT: f64 = 50.0;
/// Shorter, a point is mostly start, stop and cold caches.
const POINT_S_MIN: f64 = 1.0;
/// An observation, or a run of a parameter file, that is shorter may have caught an exception.
const ONCE_S_MIN: f64 = 60.0;
/// Most reasons in the sentence.
const NAMED_MAX: usize = 2;

/// Grades a run, or with the other sides of its study all of them; a reason that both have is said once.
pub fn grade(run: &Run, sides: &[&Run]) -> Graded {
    let own = reasons(run);
    let of_sides = sides.iter().flat_map(|side| {
        let of_side = |reason| Reason::OfSide {
            label: side.label.clone(),
            reason: Box::new(reason),
        };
        let kind = std::mem::discriminant::<Reason>;
        let is_new = |reason: &Reason| !own.iter().any(|known| kind(known) == kind(reason));
        reasons(side)
            .into_iter()
            .filter(is_new)
            .map(of_side)
            .collect::<Vec<_>>()
    });
    let mut all: Vec<Reason> = own.iter().cloned().chain(of_sides).collect();
    all.sort_by_key(|reason| std::cmp::Reverse(reason.grade()));
    let value = all.first().map_or(Grade::GoodToUse, Reason::grade);
    let decisive: Vec<String> = (all.iter())
        .filter(|reason| reason.grade() == value)
        .take(NAMED_MAX)
        .map(Reason::to_string)
        .collect();
    Graded {
        value,
        sentence: match value {
            Grade::GoodToUse => format!("The figures are good to use: {}.", praise(run)),
            Grade::Indicative => format!(
                "The figures are indicative, an order of magnitude: {}.",
                decisive.join("; ")
            ),
            Grade::DoNotUse => format!("Do not use the figures: {}.", decisive.join("; ")),
        },
        reasons: all.iter().map(Reason::to_string).collect(),
    }
}

/// Why the figures are not simply good to use.
pub fn reasons(run: &Run) -> Vec<Reason> {
    let groups = level::tests(run, scorecard::rank);
    let main = main_figures(run, &groups);
    let all = [
        (run.reasons.first()).map(|why| Reason::Altered {
            why: why.to_string(),
        }),
        incomplete(run),
        failed(run),
        saturated_driver(&main),
        heavy_others(run),
    ];
    let mut found: Vec<Reason> = all.into_iter().flatten().collect();
    match is_observation(run) {
        true => found.extend(shortest(run, ONCE_S_MIN)),
        false => found.extend(of_load(run, &main)),
    }
    found.extend(hidden(run));
    found
}

/// A server whose other sessions are unknown, so that nobody can tell if they disturbed.
fn hidden(run: &Run) -> Option<Reason> {
    let hides = |target: &&TargetRecord| {
        let missing = target.rights_missing.as_ref();
        missing.is_some_and(RightsMissing::hides_others)
    };
    let target = run.targets.iter().find(hides)?;
    Some(Reason::Hidden {
        target: target.name.clone(),
    })
}

fn of_load(run: &Run, main: &[MainFigure<'_>]) -> Vec<Reason> {
    let once = match (run.is_of_parameter_file(), &run.study) {
        // Such a file states its own length, and its intervals are repetitions.
        (true, _) => shortest(run, ONCE_S_MIN),
        // Intervals of confidence say how far the pairs of a study lie apart.
        (_, Some(_)) => None,
        _ => once(main).or_else(|| apart(main)),
    };
    [
        once,
        others(main),
        others_unknown(run, main),
        unsteady(main),
        short(main),
        foreign_settings(run),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn is_observation(run: &Run) -> bool {
    !run.points.is_empty() && run.points.iter().all(|point| point.key.is_observation())
}

fn incomplete(run: &Run) -> Option<Reason> {
    let (measured, planned) = (run.points.len(), run.points_planned);
    (run.state != RunState::Complete || measured == 0)
        .then_some(Reason::Incomplete { measured, planned })
}

fn failed(run: &Run) -> Option<Reason> {
    let invalid = || run.points.iter().filter(|point| !point.valid());
    let first = invalid().next()?;
    Some(Reason::Failed {
        invalid: Part {
            some: invalid().count(),
            of: run.points.len(),
        },
        test: first.key.test.clone(),
        why: first.reasons.first().map(Remark::to_string),
    })
}

fn saturated_driver(main: &[MainFigure<'_>]) -> Option<Reason> {
    let is_driver = |point: &&Point| {
        let bottleneck = point.held_back.bottleneck.as_ref();
        let notes = &point.notes;
        bottleneck.is_some_and(|it| it.resource == Resource::Driver)
            || notes.iter().any(|note| {
                matches!(
                    note,
                    Remark::DriverTooSlow { .. } | Remark::DriverThreadBusy { .. }
                )
            })
    };
    let saturated = main.iter().find(|main| mostly(main, is_driver))?;
    Some(Reason::Driver {
        title: saturated.title(),
    })
}

/// The median of the repetitions withstands fewer than half of them.
fn mostly(main: &MainFigure<'_>, is_so: impl Fn(&&Point) -> bool) -> bool {
    let points = main.level.points.iter().copied();
    points.filter(is_so).count() * 2 >= main.level.points.len()
}

/// The main figures of which most repetitions are so.
fn part(main: &[MainFigure<'_>], is_so: impl Fn(&&Point) -> bool) -> Option<Part> {
    let some = main.iter().filter(|main| mostly(main, &is_so)).count();
    (some > 0).then_some(Part {
        some,
        of: main.len(),
    })
}

/// Other programs that took the machine for most of the run. In an observation they may be the clients of the database.
fn heavy_others(run: &Run) -> Option<Reason> {
    let figures = run.points.iter().map(|point| &point.figures);
    let known: Vec<&Figures> = figures
        .filter(|figures| figures.is_crowded().is_some())
        .collect();
    let cpu = |figures: &&Figures| {
        figures
            .cpu_by_others_pct
            .filter(|pct| *pct > OTHERS_HEAVY_PCT)
    };
    let io = |figures: &&Figures| {
        let crowded = figures
            .io_by_others_pct()
            .filter(|_| figures.is_device_crowded());
        crowded.filter(|pct| *pct > OTHERS_HEAVY_IO_PCT)
    };
    let is_heavy = |figures: &&&Figures| cpu(figures).is_some() || io(figures).is_some();
    let heavy: Vec<&Figures> = known.iter().filter(is_heavy).copied().collect();
    let is_most = heavy.len() * 2 > known.len() && !is_observation(run);
    is_most.then(|| Reason::Heavy {
        points: Part {
            some: heavy.len(),
            of: known.len(),
        },
        cpu_pct: median(&heavy.iter().filter_map(cpu).collect::<Vec<_>>()),
        io_pct: median(&heavy.iter().filter_map(io).collect::<Vec<_>>()),
    })
}

/// Repetitions that agree were not disturbed; where there are none, somebody must have looked.
fn others_unknown(run: &Run, main: &[MainFigure<'_>]) -> Option<Reason> {
    let has_repetitions = run.study.is_none() && !run.is_of_parameter_file();
    let mut points = main.iter().flat_map(|main| &main.level.points);
    let is_unknown = points.all(|point| point.figures.is_crowded().is_none());
    let arranged = run.study.as_ref().and_then(|study| study.arranged.as_ref());
    (!has_repetitions && is_unknown && !main.is_empty()).then(|| Reason::OthersUnknown {
        in_slices: arranged.is_some_and(|arranged| arranged.in_slices.is_some()),
    })
}

fn once(main: &[MainFigure<'_>]) -> Option<Reason> {
    let few = || {
        main.iter()
            .filter(|main| main.level.points.len() < REPETITIONS_MIN)
    };
    let least = few().map(|main| main.level.points.len()).min()?;
    Some(Reason::Once {
        times: least,
        figures: Part {
            some: few().count(),
            of: main.len(),
        },
    })
}

/// One figure in ten may vary, since the median of its repetitions withstands the one that was disturbed; it is named.
fn apart(main: &[MainFigure<'_>]) -> Option<Reason> {
    let apart = varying(main);
    let worst = apart.first()?;
    (apart.len() * VARYING_SHARE > main.len()).then(|| Reason::Apart {
        figures: Part {
            some: apart.len(),
            of: main.len(),
        },
        pct: worst.0,
        title: worst.1.title(),
    })
}

/// The main figures with a repetition far from the median, the one that varied most first.
fn varying<'m, 'a>(main: &'m [MainFigure<'a>]) -> Vec<(f64, &'m MainFigure<'a>)> {
    let known = main
        .iter()
        .filter_map(|main| Some((main.spread_pct()?, main)));
    let mut apart: Vec<_> = known.filter(|(pct, _)| *pct > SPREAD_PCT_MAX).collect();
    apart.sort_by(|a, b| b.0.total_cmp(&a.0));
    apart
}

fn others(main: &[MainFigure<'_>]) -> Option<Reason> {
    let is_crowded = |point: &&Point| point.figures.is_crowded() == Some(true);
    part(main, is_crowded).map(Reason::Others)
}

/// A trend moves all repetitions alike. Scatter within a point matters as far as it moves the mean, and repetitions show that.
fn unsteady(main: &[MainFigure<'_>]) -> Option<Reason> {
    let is_repeated = (main.iter()).all(|main| main.level.points.len() >= REPETITIONS_MIN);
    match is_repeated {
        true => part(main, |point| point.steady == Some(Steady::Trend)).map(Reason::Trend),
        false => part(main, |point| {
            matches!(point.steady, Some(Steady::No | Steady::Trend))
        })
        .map(Reason::Unsteady),
    }
}

/// Work of a fixed amount has no steady state to wait for, and its repetitions show if its length was enough.
fn short(main: &[MainFigure<'_>]) -> Option<Reason> {
    let is_short = |point: &&Point| {
        point.work.seconds.is_some() && point.figures.elapsed_s.is_some_and(|s| s < POINT_S_MIN)
    };
    part(main, is_short).map(Reason::Short)
}

fn shortest(run: &Run, min_s: f64) -> Option<Reason> {
    let seconds: Vec<f64> = run
        .points
        .iter()
        .filter_map(|p| p.figures.elapsed_s)
        .collect();
    let shortest = seconds
        .into_iter()
        .reduce(f64::min)
        .filter(|s| *s < min_s)?;
    Some(Reason::Brief { seconds: shortest })
}

/// A server that dbdyno started with settings that nobody chose.
fn foreign_settings(run: &Run) -> Option<Reason> {
    let is_foreign = |url: &str| {
        url.split_once(':')
            .is_some_and(|(scheme, rest)| scheme.ends_with("+local") && !rest.contains('?'))
    };
    let target = run.targets.iter().find(|target| is_foreign(&target.url))?;
    let is_chosen = run
        .study
        .as_ref()
        .is_some_and(|study| !study.settings.is_empty());
    (!is_chosen).then(|| Reason::ForeignSettings {
        target: target.name.clone(),
    })
}

/// "repeated three times, within 2 %".
fn praise(run: &Run) -> String {
    let groups = level::tests(run, scorecard::rank);
    let main = main_figures(run, &groups);
    let times = main.iter().map(|main| main.level.points.len()).min();
    match (&run.study, times) {
        _ if is_observation(run) => {
            "a minute or more of the database's own load, with every session in view".to_owned()
        }
        _ if run.is_of_parameter_file() => {
            "steady for a minute or more, and every check passed".to_owned()
        }
        (None, Some(times)) => repeated(times, &main),
        _ => "every check passed on a quiet machine".to_owned(),
    }
}

fn repeated(times: usize, main: &[MainFigure<'_>]) -> String {
    let spreads = main.iter().filter_map(MainFigure::spread_pct);
    let close = spreads.filter(|pct| *pct <= SPREAD_PCT_MAX);
    let within_pct = close.fold(1.0, f64::max).ceil();
    let but: Vec<String> = (varying(main).iter())
        .map(|(pct, main)| format!("{} ({} %)", main.title(), number::figure(*pct)))
        .collect();
    let but = match but.is_empty() {
        true => String::new(),
        false => format!(", except {}", but.join(" and ")),
    };
    format!(
        "repeated {}, within {within_pct} %{but}",
        reason::times(times)
    )
}
