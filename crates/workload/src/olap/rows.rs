//! Every row of the database, straight from the generator into a bulk load.
//!
//! A table is made in parts, each independent of the others, so that several sessions load it together.

use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use target::{BulkRow, ErrorKind, Result, RowSource, TargetError, Value};
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator,
    Supplier, SupplierGenerator,
};
use tpchgen::text::TextPool;

use super::Scale;

/// Places of every amount.
const PLACES: u8 = 2;
/// Rows of a table's own scale that a part holds: enough for a bulk load to be worth its beginning, few enough
/// for the sessions to end together.
const ROWS_PER_PART: u64 = 250_000;

/// A part of a table: `part` of `of`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Table.
    pub table: &'static str,
    /// Which part, from 1.
    pub part: i32,
    /// How many there are.
    pub of: i32,
}

/// The parts of a table for so many sessions: one where one session loads it, else several.
pub fn shares(table: &'static str, scale: Scale, jobs: u32) -> Vec<Share> {
    // Line items are made order by order.
    let rows = scale.rows(table).or(scale.rows("orders")).unwrap_or(1);
    let of = match jobs {
        1 => 1,
        jobs => rows
            .div_ceil(ROWS_PER_PART)
            .max(u64::from(jobs).min(rows / 1000)),
    };
    // The two smallest tables are made as a whole.
    let of = match table {
        "region" | "nation" => 1,
        _ => i32::try_from(of.max(1)).unwrap_or(i32::MAX),
    };
    let share = |part| Share { table, part, of };
    (1..=of).map(share).collect()
}

/// Begins to make the words that all texts are cut out of: a second's work of one thread, which every first row would
/// wait for, of every table.
pub fn begin_words() {
    std::thread::spawn(TextPool::get_or_init_default);
}

/// The rows of a part; when `stop` is set, an error instead of the next one.
pub fn rows<'a>(share: Share, scale: Scale, stop: &'a AtomicBool) -> Box<dyn RowSource + 'a> {
    let Share { table, part, of } = share;
    let sf = scale.factor();
    match table {
        "region" => made(RegionGenerator::new(sf, 1, 1).iter(), put_region, stop),
        "nation" => made(NationGenerator::new(sf, 1, 1).iter(), put_nation, stop),
        "supplier" => made(
            SupplierGenerator::new(sf, part, of).iter(),
            put_supplier,
            stop,
        ),
        "part" => made(PartGenerator::new(sf, part, of).iter(), put_part, stop),
        "partsupp" => made(
            PartSuppGenerator::new(sf, part, of).iter(),
            put_partsupp,
            stop,
        ),
        "customer" => made(
            CustomerGenerator::new(sf, part, of).iter(),
            put_customer,
            stop,
        ),
        "orders" => made(OrderGenerator::new(sf, part, of).iter(), put_order, stop),
        _ => made(
            LineItemGenerator::new(sf, part, of).iter(),
            put_line_item,
            stop,
        ),
    }
}

/// Texts that are made for a row, kept from one to the next so that none is allocated anew.
pub(super) type Texts = [String; 4];
pub(super) type Sink<'s> = &'s mut dyn FnMut(&BulkRow<'_>) -> Result<()>;
pub(super) type Put<T> = fn(&T, &mut Texts, Sink<'_>) -> Result<()>;

struct Made<'a, I: Iterator> {
    rows: I,
    put: Put<I::Item>,
    texts: Texts,
    stop: &'a AtomicBool,
}

pub(super) fn made<'a, I: Iterator + 'a>(
    rows: I,
    put: Put<I::Item>,
    stop: &'a AtomicBool,
) -> Box<dyn RowSource + 'a> {
    Box::new(Made {
        rows,
        put,
        texts: Texts::default(),
        stop,
    })
}

impl<I: Iterator> RowSource for Made<'_, I> {
    fn next_row(&mut self, sink: Sink<'_>) -> Result<bool> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(TargetError::new(ErrorKind::Statement, "interrupted"));
        }
        let Some(row) = self.rows.next() else {
            return Ok(false);
        };
        (self.put)(&row, &mut self.texts, sink).map(|()| true)
    }
}

/// A value as the text that the generator shows it as.
fn shown<'t>(into: &'t mut String, value: &impl Display) -> Value<'t> {
    into.clear();
    // Writing to a String cannot fail.
    let _ = write!(into, "{value}");
    Value::Text(into)
}

fn money(amount: TPCHDecimal) -> Value<'static> {
    Value::Decimal {
        unscaled: amount.into_inner(),
        places: PLACES,
    }
}

fn day(date: TPCHDate) -> Value<'static> {
    Value::Date(date.to_unix_epoch())
}

fn put_region(row: &Region<'_>, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
    sink(&[
        Value::Int(row.r_regionkey),
        Value::Text(row.r_name),
        Value::Text(row.r_comment),
    ])
}

fn put_nation(row: &Nation<'_>, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
    sink(&[
        Value::Int(row.n_nationkey),
        Value::Text(row.n_name),
        Value::Int(row.n_regionkey),
        Value::Text(row.n_comment),
    ])
}

fn put_supplier(row: &Supplier, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
    let [name, address, phone, _] = texts;
    sink(&[
        Value::Int(row.s_suppkey),
        shown(name, &row.s_name),
        shown(address, &row.s_address),
        Value::Int(row.s_nationkey),
        shown(phone, &row.s_phone),
        money(row.s_acctbal),
        Value::Text(&row.s_comment),
    ])
}

fn put_part(row: &Part<'_>, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
    let [name, manufacturer, brand, _] = texts;
    sink(&[
        Value::Int(row.p_partkey),
        shown(name, &row.p_name),
        shown(manufacturer, &row.p_mfgr),
        shown(brand, &row.p_brand),
        Value::Text(row.p_type),
        Value::Int(row.p_size.into()),
        Value::Text(row.p_container),
        money(row.p_retailprice),
        Value::Text(row.p_comment),
    ])
}

fn put_partsupp(row: &PartSupp<'_>, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
    sink(&[
        Value::Int(row.ps_partkey),
        Value::Int(row.ps_suppkey),
        Value::Int(row.ps_availqty.into()),
        money(row.ps_supplycost),
        Value::Text(row.ps_comment),
    ])
}

fn put_customer(row: &Customer<'_>, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
    let [name, address, phone, _] = texts;
    sink(&[
        Value::Int(row.c_custkey),
        shown(name, &row.c_name),
        shown(address, &row.c_address),
        Value::Int(row.c_nationkey),
        shown(phone, &row.c_phone),
        money(row.c_acctbal),
        Value::Text(row.c_mktsegment),
        Value::Text(row.c_comment),
    ])
}

pub(super) fn put_order(row: &Order<'_>, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
    let [clerk, ..] = texts;
    sink(&[
        Value::Int(row.o_orderkey),
        Value::Int(row.o_custkey),
        Value::Text(row.o_orderstatus.as_str()),
        money(row.o_totalprice),
        day(row.o_orderdate),
        Value::Text(row.o_orderpriority),
        shown(clerk, &row.o_clerk),
        Value::Int(row.o_shippriority.into()),
        Value::Text(row.o_comment),
    ])
}

pub(super) fn put_line_item(row: &LineItem<'_>, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
    sink(&[
        Value::Int(row.l_orderkey),
        Value::Int(row.l_partkey),
        Value::Int(row.l_suppkey),
        Value::Int(row.l_linenumber.into()),
        // The generator counts whole pieces; the column is a decimal.
        Value::Decimal {
            unscaled: row.l_quantity * 100,
            places: PLACES,
        },
        money(row.l_extendedprice),
        money(row.l_discount),
        money(row.l_tax),
        Value::Text(row.l_returnflag),
        Value::Text(row.l_linestatus),
        day(row.l_shipdate),
        day(row.l_commitdate),
        day(row.l_receiptdate),
        Value::Text(row.l_shipinstruct),
        Value::Text(row.l_shipmode),
        Value::Text(row.l_comment),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::olap::TABLES;

    fn lines(share: Share, scale: Scale) -> Vec<String> {
        let go_on = AtomicBool::new(false);
        let mut source = rows(share, scale, &go_on);
        let mut lines = Vec::new();
        while source
            .next_row(&mut |row| {
                lines.push(format!("{row:?}"));
                Ok(())
            })
            .unwrap()
        {}
        lines
    }

    #[test]
    fn parts_together_are_the_table() {
        let scale = Scale::new(0.01).unwrap();
        for table in TABLES {
            let whole = shares(table, scale, 1);
            assert_eq!(whole.len(), 1);
            let in_parts: Vec<String> = (shares(table, scale, 2).into_iter())
                .flat_map(|share| lines(share, scale))
                .collect();
            let all = lines(whole[0], scale);
            assert_eq!(in_parts, all, "{table}");
            if let Some(rows) = scale.rows(table) {
                assert_eq!(all.len() as u64, rows, "{table}");
            }
        }
        assert_eq!(shares("lineitem", Scale::new(1.0).unwrap(), 2).len(), 6);
    }

    #[test]
    fn a_stop_ends_the_rows() {
        let stop = AtomicBool::new(true);
        let share = shares("part", Scale::new(0.01).unwrap(), 1)[0];
        let mut source = rows(share, Scale::new(0.01).unwrap(), &stop);
        assert!(source.next_row(&mut |_| Ok(())).is_err());
    }
}
