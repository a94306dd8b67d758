//! What the counts of statements rose by between two moments, for observers of any engine.

use std::collections::HashMap;

use archive::ObservedCell;

/// So many more statements are asked for than are shown, because an observer's own may be among them.
const OWN_MAX: usize = 16;

/// Counts by statement: the calls first, then the time.
pub(crate) type Counts<const N: usize> = HashMap<String, [f64; N]>;

/// What rose, the longest first; enough for so many lines when an observer's own are left out.
pub(crate) fn risen<const N: usize>(
    before: &Counts<N>,
    now: Counts<N>,
    lines: usize,
) -> Vec<(String, [f64; N])> {
    let rise = |(key, now): (String, [f64; N])| {
        let before = before.get(&key).copied().unwrap_or([0.0; N]);
        let rise: [f64; N] = std::array::from_fn(|at| now[at] - before[at]);
        // One that was forgotten and came again has fewer calls than before: it counts from nothing.
        let rise = if rise[0] < 0.0 { now } else { rise };
        (rise[0] > 0.0).then_some((key, rise))
    };
    let mut risen: Vec<(String, [f64; N])> = now.into_iter().filter_map(rise).collect();
    risen.sort_by(|a, b| b.1[1].total_cmp(&a.1[1]).then_with(|| a.0.cmp(&b.0)));
    risen.truncate(lines + OWN_MAX);
    risen
}

/// The rows of those that have a text and are not an observer's own.
pub(crate) fn foreign_rows<const N: usize>(
    risen: &[(String, [f64; N])],
    texts: &HashMap<String, (String, bool)>,
    lines: usize,
    row: impl Fn(&str, &[f64; N]) -> Vec<ObservedCell>,
) -> Vec<Vec<ObservedCell>> {
    let foreign = risen.iter().filter_map(|(key, rise)| {
        let (text, is_own) = texts.get(key)?;
        (!is_own).then(|| row(text, rise))
    });
    foreign.take(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(all: &[(&str, [f64; 2])]) -> Counts<2> {
        let all = all.iter();
        all.map(|(key, counts)| ((*key).to_owned(), *counts))
            .collect()
    }

    #[test]
    fn golden_what_came_again_counts_from_nothing_and_what_rested_is_left_out() {
        let before = counts(&[
            ("again", [9.0, 9.0]),
            ("rested", [5.0, 5.0]),
            ("old", [1.0, 1.0]),
        ]);
        let now = counts(&[
            ("again", [2.0, 3.0]),
            ("rested", [5.0, 5.0]),
            ("old", [4.0, 2.0]),
            ("new", [1.0, 8.0]),
        ]);
        let risen = risen(&before, now, 10);
        let expected = [
            ("new", [1.0, 8.0]),
            ("again", [2.0, 3.0]),
            ("old", [3.0, 1.0]),
        ];
        assert_eq!(risen, expected.map(|(key, rise)| (key.to_owned(), rise)));
        let texts =
            ["new", "again", "old"].map(|key| (key.to_owned(), (key.to_owned(), key == "again")));
        let rows = foreign_rows(&risen, &texts.into(), 1, |text, _| vec![text.into()]);
        assert_eq!(rows, [vec![ObservedCell::from("new")]]);
    }
}
