//! Kinds of transaction, with whole statements, whose mean is a profile.

/// A smaller share counts as none.
const SHARE_MIN: f64 = 5e-7;
/// Approximate sum of the weights: means are right to a millionth.
const WEIGHTS: f64 = 1e6;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Kind {
    pub share: f64,
    pub writes: bool,
    /// Statements that update, insert and delete, all of a sort with the same number of rows.
    pub updates: u32,
    pub inserts: u32,
    pub deletes: u32,
    pub others: u32,
    /// Other statements that read rows by their keys …
    pub reads: u32,
    /// … and those of them that return all rows and not just their number.
    pub returning: u32,
    /// Scans of a whole table: 1 or 0.
    pub scans: u32,
    /// 1 if a single statement is between BEGIN and COMMIT.
    pub wrapped: u32,
}

impl Kind {
    /// Statements without BEGIN and COMMIT.
    pub fn statements(&self) -> u32 {
        self.updates + self.inserts + self.deletes + self.others
    }

    /// Several statements are one transaction only between BEGIN and COMMIT.
    pub fn is_wrapped(&self) -> bool {
        self.wrapped > 0 || self.statements() > 1
    }
}

/// All kinds, in the order in which they receive remainders.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kinds(pub Vec<Kind>);

impl Kinds {
    /// Two kinds; `writing` is the share that changes rows.
    pub fn new(writing: f64) -> Self {
        let kind = |share: f64, writes: bool| Kind {
            share,
            writes,
            ..Kind::default()
        };
        let mut kinds = vec![kind(writing, true), kind(1.0 - writing, false)];
        kinds.retain(|kind| kind.share > SHARE_MIN);
        Self(kinds)
    }

    pub fn share(&self, is: impl Fn(&Kind) -> bool) -> f64 {
        self.0.iter().filter(|k| is(k)).map(|k| k.share).sum()
    }

    pub fn mean(&self, of: impl Fn(&Kind) -> f64) -> f64 {
        let shares = self.share(|_| true);
        self.0.iter().map(|k| k.share * of(k)).sum::<f64>() / shares
    }

    /// Gives each transaction with the property so much on average: the whole part to all, and one more to the first of
    /// them.
    pub fn spread(&mut self, is: impl Fn(&Kind) -> bool, each: f64, give: impl Fn(&mut Kind, u32)) {
        let all = each * self.share(&is);
        let each = |kind: &Kind| if is(kind) { each } else { 0.0 };
        self.give(all, each, give);
    }

    /// Gives so much on average over all transactions, to each kind in proportion to its capacity.
    pub fn fill(&mut self, mean: f64, takes: impl Fn(&Kind) -> u32, give: impl Fn(&mut Kind, u32)) {
        let most: f64 = self.0.iter().map(|k| k.share * f64::from(takes(k))).sum();
        if most > 0.0 {
            let part = (mean / most).min(1.0);
            self.give(mean.min(most), |kind| part * f64::from(takes(kind)), give);
        }
    }

    /// Gives each kind the whole part of its due, and one more to the first of those with a remainder.
    fn give(&mut self, all: f64, due: impl Fn(&Kind) -> f64, give: impl Fn(&mut Kind, u32)) {
        let dues: Vec<f64> = self.0.iter().map(due).collect();
        let mut left = all;
        let mut given = Vec::with_capacity(self.0.len() + 1);
        for (kind, due) in self.0.iter_mut().zip(&dues) {
            let whole = (due + 1e-9).floor();
            left -= kind.share * whole;
            give(kind, whole as u32);
        }
        for (mut kind, due) in std::mem::take(&mut self.0).into_iter().zip(dues) {
            let takes_more = due - (due + 1e-9).floor() > 0.0 && left > SHARE_MIN;
            if takes_more && left + SHARE_MIN < kind.share {
                // The kind is split: a part of it takes one more than the rest.
                let mut more = kind.clone();
                (more.share, kind.share) = (left, kind.share - left);
                give(&mut more, 1);
                given.push(more);
                left = 0.0;
            } else if takes_more {
                give(&mut kind, 1);
                left -= kind.share;
            }
            given.push(kind);
        }
        self.0 = given;
    }

    /// Shares as whole weights, on which the means are based from here on.
    pub fn weighted(mut self) -> Vec<(u64, Kind)> {
        self.0.retain(|kind| kind.share > SHARE_MIN);
        match self.0.as_slice() {
            [only] => vec![(1, only.clone())],
            all => {
                let weight = |kind: &Kind| ((kind.share * WEIGHTS).round() as u64).max(1);
                all.iter().map(|k| (weight(k), k.clone())).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quarter of the transactions write: 1.5 updates each; half of all then have one more statement.
    #[test]
    fn golden_what_is_not_whole_is_given_to_a_part() {
        let mut kinds = Kinds::new(0.25);
        kinds.spread(|k| k.writes, 1.5, |k, n| k.updates += n);
        kinds.fill(0.5, |_| 1, |k, n| k.others += n);
        let found: Vec<_> = (kinds.0.iter())
            .map(|k| (k.share, k.updates, k.others))
            .collect();
        assert_eq!(
            found,
            [(0.125, 2, 1), (0.125, 1, 1), (0.25, 0, 1), (0.5, 0, 0)]
        );
        assert_eq!(kinds.mean(|k| f64::from(k.updates)), 0.375);
        let weights: Vec<u64> = kinds.weighted().iter().map(|(w, _)| *w).collect();
        assert_eq!(weights, [125_000, 125_000, 250_000, 500_000]);
    }

    #[test]
    fn more_than_all_can_take_is_not_given() {
        let mut kinds = Kinds::new(1.0);
        kinds.fill(7.0, |_| 2, |k, n| k.others += n);
        assert_eq!(kinds.0.len(), 1);
        assert_eq!(kinds.0[0].others, 2);
    }
}
