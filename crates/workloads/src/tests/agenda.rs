//! Points of a plan, and their obstacles.

use lab::nodes::group;
use lab::{Agenda, Nodes};

use super::{plan, registry};

fn sqlite() -> Vec<Nodes> {
    let groups = group(&[engines::parse("sqlite:").unwrap()]).unwrap();
    groups.iter().map(|g| Nodes::open(g).unwrap()).collect()
}

fn lay(text: &str) -> Agenda {
    let plan = plan(text, &[]).unwrap();
    registry().lay(&plan, &sqlite(), 2).unwrap()
}

#[test]
fn jobs_are_swept_to_four_times_the_cores() {
    let agenda = lay("name='p'\nrepeat=2\n[[step]]\nuse='library'\ntests=['T611']\n");
    let jobs: Vec<_> = agenda
        .points
        .iter()
        .map(|p| (p.repetition, p.jobs))
        .collect();
    assert_eq!(
        jobs,
        [
            (1, 1),
            (1, 2),
            (1, 4),
            (1, 8),
            (2, 1),
            (2, 2),
            (2, 4),
            (2, 8)
        ]
    );
}

#[test]
fn a_step_is_repeated_by_itself_or_with_the_plan_whichever_is_more() {
    let repetitions = |of_plan: u32| -> Vec<(u32, u32)> {
        let agenda = lay(&format!(
            "name='p'\nrepeat={of_plan}\n[[step]]\nuse='library'\ntests=['T611']\njobs=['1x']\nrepeat=2\n\
             [[step]]\nuse='library'\ntests=['T611']\njobs=[1,'1x','2x up to 3']\n"
        ));
        let points = agenda.points.iter();
        points
            .map(|p| (p.step * 100 + p.repetition, p.jobs))
            .collect()
    };
    assert_eq!(
        repetitions(1),
        [(101, 2), (201, 1), (201, 2), (201, 3), (102, 2)]
    );
    let thrice = repetitions(3);
    assert_eq!(thrice.iter().filter(|(at, _)| at / 100 == 1).count(), 3);
    assert_eq!(thrice.len(), 3 + 9);
}

#[test]
fn one_writer_means_one_point() {
    let agenda = lay("name='p'\n[[step]]\nuse='library'\ntests=['T311']\n");
    assert_eq!(agenda.points.len(), 1);
    let contended = lay("name='p'\n[[step]]\nuse='library'\ntests=['T311']\ncontention=true\n");
    assert_eq!(contended.points.len(), 4);
}

#[test]
fn below_the_database_is_measured_when_it_is_asked_for_and_there_is_a_place() {
    let codes = |plan: &str| -> Vec<String> {
        let agenda = lay(plan);
        let points = agenda.points.into_iter().map(|p| p.test);
        points
            .chain(agenda.missing.into_iter().map(|m| m.test))
            .collect()
    };
    let all = codes("name='p'\n[[step]]\nuse='library'\njobs=[1]\nthreads=[1]\n");
    assert!(all.len() > 15 && !all.iter().any(|code| code.starts_with('D')));
    // A database in memory is on no device.
    let agenda = lay("name='p'\n[[step]]\nuse='library'\ntests=['D121']\n");
    assert_eq!((agenda.points.len(), agenda.missing.len()), (0, 1));
    let reason = &agenda.missing[0].reason;
    assert!(
        matches!(reason, archive::Remark::DataPlaceUnknown { .. }),
        "{reason}"
    );
}

#[test]
fn what_an_engine_cannot_do_is_missing_once_with_its_reason() {
    let agenda = lay("name='p'\nrepeat=3\n[[step]]\nuse='library'\ntests=['T153', 'T626']\n");
    assert!(agenda.points.is_empty());
    assert_eq!(agenda.missing.len(), 2);
    let reason = agenda.missing[0].reason.to_string();
    assert!(reason.contains("procedural"));
}
