//! Audit of the users' inputs against the specification (clause 5.5.1.5).
//!
//! A bound is judged once there are so many draws that a correct generator misses it less than once in ten thousand
//! runs (four standard deviations); before that the audit gives the number of draws.

use std::ops::RangeInclusive;

use archive::Remark;

use super::account::{Account, Inputs, LENGTHS};
use super::mix::Kind;

/// Standard deviations between the intended value and the bound, before a bound is judged.
const DEVIATIONS: f64 = 4.0;
/// χ² of 10 degrees of freedom exceeds this once in ten thousand times.
const CHI2_MAX: f64 = 35.56;
/// Orders of each length that the χ² approximation needs.
const EXPECTED_MIN: u64 = 5;

#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    pub what: &'static str,
    pub bounds: RangeInclusive<f64>,
    pub value: Option<f64>,
    pub draws: u64,
    pub draws_min: u64,
}

impl Audited {
    /// True within the bounds; `None` with too few draws.
    pub fn holds(&self) -> Option<bool> {
        let value = self.value.filter(|_| self.draws >= self.draws_min)?;
        Some(self.bounds.contains(&value))
    }
}

/// Audits every bound. With one warehouse nothing can be remote, and those bounds are left out.
pub fn audit(account: &Account, warehouses: u32) -> Vec<Audited> {
    let Account { inputs, kinds, .. } = account;
    let all: u64 = kinds.iter().map(|kind| kind.completed).sum();
    let mut found = vec![
        share(
            "rolled back, % of New-Orders",
            inputs.orders_mistyped,
            inputs.orders(),
            1.0,
            0.9..=1.1,
        ),
        mean_lines(inputs),
        Audited {
            what: "order lines of a New-Order: χ² against a uniform distribution",
            bounds: 0.0..=CHI2_MAX,
            value: (inputs.orders() > 0).then(|| inputs.lengths_chi2()),
            draws: inputs.orders(),
            draws_min: EXPECTED_MIN * LENGTHS as u64,
        },
        share(
            "by last name, % of Payments",
            inputs.payments_named,
            inputs.payments,
            60.0,
            57.0..=63.0,
        ),
        share(
            "by last name, % of Order-Statuses",
            inputs.statuses_named,
            inputs.statuses,
            60.0,
            57.0..=63.0,
        ),
    ];
    if warehouses > 1 {
        found.push(share(
            "supplied by another warehouse, % of order lines",
            inputs.lines_remote,
            inputs.lines(),
            1.0,
            0.95..=1.05,
        ));
        found.push(share(
            "customer of another warehouse, % of Payments",
            inputs.payments_remote,
            inputs.payments,
            15.0,
            14.0..=16.0,
        ));
    }
    for (what, kind, cards, least) in [
        ("Payments, % of all", Kind::Payment, 10.0, 43.0),
        ("Order-Statuses, % of all", Kind::OrderStatus, 1.0, 4.0),
        ("Deliveries, % of all", Kind::Delivery, 1.0, 4.0),
        ("Stock-Levels, % of all", Kind::StockLevel, 1.0, 4.0),
    ] {
        let part = kinds[kind as usize].completed;
        found.push(share(what, part, all, 100.0 * cards / 23.0, least..=100.0));
    }
    found
}

/// Remark on the bounds that could not be judged, if any.
pub fn not_judged(audited: &[Audited]) -> Option<Remark> {
    let unjudged = || audited.iter().filter(|one| one.holds().is_none());
    let lacking = |one: &Audited| one.draws_min as f64 / one.draws.max(1) as f64;
    let hardest = unjudged().max_by(|a, b| lacking(a).total_cmp(&lacking(b)))?;
    Some(Remark::InputsNotJudged {
        not_judged: unjudged().count() as u64,
        bounds: audited.len() as u64,
        input: hardest.what.to_owned(),
        draws: hardest.draws,
        draws_min: hardest.draws_min,
    })
}

fn share(
    what: &'static str,
    part: u64,
    all: u64,
    meant_pct: f64,
    bounds: RangeInclusive<f64>,
) -> Audited {
    let nearest = (meant_pct - bounds.start()).min(bounds.end() - meant_pct);
    let variance = meant_pct * (100.0 - meant_pct);
    Audited {
        what,
        bounds,
        value: (all > 0).then(|| 100.0 * part as f64 / all as f64),
        draws: all,
        draws_min: draws_min(variance, nearest),
    }
}

fn mean_lines(inputs: &Inputs) -> Audited {
    let orders = inputs.orders();
    // Variance of eleven equally likely lengths: (11² − 1) ÷ 12.
    let variance = (LENGTHS as f64).mul_add(LENGTHS as f64, -1.0) / 12.0;
    Audited {
        what: "mean order lines of a New-Order",
        bounds: 9.5..=10.5,
        value: (orders > 0).then(|| inputs.lines() as f64 / orders as f64),
        draws: orders,
        draws_min: draws_min(variance, 0.5),
    }
}

/// Draws after which `distance` is four standard deviations of the mean.
fn draws_min(variance: f64, distance: f64) -> u64 {
    let draws = DEVIATIONS.powi(2) * variance / distance.powi(2);
    // A distance of 1.0 − 0.9 is not exactly a tenth.
    (draws * (1.0 - 1e-9)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use load::UserPopulation;

    use super::*;
    use crate::executor::Five;
    use crate::initial_rows::WarehouseRows;
    use crate::mix::Pacing;
    use crate::terminal::{Constants, Terminals, World};

    /// Inputs of so many transactions of 100 users of ten warehouses, without a database.
    fn drawn(transactions: u32) -> Account {
        let world = World {
            warehouses: 10,
            constants: Constants::draw(1, 77, WarehouseRows::Full),
            pacing: Pacing::None,
            run: 1,
        };
        let terminals = Terminals::new(world, 100, 1);
        let (mut five, mut account) = (Five::default(), Account::default());
        for turn in 0..transactions {
            let user = turn % 100;
            let kind = Kind::of(terminals.next_operation(user).kind).unwrap();
            let transaction = five.of_mut(kind);
            transaction.draw(&mut terminals.user(user), &world, 0);
            transaction.account(&mut account);
            account.kinds[kind as usize].completed += 1;
        }
        account
    }

    #[test]
    fn golden_draws() {
        assert_eq!(draws_min(99.0, 0.1), 158_400);
        assert_eq!(draws_min(10.0, 0.5), 640);
    }

    #[test]
    fn what_users_ask_for_is_within_all_bounds() {
        let found = audit(&drawn(400_000), 10);
        assert_eq!(found.len(), 11);
        for one in found {
            assert_eq!(one.holds(), Some(true), "{one:?}");
        }
    }

    #[test]
    fn a_wrong_generator_is_named_with_its_value() {
        let mut account = drawn(400_000);
        account.inputs.orders_mistyped *= 2;
        account.inputs.orders_by_lines[0] += account.inputs.orders_by_lines[10] / 10;
        account.inputs.payments_remote /= 2;
        account.kinds[Kind::Delivery as usize].completed /= 2;
        let found = audit(&account, 10);
        let wrong: Vec<&str> = found
            .iter()
            .filter(|one| one.holds() == Some(false))
            .map(|one| one.what)
            .collect();
        assert_eq!(
            wrong,
            [
                "rolled back, % of New-Orders",
                "order lines of a New-Order: χ² against a uniform distribution",
                "customer of another warehouse, % of Payments",
                "Deliveries, % of all"
            ]
        );
        let rolled_back = found[0].value.unwrap();
        assert!((1.8..2.2).contains(&rolled_back), "{rolled_back}");
    }

    /// A few hundred transactions prove nothing, and zero transactions have no share.
    #[test]
    fn few_draws_are_not_judged() {
        let few = audit(&drawn(300), 10);
        let judged = few.iter().filter(|one| one.holds().is_some());
        assert_eq!(
            judged.map(|one| one.what).collect::<Vec<_>>(),
            ["order lines of a New-Order: χ² against a uniform distribution"]
        );
        assert!(
            audit(&Account::default(), 1)
                .iter()
                .all(|one| one.holds().is_none())
        );
        assert_eq!(audit(&Account::default(), 1).len(), 9);
        let said = not_judged(&few).unwrap().to_string();
        let expected = "10 of 11 bounds were not judged, because too few inputs were drawn: rolled back, % of New-Orders";
        assert!(
            said.contains(expected) && said.contains("needs 158400 draws, and there were 1"),
            "{said}"
        );
        assert_eq!(not_judged(&audit(&drawn(400_000), 10)), None);
    }

    #[test]
    fn accounts_add_up() {
        let (one, mut both) = (drawn(1000), drawn(1000));
        both.add(&one);
        assert_eq!(both.inputs.orders(), 2 * one.inputs.orders());
        assert_eq!(both.inputs.lines(), 2 * one.inputs.lines());
        assert_eq!(both.completed(), 2000);
    }
}
