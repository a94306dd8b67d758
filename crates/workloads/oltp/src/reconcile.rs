//! Comparison of the log of acknowledged transactions with the tables, which must contain all of them.
//!
//! Records are inserted into auxiliary tables in batches and compared there, so that a log of any length takes the same
//! memory. Unacknowledged changes in the tables can only come from transactions in flight when the server went away;
//! more than those is an error as well. Nobody else may have changed the database.

use std::path::Path;

use archive::{Remark, remark};
use engine::{SCHEMA_MARK, Session, Target, Value};
use workload::loading::rows;

use super::commit_log::{CommitLog, Entries, Entry, Header, Record};
use super::terminal::World;
use super::{OltpError, Result};

const BATCH: usize = 50_000;
/// Missing transactions that are named; all are counted.
const PLACES_MAX: usize = 5;
const ORDERS: &str = "dbdyno_oltp_acknowledged_order";
const PAYMENTS: &str = "dbdyno_oltp_acknowledged_payment";

/// Result for one kind of change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Side {
    pub acknowledged: u64,
    pub missing: u64,
    /// Transactions in flight with unknown outcome.
    pub in_flight: u64,
    /// Changes in the tables that were never acknowledged; below 0 if some are missing.
    pub unacknowledged: i64,
    /// Upper limit of the changes by transactions in flight.
    pub unacknowledged_max: u64,
}

impl Side {
    /// True if nothing is missing, and all unacknowledged changes can come from transactions in flight.
    pub fn is_sound(&self) -> bool {
        let allowed = 0..=self.unacknowledged_max as i64;
        self.missing == 0 && allowed.contains(&self.unacknowledged)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    pub orders: Side,
    pub payments: Side,
    pub deliveries: Side,
    /// Sentences about the first missing transactions.
    pub places: Vec<String>,
    /// True if the last record is torn because the driver was killed during the write.
    pub torn: bool,
}

impl Reconciled {
    pub fn is_sound(&self) -> bool {
        self.sides().iter().all(|side| side.is_sound())
    }

    /// True if the tables contain all acknowledged transactions, and possibly later ones.
    pub fn holds_all(&self) -> bool {
        self.sides().iter().all(|side| side.missing == 0)
    }

    /// True if the tables contain only transactions that were acknowledged or in flight, but possibly not all.
    pub fn holds_no_more(&self) -> bool {
        let most = |side: &&Side| side.unacknowledged <= side.unacknowledged_max as i64;
        self.sides().iter().all(most)
    }

    /// True if the tables contain none of the acknowledged transactions.
    pub fn holds_none(&self) -> bool {
        let none = |side: &&Side| side.missing == side.acknowledged;
        self.sides().iter().all(none)
    }

    pub fn acknowledged(&self) -> u64 {
        self.sides().iter().map(|side| side.acknowledged).sum()
    }

    fn sides(&self) -> [&Side; 3] {
        [&self.orders, &self.payments, &self.deliveries]
    }
}

impl Reconciled {
    /// Remark on the result, with the path of the log if it remains.
    pub fn remark(&self, log: Option<&Path>) -> Remark {
        let side = |side: &Side| {
            Box::new(remark::Reconciled {
                acknowledged: side.acknowledged,
                missing: side.missing,
                unacknowledged: side.unacknowledged,
                unacknowledged_max: side.unacknowledged_max,
            })
        };
        Remark::AcknowledgedLost {
            orders: side(&self.orders),
            payments: side(&self.payments),
            deliveries: side(&self.deliveries),
            places: self.places.clone(),
            log: log.map(|log| log.display().to_string()),
        }
    }
}

/// Begins the log of a run on a database that nobody else changes from now on.
///
/// # Errors
/// When the target fails, or the file cannot be written.
pub fn begin(session: &mut dyn Session, path: &Path, world: &World) -> Result<CommitLog> {
    let header = Header {
        run: world.run,
        warehouses: world.warehouses,
        next_orders: next_orders(session)?,
        new_orders: number(session, NEW_ORDERS)?,
    };
    Ok(CommitLog::create(path, &header)?)
}

/// Compares a log with a database.
///
/// # Errors
/// When the target fails, or the log is damaged.
pub fn reconcile(target: &dyn Target, path: &Path) -> Result<Reconciled> {
    let (header, mut entries) = Entries::open(path)?;
    let mut session = target.open_session()?;
    let mut books = Books {
        session: session.as_mut(),
        header,
        found: Reconciled {
            orders: Side::default(),
            payments: Side::default(),
            deliveries: Side::default(),
            places: Vec::new(),
            torn: false,
        },
        orders: Vec::new(),
        payments: Vec::new(),
    };
    books.make_tables()?;
    let compared = books.compare_all(&mut entries);
    let dropped = books.drop_tables();
    compared.and(dropped)?;
    Ok(books.found)
}

/// Warehouse, district and number of an order; its customer if it was entered, its carrier if it was delivered.
type Order = [Option<i64>; 5];

#[derive(Clone, Copy)]
struct Paid {
    /// Warehouse, district and number of the customer.
    customer: [i64; 3],
    amount_cents: i64,
    user: u32,
    sequence: u32,
}

struct Books<'a> {
    session: &'a mut dyn Session,
    header: Header,
    found: Reconciled,
    orders: Vec<Order>,
    payments: Vec<Paid>,
}

impl Books<'_> {
    fn make_tables(&mut self) -> Result<()> {
        self.drop_tables()?;
        let orders = format!(
            "CREATE TABLE {SCHEMA_MARK}.{ORDERS} (w INTEGER NOT NULL, d INTEGER NOT NULL, o INTEGER NOT NULL, c INTEGER, \
             carrier INTEGER)"
        );
        self.session.create_table(ORDERS, &orders)?;
        let payments = format!(
            "CREATE TABLE {SCHEMA_MARK}.{PAYMENTS} (mark VARCHAR(24) NOT NULL, w INTEGER NOT NULL, d INTEGER NOT NULL, \
             c INTEGER NOT NULL, amount NUMERIC(12,2) NOT NULL)"
        );
        Ok(self.session.create_table(PAYMENTS, &payments)?)
    }

    fn drop_tables(&mut self) -> Result<()> {
        for table in [ORDERS, PAYMENTS] {
            self.session.drop_table(table)?;
        }
        Ok(())
    }

    fn compare_all(&mut self, entries: &mut Entries) -> Result<()> {
        while let Some(entry) = entries.read()? {
            self.take(&entry);
            if self.orders.len() + self.payments.len() >= BATCH {
                self.compare_batch()?;
            }
        }
        self.found.torn = entries.torn();
        self.compare_batch()?;
        self.count_unacknowledged()
    }

    fn take(&mut self, entry: &Entry) {
        let found = &mut self.found;
        match (entry.acknowledged, entry.change) {
            (false, Record::NewOrder { .. }) => found.orders.in_flight += 1,
            (false, Record::Payment { .. }) => found.payments.in_flight += 1,
            (false, Record::Delivery { .. }) => found.deliveries.in_flight += 1,
            (true, Record::NewOrder { w, d, c_id, o_id }) => {
                found.orders.acknowledged += 1;
                let order = [w, d.into(), o_id, c_id.into()].map(i64::from);
                let [w, d, o, c] = order.map(Some);
                self.orders.push([w, d, o, c, None]);
            }
            (
                true,
                Record::Payment {
                    c_w,
                    c_d,
                    c_id,
                    amount_cents,
                    user,
                    sequence,
                },
            ) => {
                found.payments.acknowledged += 1;
                self.payments.push(Paid {
                    customer: [c_w, c_d.into(), c_id.into()].map(i64::from),
                    amount_cents,
                    user,
                    sequence,
                });
            }
            (true, Record::Delivery { w, carrier, orders }) => {
                for (d, o_id) in (1..).zip(orders).filter(|(_, o_id)| *o_id != 0) {
                    found.deliveries.acknowledged += 1;
                    let order = [w, d, o_id, carrier.into()].map(i64::from);
                    let [w, d, o, carrier] = order.map(Some);
                    self.orders.push([w, d, o, None, carrier]);
                }
            }
        }
    }

    fn compare_batch(&mut self) -> Result<()> {
        for table in [ORDERS, PAYMENTS] {
            let schema = self.session.schema();
            self.session
                .batch(&format!("DELETE FROM {schema}.{table}"))?;
        }
        let mut orders = rows(self.orders.drain(..), |order, sink| {
            sink(&order.map(|number| number.map_or(Value::Null, Value::Int)))
        });
        self.session.bulk_load(ORDERS, &mut orders)?;
        drop(orders);
        let (run, mut mark) = (self.header.run, String::new());
        let mut payments = rows(self.payments.drain(..), |paid, sink| {
            super::transaction::write_mark(&mut mark, run, paid.user, paid.sequence);
            let [w, d, c] = paid.customer.map(Value::Int);
            let amount = super::transaction::cents(paid.amount_cents);
            sink(&[Value::Text(&mark), w, d, c, amount])
        });
        self.session.bulk_load(PAYMENTS, &mut payments)?;
        drop(payments);
        let entered = format!(
            "SELECT w, d, o, c, o_c_id FROM {ORDERS} LEFT JOIN orders \
             ON o_w_id = w AND o_d_id = d AND o_id = o WHERE c IS NOT NULL AND (o_id IS NULL OR o_c_id <> c)"
        );
        let said =
            "order {1}/{2}/{3} of customer {4} was acknowledged; the tables hold customer {5}";
        self.found.orders.missing += self.missing(&entered, said)?;
        let delivered = format!(
            "SELECT w, d, o, carrier, o_carrier_id FROM {ORDERS} LEFT JOIN orders \
             ON o_w_id = w AND o_d_id = d AND o_id = o \
             WHERE carrier IS NOT NULL AND (o_carrier_id IS NULL OR o_carrier_id <> carrier)"
        );
        let said = "delivery of order {1}/{2}/{3} by carrier {4} was acknowledged; the tables hold carrier {5}";
        self.found.deliveries.missing += self.missing(&delivered, said)?;
        // Grouping reveals duplicate payments, and every engine looks each one up.
        let paid = format!(
            "SELECT mark, w, d, c, amount, times, total FROM {PAYMENTS} LEFT JOIN (\
             SELECT h_data, count(*) AS times, min(h_c_w_id) AS hw, min(h_c_d_id) AS hd, min(h_c_id) AS hc, \
             sum(h_amount) AS total FROM history WHERE h_data LIKE '{run:08x}%' GROUP BY h_data) there \
             ON h_data = mark \
             WHERE h_data IS NULL OR times <> 1 OR hw <> w OR hd <> d OR hc <> c OR total <> amount"
        );
        let said = "payment {1} of customer {2}/{3}/{4}, {5}, was acknowledged; the tables hold {6} of {7}";
        self.found.payments.missing += self.missing(&paid, said)?;
        Ok(())
    }

    /// Counts the rows of a query and puts the first ones into words.
    fn missing(&mut self, sql: &str, words: &str) -> Result<u64> {
        let rows = self.session.texts(&format!(
            "SELECT lost.*, count(*) OVER () AS lost_rows FROM ({sql}) lost ORDER BY 1, 2, 3 \
             LIMIT {PLACES_MAX}"
        ))?;
        for row in rows
            .iter()
            .take(PLACES_MAX.saturating_sub(self.found.places.len()))
        {
            self.found.places.push(super::check::words(words, row));
        }
        let count = rows
            .first()
            .and_then(|row| row.last()?.as_ref()?.parse().ok());
        Ok(count.unwrap_or(0))
    }

    fn count_unacknowledged(&mut self) -> Result<()> {
        let entered = next_orders(self.session)? as i64 - self.header.next_orders as i64;
        let left = number(self.session, NEW_ORDERS)? as i64;
        let delivered = self.header.new_orders as i64 + entered - left;
        let run = self.header.run;
        let paid = number(
            self.session,
            &format!("SELECT count(*) FROM history WHERE h_data LIKE '{run:08x}%'"),
        )?;
        let sides = [
            (&mut self.found.orders, entered, 1),
            (&mut self.found.payments, paid as i64, 1),
            (
                &mut self.found.deliveries,
                delivered,
                super::initial_rows::DISTRICTS,
            ),
        ];
        for (side, there, most_of_one) in sides {
            side.unacknowledged = there - side.acknowledged as i64;
            side.unacknowledged_max = side.in_flight * most_of_one;
        }
        Ok(())
    }
}

pub(super) const NEW_ORDERS: &str = "SELECT count(*) FROM new_order";

pub(super) fn next_orders(session: &mut dyn Session) -> Result<u64> {
    number(session, "SELECT sum(d_next_o_id) FROM district")
}

/// Orders that were ever entered, those of the load included.
pub fn orders(session: &mut dyn Session) -> Result<u64> {
    number(session, "SELECT sum(d_next_o_id) - count(*) FROM district")
}

pub(super) fn number(session: &mut dyn Session, sql: &str) -> Result<u64> {
    let rows = session.texts(sql)?;
    let cell = rows
        .first()
        .and_then(|row| row.first()?.as_ref()?.parse().ok());
    cell.ok_or_else(|| OltpError::Metadata {
        table: "district",
        what: format!("\"{sql}\" returns no number"),
    })
}
