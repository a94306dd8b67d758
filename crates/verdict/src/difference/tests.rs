//! Differences between invented runs.

use archive::{ControlGroup, DeviceCap, Fact, Inventory, Run, TargetRecord};

use super::*;

fn fact(section: &str, name: &str, value: &str, stated: bool) -> Fact {
    Fact {
        section: section.into(),
        name: name.into(),
        value: value.into(),
        stated,
    }
}

fn target(name: &str, version: &str, settings: &[(&str, &str)]) -> TargetRecord {
    let pairs = settings.iter();
    TargetRecord {
        name: name.into(),
        url: format!("{name}:/tmp/{version}/x.db"),
        engine: name.into(),
        engine_version: version.into(),
        nodes: 1,
        device: None,
        settings: pairs.map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        rights_missing: None,
    }
}

fn run(plan_toml: &str, targets: Vec<TargetRecord>) -> Run {
    Run {
        tool_version: "0.1.0".into(),
        plan_toml: plan_toml.into(),
        targets,
        ..Run::planned("quick")
    }
}

fn rows(a: &Run, b: &Run) -> Vec<(String, String, String)> {
    let dash = |value: Option<String>| value.unwrap_or_else(|| "–".into());
    let rows = differences(a, b).into_iter();
    rows.map(|d| (d.subject, dash(d.a), dash(d.b))).collect()
}

fn row(subject: &str, a: &str, b: &str) -> (String, String, String) {
    (subject.into(), a.into(), b.into())
}

const PLAN: &str = "name = \"quick\"\nabout = \"one\"\nsample_ms = 250\n[[step]]\nuse = \"library\"\njobs = [1, 2]\n";

#[test]
fn the_plan_stands_before_the_targets_and_these_before_the_machine() {
    let mut a = run(
        PLAN,
        vec![target("sqlite", "3.50", &[("cache_size", "64")])],
    );
    let mut b = run(
        "name = \"quick\"\nabout = \"two\"\nsample_ms = 250\nrepeat = 3\n[[step]]\nuse = \"library\"\njobs = [1, 4]\n",
        vec![target("sqlite", "3.51", &[("cache_size", "128")])],
    );
    a.inventory.facts = vec![
        fact("machine", "kernel", "6.1", false),
        fact("storage", "raid", "5", true),
        fact("sysctl", "vm.swappiness", "60", false),
    ];
    b.inventory.facts = vec![
        fact("machine", "kernel", "6.6", false),
        fact("storage", "raid", "6", true),
        fact("sysctl", "vm.swappiness", "60", false),
    ];
    b.tool_version = "0.2.0".into();
    b.seed = 2;
    let want = [
        row("dbdyno version", "0.1.0", "0.2.0"),
        row("plan: repeat", "–", "3"),
        row("plan: step 1 jobs", "1, 2", "1, 4"),
        row("target sqlite: setting cache_size", "64", "128"),
        row("target sqlite: version", "3.50", "3.51"),
        row("machine: machine kernel", "6.1", "6.6"),
        row("machine: storage raid (stated)", "5", "6"),
    ];
    assert_eq!(rows(&a, &b), want);
    assert!(differences(&a, &a).is_empty());
}

#[test]
fn a_target_that_only_one_run_has_is_one_row() {
    let a = run(PLAN, vec![target("sqlite", "3.50", &[])]);
    let b = run(
        PLAN,
        vec![target("sqlite", "3.50", &[]), target("duckdb", "1.5", &[])],
    );
    assert_eq!(rows(&a, &b), [row("target duckdb", "–", "duckdb 1.5")]);
}

#[test]
fn two_lone_targets_are_set_against_each_other_whatever_their_names() {
    let a = run(PLAN, vec![target("sqlite", "3.50", &[])]);
    let b = run(PLAN, vec![target("duckdb", "1.5", &[])]);
    let want = [
        row("target: URL", "sqlite: in a file", "duckdb: in a file"),
        row("target: engine", "sqlite", "duckdb"),
        row("target: version", "3.50", "1.5"),
    ];
    assert_eq!(rows(&a, &b), want);
}

#[test]
fn a_run_without_an_inventory_is_held_by_its_basic_facts() {
    let (mut a, mut b) = (run(PLAN, vec![]), run("not = [toml", vec![]));
    a.platform.memory_bytes = Some(8);
    b.platform.memory_bytes = Some(16);
    a.inventory.facts = vec![fact("machine", "kernel", "6.1", false)];
    let found = rows(&a, &b);
    assert_eq!(
        found.last(),
        Some(&row("machine: memory", "8 bytes", "16 bytes"))
    );
    assert!(found.contains(&row("plan: text", "–", "not = [toml")));
}

/// Limits of a control group are named, whichever way the run stores its facts.
#[test]
fn runs_under_other_caps_differ() {
    let (mut a, mut b) = (run(PLAN, vec![]), run(PLAN, vec![]));
    a.platform.control_group = Some(ControlGroup::default());
    b.platform.control_group = Some(ControlGroup {
        cpu_max_threads: Some(1.5),
        memory_max_bytes: Some(1537 << 20),
        swap_max_bytes: Some(0),
        devices: vec![DeviceCap {
            name: "sda".into(),
            read_max_iops: Some(5000),
            ..DeviceCap::default()
        }],
        ..ControlGroup::default()
    });
    let want = [
        row("machine: caps memory", "–", "1537 MiB"),
        row("machine: caps processor time", "–", "1.5 threads"),
        row("machine: caps sda reads", "–", "5000 a second"),
        row("machine: caps swap", "–", "0 bytes"),
    ];
    assert_eq!(rows(&a, &b), want);
}

#[test]
fn of_a_url_everything_but_the_path_counts() {
    for (url, want) in [
        ("sqlite:/data/x.db", "sqlite: in a file"),
        ("sqlite:", "sqlite: in memory"),
        ("postgres+local:", "postgres+local: made for the run"),
        (
            "postgres+local:/data/pg?version=15",
            "postgres+local: in a file with version=15",
        ),
        (
            "sqlite:/data/x.db?cache_mb=8",
            "sqlite: in a file with cache_mb=8",
        ),
        ("x://user@host:5432/bench", "x://user@host"),
        ("x://user@[::1]:5432/bench", "x://user@[::1]"),
        ("x://host/bench?others=allow", "x://host with others=allow"),
        ("x://user@%2Frun%2Fx%2F1/bench", "x://user@"),
        (
            "x://user@localhost/bench?socket=/run/x.sock&others=allow",
            "x://user@localhost with others=allow",
        ),
        (
            "x://user@localhost/bench?socket=%2Frun%2Fx.sock",
            "x://user@localhost",
        ),
    ] {
        assert_eq!(without_path(url), want);
    }
}

#[test]
fn places_that_every_server_has_for_itself_are_no_differences() {
    let server = |place: &str, port: &str, memory: &str| {
        let settings = [
            ("data_directory", place),
            ("unix_socket_directories", place),
            ("port", port),
            ("work_mem", memory),
        ];
        run(PLAN, vec![target("postgres", "15", &settings)])
    };
    let (a, b) = (
        server("/var/tmp/dbdyno-0/1", "5432", "4MB"),
        server("/srv/pg", "5433", "64MB"),
    );
    let want = [row("target postgres: setting work_mem", "4MB", "64MB")];
    assert_eq!(rows(&a, &b), want);
}

#[test]
fn a_device_that_one_machine_lacks_is_one_row_behind_all_others() {
    let found = |name: &str, value: &str| fact("block devices", name, value, false);
    let sda = |scheduler: &str| {
        vec![
            found("sda role", "data"),
            found("sda scheduler", scheduler),
            fact("sysctl", "vm.swappiness", "60", false),
        ]
    };
    let mut b = sda("none");
    b.extend([
        found("loop0 role", "other"),
        found("loop0 scheduler", "none"),
        found("loop0 size", "2.00 GiB"),
        fact("block devices", "loop1 model", "as stated", true),
    ]);
    let with = |facts| Inventory {
        facts,
        ..Inventory::default()
    };
    let (a, b) = (with(sda("bfq")), with(b));
    let found: Vec<(String, Option<String>, Option<String>)> = inventory_differences(&a, &b)
        .into_iter()
        .map(|d| (d.subject, d.a, d.b))
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        found,
        [
            (
                "machine: block devices loop1 model (stated)".to_owned(),
                None,
                some("as stated")
            ),
            (
                "machine: block devices sda scheduler".to_owned(),
                some("bfq"),
                some("none")
            ),
            (
                "machine: block device loop0".to_owned(),
                None,
                some("other, 2.00 GiB")
            ),
        ]
    );
}

#[test]
fn files_of_a_parameter_file_are_a_difference_and_those_of_a_database_are_not() {
    let on = |engine: &str, path: &str| run(PLAN, vec![target(engine, "0.3", &[("sd sd1", path)])]);
    let of_file = |path| on(archive::OF_PARAMETER_FILES, path);
    let (a, b) = (of_file("/a, o_direct"), of_file("/b, o_direct"));
    assert!(rows(&a, &b).contains(&row(
        "target vdbench: setting sd sd1",
        "/a, o_direct",
        "/b, o_direct"
    )));
    let of_database = |path| on("sqlite", path);
    assert!(differences(&of_database("/a"), &of_database("/b")).is_empty());
}
