use std::path::{Path, PathBuf};

use storage::language::{CommandLine, Variable, script};
use storage::profile::Profile;
use storage::run::{Run, Seek, Sizes};

fn runs(profile: &str, size: &str) -> Vec<Run> {
    let variable = |name: &str, value: &str| Variable {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let command = CommandLine {
        files: vec![PathBuf::from("profile")],
        variables: vec![variable("lun", "/d/f"), variable("size", size)],
        ..CommandLine::default()
    };
    let text = Profile::of(Path::new(&format!("profile:{profile}")))
        .unwrap()
        .unwrap()
        .text();
    script(&command, &|_| Ok(text.to_owned())).unwrap().runs
}

#[test]
fn the_matrix_of_a_database_is_whole() {
    let runs = runs("database", "1g");
    assert_eq!(runs.len(), 7 + 4 + 12 + 7 + 2 + 3 + 3 + 1);
    let depths = |name: &str| -> Vec<u32> {
        let of_name = runs.iter().filter(|run| run.name == name);
        of_name.map(|run| run.storage[0].threads).collect()
    };
    assert_eq!(depths("small"), [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(depths("large"), [1, 2, 4, 8]);
    for small in [1, 4, 16, 64] {
        for large in [1, 2, 4] {
            let name = format!("small{small}_large{large}");
            let run = runs.iter().find(|run| run.name == name).unwrap();
            let threads: Vec<u32> = run.storage.iter().map(|sd| sd.threads).collect();
            assert_eq!(threads, [small, large], "{name}");
            let what: Vec<_> = run.streams.iter().map(|s| (&s.sizes, s.seek)).collect();
            assert_eq!(
                what,
                [
                    (&Sizes::Fixed(8192), Seek::Random { pct: 100.0 }),
                    (&Sizes::Fixed(1 << 20), Seek::Sequential)
                ],
                "{name}"
            );
            assert!(run.streams.iter().all(|stream| stream.read_pct == 100.0));
        }
    }
}

#[test]
fn only_the_log_is_synchronous_and_everything_is_direct() {
    for run in runs("database", "1g") {
        for (index, sd) in run.storage.iter().enumerate() {
            assert!(sd.open_flags.direct, "{}", run.name);
            assert_eq!(sd.open_flags.data_sync, sd.name == "redo");
            assert_eq!(sd.open_flags.sync_each, sd.name == "redo_call");
            assert!(!sd.name.starts_with("redo") || run.writes_to(index));
            assert_eq!(sd.size_bytes, Some(1 << 30));
        }
    }
}

/// Parameters of a run on one storage, without names.
fn command(run: &Run) -> (Option<u32>, u32, u32, u32, f64, Seek, Sizes) {
    let stream = &run.streams[0];
    (
        run.elapsed_s,
        run.warmup_s,
        run.interval_s,
        run.storage[0].threads,
        stream.read_pct,
        stream.seek,
        stream.sizes.clone(),
    )
}

#[test]
fn mixed_runs_are_those_of_the_published_study() {
    let published = include_str!("../vdbench/appendix_f.txt");
    let lines = CommandLine {
        files: vec![PathBuf::from("published")],
        variables: vec![
            Variable {
                name: "dir".into(),
                value: "/d".into(),
            },
            Variable {
                name: "size".into(),
                value: "1g".into(),
            },
        ],
        ..CommandLine::default()
    };
    let published = script(&lines, &|_| Ok(published.to_owned())).unwrap().runs;
    let ours = runs("mixed", "1g");
    assert_eq!(
        ours.iter().map(command).collect::<Vec<_>>(),
        published.iter().map(command).collect::<Vec<_>>()
    );
    assert!(ours.iter().all(|run| run.storage[0].open_flags.direct));
}

#[test]
fn a_profile_that_is_not_there_is_named_with_those_that_are() {
    let error = Profile::of(Path::new("profile:elsewhere"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "there is no profile elsewhere; available: database, mixed"
    );
}
