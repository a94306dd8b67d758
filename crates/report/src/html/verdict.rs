//! The top of the page: validity of the run and confidence in it.

use archive::{
    Figures, Grade, Graded, OTHERS_IO_MB_PER_S_MIN, OTHERS_IO_PCT_MAX, OTHERS_PCT_MAX, Point,
    Remark, RightsMissing, Run, RunState, Steady,
};

use super::figure::id_of;
use crate::grade;
use crate::level::{self, TestGroup};
use crate::{html::sweep, number};

/// Least spread between repetitions (percent of the median) of a noisy level.
const NOISE_PCT: f64 = 10.0;
/// Most reasons at the top; the tests list the rest.
const REASONS_MAX: usize = 20;

pub struct Item {
    pub name: &'static str,
    pub text: String,
    /// "good", "warn", "bad" or "plain"; the words also say it.
    pub tone: &'static str,
}

pub struct Reason {
    pub id: String,
    pub place: String,
    pub text: String,
}

pub struct View {
    pub grade: Graded,
    /// Its reasons beyond those of its sentence.
    pub further: Vec<String>,
    pub tone: &'static str,
    /// "76 points, all of which passed their checks".
    pub points: String,
    pub items: Vec<Item>,
    pub reasons: Vec<Reason>,
    pub reasons_more: usize,
}

/// Grades a run, or with the other sides of its study, the study.
pub fn view(run: &Run, groups: &[TestGroup<'_>], sides: &[&Run]) -> View {
    let grade = grade::grade(run, sides);
    let further = grade
        .reasons
        .iter()
        .filter(|reason| !grade.sentence.contains(*reason));
    let invalid: Vec<&Point> = run.points.iter().filter(|p| !p.valid()).collect();
    let mut reasons = reasons(run, &invalid);
    let reasons_more = reasons.len().saturating_sub(REASONS_MAX);
    reasons.truncate(REASONS_MAX);
    View {
        further: further.cloned().collect(),
        tone: match grade.value {
            Grade::GoodToUse => "good",
            Grade::Indicative => "warn",
            Grade::DoNotUse => "bad",
        },
        grade,
        points: points(run, invalid.len()),
        items: items(run, groups),
        reasons,
        reasons_more,
    }
}

fn points(run: &Run, invalid: usize) -> String {
    let points = number::counted(run.points.len() as u64, "point");
    match invalid {
        0 => format!("{points}, every check passed"),
        bad => format!("{points}, of which {bad} failed a check"),
    }
}

fn items(run: &Run, groups: &[TestGroup<'_>]) -> Vec<Item> {
    let mut items = vec![
        state(run),
        steady(run),
        noise(run, groups),
        driver(run),
        others(run),
        errors(run),
    ];
    items.extend(restarts(run));
    items.extend(rights(run));
    items.extend(protocol(run));
    items
}

fn reasons(run: &Run, invalid: &[&Point]) -> Vec<Reason> {
    let whole = run.reasons.iter().map(|reason| Reason {
        id: "verdict".to_owned(),
        place: "The whole run".to_owned(),
        text: reason.to_string(),
    });
    let mut found: Vec<Reason> = whole.collect();
    let mut places: Vec<FailureGroup<'_>> = Vec::new();
    for point in invalid {
        for text in point.reasons.iter().map(Remark::to_string) {
            let key = &point.key;
            let same = |p: &&mut FailureGroup<'_>| {
                p.test == key.test && p.target == key.target && p.text == text
            };
            match places.iter_mut().find(same) {
                Some(place) => place.add(point),
                None => places.push(FailureGroup::new(point, text)),
            }
        }
    }
    found.extend(places.into_iter().map(|p| p.reason(run)));
    found
}

/// All points of one test on one target that failed for the same reason.
struct FailureGroup<'a> {
    test: &'a str,
    title: String,
    target: u32,
    text: String,
    dops: Vec<u32>,
    points: usize,
}

impl<'a> FailureGroup<'a> {
    fn new(point: &'a Point, text: String) -> Self {
        Self {
            test: &point.key.test,
            title: format!("{} ({})", point.title, point.key.test),
            target: point.key.target,
            text,
            dops: vec![point.key.dop()],
            points: 1,
        }
    }

    fn add(&mut self, point: &Point) {
        if !self.dops.contains(&point.key.dop()) {
            self.dops.push(point.key.dop());
        }
        self.points += 1;
    }

    /// "Primary-key access (T611) on sqlite with 1, 2 sessions (4 points)".
    fn reason(&self, run: &Run) -> Reason {
        let dops: Vec<String> = self.dops.iter().map(u32::to_string).collect();
        let sessions = match &self.dops[..] {
            [1] => "session",
            _ => "sessions",
        };
        let points = if self.points == 1 { "point" } else { "points" };
        Reason {
            id: id_of(self.test),
            place: format!(
                "{} on {} with {} {sessions} ({} {points})",
                self.title,
                level::target_name(run, self.target),
                dops.join(", "),
                self.points
            ),
            text: self.text.clone(),
        }
    }
}

fn state(run: &Run) -> Item {
    let progress = format!("{} of {} points", run.points.len(), run.points_planned);
    let (text, tone) = match run.state {
        RunState::Complete => (format!("complete, {progress}"), "good"),
        RunState::Running => (format!("still running or killed, {progress}"), "warn"),
        RunState::Interrupted => (format!("interrupted, {progress}"), "warn"),
    };
    Item {
        name: "State",
        text,
        tone,
    }
}

pub(super) struct Steadiness {
    pub steady: usize,
    pub scattered: usize,
    pub trend: usize,
    pub unknown: usize,
}

pub(super) fn steadiness(run: &Run) -> Steadiness {
    // Checks, loads and parts of a level have no steady state.
    let driven = |p: &&Point| p.steady.is_some() || p.held_back.bottleneck.is_some();
    let count = |wanted: Option<Steady>| {
        let driven = run.points.iter().filter(driven);
        driven.filter(|p| p.steady == wanted).count()
    };
    Steadiness {
        steady: count(Some(Steady::Yes)),
        scattered: count(Some(Steady::No)),
        trend: count(Some(Steady::Trend)),
        unknown: count(None),
    }
}

fn steady(run: &Run) -> Item {
    let Steadiness {
        steady: yes,
        scattered: no,
        trend,
        unknown,
    } = steadiness(run);
    let mut parts = Vec::new();
    for (n, word) in [
        (yes, "steady"),
        (no, "scattered"),
        (trend, "rising or falling"),
        (unknown, "too short to tell"),
    ] {
        if n > 0 {
            parts.push(format!("{n} {word}"));
        }
    }
    Item {
        name: "Steady state",
        text: if parts.is_empty() {
            number::UNKNOWN.to_owned()
        } else {
            parts.join(", ")
        },
        tone: if no + trend > 0 { "warn" } else { "plain" },
    }
}

fn noise(run: &Run, groups: &[TestGroup<'_>]) -> Item {
    let mut spreads = Vec::new();
    for group in groups {
        let figure = sweep::rate_figure(group).name;
        let levels = group.curves.iter().flat_map(|c| &c.levels);
        for level in levels.filter_map(|l| l.only_valid()) {
            let middle = level.figure(figure).filter(|m| *m > 0.0);
            if let (Some(middle), Some((low, high))) = (middle, level.range(figure)) {
                spreads.push((high - low) / middle * 100.0);
            }
        }
    }
    let noisy = spreads.iter().filter(|s| **s > NOISE_PCT).count();
    let (text, tone) = match stats::summary::median(&spreads) {
        Some(median) => (
            format!(
                "{} repetitions; throughput varied between them by {} % (median over the levels), by more than \
                 {NOISE_PCT} % at {noisy} of {} levels",
                run.repetitions,
                number::figure(median),
                spreads.len(),
            ),
            if noisy > 0 { "warn" } else { "good" },
        ),
        None if run.points.iter().all(|p| p.key.is_observation()) => (
            "unknown: one observation; a second one shows how far two differ".to_owned(),
            "plain",
        ),
        None if run.is_of_parameter_file() => {
            ("unknown: measured once (-l 3 shows it)".to_owned(), "plain")
        }
        None => (
            "unknown: measured once (--repeat 3 shows it)".to_owned(),
            "plain",
        ),
    };
    Item {
        name: "Noise",
        text,
        tone,
    }
}

fn driver(run: &Run) -> Item {
    let largest = |name: &str| {
        run.points
            .iter()
            .filter_map(|p| p.figures.get(name))
            .reduce(f64::max)
    };
    let late: f64 = run
        .points
        .iter()
        .filter_map(|p| p.figures.late_starts)
        .sum();
    // Late starts within the default limits come from a busy machine; other limits are the plan's choice.
    let is_allowed = changes_limits(run);
    let known = largest("little_error_pct").is_some() || largest("driver_cpu_pct").is_some();
    Item {
        name: "Driver",
        text: if known {
            let at_most = [
                ("driver_cpu_pct", "of a core"),
                ("little_error_pct", "of the sessions' time"),
            ];
            // I/Os below a database have no sessions whose time could be compared.
            let mut parts: Vec<String> = at_most
                .iter()
                .filter_map(|(figure, of)| {
                    let largest = number::figure(largest(figure)?);
                    Some(format!("at most {largest} % {of}"))
                })
                .collect();
            parts.push(format!("{} late starts", number::whole(Some(late))));
            let limits = if is_allowed {
                "; the plan changes the limits ([validity])"
            } else {
                ""
            };
            parts.join(", ") + limits
        } else {
            "unknown".to_owned()
        },
        tone: if is_allowed { "warn" } else { "plain" },
    }
}

/// True if the plan sets its own limits for the checks on the driver.
fn changes_limits(run: &Run) -> bool {
    let plan = toml::from_str::<toml::Table>(&run.plan_toml);
    plan.is_ok_and(|plan| plan.contains_key("validity"))
}

/// True if other programs disturbed a point, on the CPU or at the device.
pub(super) fn is_crowded(figures: &Figures) -> bool {
    let cpu_pct = figures.cpu_by_others_pct;
    cpu_pct.is_some_and(|pct| pct > OTHERS_PCT_MAX) || figures.is_device_crowded()
}

/// CPU and device use of programs other than database and driver.
fn others(run: &Run) -> Item {
    let figures = || run.points.iter().map(|p| &p.figures);
    let shares: Vec<f64> = figures().filter_map(|f| f.cpu_by_others_pct).collect();
    let of_device: Vec<f64> = figures().filter_map(Figures::io_by_others_pct).collect();
    let crowded = shares.iter().filter(|pct| **pct > OTHERS_PCT_MAX).count();
    let waiting = figures().filter(|f| f.is_device_crowded()).count();
    let part = |what: &str, shares: &[f64], (limit, beyond): (&str, usize)| {
        let Some(most) = stats::summary::max(shares) else {
            return format!("{what} {}", number::UNKNOWN);
        };
        format!(
            "{what} at most {} %, above {limit} in {beyond} of {}",
            number::figure(most),
            number::counted(shares.len() as u64, "point"),
        )
    };
    let cpu_max = format!("{OTHERS_PCT_MAX} %");
    // A large share of a tiny amount disturbs nobody.
    let io_max = format!("{OTHERS_IO_PCT_MAX} % and {OTHERS_IO_MB_PER_S_MIN} MB/s");
    Item {
        name: "Other programs",
        text: format!(
            "{}; {}",
            part("CPU", &shares, (&cpu_max, crowded)),
            part("device I/O", &of_device, (&io_max, waiting)),
        ),
        tone: match crowded + waiting {
            0 => "plain",
            _ => "warn",
        },
    }
}

/// Targets whose server was restarted between points; `None` if all kept running.
fn restarts(run: &Run) -> Option<Item> {
    let restarted = (0..).zip(&run.targets).filter_map(|(index, target)| {
        let of_target = run.points.iter().filter(|p| p.key.target == index);
        let mut since: Vec<&str> = of_target
            .filter_map(|p| p.work.server_since.as_deref())
            .collect();
        since.dedup();
        let times = since.len().checked_sub(1).filter(|times| *times > 0)?;
        Some(format!(
            "{} was restarted {} between points",
            target.name,
            number::counted(times as u64, "time")
        ))
    });
    let restarted: Vec<String> = restarted.collect();
    (!restarted.is_empty()).then(|| Item {
        name: "Server",
        text: restarted.join("; "),
        tone: "warn",
    })
}

/// Missing rights of the targets' users; `None` if they have all.
fn rights(run: &Run) -> Option<Item> {
    let missing = run.targets.iter().filter_map(|target| {
        let missing = target.rights_missing.as_ref()?;
        Some((missing, format!("{}: {missing}", target.name)))
    });
    let (missing, texts): (Vec<&RightsMissing>, Vec<String>) = missing.unzip();
    (!missing.is_empty()).then(|| Item {
        name: "Rights",
        text: texts.join("; "),
        tone: if missing.iter().any(|missing| missing.hides_others()) {
            "warn"
        } else {
            "plain"
        },
    })
}

/// Flaws of the repeated published protocol; `None` without such a protocol.
fn protocol(run: &Run) -> Option<Item> {
    let unsound: Vec<String> = run.unsound().iter().map(Remark::to_string).collect();
    (!unsound.is_empty()).then(|| Item {
        name: "Published protocol",
        text: format!("unsound as the document has it: {}", unsound.join("; ")),
        tone: "warn",
    })
}

fn errors(run: &Run) -> Item {
    let sum = |name: &str| {
        let known: Vec<f64> = run
            .points
            .iter()
            .filter_map(|p| p.figures.get(name))
            .collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>())
    };
    let (errors, retries) = (sum("errors"), sum("retries"));
    Item {
        name: "Errors",
        text: format!(
            "{} errors, {} retries",
            number::whole(errors),
            number::whole(retries)
        ),
        tone: if errors.unwrap_or(0.0) > 0.0 {
            "warn"
        } else {
            "plain"
        },
    }
}
