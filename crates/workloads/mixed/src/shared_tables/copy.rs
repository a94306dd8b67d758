//! Copy of the order-entry tables that follows them while users work.
//!
//! The source needs no change capture: the changes since the last snapshot follow from the rules of order entry. An
//! order takes the next number of its district, and delivery goes by number, so new and delivered orders are two ranges
//! per district, known from district and new_order; the changed stock is that of the new lines; items never change.
//! Payments change customers whose keys are unknown, so warehouses, districts and customers are reread as a whole.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use archive::Remark;
use column_store::{Change, Level, Store};
use columnar::{Changed, Chosen, ColumnarError, LiftOptions, Lifted, Result, differing, lift};
use engine::Target;
use engine::source::{Cell, Reader, SourceTable, Taker};

/// Tables of a copy, each with an integer column that every row has, and the columns that the queries and their checks
/// read. Payments in `history` have no key by which new ones could be found, and no query reads them.
const TABLES: [(&str, &str, &str); 8] = [
    ("warehouse", "w_id", "w_id w_name w_ytd"),
    ("district", "d_id", "d_id d_w_id d_name d_ytd d_next_o_id"),
    (
        "customer",
        "c_id",
        "c_id c_d_id c_w_id c_last c_credit c_balance c_ytd_payment",
    ),
    ("new_order", "no_o_id", "no_o_id no_d_id no_w_id"),
    (
        "orders",
        "o_id",
        "o_id o_d_id o_w_id o_c_id o_entry_d o_carrier_id o_ol_cnt",
    ),
    (
        "order_line",
        "ol_o_id",
        "ol_o_id ol_d_id ol_w_id ol_number ol_i_id ol_delivery_d ol_quantity ol_amount",
    ),
    ("item", "i_id", "i_id i_name i_price"),
    (
        "stock",
        "s_i_id",
        "s_i_id s_w_id s_quantity s_ytd s_order_cnt",
    ),
];

/// Orders of a district in a snapshot: the next one, and the first undelivered one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DistrictOrders {
    next: i64,
    open: i64,
}

type District = (i64, i64);

pub struct OrderEntryCopy {
    store: Store,
    tables: Vec<SourceTable>,
    /// Orders of each district in the copy's snapshot.
    positions: BTreeMap<District, DistrictOrders>,
    /// Origin of the snapshot times.
    since: Instant,
}

/// One step of a copy from a snapshot to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// Time from before the snapshot until all changes were visible in the copy.
    pub took: Duration,
    pub rows: u64,
    /// Bytes of the reread rows.
    pub bytes: u64,
}

impl OrderEntryCopy {
    /// Loads the tables into a separate store; nobody may change them meanwhile.
    ///
    /// # Errors
    /// When a table cannot be read or does not fit, or `stop` was set.
    pub fn lift(
        from: &dyn Target,
        level: Level,
        memory_bytes: Option<u64>,
        stop: &AtomicBool,
    ) -> Result<(Self, Vec<Remark>)> {
        let since = Instant::now();
        let source = from.source()?;
        let tables = chosen().of(source.tables()?)?.tables;
        let options = LiftOptions {
            chosen: chosen(),
            level,
            memory_bytes,
            jobs: None,
        };
        let Lifted {
            store,
            tables: lifted,
            ..
        } = lift(source.as_ref(), &options, stop, &|_| {})?;
        let wrong = lifted.iter().flat_map(|table| {
            let of_table = |what: &Remark| Remark::OfTable {
                table: table.label.clone(),
                what: Box::new(what.clone()),
            };
            table.reasons.iter().map(of_table).collect::<Vec<_>>()
        });
        let wrong: Vec<Remark> = wrong.collect();
        let mut copy = Self {
            store,
            tables,
            positions: BTreeMap::new(),
            since,
        };
        let mut reader = source.open_reader()?;
        let mut positions = Positions::default();
        let ignore: Taker<'_> = &mut |_| Ok(());
        for name in ["district", "new_order"] {
            let table = copy.table(name)?;
            positions.read(table, reader.as_mut(), ignore)?;
        }
        copy.positions = positions.all;
        let mut change = copy.store.change()?;
        change.note_snapshot(0, 0)?;
        change.commit()?;
        Ok((copy, wrong))
    }

    pub fn target(&self) -> Arc<dyn Target> {
        self.store.target()
    }

    pub fn tables(&self) -> u32 {
        self.tables.len() as u32
    }

    pub fn since(&self) -> Instant {
        self.since
    }

    /// # Errors
    /// When the source has no table of that name.
    pub fn table(&self, name: &str) -> Result<&SourceTable> {
        let found = self.tables.iter().find(|table| table.name == name);
        found.ok_or_else(|| ColumnarError::Unknown(format!("the source has no table {name}")))
    }

    /// Advances the copy to a new snapshot, taken after the users had completed `transactions`; all changes become
    /// visible at once.
    ///
    /// # Errors
    /// Of source or store; the copy is then unchanged.
    pub fn follow(&mut self, from: &dyn Target, transactions: u64) -> Result<Cycle> {
        // The time is taken before the snapshot, so no earlier commit is missing.
        let of = Instant::now();
        let source = from.source()?;
        let mut reader = source.open_reader()?;
        let mut step = Following {
            copy: self,
            reader: reader.as_mut(),
            change: self.store.change()?,
            rows: 0,
            bytes: 0,
        };
        let positions = step.follow()?;
        let (rows, bytes) = (step.rows, step.bytes);
        let mut change = step.change;
        let at_us = of.duration_since(self.since).as_micros() as u64;
        change.note_snapshot(at_us, transactions)?;
        change.commit()?;
        self.positions = positions;
        Ok(Cycle {
            took: of.elapsed(),
            rows,
            bytes,
        })
    }

    /// Difference between its rows and those of a source that nobody changes, if any.
    pub fn differing(&self, from: &dyn Target) -> Result<Option<Remark>> {
        let whole = |table: &SourceTable| {
            let (_, key, _) = *TABLES.iter().find(|(name, ..)| *name == table.name)?;
            Some(Changed {
                table: table.clone(),
                key,
                keys: 0..u64::MAX,
            })
        };
        let whole: Vec<Changed> = self.tables.iter().filter_map(whole).collect();
        differing(from.source()?.as_ref(), &self.store, &whole)
    }
}

fn chosen() -> Chosen {
    let columns = TABLES.iter().flat_map(|(table, _, columns)| {
        let name = move |column: &str| format!("{table}.{column}");
        columns.split(' ').map(name)
    });
    Chosen {
        tables: TABLES.map(|(table, ..)| table.to_owned()).into(),
        columns: columns.collect(),
        ..Chosen::default()
    }
}

/// State of the districts' orders, from the rows of district and new_order.
#[derive(Default)]
struct Positions {
    all: BTreeMap<District, DistrictOrders>,
}

impl Positions {
    /// Reads one of both tables and passes its rows on; districts come first.
    fn read(
        &mut self,
        table: &SourceTable,
        reader: &mut dyn Reader,
        take: Taker<'_>,
    ) -> engine::Result<()> {
        let is_district = table.name == "district";
        let names = if is_district {
            ["d_w_id", "d_id", "d_next_o_id"]
        } else {
            ["no_w_id", "no_d_id", "no_o_id"]
        };
        let positions = names.map(|name| table.columns.iter().position(|c| c.name == name));
        let all = &mut self.all;
        reader.read(table, &None, &mut |row| {
            let number = |position: Option<usize>| match row.get(position?)? {
                Cell::Int(number) => Some(*number),
                _ => None,
            };
            if let [Some(w), Some(d), Some(order)] = positions.map(number) {
                match all.get_mut(&(w, d)) {
                    Some(position) => position.open = position.open.min(order),
                    None if is_district => {
                        let (next, open) = (order, order);
                        all.insert((w, d), DistrictOrders { next, open });
                    }
                    None => {}
                }
            }
            take(row)
        })
    }
}

struct Following<'c> {
    copy: &'c OrderEntryCopy,
    reader: &'c mut dyn Reader,
    change: Change<'c>,
    rows: u64,
    bytes: u64,
}

impl Following<'_> {
    /// Reads everything that changed; returns the new state of the districts.
    fn follow(&mut self) -> Result<BTreeMap<District, DistrictOrders>> {
        let mut positions = Positions::default();
        for name in ["district", "new_order"] {
            self.whole(name, |table, reader, take| {
                positions.read(table, reader, take)
            })?;
        }
        for name in ["warehouse", "customer"] {
            self.whole(name, |table, reader, take| reader.read(table, &None, take))?;
        }
        let changed = changed(&self.copy.positions, &positions.all);
        let ranges = |is_of: fn(&Ranges) -> Vec<Range<i64>>| -> Vec<(District, Vec<Range<i64>>)> {
            let each = changed.iter();
            each.map(|(district, ranges)| (*district, is_of(ranges)))
                .collect()
        };
        let all = ranges(|ranges| vec![ranges.delivered.clone(), ranges.new.clone()]);
        let new = ranges(|ranges| vec![ranges.new.clone()]);
        let orders = conditions(["o_w_id", "o_d_id", "o_id"], &all);
        self.parts("orders", &["o_w_id", "o_d_id", "o_id"], &orders)?;
        let of_lines = ["ol_w_id", "ol_d_id", "ol_o_id"];
        let keys = ["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"];
        self.parts("order_line", &keys, &conditions(of_lines, &all))?;
        let lines = self.copy.table("order_line")?;
        let sold = conditions(of_lines, &new).into_iter().map(|condition| {
            let sold = lines.rows_where(&["ol_supply_w_id", "ol_i_id"], &condition);
            format!("(s_w_id, s_i_id) IN ({sold})")
        });
        let sold: Vec<String> = sold.collect();
        self.parts("stock", &["s_w_id", "s_i_id"], &sold)?;
        Ok(positions.all)
    }

    fn whole(
        &mut self,
        name: &str,
        read: impl FnOnce(&SourceTable, &mut dyn Reader, Taker<'_>) -> engine::Result<()>,
    ) -> Result<()> {
        let table = self.copy.table(name)?;
        let (reader, bytes) = (&mut *self.reader, &mut self.bytes);
        self.rows += self.change.renew(table, |take| {
            read(table, reader, &mut |row| {
                *bytes += row.iter().map(Cell::bytes).sum::<u64>();
                take(row)
            })
        })?;
        Ok(())
    }

    /// Replaces the rows of a table that meet one of the conditions, by their keys.
    fn parts(&mut self, name: &str, keys: &[&str], conditions: &[String]) -> Result<()> {
        if conditions.is_empty() {
            return Ok(());
        }
        let table = self.copy.table(name)?;
        let (reader, bytes) = (&mut *self.reader, &mut self.bytes);
        self.rows += self.change.upsert(table, keys, |take| {
            for condition in conditions {
                reader.read(&table.only(condition), &None, &mut |row| {
                    *bytes += row.iter().map(Cell::bytes).sum::<u64>();
                    take(row)
                })?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Numbers of the orders of a district that changed between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ranges {
    /// Old orders that were delivered.
    delivered: Range<i64>,
    new: Range<i64>,
}

/// Changes per district; districts without changes are left out.
fn changed(
    before: &BTreeMap<District, DistrictOrders>,
    now: &BTreeMap<District, DistrictOrders>,
) -> Vec<(District, Ranges)> {
    let ranges = |(district, now): (&District, &DistrictOrders)| {
        let nothing = DistrictOrders { next: 1, open: 1 };
        let before = before.get(district).unwrap_or(&nothing);
        let ranges = Ranges {
            delivered: before.open..now.open.min(before.next),
            new: before.next..now.next,
        };
        let is_changed = !(ranges.delivered.is_empty() && ranges.new.is_empty());
        is_changed.then_some((*district, ranges))
    };
    now.iter().filter_map(ranges).collect()
}

/// Conditions for the orders in these ranges, one per warehouse: one for all would exceed the statement length of
/// engines.
fn conditions([w, d, o]: [&str; 3], ranges: &[(District, Vec<Range<i64>>)]) -> Vec<String> {
    let mut of_warehouse: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for ((warehouse, district), ranges) in ranges {
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            of_warehouse.entry(*warehouse).or_default().push(format!(
                "({w} = {warehouse} AND {d} = {district} AND {o} >= {} AND {o} < {})",
                range.start, range.end
            ));
        }
    }
    of_warehouse
        .into_values()
        .map(|all| all.join(" OR "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(all: &[(District, i64, i64)]) -> BTreeMap<District, DistrictOrders> {
        let position = |(district, open, next): &(District, i64, i64)| {
            let (open, next) = (*open, *next);
            (*district, DistrictOrders { next, open })
        };
        all.iter().map(position).collect()
    }

    #[test]
    fn new_and_delivered_orders_are_two_ranges_of_a_district() {
        let before = positions(&[((1, 1), 5, 10), ((1, 2), 7, 7), ((2, 1), 3, 9)]);
        let now = positions(&[((1, 1), 7, 12), ((1, 2), 7, 7), ((2, 1), 11, 12)]);
        let found = changed(&before, &now);
        let ranges = |delivered, new| Ranges { delivered, new };
        // Orders that were both created and delivered meanwhile count as new.
        let right = [
            ((1, 1), ranges(5..7, 10..12)),
            ((2, 1), ranges(3..9, 9..12)),
        ];
        assert_eq!(found, right);
        let both = |(district, ranges): &(District, Ranges)| {
            (
                *district,
                vec![ranges.delivered.clone(), ranges.new.clone()],
            )
        };
        let both: Vec<_> = found.iter().map(both).collect();
        assert_eq!(
            conditions(["w", "d", "o"], &both),
            [
                "(w = 1 AND d = 1 AND o >= 5 AND o < 7) OR (w = 1 AND d = 1 AND o >= 10 AND o < 12)",
                "(w = 2 AND d = 1 AND o >= 3 AND o < 9) OR (w = 2 AND d = 1 AND o >= 9 AND o < 12)"
            ]
        );
        assert!(conditions(["w", "d", "o"], &[]).is_empty());
    }
}
