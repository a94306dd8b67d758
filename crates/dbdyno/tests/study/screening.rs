//! Studies of more than two sides, and the screening of several settings.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use archive::{
    Archive, Factor, PlannedAnalysis, Point, PointKey, Run, RunName, RunState, Screened, SideLabel,
    Until,
};
use host::SystemClock;
use lab::study::{self, Side, Stopping, StudyOptions};
use lab::{LabError, Observer, Registry};
use load::Progress;
use stats::compare::{Direction, judge};
use stats::factorial::TwoLevel;
use verdict::contrasts::{Kind, Options, contrasts};
use verdict::metric::Metric;
use workload::Library;

use crate::common::words;
use crate::common::{Workspace, repository};
use crate::sleep::Sleep;
use testing::Says;

/// The flag that stops a run belongs to the process.
static ONE_STUDY: Mutex<()> = Mutex::new(());

const NAP: &str = "name = \"siesta\"\nsample_ms = 10\nrepeat = 3\n\
    [[step]]\nuse = \"sleep\"\n[step.sleep]\nsleepers = [1]\nnaps = 1\n";

fn napping() -> Registry {
    workloads::registry(Library::embedded().unwrap()).with(Box::new(Sleep))
}

/// Studies with more than two sides have no interim analyses.
struct Never;

impl Stopping for Never {
    fn elapsed(&self) -> Duration {
        unreachable!("nothing stops it")
    }
    fn analyses(&self, _: u32) -> Vec<PlannedAnalysis> {
        unreachable!("nothing stops it")
    }
    fn is_planned(&mut self, _: &Until, _: Duration) {
        unreachable!("nothing stops it")
    }
    fn is_answered(&mut self, _: &Run, _: &Run) -> bool {
        unreachable!("nothing stops it")
    }
}

/// Records the sides of begun points, and stops the study after one of them.
#[derive(Default)]
struct Contrast {
    letters: String,
    stops_at: Option<usize>,
}

impl Observer for Contrast {
    fn begins(&mut self, _: &str, _: usize, _: usize) {}
    fn point_begins(&mut self, _: &PointKey, _: &str, target: &str, _: &Arc<Progress>) {
        self.letters.extend(target.chars().next());
    }
    fn point_ends(&mut self, _: &Point) {
        let stops = self.stops_at == Some(self.letters.len());
        lab::signal::stop_flag().store(stops, std::sync::atomic::Ordering::Relaxed);
    }
}

fn options(archive: &Path, sides: Vec<Side>, registry: fn() -> Registry) -> StudyOptions {
    let workloads = sides.iter().map(|_| registry()).collect();
    StudyOptions {
        name: Some("s".into()),
        ..StudyOptions::new(sides, 3, archive, 1, workloads)
    }
}

fn nap() -> Side {
    let sqlite = [engines::parse("sqlite:").unwrap()];
    Side::new(&napping(), NAP, &[], &[], &sqlite).unwrap()
}

fn load(archive: &Path, sides: usize) -> Vec<Run> {
    let archive = Archive::open_read_only(archive).unwrap();
    let label = |number| RunName::Label(SideLabel::new("s", number).to_string());
    (0..sides)
        .map(|number| archive.load_run(&label(number)).unwrap())
        .collect()
}

#[test]
fn many_sides_are_measured_in_rounds_and_resumed() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let workspace = tempfile::tempdir().unwrap();
    let archive = workspace.path().join("a.dbdyno");
    let mut observer = Contrast {
        stops_at: Some(6),
        ..Contrast::default()
    };
    let sides = (0..4).map(|_| nap()).collect();
    let ended = study::study(options(&archive, sides, napping), &mut Never, &mut observer);
    lab::signal::stop_flag().store(false, std::sync::atomic::Ordering::Relaxed);
    let Err(interrupted) = ended else {
        panic!("not interrupted");
    };
    assert!(matches!(
        interrupted,
        LabError::Interrupted { finished: 6, .. }
    ));
    let order = study::draw_order(4, 3, 1);
    let part = load(&archive, 4)[3].study.clone().unwrap();
    assert_eq!((part.sides, &part.order), (4, &order));

    observer.stops_at = None;
    let clock = Arc::new(SystemClock);
    study::resume("s", &archive, &napping, clock, &mut Never, &mut observer).unwrap();
    assert_eq!(observer.letters, order.to_uppercase());
    for run in load(&archive, 4) {
        let rounds: Vec<u32> = run.points.iter().map(|p| p.key.repetition).collect();
        assert_eq!((rounds, run.state), (vec![1, 2, 3], RunState::Complete));
    }
    // Any two sides are compared in pairs, with a caution.
    let runs = load(&archive, 4);
    let compared = verdict::compare::compare(&runs[1], &runs[3], &Default::default()).unwrap();
    assert!(compared.design.is_paired());
    assert!(
        compared
            .cautions
            .iter()
            .any(|c| c.contains("two of the 4 sides"))
    );
    let pairs = &compared.primary().next().unwrap().pairs;
    for (pair, round) in pairs.iter().zip(order.as_bytes().chunks(4)) {
        let workspace = |letter| round.iter().position(|l| *l == letter);
        assert_eq!(pair.is_a_first, workspace(b'b') < workspace(b'd'));
    }
    let again = study::resume(
        "s",
        &archive,
        &napping,
        Arc::new(SystemClock),
        &mut Never,
        &mut observer,
    );
    assert!(again.unwrap_err().to_string().contains("nothing to resume"));
}

#[test]
fn invalid_studies_of_many_sides_are_refused() {
    let workspace = tempfile::tempdir().unwrap();
    let archive = workspace.path().join("a.dbdyno");
    let refusal = |sides: usize, set: fn(&mut StudyOptions)| {
        let sides = (0..sides).map(|_| nap()).collect();
        let mut options = options(&archive, sides, napping);
        set(&mut options);
        let ended = study::study(options, &mut Never, &mut Contrast::default());
        ended.unwrap_err().to_string()
    };
    let slice = |options: &mut StudyOptions| options.slice = Some(Duration::from_millis(100));
    let until = |options: &mut StudyOptions| options.until = Some(Until::default());
    for refused in [refusal(3, slice), refusal(3, until)] {
        assert!(refused.contains("only two sides"), "{refused}");
    }
    for refused in [refusal(1, |_| {}), refusal(17, |_| {})] {
        assert!(refused.contains("2 to 16 sides"), "{refused}");
    }
    assert!(!archive.exists());
}

/// A hundred times slower, which exceeds any noise.
#[test]
fn a_planted_effect_is_found_among_settings() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let workspace = tempfile::tempdir().unwrap();
    let archive = workspace.path().join("a.dbdyno");
    fn registry() -> Registry {
        let library = Library::from_directory(&repository("bench/aa/library"));
        workloads::registry(library.unwrap())
    }
    let plan = std::fs::read_to_string(repository("bench/aa/mock.toml")).unwrap();
    let factor = |key: &str, low: &str, high: &str| Factor {
        key: key.into(),
        low: low.into(),
        high: high.into(),
    };
    let factors = [
        factor("target.service_us", "1000", "100000"),
        factor("target.noise_pct", "0", "1"),
    ];
    let common = ["repeat=3", "step.seconds=0.1"].map(|text| lab::Setting::parse(text).unwrap());
    let target = engines::parse("mock:?wait=sleep").unwrap();
    let side = |high: &Vec<bool>| {
        let pairs = factors.iter().zip(high);
        let own =
            pairs.map(|(f, high)| format!("{}={}", f.key, if *high { &f.high } else { &f.low }));
        let own: Vec<String> = own.collect();
        Side {
            screened: Some(Screened {
                factors: factors.to_vec(),
                high: high.clone(),
            }),
            ..Side::new(
                &registry(),
                &plan,
                &common,
                &own,
                std::slice::from_ref(&target),
            )
            .unwrap()
        }
    };
    let design = TwoLevel::of(2, None).unwrap();
    let sides = design.rows().iter().map(side).collect();
    let observer = &mut Contrast::default();
    study::study(options(&archive, sides, registry), &mut Never, observer).unwrap();
    let runs = load(&archive, 4);
    let mut any_order: Vec<&Run> = runs.iter().collect();
    any_order.swap(0, 2);
    let found = contrasts(Kind::Screening, &any_order, &Options::default()).unwrap();
    assert_eq!((found.resolution, found.rounds, found.family), (None, 3, 2));
    // A busy machine adds an unknown amount to either level and to each round, so that the expected result is computed from the archive.
    let of_metric = &found.metrics[0];
    let effect = &of_metric.contrasts.as_ref().unwrap()[0];
    let ratio = &effect.contrast.ratio;
    let expected = effect_of(&of_metric.metric, &runs, &design);
    assert!(
        (ratio.estimate / expected - 1.0).abs() < 1e-9,
        "{ratio:?}, not {expected}"
    );
    assert_eq!(
        effect.verdict,
        judge(ratio, found.band, Direction::LowerIsBetter)
    );
    let levels: Vec<&[bool]> = found.sides.iter().map(|row| &row.high[..]).collect();
    assert_eq!(levels, design.rows());
}

/// The effect of the first setting: the mean of the logarithms at the high value, less that at the low one.
fn effect_of(metric: &Metric, runs: &[Run], design: &TwoLevel) -> f64 {
    let mean = |is_high: bool| {
        let sides = design
            .rows()
            .iter()
            .zip(runs)
            .filter(|(row, _)| row[0] == is_high);
        let logs = sides.flat_map(|(_, run)| metric.values(run));
        let logs: Vec<f64> = logs.map(|value| value.unwrap().ln()).collect();
        assert_eq!(logs.len(), 6);
        logs.iter().sum::<f64>() / 6.0
    };
    (mean(true) - mean(false)).exp()
}

#[test]
fn settings_are_screened_from_command_to_page() {
    const TWO: &str = "--vary target.cache_mb=8,16 --vary step.oltp.users=1,2";
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "screen.db");
    let study = ["study", "settings", "--target", &url];
    let two = words(TWO, &[]);
    let little = words(
        "--set step.2.seconds=0.3 --set step.2.ramp_up_seconds=0 --set step.oltp.check=none --set \
        step.oltp.warm_up_max_seconds=0 --repeat 1 --name v -o v.html --full",
        &[],
    );
    let ended = workspace.ends(2, &[&study[..], &two, &little].concat());
    ended.stderr.says("an interval needs 3");
    let ended = workspace.fine(&[&study[..], &two, &little, &["--yes"]].concat());
    let said = "4 configurations of 2 settings (all combinations) in 1 round,";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    ended
        .stdout
        .says("No effects: the method needs 3 values and has 1");
    let settings = ["v-a", "v-b", "v-c", "v-d"]
        .map(|label| workspace.export(label)["run"]["study"]["settings"].clone());
    assert_eq!(
        settings[0].to_string(),
        r#"["target.cache_mb=8","step.oltp.users=1"]"#
    );
    assert_eq!(
        settings[3].to_string(),
        r#"["target.cache_mb=16","step.oltp.users=2"]"#
    );

    // The archive alone gives the same result.
    let compared = workspace.fine("compare v --full").stdout;
    assert!(ended.stdout.starts_with(&compared), "{}", ended.stdout);
    let json = workspace.json("compare v --format json");
    assert_eq!(json["schema"], "dbdyno-screening/1");
    assert_eq!(json["configurations"].as_array().unwrap().len(), 4);
    for flags in [
        &["--band", "learned"][..],
        &["--prices", "p.toml"],
        &["--allow-mismatch"],
    ] {
        let refused = workspace.ends(2, &[&["compare", "v"], flags].concat());
        let says = "belongs to two sides, and this study has more";
        assert!(refused.sentence().contains(says), "{}", refused.stderr);
    }
    workspace.fine("report v -o again.html");
    for page in ["v.html", "again.html"] {
        let page = std::fs::read_to_string(workspace.path(page)).unwrap();
        page.says_all(&["id=\"screening\"", "dbdyno · v<"]);
        assert!(
            !page.contains("id=\"forest\""),
            "every side is no comparison of its own"
        );
    }
    let resumed = workspace.dbdyno("ab --resume v");
    resumed.sentence().says("dbdyno study --resume v");

    let many: String = (0..16)
        .map(|n| format!("--vary target.k{n}=1,2 "))
        .collect();
    let table = "
        --vary step.oltp.users=1,2 --vary step.oltp.users=2,4   => names step.oltp.users twice
        --vary step.2.seconds=1,2 --vary step.seconds=3,4       => sets the same
        --vary step.2.seconds=1,1.0 --vary target.cache_mb=8,16 => both values give the same
        TWO --set step.oltp.users=3                             => set with --set and varied
        TWO --set configurations=8                                  => are screened with 4
        --vary target.cache_mb=8,16 --set configurations=4          => belongs to a screening
        TWO --band learned                                      => --band learned belongs to two sides
        MANY                                                    => 16 settings are too many
    ";
    for (more, says) in testing::rows(&table.replace("TWO", TWO).replace("MANY", &many)) {
        let ended = workspace.ends(2, &[&study[..], &words(more, &[])].concat());
        assert!(ended.sentence().contains(says), "{more}: {}", ended.stderr);
    }
}
