//! Increases of statements' and tables' counters between two moments, for observers of any engine.

use std::collections::HashMap;

use archive::{About, Cell, Observed};

use crate::Result;

/// So many more statements are asked for than are shown, because an observer's own may be among them.
const OWN_MAX: usize = 16;

const OTHERS: &str = "(all other statements)";

/// Counts by statement: the calls first, then the time.
pub type Counts<const N: usize> = HashMap<String, [f64; N]>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise<const N: usize> {
    pub counts: [f64; N],
    /// Its time divided by the time that the counts cover; not a number where nobody knows that.
    pub time_per_s: f64,
}

impl<const N: usize> Rise<N> {
    const NONE: Self = Self {
        counts: [0.0; N],
        time_per_s: 0.0,
    };

    fn and(&self, other: &Self) -> Self {
        Self {
            counts: std::array::from_fn(|at| self.counts[at] + other.counts[at]),
            time_per_s: self.time_per_s + other.time_per_s,
        }
    }
}

/// The increases, longest first, enough for so many lines without an observer's own; and the sum of the others.
pub struct Risen<const N: usize> {
    pub longest: Vec<(String, Rise<N>)>,
    others: Rise<N>,
    /// Statements that were counted from nothing again: they were reset, or forgotten and came again.
    pub reset: usize,
}

/// A count that fell was reset. A sum of times may differ by its rounding.
fn fell(before: f64, now: f64) -> bool {
    now < before * (1.0 - 1e-9)
}

/// True if all counts were reset: some are gone or have fallen, and none has stayed what it was.
pub fn all_were_reset<const N: usize>(before: &Counts<N>, now: &Counts<N>) -> bool {
    let fallen = |(key, before): (&String, &[f64; N])| {
        now.get(key).is_none_or(|now| fell(before[0], now[0]))
    };
    let is_same = |before: f64, now: f64| !fell(before, now) && !fell(now, before);
    let has_stayed = |(key, before): (&String, &[f64; N])| {
        let now = now.get(key);
        now.is_some_and(|now| (0..2).all(|at| is_same(before[at], now[at])))
    };
    before.iter().any(fallen) && !before.iter().any(has_stayed)
}

/// `covers_s` is the time that the counts of a statement cover, where they were reset and where they were not.
pub fn risen<const N: usize>(
    before: &Counts<N>,
    now: Counts<N>,
    covers_s: impl Fn(&str, bool) -> f64,
    lines: usize,
) -> Risen<N> {
    let mut reset = 0;
    let rise = |(key, now): (String, [f64; N])| {
        let before = before.get(&key).copied().unwrap_or([0.0; N]);
        let was_reset = (0..N).any(|at| fell(before[at], now[at]));
        reset += usize::from(was_reset);
        let counts = if was_reset {
            now
        } else {
            std::array::from_fn(|at| now[at] - before[at])
        };
        let time_per_s = match covers_s(&key, was_reset) {
            short if short < 1e-3 => counts[1] / 1e-3,
            covered_s => counts[1] / covered_s,
        };
        (counts[0] > 0.0).then_some((key, Rise { counts, time_per_s }))
    };
    let mut longest: Vec<(String, Rise<N>)> = now.into_iter().filter_map(rise).collect();
    longest.sort_by(|(a_key, a), (b_key, b)| {
        let by_time = b.counts[1].total_cmp(&a.counts[1]);
        by_time.then_with(|| a_key.cmp(b_key))
    });
    let others = longest.split_off(longest.len().min(lines + OWN_MAX));
    let others = (others.iter()).fold(Rise::NONE, |sum, (_, rise)| sum.and(rise));
    Risen {
        longest,
        others,
        reset,
    }
}

/// The rows of those that have a text and are not an observer's own; all others are one more row.
pub fn foreign_rows<const N: usize>(
    risen: &Risen<N>,
    texts: &HashMap<String, (String, bool)>,
    lines: usize,
    row: impl Fn(&str, &Rise<N>) -> Vec<Cell>,
) -> Vec<Vec<Cell>> {
    let (mut rows, mut others) = (Vec::new(), risen.others);
    for (key, rise) in &risen.longest {
        match texts.get(key) {
            Some((_, true)) => {}
            Some((text, false)) if rows.len() < lines => rows.push(row(text, rise)),
            _ => others = others.and(rise),
        }
    }
    rows.extend((others.counts[0] > 0.0).then(|| row(OTHERS, &others)));
    rows
}

/// The table, or why it is not known.
pub fn known(about: About, table: Result<Observed>) -> Observed {
    table.unwrap_or_else(|error| Observed::unknown(about, "", error.message))
}

/// Several remarks on a table as one; `None` without any.
pub fn remarks(all: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

pub fn some_were_reset(count: usize) -> Option<String> {
    (count > 0).then(|| {
        format!("{count} of the statements were reset, or forgotten and counted again: their rows have what came since")
    })
}

/// The rows of the tables in which most was done: their names, and what their counts rose by. Counts of which one fell were reset, and
/// count from nothing, which the second says.
pub fn hottest<const N: usize>(
    tables: impl Iterator<Item = (String, [f64; N], [f64; N])>,
    done: impl Fn(&[f64; N]) -> f64,
    lines: usize,
) -> (Vec<Vec<Cell>>, Option<String>) {
    let mut reset = 0;
    let risen = tables.map(|(name, before, now)| {
        let was_reset = (0..N).any(|at| now[at] < before[at]);
        reset += usize::from(was_reset);
        let rise = |at: usize| now[at] - if was_reset { 0.0 } else { before[at] };
        (name, std::array::from_fn(rise))
    });
    let risen: Vec<(String, [f64; N])> = risen.collect();
    let remark = (reset > 0).then(|| {
        format!(
            "the counts of {reset} tables were reset meanwhile: their rows have what came since"
        )
    });
    let mut risen: Vec<(String, [f64; N])> = risen
        .into_iter()
        .filter(|(_, counts)| done(counts) > 0.0)
        .collect();
    risen.sort_by(|a, b| {
        done(&b.1)
            .total_cmp(&done(&a.1))
            .then_with(|| a.0.cmp(&b.0))
    });
    let row = |(name, counts): &(String, [f64; N])| {
        let numbers = counts.iter().map(|n| Cell::from(*n));
        std::iter::once(name.as_str().into())
            .chain(numbers)
            .collect()
    };
    (risen.iter().take(lines).map(row).collect(), remark)
}

/// The column of sizes, behind the counts.
pub const SIZE: (&str, &str) = ("size", "MB");

/// Gives each table its size, where that is known.
pub fn add_sizes(rows: &mut [Vec<Cell>], sizes: &HashMap<String, f64>) {
    for row in rows {
        let size = match row.first() {
            Some(Cell::Text(name)) => sizes.get(name).copied(),
            _ => None,
        };
        row.push(size.into());
    }
}

/// A cell as a number.
pub fn number(cell: Option<&Option<String>>) -> Option<f64> {
    cell?.as_ref()?.parse().ok()
}

/// A cell as a text; "" where there is none.
pub fn text(cell: Option<&Option<String>>) -> String {
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

    fn key_and_counts(risen: &Risen<2>) -> Vec<(&str, [f64; 2])> {
        let all = risen.longest.iter();
        all.map(|(key, rise)| (key.as_str(), rise.counts)).collect()
    }

    /// In 10 s, of which what came again covers 2.
    #[test]
    fn golden_what_came_again_counts_from_nothing_and_what_rested_is_left_out() {
        let before = counts(&[
            ("again", [9.0, 9.0]),
            ("rested", [5.0, 5.0]),
            ("old", [1.0, 1.0]),
            ("faster again", [1.0, 9.0]),
        ]);
        let now = counts(&[
            ("again", [2.0, 3.0]),
            ("rested", [5.0, 5.0 - 1e-12]),
            ("old", [4.0, 2.0]),
            ("new", [1.0, 8.0]),
            ("faster again", [7.0, 0.5]),
        ]);
        assert!(!all_were_reset(&before, &now));
        let covers_s = |_: &str, was_reset: bool| if was_reset { 2.0 } else { 10.0 };
        let risen = risen(&before, now, covers_s, 10);
        let expected = [
            ("new", [1.0, 8.0]),
            ("again", [2.0, 3.0]),
            ("old", [3.0, 1.0]),
            ("faster again", [7.0, 0.5]),
        ];
        assert_eq!(key_and_counts(&risen), expected);
        let per_s = risen.longest.iter().map(|(_, rise)| rise.time_per_s);
        assert_eq!(per_s.collect::<Vec<_>>(), [0.8, 1.5, 0.1, 0.25]);
        assert_eq!((risen.others, risen.reset), (Rise::NONE, 2));
        let texts = ["new", "again", "old"]
            .map(|key| (key.to_owned(), (key.to_owned(), key == "again")))
            .into();
        let row = |text: &str, rise: &Rise<2>| vec![text.into(), rise.counts[0].into()];
        // A statement without text is among the others.
        let others = |calls: f64| vec![Cell::from(OTHERS), calls.into()];
        let rows = foreign_rows(&risen, &texts, 1, row);
        assert_eq!(rows, [vec!["new".into(), 1.0.into()], others(10.0)]);
        let rows = foreign_rows(&risen, &texts, 2, row);
        assert_eq!(rows[1..], [vec!["old".into(), 3.0.into()], others(7.0)]);
    }

    #[test]
    fn all_were_reset_where_none_stayed() {
        let before = counts(&[("a", [3.0, 1.0]), ("b", [2.0, 1.0]), ("c", [1.0, 1.0])]);
        for (now, is_so) in [
            (&[("a", [9.0, 1.0]), ("c", [4.0, 1.0])][..], true),
            (
                &[("a", [1.0, 1.0]), ("b", [5.0, 1.0]), ("c", [1.5, 1.0])],
                true,
            ),
            (
                &[("a", [9.0, 1.0]), ("b", [5.0, 1.0]), ("c", [4.0, 1.0])],
                false,
            ),
            (&[("a", [3.0, 1.0]), ("c", [4.0, 1.0])], false),
            (&[], true),
        ] {
            assert_eq!(all_were_reset(&before, &counts(now)), is_so, "{now:?}");
        }
        assert!(!all_were_reset(&Counts::<2>::new(), &before));
    }

    #[test]
    fn golden_what_is_not_asked_for_is_summed_up() {
        let now: Vec<(String, [f64; 2])> = (0..100)
            .map(|n| (n.to_string(), [2.0, f64::from(n)]))
            .collect();
        let now = now.into_iter().collect();
        let risen = risen(&Counts::default(), now, |_, _| 2.0, 4);
        assert_eq!(risen.longest.len(), 4 + OWN_MAX);
        let seconds = f64::from(80 * 79 / 2);
        assert_eq!(risen.others.counts, [2.0 * 80.0, seconds]);
        assert_eq!(risen.others.time_per_s, seconds / 2.0);
    }

    #[test]
    fn golden_a_table_whose_counts_were_reset_counts_from_nothing() {
        let tables = [("a", [5.0, 5.0], [9.0, 1.0]), ("b", [1.0, 1.0], [2.0, 1.0])];
        let tables = tables.map(|(name, before, now)| (name.to_owned(), before, now));
        let (rows, remark) = hottest(tables.into_iter(), |counts| counts[0], 9);
        assert_eq!(rows[0], ["a".into(), 9.0.into(), Cell::from(1.0)]);
        assert_eq!(rows[1], ["b".into(), 1.0.into(), Cell::from(0.0)]);
        assert!(remark.is_some_and(|remark| remark.contains("1 tables")));
    }
}
