//! Restore of the database during a search that makes it grow.

use std::cell::{Cell, RefCell};

use ::load::Progress;
use archive::Remark;

use super::{Measured, PointContext, warm_up};
use crate::initial_rows::{DISTRICTS, GENERATOR};
use crate::{Metadata, OltpError, Result, reconcile, restore};

/// Share by which orders may have grown since the load when a measurement begins. Warehouses, customers, stock and
/// items are constant, so a quarter more orders is some 7 % more bytes: less than the difference between the rates of a
/// search.
const GROWTH_MAX: f64 = 0.25;
/// Share of growth without a note: the database of a later rate is not quite that of the first.
const GROWTH_NOTED: f64 = 0.1;

pub(super) struct Growth<'a> {
    place: &'a PointContext<'a>,
    loaded: u64,
    /// Orders at the start of the search, or after the last restore.
    begun: Cell<u64>,
    restored: Cell<u64>,
    /// Reason why it cannot be restored.
    obstacle: RefCell<Option<String>>,
    /// Notes for the point that the search returns.
    notes: RefCell<Vec<Remark>>,
}

impl<'a> Growth<'a> {
    /// # Errors
    /// When there is no database, or the target fails.
    pub fn begin(place: &'a PointContext<'a>) -> Result<Self> {
        let mut session = place.on.first().open_session()?;
        let metadata = Metadata::of_whole(session.as_mut())?;
        let loaded = DISTRICTS * metadata.rows.orders() * u64::from(metadata.warehouses);
        let begun = reconcile::orders(session.as_mut())?;
        let obstacle = if metadata.generator != GENERATOR {
            Some("another version of dbdyno has loaded it".to_owned())
        } else if is_over(begun, loaded) {
            Some(
                "it had grown when the search began, and that state is not kept anywhere"
                    .to_owned(),
            )
        } else {
            None
        };
        Ok(Self {
            place,
            loaded,
            begun: Cell::new(begun),
            restored: Cell::new(0),
            obstacle: RefCell::new(obstacle),
            notes: RefCell::default(),
        })
    }

    /// Before a measurement: restores the database if it has grown too much, and warms it up if the step requests that.
    /// No session may be open.
    pub fn check(&self, progress: &Progress) -> std::result::Result<(), Measured> {
        let orders = self.orders()?;
        if !is_over(orders, self.loaded) {
            return Ok(());
        }
        if self.obstacle.borrow().is_none() {
            self.bring_back()?;
        }
        if let Some(why) = self.obstacle.borrow().clone() {
            // The note of the largest growth remains.
            *self.notes.borrow_mut() = vec![Remark::SearchNotRestored {
                orders,
                orders_loaded: self.loaded,
                why,
            }];
            return Ok(());
        }
        match self.place.oltp.warm_up_max() {
            Some(cap) => {
                let warmed_up = warm_up::warm_up(self.place, cap, progress)?;
                let is_warm = matches!(warmed_up, Remark::WarmedUp { .. });
                *self.notes.borrow_mut() = (!is_warm).then_some(warmed_up).into_iter().collect();
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn bring_back(&self) -> std::result::Result<(), Measured> {
        let place = self.place;
        let _restore = tracing::info_span!("restore").entered();
        let (target, engine) = (place.on.first().as_ref(), &place.on.engine);
        let jobs = place.oltp.load_jobs;
        match restore(target, engine, jobs, place.context.stop, &|_| {}) {
            Ok(_) => {
                self.restored.set(self.restored.get() + 1);
                self.begun.set(self.loaded);
                Ok(())
            }
            // A missing privilege stops the first statement.
            Err(OltpError::Target(error)) if self.is_untouched() => {
                *self.obstacle.borrow_mut() = Some(error.message);
                Ok(())
            }
            Err(error) => Err(place.failed(error)),
        }
    }

    /// True if the database is complete after a failed attempt.
    fn is_untouched(&self) -> bool {
        let session = self.place.on.first().open_session();
        session.is_ok_and(|mut session| {
            let there = Metadata::of_whole(session.as_mut());
            there.is_ok_and(|there| there.transactions_since_load)
        })
    }

    pub fn notes(&self) -> std::result::Result<Vec<Remark>, Measured> {
        let mut notes = self.notes.take();
        if self.restored.get() > 0 {
            notes.push(Remark::SearchRestored {
                times: self.restored.get(),
                growth_max_pct: GROWTH_MAX * 100.0,
            });
        }
        let (orders_before, orders_after) = (self.begun.get(), self.orders()?);
        if notes.is_empty() && share(orders_after, orders_before) > GROWTH_NOTED {
            notes.push(Remark::SearchGrew {
                orders_before,
                orders_after,
            });
        }
        Ok(notes)
    }

    fn orders(&self) -> std::result::Result<u64, Measured> {
        let session = self.place.on.first().open_session();
        let orders = session
            .map_err(OltpError::from)
            .and_then(|mut session| reconcile::orders(session.as_mut()));
        orders.map_err(|error| self.place.failed(error))
    }
}

fn is_over(orders: u64, loaded: u64) -> bool {
    share(orders, loaded) > GROWTH_MAX
}

fn share(orders: u64, before: u64) -> f64 {
    orders as f64 / before.max(1) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_more_orders_is_the_most() {
        assert!(!is_over(30_000, 30_000) && !is_over(37_500, 30_000));
        assert!(is_over(37_501, 30_000));
        // Removal of orders is no growth.
        assert!(!is_over(0, 30_000));
    }
}
