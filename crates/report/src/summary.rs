//! The answer of a run in sentences that need no glossary: for the top of the page, the terminal and Markdown.

use archive::{Graded, Resource, Run, TargetRecord};

use crate::grade::grade;
use crate::level::{self, TestGroup};
use crate::main_figures::{MainFigure, main_figures};
use crate::users::concurrency;
use crate::{number, remarks, scorecard};

/// Most figures in the sentence of a target, and most targets.
const FIGURES_MAX: usize = 2;
const TARGETS_MAX: usize = 3;

/// The first answer of a run.
#[derive(Debug, Clone)]
pub struct Summary {
    /// A sentence for each target: its best figures, their latency, and what limits them.
    pub measured: Vec<String>,
    pub grade: Graded,
}

impl Summary {
    /// Sentences in their order, the grade last.
    pub fn sentences(&self) -> Vec<String> {
        let grade = std::iter::once(&self.grade.sentence);
        self.measured.iter().chain(grade).cloned().collect()
    }
}

/// The answer of a run, graded with the other sides of its study.
pub fn summary(run: &Run, sides: &[&Run]) -> Summary {
    let groups = level::tests(run, scorecard::rank);
    Summary {
        measured: measured(run, &groups),
        grade: grade(run, sides),
    }
}

pub(crate) fn measured(run: &Run, groups: &[TestGroup<'_>]) -> Vec<String> {
    let main = main_figures(run, groups);
    if run.is_of_parameter_file() {
        return of_parameter_file(run, &main).into_iter().collect();
    }
    let of_target = |target: u32| {
        let own: Vec<&MainFigure<'_>> = main.iter().filter(|main| main.target == target).collect();
        let said = own.iter().filter(|main| main.says().is_some());
        let mut said: Vec<&MainFigure<'_>> = said.copied().take(FIGURES_MAX).collect();
        if said.is_empty() {
            said.extend(own.first());
        }
        sentence(run, target, &said)
    };
    let targets = 0..run.targets.len() as u32;
    let mut sentences: Vec<String> = targets.filter_map(of_target).collect();
    let more = sentences.len().saturating_sub(TARGETS_MAX);
    sentences.truncate(TARGETS_MAX);
    if more > 0 {
        sentences.push(format!(
            "{} more below.",
            number::counted(more as u64, "target")
        ));
    }
    sentences
}

/// "PostgreSQL 15.18 on db1 commits 5,100 transactions per second with 8 sessions at 1.90 ms (p95), limited by the WAL; it …"
fn sentence(run: &Run, target: u32, said: &[&MainFigure<'_>]) -> Option<String> {
    let (first, rest) = said.split_first()?;
    let mut text = format!("{} {}", subject(run, target), phrase(first));
    let limit = |main: &MainFigure<'_>| {
        let point = main.level.first();
        let resource = point.held_back.bottleneck.as_ref()?.resource;
        let is_shared = point.figures.is_crowded() == Some(true);
        Some(match resource {
            Resource::Cpu if is_shared => "limited by the CPU, which other programs used too",
            Resource::Device if is_shared => {
                "limited by the storage device, which other programs used too"
            }
            resource => limited_by(resource)?,
        })
    };
    if let Some(limit) = limit(first) {
        text += &format!(", {limit}");
    }
    for main in rest {
        text += &format!("; it {}", phrase(main));
        if let Some(of) = limit(main).filter(|of| limit(first) != Some(of)) {
            text += &format!(", {of}");
        }
    }
    Some(text + ".")
}

/// "/dev/vdb on db1 delivers 52,000 IOPS (213 MB/s) in 4k random reads at the maximum rate (rd1 threads=8) with 8 in flight at 303 µs (mean),
/// 1.20 ms (p99)", of the best run without a rate.
fn of_parameter_file(run: &Run, main: &[MainFigure<'_>]) -> Option<String> {
    let is_at_maximum = |main: &&MainFigure<'_>| main.level.first().work.schedule == "closed";
    let by_rate = |a: &&MainFigure<'_>, b: &&MainFigure<'_>| a.value().total_cmp(&b.value());
    let at_maximum = main.iter().filter(is_at_maximum).max_by(by_rate);
    let best = at_maximum.or_else(|| main.iter().max_by(by_rate))?;
    let mb_per_s = best.level.figure("payload_mb_per_s");
    let mb_per_s = mb_per_s.map(|mb| format!(" ({} MB/s)", number::three_digits(mb)));
    // Times since the intended start are not those of the storage if the driver started late.
    let kind = match remarks::is_late(&best.level) {
        true => "service",
        false => "response",
    };
    let time = |end: &str| {
        let us = best.level.figure(&format!("{kind}_us_{end}"))?;
        Some(format!("{} ({end})", number::latency(Some(us))))
    };
    let times: Vec<String> = ["mean", "p99"].into_iter().filter_map(time).collect();
    let times = match times.is_empty() {
        true => String::new(),
        false => format!(" at {}", times.join(", ")),
    };
    Some(format!(
        "{} delivers {} IOPS{} in {} with {}{times}.",
        subject(run, best.target),
        number::three_digits(best.value()),
        mb_per_s.unwrap_or_default(),
        best.title(),
        concurrency(best.level.first()),
    ))
}

/// "PostgreSQL 15.18 on db1".
fn subject(run: &Run, target: u32) -> String {
    let host = run.platform.host_name.as_deref();
    let on = host.map_or_else(String::new, |host| format!(" on {host}"));
    let Some(record) = run
        .targets
        .get(target as usize)
        .filter(|_| !run.is_of_parameter_file())
    else {
        return format!("{}{on}", level::target_name(run, target));
    };
    let several = run
        .targets
        .iter()
        .filter(|other| other.engine == record.engine)
        .count()
        > 1;
    let name = if several {
        format!(" ({})", record.name)
    } else {
        String::new()
    };
    format!("{}{name}{on}", database(record))
}

/// "PostgreSQL 15.18", without the package of its distribution.
pub fn database(target: &TargetRecord) -> String {
    let version = target.engine_version.split(" (").next();
    let name = format!("{} {}", target.engine, version.unwrap_or_default());
    name.trim().to_owned()
}

fn phrase(main: &MainFigure<'_>) -> String {
    let key = &main.level.first().key;
    let value = number::three_digits(main.value());
    let what = match (main.says(), main.is_observation()) {
        (_, true) => format!("ran {value} transactions per second"),
        (Some(says), _) => says.replace("{}", &value),
        (None, _) => format!("delivers {value} {} in {}", main.unit, main.title()),
    };
    let with = match key.dop() {
        0 | 1 => String::new(),
        _ if main.is_observation() => String::new(),
        _ => format!(" with {}", concurrency(main.level.first())),
    };
    let at = main
        .latency("p95")
        .map(|us| format!(" at {} (p95)", number::latency(Some(us))));
    format!("{what}{with}{}", at.unwrap_or_default())
}

fn limited_by(resource: Resource) -> Option<&'static str> {
    Some(match resource {
        Resource::Unknown => return None,
        Resource::None => "with no resource at its limit",
        Resource::Cpu => "limited by the CPU",
        Resource::Device => "limited by the storage device",
        Resource::LogSync => "limited by syncs of the WAL",
        Resource::Lock => "limited by locks",
        Resource::Latch => "limited by locks inside the server",
        Resource::Memory => "limited by memory",
        Resource::Network => "limited by the network",
        Resource::Scheduling => "limited by context switches between driver and server",
        Resource::Driver => "limited by the driver",
        Resource::OtherWait => "limited by another wait",
        Resource::Several => "limited by several resources",
    })
}

#[cfg(test)]
mod tests {
    use archive::{Bottleneck, Component, Point, PointKey, TargetRecord};
    use stats::Histogram;

    use super::*;

    fn run_of(engine: &str, points: Vec<Point>) -> Run {
        let mut run = Run {
            targets: vec![TargetRecord {
                name: "pg".into(),
                engine: engine.into(),
                engine_version: "15.18".into(),
                ..TargetRecord::default()
            }],
            points,
            ..Run::default()
        };
        run.platform.host_name = Some("db1".into());
        run
    }

    fn point(test: &str, jobs: u32, rate: f64, limit: Resource) -> Point {
        let mut point = Point::blank(
            PointKey::of(test, jobs),
            "Its title".into(),
            Component::Database,
        );
        point.figures.operations_per_s = Some(rate);
        let mut response = Histogram::new();
        response.record_ns(1_900_000);
        point.histograms.response = (&response).into();
        point.held_back.bottleneck = Some(Bottleneck {
            resource: limit,
            sentence: String::new(),
        });
        point
    }

    #[test]
    fn a_database_has_its_best_figures_and_their_limits() {
        let run = run_of(
            "PostgreSQL",
            vec![
                point("T311", 1, 900.0, Resource::None),
                point("T311", 8, 5_104.0, Resource::LogSync),
                point("T611", 4, 28_937.0, Resource::Cpu),
            ],
        );
        assert_eq!(
            summary(&run, &[]).measured,
            [
                "PostgreSQL 15.18 on db1 commits 5,100 transactions per second with 8 sessions at 1.90 ms (p95), limited by syncs of the WAL; it \
                 answers 28,900 primary-key queries per second with 4 sessions at 1.90 ms (p95), limited by the CPU."
            ]
        );
    }

    #[test]
    fn a_parameter_file_has_its_best_run_at_the_maximum_rate() {
        let below = |test: &str, title: &str, rate: f64, schedule: &str| {
            let mut point = point(test, 8, rate, Resource::Unknown);
            point.title = title.to_owned();
            point.component = Component::Storage;
            point.work.below_database = true;
            point.work.schedule = schedule.to_owned();
            point.figures.payload_mb_per_s = Some(rate * 4_096.0 / 1e6);
            point
        };
        let mut run = run_of(
            archive::OF_PARAMETER_FILES,
            vec![
                below(
                    "rd1 threads=1",
                    "4k random reads at the maximum rate",
                    7_010.0,
                    "closed",
                ),
                below(
                    "rd1 threads=8",
                    "4k random reads at the maximum rate",
                    52_000.0,
                    "closed",
                ),
                below("rd2", "4k random reads at 60000/s", 60_000.0, "open"),
            ],
        );
        run.plan_name = archive::OF_PARAMETER_FILES.into();
        let sds = ["sd1", "sd2"].map(|sd| (format!("sd {sd}"), "/dev/vdb, o_direct".to_owned()));
        run.targets[0].settings = sds.into_iter().collect();
        let said = |run: &Run| summary(run, &[]).measured.join(" ");
        assert_eq!(
            said(&run),
            "/dev/vdb on db1 delivers 52,000 IOPS (213 MB/s) in 4k random reads at the maximum rate (rd1 threads=8) with 8 in flight at \
             1.90 ms (mean), 1.90 ms (p99)."
        );
        // The driver prolonged the time since the intended start; the point has no service times.
        run.points[1].notes.push(archive::Remark::LateStarts {
            late: 9,
            operations: 100,
            allowed: false,
        });
        assert!(said(&run).ends_with("with 8 in flight."), "{}", said(&run));
    }

    #[test]
    fn users_observations_and_files_have_words_of_their_own() {
        let mut users = point("OLTP", 8, 100.0, Resource::Lock);
        users.figures.new_orders_per_min = Some(2_700.0);
        let said = |engine: &str, point: Point| {
            summary(&run_of(engine, vec![point]), &[])
                .measured
                .remove(0)
        };
        assert_eq!(
            said("MariaDB", users),
            "MariaDB 15.18 on db1 enters 2,700 new orders per minute with 8 users at 1.90 ms (p95), limited by locks."
        );
        let mut observed = point(PointKey::OBSERVATION, 0, 321.4, Resource::None);
        observed.histograms = archive::Histograms::default();
        assert_eq!(
            said("PostgreSQL", observed),
            "PostgreSQL 15.18 on db1 ran 321 transactions per second, with no resource at its limit."
        );
        assert_eq!(
            said("SQLite", point("S1", 1, 4_108_909.0, Resource::Unknown)),
            "SQLite 15.18 on db1 delivers 4.11 million ops/s in Its title (S1) at 1.90 ms (p95)."
        );
    }
}
