//! Known answers: the specification's at scale 1, and stored ones at the small scales.

use super::query::FOLDER;
use super::{Answer, Parameters, Query, Right, Scale};

/// Heading of a query's rows in a stored file.
const HEADING: &str = "== Q";

/// Right answer of a query with the qualification parameters, if known.
pub fn known(query: &Query, scale: Scale) -> Option<Right> {
    if scale.factor() == 1.0 {
        return official(query);
    }
    let text = FOLDER.text(&format!("answers/sf-{scale}.txt"))?;
    let rows = section(text, query.number)?;
    Some(Right {
        answer: cells(rows.lines()),
        unknown_column: None,
        from: format!("the answers stored for scale {scale}"),
    })
}

pub const PROBE_SEED: u64 = 1;

/// Other parameters of a query with their right answer, for scales at which the qualification is meaningless: a sum
/// over no rows is right even in an engine that finds none. `None` if the qualification suffices, or nothing is known.
pub fn probe(query: &Query, scale: Scale) -> Option<(Parameters, Right)> {
    let text = FOLDER.text(&format!("answers/sf-{scale}.txt"))?;
    let heading = format!("{HEADING}{} drawn ", query.number);
    let (_, rest) = text.split_once(&heading)?;
    let (stream, rows) = rest.split_once('\n')?;
    let parameters = Parameters::seeded(query.number, scale, PROBE_SEED, stream.parse().ok()?);
    let right = Right {
        answer: cells(rows.split(HEADING).next().unwrap_or(rows).lines()),
        unknown_column: None,
        from: format!(
            "the answers stored for scale {scale} and {}",
            parameters.words()
        ),
    };
    Some((parameters, right))
}

/// Answer of a probe in the stored format.
pub fn stored_probe(query: &Query, stream: u32, answer: &Answer) -> String {
    let text = stored(&[(query, answer.clone())]);
    text.replacen('\n', &format!(" drawn {stream}\n"), 1)
}

pub fn is_known(scale: Scale) -> bool {
    scale.factor() == 1.0 || FOLDER.text(&format!("answers/sf-{scale}.txt")).is_some()
}

pub fn stored(answers: &[(&Query, Answer)]) -> String {
    let mut text = String::new();
    for (query, answer) in answers {
        text.push_str(&format!("{HEADING}{}\n", query.number));
        for row in &answer.rounded(query).rows {
            text.push_str(&row.join("|"));
            text.push('\n');
        }
    }
    text
}

fn section(text: &str, number: u32) -> Option<&str> {
    let heading = format!("{HEADING}{number}\n");
    let (_, rest) = text.split_once(&heading)?;
    Some(rest.split(HEADING).next().unwrap_or(rest))
}

fn official(query: &Query) -> Option<Right> {
    let text = tpchgen::q_and_a::answers_sf1::answer(i32::try_from(query.number).ok()?)?;
    // The first line has the names of the columns.
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Some(Right {
        answer: cells(lines.skip(1)),
        // Only four digits are left of the keys in this answer.
        unknown_column: (query.number == 11).then_some(0),
        from: "the specification's answer".into(),
    })
}

fn cells<'t>(lines: impl Iterator<Item = &'t str>) -> Answer {
    let row = |line: &str| {
        let cells = line.split('|').map(|cell| Some(cell.to_owned()));
        cells.collect::<Vec<_>>()
    };
    Answer::of(lines.map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries;

    #[test]
    fn every_answer_is_known_where_answers_are() {
        for scale in [0.01, 0.1, 1.0] {
            let scale = Scale::new(scale).unwrap();
            assert!(is_known(scale));
            for query in queries().unwrap() {
                let right = known(query, scale).unwrap();
                // A query may find nothing, but a sum still returns a row.
                for row in &right.answer.rows {
                    assert_eq!(row.len(), query.columns.len(), "Q{} {scale}", query.number);
                }
            }
        }
        assert!(!is_known(Scale::new(0.5).unwrap()));
    }

    #[test]
    fn where_the_qualification_says_nothing_a_probe_does() {
        let is_nothing = |cell: &String| cell == "NULL" || cell.parse() == Ok(0.0);
        for scale in [0.01, 0.1] {
            let scale = Scale::new(scale).unwrap();
            for query in queries().unwrap() {
                let known = known(query, scale).unwrap().answer;
                let says_nothing = known
                    .rows
                    .iter()
                    .flatten()
                    .all(|c| is_nothing(c) || c.starts_with("199"));
                let probe = probe(query, scale);
                assert!(
                    probe.is_some() || !says_nothing,
                    "Q{} {scale}",
                    query.number
                );
                if let Some((parameters, right)) = probe {
                    assert_ne!(parameters, Parameters::qualification(query.number, scale));
                    let cells = right.answer.rows.iter().flatten();
                    assert!(
                        cells.count() > 0 && !right.answer.rows.iter().flatten().any(is_nothing)
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let one = Query::numbered(1).unwrap();
        let answer = official(one).unwrap().answer;
        let six = Query::numbered(6).unwrap();
        let none = Answer::of(vec![vec![None]]);
        let text = stored(&[(one, answer.clone()), (six, none.clone())]);
        assert_eq!(cells(section(&text, 1).unwrap().lines()), answer);
        assert_eq!(cells(section(&text, 6).unwrap().lines()), none);
        assert_eq!(section(&text, 2), None);
    }
}
