//! The two refresh functions, which insert new orders and delete as many old ones (clauses 2.5 and 4.2.3 of the
//! specification), and a third one, not in the specification, which first updates the orders to be deleted.
//!
//! Of every 32 order keys the load uses the first eight. A set inserts a thousandth of all orders into the second eight
//! keys and deletes as many of the loaded orders. The generator makes its rows after the last ones of the load. Each
//! function is one transaction, so that no order is ever visible without its line items.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use engine::{Result, RowSource, Session, Statement, TargetError, Value};
use tpchgen::distribution::Distributions;
use tpchgen::generators::{LineItemGenerator, OrderGenerator};
use tpchgen::text::TextPool;

use super::Scale;
use super::rows::made;

/// Sets that fit into the second eight keys.
pub const SETS_MAX: u32 = 1000;
/// Keys per group, and groups of which one is used, as powers of two.
const EIGHT: u32 = 3;
const FOUR: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    NewSales,
    OldSales,
    /// Updates the orders that the set deletes later.
    ChangedSales,
}

impl Function {
    /// Both of the specification, in their order.
    pub const ALL: [Self; 2] = [Self::NewSales, Self::OldSales];

    pub fn code(self) -> &'static str {
        match self {
            Self::NewSales => "RF1",
            Self::OldSales => "RF2",
            Self::ChangedSales => "UF",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::NewSales => "New Sales",
            Self::OldSales => "Old Sales",
            Self::ChangedSales => "Changed Sales",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RefreshSet {
    pub scale: Scale,
    /// Number of the set, from 1 to [`SETS_MAX`].
    pub number: u32,
}

/// Group of eight keys among every four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Eight {
    Loaded = 0,
    Inserted = 1,
}

/// Key of an order, which is counted from 1.
fn key_of(order: i64, eight: Eight) -> i64 {
    let low = order & ((1 << EIGHT) - 1);
    ((((order >> EIGHT) << FOUR) + eight as i64) << EIGHT) + low
}

fn order_of(key: i64) -> i64 {
    ((key >> (EIGHT + FOUR)) << EIGHT) + (key & ((1 << EIGHT) - 1))
}

impl RefreshSet {
    /// Number of orders that each function inserts, updates or deletes.
    pub fn orders(self) -> u64 {
        self.scale.of(OrderGenerator::SCALE_BASE as u32) / u64::from(SETS_MAX)
    }

    /// All keys of orders that the set may change, and others between them.
    pub fn keys(self) -> Range<u64> {
        let each = self.orders() as i64;
        let last = each * i64::from(self.number);
        let first = key_of(last - each + 1, Eight::Loaded);
        first as u64..key_of(last, Eight::Inserted) as u64 + 1
    }

    /// Ranges of keys, each within one group of eight.
    fn ranges(self, eight: Eight) -> Vec<[i64; 2]> {
        let each = self.orders() as i64;
        let last = each * i64::from(self.number);
        let mut first = last - each + 1;
        let mut ranges = Vec::new();
        while first <= last {
            let end = last.min(first | ((1 << EIGHT) - 1));
            ranges.push([key_of(first, eight), key_of(end, eight)]);
            first = end + 1;
        }
        ranges
    }

    /// Part of the generator's rows, out of [`SETS_MAX`]; parts after the load have higher numbers.
    fn part(self, eight: Eight) -> i32 {
        let offset = match eight {
            Eight::Loaded => 0,
            Eight::Inserted => SETS_MAX,
        };
        (self.number + offset) as i32
    }

    /// Key in the database for a key of the generator.
    fn key(self, generated: i64, eight: Eight) -> i64 {
        let offset = (self.part(eight) - self.part(Eight::Loaded)) as i64;
        key_of(order_of(generated) - offset * self.orders() as i64, eight)
    }

    fn rows(self, eight: Eight, stop: &AtomicBool) -> [Box<dyn RowSource + '_>; 2] {
        let (scale, part, of) = (self.scale.factor(), self.part(eight), SETS_MAX as i32);
        let orders = OrderGenerator::new(scale, part, of).iter();
        let orders = orders.map(move |mut order| {
            order.o_orderkey = self.key(order.o_orderkey, eight);
            order
        });
        let items = LineItemGenerator::new(scale, part, of).iter();
        let items = items.map(move |mut item| {
            item.l_orderkey = self.key(item.l_orderkey, eight);
            item
        });
        [made(orders, stop), made(items, stop)]
    }
}

/// Statements that delete and update orders and line items between two keys, prepared in one session.
pub(super) struct Statements {
    delete: [Statement; 2],
    change: [Statement; 2],
}

/// Tables with the keys of their orders, in the order of insertion; deletion reverses it.
pub const CHANGED: [(&str, &str); 2] = [("orders", "o_orderkey"), ("lineitem", "l_orderkey")];
const AMOUNTS: [&str; 2] = ["o_totalprice", "l_extendedprice"];

impl Statements {
    /// Also fills the generator's caches, so that no function is measured with that.
    pub fn prepare(session: &mut dyn Session) -> Result<Self> {
        TextPool::get_or_init_default();
        Distributions::static_default();
        let mut prepare = |index: usize, what: String| {
            let (_, key) = CHANGED[index];
            session.prepare(&format!("{what} WHERE {key} >= ? AND {key} <= ?"))
        };
        let delete = |index: usize| format!("DELETE FROM {}", CHANGED[index].0);
        let change = |index: usize| {
            let (table, amount) = (CHANGED[index].0, AMOUNTS[index]);
            format!("UPDATE {table} SET {amount} = {amount} + 1")
        };
        Ok(Self {
            delete: [prepare(0, delete(0))?, prepare(1, delete(1))?],
            change: [prepare(0, change(0))?, prepare(1, change(1))?],
        })
    }

    /// Executes a function in the current transaction; returns the rows that it changed.
    pub fn carry_out(
        &self,
        session: &mut dyn Session,
        function: Function,
        set: RefreshSet,
        stop: &AtomicBool,
    ) -> Result<u64> {
        let [orders, items] = match function {
            Function::NewSales => insert(session, set, Eight::Inserted, stop)?,
            Function::OldSales => each(session, &self.delete, set, Eight::Loaded)?,
            Function::ChangedSales => each(session, &self.change, set, Eight::Loaded)?,
        };
        if orders == set.orders() {
            Ok(orders + items)
        } else {
            Err(TargetError::statement(format!(
                "{} changed {orders} orders instead of {}",
                function.code(),
                set.orders()
            )))
        }
    }

    /// Undoes a set in the current transaction, even if only one of its functions ran.
    pub fn undo(
        &self,
        session: &mut dyn Session,
        set: RefreshSet,
        stop: &AtomicBool,
    ) -> Result<()> {
        each(session, &self.delete, set, Eight::Inserted)?;
        each(session, &self.delete, set, Eight::Loaded)?;
        insert(session, set, Eight::Loaded, stop).map(drop)
    }
}

/// Executes the statements of both tables for every range of keys; returns the rows of each table.
fn each(
    session: &mut dyn Session,
    statements: &[Statement; 2],
    set: RefreshSet,
    eight: Eight,
) -> Result<[u64; 2]> {
    let mut changed = [0; 2];
    for range in set.ranges(eight) {
        let keys = range.map(Value::Int);
        for index in [1, 0] {
            changed[index] += session.execute(statements[index], &keys)?;
        }
    }
    Ok(changed)
}

/// Inserts by bulk load; returns the rows of each table.
fn insert(
    session: &mut dyn Session,
    set: RefreshSet,
    eight: Eight,
    stop: &AtomicBool,
) -> Result<[u64; 2]> {
    let mut inserted = [0; 2];
    for (index, mut rows) in set.rows(eight, stop).into_iter().enumerate() {
        inserted[index] = session.append(CHANGED[index].0, rows.as_mut())?;
    }
    Ok(inserted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(scale: f64, number: u32) -> RefreshSet {
        let scale = Scale::new(scale).unwrap();
        RefreshSet { scale, number }
    }

    fn keys(set: RefreshSet, eight: Eight) -> Vec<i64> {
        let ranges = set.ranges(eight).into_iter();
        ranges.flat_map(|[from, to]| from..=to).collect()
    }

    /// Keys of every row of a table, from its first column.
    fn made_keys(set: RefreshSet, eight: Eight, table: usize) -> Vec<i64> {
        let go_on = AtomicBool::new(false);
        let [orders, items] = set.rows(eight, &go_on);
        let mut source = [Some(orders), Some(items)][table].take().unwrap();
        let mut keys = Vec::new();
        while source
            .next_row(&mut |row| {
                let Value::Int(key) = row[0] else {
                    panic!("{row:?}")
                };
                keys.push(key);
                Ok(())
            })
            .unwrap()
        {}
        keys
    }

    #[test]
    fn keys_are_those_of_the_specification() {
        for (order, loaded, inserted) in [
            (1, 1, 9),
            (7, 7, 15),
            (8, 32, 40),
            (9, 33, 41),
            (16, 64, 72),
        ] {
            assert_eq!(key_of(order, Eight::Loaded), loaded);
            assert_eq!(loaded, OrderGenerator::make_order_key(order));
            assert_eq!(key_of(order, Eight::Inserted), inserted);
            assert_eq!((order_of(loaded), order_of(inserted)), (order, order));
        }
        let first = set(0.01, 1);
        assert_eq!(first.orders(), 15);
        let old = [1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39];
        assert_eq!(keys(first, Eight::Loaded), old);
        assert_eq!(keys(first, Eight::Inserted), old.map(|key| key + 8));
        assert_eq!(keys(set(0.01, 2), Eight::Loaded)[0], 64);
    }

    #[test]
    fn rows_have_the_keys_of_their_set_and_sets_never_meet() {
        let mut all = Vec::new();
        for number in [1, 2, 3, 1000] {
            for eight in [Eight::Loaded, Eight::Inserted] {
                let set = set(0.01, number);
                let of_set = keys(set, eight);
                assert_eq!(of_set.len() as u64, set.orders());
                assert!(of_set.iter().all(|key| set.keys().contains(&(*key as u64))));
                assert_eq!(made_keys(set, eight, 0), of_set);
                let mut of_items = made_keys(set, eight, 1);
                assert!(of_items.len() > of_set.len());
                of_items.dedup();
                assert_eq!(of_items, of_set);
                all.extend(of_set);
            }
        }
        let many = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), many);
        // Orders beyond a multiple of a thousand are in no set.
        assert_eq!(set(0.025, 1000).orders(), 37);
        let last = set(1.0, 1000).ranges(Eight::Loaded);
        assert_eq!(
            last.last().unwrap()[1],
            OrderGenerator::make_order_key(1_500_000)
        );
    }
}
