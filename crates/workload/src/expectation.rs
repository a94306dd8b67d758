//! Answers that whole-table queries must give, computed from the generator of the rows.

use engine::Fetched;
use serde::Deserialize;

use crate::data::{self, GROUPS, LABEL_BYTES, PAD_BYTES};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// `count(*), sum(amount), sum(length(label)), sum(length(pad))` of all rows.
    Scan,
    /// `count(*), sum(amount)` of the rows with `day` in 300..=600 and `grp < 50`.
    Filter,
    /// Per `grp`: `grp, count(*), sum(amount), min(day), max(day)`.
    Aggregate,
    /// The ten groups of `large ⋈ small` (on id) with the largest `sum(large.amount)`: `grp, count(*),
    /// sum(large.amount), sum(small.day)`.
    Report,
}

#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub table: u64,
    pub small: u64,
}

impl Expectation {
    /// Computes the answer; reads every row once.
    pub fn answer(self, sizes: Sizes) -> Fetched {
        match self {
            Expectation::Scan => scan(sizes.table),
            Expectation::Filter => filter(sizes.table),
            Expectation::Aggregate => aggregate(sizes.table),
            Expectation::Report => report(sizes),
        }
    }

    pub fn rows_processed(self, sizes: Sizes) -> u64 {
        match self {
            Expectation::Report => sizes.table + sizes.small,
            _ => sizes.table,
        }
    }
}

fn one_row(cells: &[i64]) -> Fetched {
    let mut fetched = Fetched { rows: 1, digest: 0 };
    cells
        .iter()
        .enumerate()
        .for_each(|(column, value)| fetched.add_int(column, *value));
    fetched
}

fn all_rows(rows: u64) -> impl Iterator<Item = data::Row> {
    (1..=rows).map(move |id| data::row(id, rows))
}

fn scan(rows: u64) -> Fetched {
    let amount = all_rows(rows).map(|r| r.amount).sum();
    let n = rows as i64;
    one_row(&[n, amount, n * LABEL_BYTES as i64, n * PAD_BYTES as i64])
}

fn filter(rows: u64) -> Fetched {
    let (count, amount) = all_rows(rows)
        .filter(|r| (300..=600).contains(&r.day) && r.grp < 50)
        .fold((0, 0), |(n, sum), r| (n + 1, sum + r.amount));
    one_row(&[count, amount])
}

fn aggregate(rows: u64) -> Fetched {
    let mut groups = vec![(0i64, 0i64, i64::MAX, i64::MIN); GROUPS as usize];
    for r in all_rows(rows) {
        let (count, amount, first, last) = &mut groups[r.grp as usize];
        *count += 1;
        *amount += r.amount;
        *first = r.day.min(*first);
        *last = r.day.max(*last);
    }
    let filled = groups.iter().enumerate().filter(|(_, g)| g.0 > 0);
    sum(filled.map(|(grp, g)| one_row(&[grp as i64, g.0, g.1, g.2, g.3])))
}

fn report(sizes: Sizes) -> Fetched {
    let mut groups = vec![(0i64, 0i64, 0i64); GROUPS as usize];
    for id in 1..=sizes.small.min(sizes.table) {
        let (large, small) = (data::row(id, sizes.table), data::row(id, sizes.small));
        let (count, amount, days) = &mut groups[large.grp as usize];
        *count += 1;
        *amount += large.amount;
        *days += small.day;
    }
    let mut ranked: Vec<(usize, (i64, i64, i64))> = groups.into_iter().enumerate().collect();
    // As in the query's ORDER BY, the group breaks ties.
    ranked.sort_by_key(|(grp, g)| (-g.1, *grp));
    let best = ranked.iter().filter(|(_, g)| g.0 > 0).take(10);
    sum(best.map(|(grp, g)| one_row(&[*grp as i64, g.0, g.1, g.2])))
}

fn sum(rows: impl Iterator<Item = Fetched>) -> Fetched {
    rows.fold(Fetched::default(), |all, one| Fetched {
        rows: all.rows + one.rows,
        digest: all.digest.wrapping_add(one.digest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_the_right_shape() {
        let sizes = Sizes {
            table: 6400,
            small: 640,
        };
        assert_eq!(Expectation::Scan.answer(sizes).rows, 1);
        assert_eq!(Expectation::Aggregate.answer(sizes).rows, GROUPS);
        assert_eq!(Expectation::Report.answer(sizes).rows, 10);
        assert_eq!(Expectation::Report.rows_processed(sizes), 7040);
    }

    #[test]
    fn answers_depend_on_every_row() {
        let whole = Expectation::Scan.answer(Sizes {
            table: 6400,
            small: 640,
        });
        let shorter = Expectation::Scan.answer(Sizes {
            table: 6399,
            small: 640,
        });
        assert_ne!(whole, shorter);
    }
}
