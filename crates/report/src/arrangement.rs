//! How the two sides of a study were measured and why, in words.

use archive::{Arranged, Arrangement};

/// Sentences on how both sides are measured, which of their settings made it so, and how much slices would gain if they were not used.
pub fn arrangement(arranged: &Arranged, settings: [&[String]; 2]) -> String {
    let what = differing(settings);
    let which = |way| match settings {
        [[], []] => "",
        _ => way,
    };
    let how = match arranged.how {
        Arrangement::InPlace => format!(
            "In place: {what}{}, so both sides take turns in slices on the same database, opened once for each pair.",
            which(", which the driver switches")
        ),
        Arrangement::OneServer => format!(
            "In place: {what}{}, so both sides take turns in slices on the same server, in sessions of their own.",
            which(", which is set in sessions")
        ),
        Arrangement::TwoInstances => format!(
            "Two instances at once: {what}{}, so each side has its own; they take turns in slices.",
            which(", which one database cannot have both ways")
        ),
        Arrangement::BlocksAnew => {
            format!("In blocks: {what}, and each block begins by reopening its database.")
        }
        Arrangement::BlocksRestarted => {
            format!("In blocks: {what}, and the server is restarted before each block.")
        }
        Arrangement::BlocksRunning => {
            format!("In blocks: {what}, and the server keeps running from block to block.")
        }
    };
    match (arranged.in_slices, &arranged.obstacle) {
        (Some(Arrangement::InPlace | Arrangement::OneServer), _) => format!(
            "{how} Slices in place are possible: noise that lasts longer than a slice would meet both sides alike, so that pairs scatter \
             less and a smaller difference is found (docs/METHODOLOGY.md, In slices)."
        ),
        (Some(_), _) => format!(
            "{how} Slices in turn would need two instances at once, and the memory of both."
        ),
        (None, Some(why)) => format!("{how} No slices in turn: {why}."),
        (None, None) => how,
    }
}

fn differing([a, b]: [&[String]; 2]) -> String {
    let of = |side: &[String]| side.join(", ");
    match (a.is_empty(), b.is_empty()) {
        (true, true) => "A and B are the same".to_owned(),
        (false, true) => format!("A differs in {}", of(a)),
        (true, false) => format!("B differs in {}", of(b)),
        (false, false) => format!("A has {} and B {}", of(a), of(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arrangement_says_why_and_what_slices_would_gain() {
        let (none, set) = (Vec::new(), vec!["target.work_mem=8MB".to_owned()]);
        let of = |how, in_slices, obstacle: Option<&str>, a, b| {
            let obstacle = obstacle.map(str::to_owned);
            arrangement(
                &Arranged {
                    how,
                    in_slices,
                    obstacle,
                },
                [a, b],
            )
        };
        let all = [
            of(Arrangement::InPlace, None, None, &none, &none),
            of(Arrangement::OneServer, None, None, &none, &set),
            of(Arrangement::TwoInstances, None, None, &set, &none),
            of(
                Arrangement::BlocksAnew,
                Some(Arrangement::InPlace),
                None,
                &set,
                &set,
            ),
            of(
                Arrangement::BlocksRestarted,
                Some(Arrangement::TwoInstances),
                None,
                &none,
                &set,
            ),
            of(
                Arrangement::BlocksRunning,
                None,
                Some("step 1 (library) cannot be measured in slices: T716 writes"),
                &none,
                &set,
            ),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }
}
