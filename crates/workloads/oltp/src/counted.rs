//! Comparison of the driver's counts with the tables: a target that acknowledges transactions and drops them satisfies
//! every condition within the database.

use archive::Remark;
use engine::Session;

use super::initial_rows::DISTRICTS;
use super::reconcile::{NEW_ORDERS, next_orders, number};
use super::{Account, Kind, Result};

/// Sums that transactions change; three queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Σ d_next_o_id: one more for each order entered.
    orders: u64,
    /// Rows of `history`: one more for each payment.
    payments: u64,
    /// Rows of `new_order`: one more for each order entered, one fewer for each delivered.
    undelivered: u64,
}

impl Totals {
    /// Sums of an idle database.
    pub fn read(session: &mut dyn Session) -> Result<Self> {
        Ok(Self {
            orders: next_orders(session)?,
            payments: number(session, "SELECT count(*) FROM history")?,
            undelivered: number(session, NEW_ORDERS)?,
        })
    }

    /// Remarks on counts of the driver that the change since `before` does not show. Of `unknown` operations that were
    /// abandoned, and of failed ones, each may or may not have taken effect.
    pub fn differences(&self, before: &Self, account: &Account, unknown: u64) -> Vec<Remark> {
        let change = |after: u64, before: u64| after as i64 - before as i64;
        let orders = change(self.orders, before.orders);
        let delivered = orders - change(self.undelivered, before.undelivered);
        let of = |kind: Kind| &account.kinds[kind as usize];
        let entered = of(Kind::NewOrder).completed - of(Kind::NewOrder).rolled_back;
        let sides = [
            ("orders", entered, orders, Kind::NewOrder, 1),
            (
                "payments",
                of(Kind::Payment).completed,
                change(self.payments, before.payments),
                Kind::Payment,
                1,
            ),
            (
                "deliveries",
                account.delivered,
                delivered,
                Kind::Delivery,
                DISTRICTS,
            ),
        ];
        let differs = sides
            .into_iter()
            .filter(|(_, counted, found, kind, most_of_one)| {
                let more_max = (of(*kind).failed + unknown) * most_of_one;
                let allowed = *counted as i64..=(counted + more_max) as i64;
                !allowed.contains(found)
            });
        differs
            .map(|(what, counted, found, ..)| Remark::CountedNotFound {
                what: what.to_owned(),
                counted,
                found: found.max(0) as u64,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Totals = Totals {
        orders: 30_010,
        payments: 30_000,
        undelivered: 9_000,
    };

    fn account() -> Account {
        let mut account = Account {
            delivered: 20,
            ..Account::default()
        };
        account.kinds[Kind::NewOrder as usize].completed = 101;
        account.kinds[Kind::NewOrder as usize].rolled_back = 1;
        account.kinds[Kind::Payment as usize].completed = 90;
        account.kinds[Kind::Delivery as usize].completed = 2;
        account
    }

    fn after(orders: u64, payments: u64, delivered: u64) -> Totals {
        Totals {
            orders: BEFORE.orders + orders,
            payments: BEFORE.payments + payments,
            undelivered: BEFORE.undelivered + orders - delivered,
        }
    }

    #[test]
    fn what_was_counted_is_in_the_tables_or_told() {
        let differences = |after: Totals, unknown| {
            let found = after.differences(&BEFORE, &account(), unknown);
            found.iter().map(Remark::to_string).collect::<Vec<_>>()
        };
        assert_eq!(differences(after(100, 90, 20), 0), [""; 0]);
        assert_eq!(
            differences(after(99, 90, 20), 0),
            [
                "the driver counted 100 orders, but the tables show 99: acknowledged work is missing, or others changed the database"
            ]
        );
        assert_eq!(
            differences(after(100, 91, 10), 0),
            [
                "the driver counted 90 payments, but the tables show 91: acknowledged work is missing, or others changed the database",
                "the driver counted 20 deliveries, but the tables show 10: acknowledged work is missing, or others changed the database",
            ]
        );
        // Abandoned operations may or may not have taken effect.
        assert_eq!(differences(after(101, 91, 30), 1), [""; 0]);
        assert_eq!(differences(after(99, 90, 20), 1).len(), 1);
    }

    #[test]
    fn a_failed_transaction_may_have_taken_effect() {
        let mut account = account();
        account.kinds[Kind::Payment as usize].failed = 1;
        assert_eq!(after(100, 91, 20).differences(&BEFORE, &account, 0), []);
        assert_eq!(
            after(100, 92, 20).differences(&BEFORE, &account, 0).len(),
            1
        );
    }
}
