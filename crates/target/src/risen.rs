//! What counts of statements and tables rose by between two moments, for observers of any engine.

use std::collections::HashMap;

use archive::ObservedCell;

/// So many more statements are asked for than are shown, because an observer's own may be among them.
const OWN_MAX: usize = 16;

/// What stands for the statements that are not shown.
const OTHERS: &str = "(all other statements)";

/// Counts by statement: the calls first, then the time.
pub(crate) type Counts<const N: usize> = HashMap<String, [f64; N]>;

/// What rose, the longest first, enough for so many lines when an observer's own are left out; and the sum of the others.
pub(crate) fn risen<const N: usize>(
    before: &Counts<N>,
    now: Counts<N>,
    lines: usize,
) -> (Vec<(String, [f64; N])>, [f64; N]) {
    let rise = |(key, now): (String, [f64; N])| {
        let before = before.get(&key).copied().unwrap_or([0.0; N]);
        let rise: [f64; N] = std::array::from_fn(|at| now[at] - before[at]);
        // One that was forgotten and came again has fewer calls than before: it counts from nothing.
        let rise = if rise[0] < 0.0 { now } else { rise };
        (rise[0] > 0.0).then_some((key, rise))
    };
    let mut risen: Vec<(String, [f64; N])> = now.into_iter().filter_map(rise).collect();
    risen.sort_by(|a, b| b.1[1].total_cmp(&a.1[1]).then_with(|| a.0.cmp(&b.0)));
    let others = risen.split_off(risen.len().min(lines + OWN_MAX));
    let sum = others
        .iter()
        .fold([0.0; N], |sum, (_, rise)| add(&sum, rise));
    (risen, sum)
}

fn add<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|at| a[at] + b[at])
}

/// The rows of those that have a text and are not an observer's own; all others are one more row.
pub(crate) fn foreign_rows<const N: usize>(
    (risen, others): &(Vec<(String, [f64; N])>, [f64; N]),
    texts: &HashMap<String, (String, bool)>,
    lines: usize,
    row: impl Fn(&str, &[f64; N]) -> Vec<ObservedCell>,
) -> Vec<Vec<ObservedCell>> {
    let foreign = risen.iter().filter_map(|(key, rise)| {
        let (text, is_own) = texts.get(key)?;
        (!is_own).then_some((text, rise))
    });
    let foreign: Vec<(&String, &[f64; N])> = foreign.collect();
    let (shown, more) = foreign.split_at(foreign.len().min(lines));
    let others = more.iter().fold(*others, |sum, (_, rise)| add(&sum, rise));
    let others = (others[0] > 0.0).then(|| row(OTHERS, &others));
    let rows = shown.iter().map(|(text, rise)| row(text, rise));
    rows.chain(others).collect()
}

/// The rows of the tables in which most was done: their names, and what their counts rose by. A count that was reset counts from
/// nothing.
pub(crate) fn hottest<const N: usize>(
    tables: impl Iterator<Item = (String, [f64; N], [f64; N])>,
    done: impl Fn(&[f64; N]) -> f64,
    lines: usize,
) -> Vec<Vec<ObservedCell>> {
    let risen = tables.map(|(name, before, now)| {
        let rise = |at: usize| match now[at] - before[at] {
            fallen if fallen < 0.0 => now[at],
            risen => risen,
        };
        (name, std::array::from_fn(rise))
    });
    let mut risen: Vec<(String, [f64; N])> =
        risen.filter(|(_, counts)| done(counts) > 0.0).collect();
    risen.sort_by(|a, b| {
        done(&b.1)
            .total_cmp(&done(&a.1))
            .then_with(|| a.0.cmp(&b.0))
    });
    let row = |(name, counts): &(String, [f64; N])| {
        let numbers = counts.iter().map(|n| ObservedCell::from(*n));
        std::iter::once(name.as_str().into())
            .chain(numbers)
            .collect()
    };
    risen.iter().take(lines).map(row).collect()
}

/// The column of sizes, behind the counts.
pub(crate) const SIZE: (&str, &str) = ("size", "MB");

/// Gives each table its size, where that is known.
pub(crate) fn add_sizes(rows: &mut [Vec<ObservedCell>], sizes: &HashMap<String, f64>) {
    for row in rows {
        let size = match row.first() {
            Some(ObservedCell::Text(name)) => sizes.get(name).copied(),
            _ => None,
        };
        row.push(size.into());
    }
}

/// A cell as a number.
pub(crate) fn number(cell: Option<&Option<String>>) -> Option<f64> {
    cell?.as_ref()?.parse().ok()
}

/// A cell as a text; "" where there is none.
pub(crate) fn text(cell: Option<&Option<String>>) -> String {
    cell.cloned().flatten().unwrap_or_default()
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
        assert_eq!(risen.0, expected.map(|(key, rise)| (key.to_owned(), rise)));
        assert_eq!(risen.1, [0.0, 0.0]);
        let texts =
            ["new", "again", "old"].map(|key| (key.to_owned(), (key.to_owned(), key == "again")));
        let texts = texts.into();
        let row = |text: &str, rise: &[f64; 2]| vec![text.into(), rise[0].into()];
        let rows = foreign_rows(&risen, &texts, 1, row);
        let others = vec![ObservedCell::from(OTHERS), 3.0.into()];
        assert_eq!(rows, [vec!["new".into(), 1.0.into()], others]);
        assert_eq!(foreign_rows(&risen, &texts, 2, row).len(), 2);
    }

    #[test]
    fn golden_what_is_not_asked_for_is_summed_up() {
        let now: Vec<(String, [f64; 2])> = (0..100)
            .map(|n| (n.to_string(), [2.0, f64::from(n)]))
            .collect();
        let (longest, others) = risen(&Counts::default(), now.into_iter().collect(), 4);
        assert_eq!(longest.len(), 4 + OWN_MAX);
        assert_eq!(others, [2.0 * 80.0, f64::from(80 * 79 / 2)]);
    }
}
