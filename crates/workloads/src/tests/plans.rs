//! Reading of plans, and the words of their refusals.

use lab::Plan;
use workload::{Library, Test};

use super::plan;

const MINIMAL: &str = "name = \"p\"\n[[step]]\nuse = \"library\"\ntests = [\"T611\"]\n";

fn error(text: &str, settings: &[&str]) -> String {
    plan(text, settings).unwrap_err().to_string()
}

#[test]
fn the_built_in_plans_parse_and_survive_the_archive() {
    for name in Plan::built_in() {
        let built_in = plan(&Plan::text(name).unwrap(), &[]).unwrap();
        assert_eq!(built_in.name, name);
        assert_eq!(plan(&built_in.to_toml(), &[]).unwrap(), built_in);
    }
}

#[test]
fn the_plan_library_leaves_no_test_out() {
    let plan = plan(&Plan::text("library").unwrap(), &[]).unwrap();
    let mut planned: Vec<_> = plan.step.iter().flat_map(|step| &step.tests).collect();
    planned.sort();
    let library = Library::embedded().unwrap();
    assert!(planned.into_iter().eq(library.tests().map(Test::code)));
}

#[test]
fn settings_reach_all_steps_or_one() {
    let settings = ["sample_ms=50", "step.size=small", "step.1.jobs=[1,2]"];
    let plan = plan(MINIMAL, &settings).unwrap();
    assert_eq!((plan.sample_ms, plan.step[0].size.as_str()), (50, "small"));
    assert_eq!(lab::plan::degrees_on(&plan.step[0].jobs, 2), [1, 2]);
}

#[test]
fn limits_of_the_checks_stand_in_the_plan_only_where_they_differ() {
    let minimal = |settings: &[&str]| plan(MINIMAL, settings).unwrap();
    assert!(!minimal(&[]).to_toml().contains("validity"));
    let other = minimal(&["validity.late_starts_pct_max=100"]);
    assert_eq!(other.validity.late_starts_pct_max, 100.0);
    assert_eq!(other.validity.driver_pct_max, 25.0);
    assert_eq!(plan(&other.to_toml(), &[]).unwrap(), other);
    for (setting, says) in [
        (
            "validity.late_start_pct_max=5",
            "did you mean \"late_starts_pct_max\"",
        ),
        ("validity.driver_pct_max=101", "is not between 0 and 100"),
        ("validity.driver_pct_max=nan", "is not between 0 and 100"),
        ("validity=5", "the plan is invalid"),
    ] {
        let said = error(MINIMAL, &[setting]);
        assert!(said.contains(says), "{setting}: {said}");
    }
}

#[test]
fn the_three_schedules() {
    let words = |settings: &[&str]| {
        let all = ["step.mode=time", "step.seconds=1.0"]
            .iter()
            .chain(settings);
        let all: Vec<&str> = all.copied().collect();
        plan(MINIMAL, &all).unwrap().step[0].schedule_words()
    };
    assert_eq!(words(&["step.think_ms=20.0"]), "closed, think time 20 ms");
    assert_eq!(
        words(&["step.rate_per_s=500.0", "step.arrivals=poisson"]),
        "open, Poisson, 500/s"
    );
    let semi_open = [
        "step.rate_per_s=5.0",
        "step.operations_per_session=3",
        "step.think_ms=1.0",
    ];
    assert_eq!(
        words(&semi_open),
        "semi-open, constant, 5 sessions/s of 3 operations, think time 1 ms"
    );
}

#[test]
fn a_misspelt_key_names_the_nearest() {
    let text = MINIMAL.replace("tests", "test");
    assert!(error(&text, &[]).contains("did you mean \"tests\"?"));
    assert!(error(MINIMAL, &["sampel_ms=1"]).contains("did you mean \"sample_ms\"?"));
    assert!(error(MINIMAL, &["step.sise=\"small\""]).contains("did you mean \"size\"?"));
    assert!(
        error(&MINIMAL.replace("library", "libary"), &[]).contains("did you mean \"library\"?")
    );
}

#[test]
fn what_contradicts_itself_is_refused() {
    let cases = [
        ("step.mode=time", "needs seconds"),
        ("step.seconds=3", "needs mode"),
        ("step.jobs=[0]", "between 1 and"),
        ("step.jobs=[2,2]", "twice"),
        ("repeat=0", "repeat"),
        ("step.rate_per_s=5", "mode = \"time\""),
        ("step.arrivals=poisson", "rate_per_s"),
        ("step.operations_per_session=3", "rate_per_s"),
        (
            "step.9.size=small",
            "there is no step 9; the plan has 1 step",
        ),
        ("a.b.c.d=1", "no such key"),
        ("step.jobs=many", "invalid"),
        ("primary=[\"T611\"]", "is not a metric"),
        (
            "primary=[\"T611.cpu_pct_avg\"]",
            "neither a higher nor a lower",
        ),
    ];
    for (setting, expected) in cases {
        let message = error(MINIMAL, &[setting]);
        assert!(message.contains(expected), "{setting}: {message}");
    }
    let foreign =
        "name = 'p'\n[[step]]\nuse = 'olap'\nscript = 's.toml'\n[step.olap]\ndo = 'run'\n";
    assert_eq!(error(foreign, &[]), "step 1: script needs use = \"script\"");
    assert!(error("name = ", &[]).contains("not TOML"));
    assert!(error("name = \"x\"\nstep = []\n", &[]).contains("no [[step]]"));
}
