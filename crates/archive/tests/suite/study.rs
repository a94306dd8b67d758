//! Studies that are looked at before their end.

use archive::{
    Archive, ArchiveError, Ended, NewRun, PlannedAnalysis, PointKey, RunName, RunState, StudyPart,
    Until,
};

use crate::common::{empty, key, new_run, point};

fn of_pair(pair: u32) -> PointKey {
    PointKey {
        repetition: pair,
        ..key(1)
    }
}

fn until() -> Until {
    let analysis = |pairs, spent| PlannedAnalysis { pairs, spent };
    Until {
        effect_pct: 3.0,
        analyses: vec![analysis(2, 0.5), analysis(4, 1.0)],
        ..Until::default()
    }
}

/// Both sides of a study of at most four pairs.
fn begun(archive: &mut Archive) -> [i64; 2] {
    ["a", "b"].map(|side| {
        let study = StudyPart {
            name: "s".into(),
            side: side.into(),
            order: "abbaabab".into(),
            until: Some(until()),
            ..StudyPart::default()
        };
        let new = NewRun {
            study: Some(study),
            repetitions: 4,
            ..new_run(Some(&format!("s-{side}")), (1..=4).map(of_pair).collect())
        };
        archive.create_run(&new).unwrap()
    })
}

#[test]
fn a_study_that_stops_early_is_complete_and_unchanged() {
    let (_directory, mut archive) = empty();
    let ids = begun(&mut archive);
    for id in ids {
        for pair in 1..=2 {
            archive.append_point(id, &point(of_pair(pair))).unwrap();
        }
    }
    let mut until = until();
    until.taken = 1;
    archive.set_until(ids, &until).unwrap();
    let run = archive.load_run(&RunName::Id(ids[1])).unwrap();
    assert_eq!((run.repetitions, run.points_planned), (4, 4));
    until.ended = Some(Ended::Answered);
    archive.set_until(ids, &until).unwrap();
    for id in ids {
        archive.finish_run(id, RunState::Complete, None).unwrap();
        let run = archive.load_run(&RunName::Id(id)).unwrap();
        assert_eq!((run.repetitions, run.points_planned), (2, 2));
        assert!(run.valid(), "{:?}", run.reasons);
        assert_eq!(run.study.unwrap().until.as_ref(), Some(&until));
    }
}

#[test]
fn pairs_that_were_measured_stay() {
    let (_directory, mut archive) = empty();
    let ids = begun(&mut archive);
    archive.append_point(ids[1], &point(of_pair(3))).unwrap();
    let mut until = until();
    (until.taken, until.ended) = (1, Some(Ended::Time));
    let refused = archive.set_until(ids, &until);
    assert!(
        matches!(refused, Err(ArchiveError::PointTwice { .. })),
        "{refused:?}"
    );
    // Neither side was touched.
    let run = archive.load_run(&RunName::Id(ids[0])).unwrap();
    assert_eq!(run.points_planned, 4);
    assert_eq!(run.study.unwrap().until.unwrap().taken, 0);
}

/// The label of the last of three is taken: the other two are not entered, and their names and locks are free.
#[test]
fn runs_of_a_study_are_entered_together_or_not_at_all() {
    let (_directory, mut archive) = empty();
    let new = |label: &str| new_run(Some(label), vec![key(1)]);
    archive.create_run(&new("s-c")).unwrap();
    let sides = ["s-a", "s-b", "s-c"].map(new);
    let error = archive.create_runs(&sides).unwrap_err();
    assert!(matches!(error, ArchiveError::LabelTaken { .. }), "{error}");
    assert_eq!(archive.list_runs().unwrap().len(), 1);
    for (label, is_free) in [("s-a", true), ("s-c", false), ("last", false)] {
        assert_eq!(archive.refuse_label(label).is_ok(), is_free, "{label}");
    }
    let mut other = Archive::open(archive.path()).unwrap();
    assert_eq!(other.create_runs(&sides[..2]).unwrap(), [2, 3]);
}
