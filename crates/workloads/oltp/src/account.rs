//! Counts of a run's transactions, per connection and in total.

use std::sync::{Mutex, PoisonError};

use archive::Remark;

use super::initial_rows::ORDER_LINES;
use super::mix::KINDS;

/// Possible numbers of lines of an order.
pub(super) const LENGTHS: usize = (*ORDER_LINES.end() - *ORDER_LINES.start() + 1) as usize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inputs {
    /// New-Orders by number of lines, from the fewest.
    pub orders_by_lines: [u64; LENGTHS],
    pub lines_remote: u64,
    /// New-Orders that name an unknown item.
    pub orders_mistyped: u64,
    pub payments: u64,
    /// Payments by customers of another warehouse.
    pub payments_remote: u64,
    pub payments_named: u64,
    pub statuses: u64,
    pub statuses_named: u64,
}

impl Inputs {
    pub fn new_order(&mut self, lines: usize, remote: usize, is_mistyped: bool) {
        let place = lines.saturating_sub(*ORDER_LINES.start() as usize);
        self.orders_by_lines[place.min(LENGTHS - 1)] += 1;
        self.lines_remote += remote as u64;
        self.orders_mistyped += u64::from(is_mistyped);
    }

    pub fn payment(&mut self, is_remote: bool, is_named: bool) {
        self.payments += 1;
        self.payments_remote += u64::from(is_remote);
        self.payments_named += u64::from(is_named);
    }

    pub fn order_status(&mut self, is_named: bool) {
        self.statuses += 1;
        self.statuses_named += u64::from(is_named);
    }

    pub fn add(&mut self, other: &Inputs) {
        let lengths = self.orders_by_lines.iter_mut();
        lengths
            .zip(&other.orders_by_lines)
            .for_each(|(sum, more)| *sum += more);
        self.lines_remote += other.lines_remote;
        self.orders_mistyped += other.orders_mistyped;
        self.payments += other.payments;
        self.payments_remote += other.payments_remote;
        self.payments_named += other.payments_named;
        self.statuses += other.statuses;
        self.statuses_named += other.statuses_named;
    }

    pub fn orders(&self) -> u64 {
        self.orders_by_lines.iter().sum()
    }

    pub fn lines(&self) -> u64 {
        let lengths = (*ORDER_LINES.start()..).zip(&self.orders_by_lines);
        lengths.map(|(lines, orders)| lines * orders).sum()
    }

    /// χ² of the lengths of the orders, which are all equally likely.
    pub(super) fn lengths_chi2(&self) -> f64 {
        let expected = self.orders() as f64 / LENGTHS as f64;
        let square = |n: &u64| (*n as f64 - expected).powi(2) / expected;
        self.orders_by_lines.iter().map(square).sum()
    }
}

/// Counts of one connection, or of all. They include the ramp-up, because the audit covers the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    pub kinds: [KindAccount; KINDS],
    pub inputs: Inputs,
    /// Lines of the orders that were committed.
    pub lines_entered: u64,
    pub delivered: u64,
    /// Districts in which a delivery found nothing to deliver.
    pub skipped: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindAccount {
    /// Transactions that succeeded, intended rollbacks included.
    pub completed: u64,
    pub rolled_back: u64,
    /// Attempts that were rolled back and retried because of a conflict.
    pub retries: u64,
    pub failed: u64,
    /// Round trips of all attempts.
    pub round_trips: u64,
}

impl KindAccount {
    /// Round trips per transaction; `None` without transactions.
    pub fn round_trips_mean(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.round_trips as f64 / self.completed as f64)
    }
}

impl Account {
    pub fn add(&mut self, other: &Account) {
        for (sum, more) in self.kinds.iter_mut().zip(&other.kinds) {
            sum.completed += more.completed;
            sum.rolled_back += more.rolled_back;
            sum.retries += more.retries;
            sum.failed += more.failed;
            sum.round_trips += more.round_trips;
        }
        self.inputs.add(&other.inputs);
        self.lines_entered += other.lines_entered;
        self.delivered += other.delivered;
        self.skipped += other.skipped;
    }

    /// Remark on deliveries that found nothing, from one in a hundred districts on: an empty delivery is free, and
    /// clause 2.7.4.2 requires a report from there.
    pub fn deliveries_skipped(&self) -> Option<Remark> {
        let districts = self.delivered + self.skipped;
        (self.skipped * 100 > districts).then_some(Remark::DeliveriesSkipped {
            skipped: self.skipped,
            districts,
        })
    }

    pub fn completed(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.completed).sum()
    }
}

#[derive(Debug, Default)]
pub struct Ledger(Mutex<Account>);

impl Ledger {
    pub fn add(&self, account: &Account) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(account);
    }

    pub fn total(&self) -> Account {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_that_find_nothing_are_told_from_one_in_a_hundred_on() {
        let of = |delivered, skipped| {
            let account = Account {
                delivered,
                skipped,
                ..Account::default()
            };
            account.deliveries_skipped()
        };
        assert_eq!((of(0, 0), of(100, 0), of(99, 1)), (None, None, None));
        let remark = Remark::DeliveriesSkipped {
            skipped: 2,
            districts: 100,
        };
        assert_eq!(of(98, 2), Some(remark));
    }
}
