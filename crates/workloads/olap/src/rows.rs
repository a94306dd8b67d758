//! Rows of the database, straight from the generator into a bulk load.
//!
//! A table is made in independent parts, so that several sessions load it together.

use std::fmt::{Display, Write};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{BulkRow, Result, RowSource, TargetError, Value};
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator,
    Supplier, SupplierGenerator,
};
use tpchgen::text::TextPool;

use super::Scale;

const PLACES: u8 = 2;
/// Row limit of a part: few enough for one transaction, and for the sessions to end together.
const ROWS_PER_PART_MAX: u64 = 1_000_000;
/// A table of fewer rows per session is not divided: a bulk load has startup costs, and column stores repack the ends
/// of short parts.
const ROWS_PER_PART_MIN: u64 = 125_000;
const ITEMS_OF_ORDER: u64 = 4;
/// Rows that are made ahead, so that their comments are fetched into the caches together: each comment is cut out of
/// hundreds of megabytes at a random position.
const ROWS_AHEAD: usize = 16;

/// Part of a table: `part` of `of`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub table: &'static str,
    /// From 1.
    pub part: i32,
    pub of: i32,
}

/// Parts of a table for so many sessions: one for one session, else several.
pub fn shares(table: &'static str, scale: Scale, jobs: u32) -> Vec<Share> {
    let rows = (scale.rows(table))
        .or_else(|| Some(scale.rows("orders")? * ITEMS_OF_ORDER))
        .unwrap_or(1);
    let of = match jobs {
        1 => 1,
        jobs => (rows / ROWS_PER_PART_MIN)
            .min(jobs.into())
            .max(rows.div_ceil(ROWS_PER_PART_MAX)),
    };
    let of = i32::try_from(of.max(1)).unwrap_or(i32::MAX);
    let share = |part| Share { table, part, of };
    (1..=of).map(share).collect()
}

/// Starts to make the pool of texts: a second's work of one thread, for which the first row of every table would wait.
pub fn begin_words() {
    std::thread::spawn(TextPool::get_or_init_default);
}

/// Rows of a part; after `stop` is set, an error follows instead of the next row.
pub fn rows<'a>(share: Share, scale: Scale, stop: &'a AtomicBool) -> Box<dyn RowSource + 'a> {
    let Share { table, part, of } = share;
    let sf = scale.factor();
    match table {
        "region" => made(RegionGenerator::new(sf, 1, 1).iter(), stop),
        "nation" => made(NationGenerator::new(sf, 1, 1).iter(), stop),
        "supplier" => made(SupplierGenerator::new(sf, part, of).iter(), stop),
        "part" => made(PartGenerator::new(sf, part, of).iter(), stop),
        "partsupp" => made(PartSuppGenerator::new(sf, part, of).iter(), stop),
        "customer" => made(CustomerGenerator::new(sf, part, of).iter(), stop),
        "orders" => made(OrderGenerator::new(sf, part, of).iter(), stop),
        _ => made(LineItemGenerator::new(sf, part, of).iter(), stop),
    }
}

/// Text buffers of a row, reused to avoid allocations.
type Texts = [String; 4];
type Sink<'s> = &'s mut dyn FnMut(&BulkRow<'_>) -> Result<()>;

pub(super) trait GeneratedRow {
    fn comment(&self) -> &str;
    /// Passes its values on, in the order of the columns.
    fn put(&self, texts: &mut Texts, sink: Sink<'_>) -> Result<()>;
}

struct GeneratedRows<'a, I: Iterator> {
    rows: I,
    /// Next rows, of which `given` have been passed on.
    ahead: Vec<I::Item>,
    given: usize,
    texts: Texts,
    stop: &'a AtomicBool,
}

pub(super) fn made<'a, I>(rows: I, stop: &'a AtomicBool) -> Box<dyn RowSource + 'a>
where
    I: Iterator<Item: GeneratedRow> + 'a,
{
    Box::new(GeneratedRows {
        rows,
        ahead: Vec::with_capacity(ROWS_AHEAD),
        given: 0,
        texts: Texts::default(),
        stop,
    })
}

impl<I: Iterator<Item: GeneratedRow>> GeneratedRows<'_, I> {
    /// Makes the next rows. Their texts are accessed one right after the other, so that the processor waits once for
    /// the memory of all of them.
    fn make_ahead(&mut self) {
        self.ahead.clear();
        self.ahead.extend(self.rows.by_ref().take(ROWS_AHEAD));
        self.given = 0;
        for row in &self.ahead {
            let words = row.comment().as_bytes();
            black_box([words.first().copied(), words.last().copied()]);
        }
    }
}

impl<I: Iterator<Item: GeneratedRow>> RowSource for GeneratedRows<'_, I> {
    fn next_row(&mut self, sink: Sink<'_>) -> Result<bool> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(TargetError::statement("interrupted"));
        }
        if self.given == self.ahead.len() {
            self.make_ahead();
        }
        let Some(row) = self.ahead.get(self.given) else {
            return Ok(false);
        };
        self.given += 1;
        row.put(&mut self.texts, sink).map(|()| true)
    }
}

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

impl GeneratedRow for Region<'_> {
    fn comment(&self) -> &str {
        self.r_comment
    }

    fn put(&self, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
        sink(&[
            Value::Int(self.r_regionkey),
            Value::Text(self.r_name),
            Value::Text(self.r_comment),
        ])
    }
}

impl GeneratedRow for Nation<'_> {
    fn comment(&self) -> &str {
        self.n_comment
    }

    fn put(&self, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
        sink(&[
            Value::Int(self.n_nationkey),
            Value::Text(self.n_name),
            Value::Int(self.n_regionkey),
            Value::Text(self.n_comment),
        ])
    }
}

impl GeneratedRow for Supplier {
    fn comment(&self) -> &str {
        &self.s_comment
    }

    fn put(&self, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
        let [name, address, phone, _] = texts;
        sink(&[
            Value::Int(self.s_suppkey),
            shown(name, &self.s_name),
            shown(address, &self.s_address),
            Value::Int(self.s_nationkey),
            shown(phone, &self.s_phone),
            money(self.s_acctbal),
            Value::Text(&self.s_comment),
        ])
    }
}

impl GeneratedRow for Part<'_> {
    fn comment(&self) -> &str {
        self.p_comment
    }

    fn put(&self, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
        let [name, manufacturer, brand, _] = texts;
        sink(&[
            Value::Int(self.p_partkey),
            shown(name, &self.p_name),
            shown(manufacturer, &self.p_mfgr),
            shown(brand, &self.p_brand),
            Value::Text(self.p_type),
            Value::Int(self.p_size.into()),
            Value::Text(self.p_container),
            money(self.p_retailprice),
            Value::Text(self.p_comment),
        ])
    }
}

impl GeneratedRow for PartSupp<'_> {
    fn comment(&self) -> &str {
        self.ps_comment
    }

    fn put(&self, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
        sink(&[
            Value::Int(self.ps_partkey),
            Value::Int(self.ps_suppkey),
            Value::Int(self.ps_availqty.into()),
            money(self.ps_supplycost),
            Value::Text(self.ps_comment),
        ])
    }
}

impl GeneratedRow for Customer<'_> {
    fn comment(&self) -> &str {
        self.c_comment
    }

    fn put(&self, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
        let [name, address, phone, _] = texts;
        sink(&[
            Value::Int(self.c_custkey),
            shown(name, &self.c_name),
            shown(address, &self.c_address),
            Value::Int(self.c_nationkey),
            shown(phone, &self.c_phone),
            money(self.c_acctbal),
            Value::Text(self.c_mktsegment),
            Value::Text(self.c_comment),
        ])
    }
}

impl GeneratedRow for Order<'_> {
    fn comment(&self) -> &str {
        self.o_comment
    }

    fn put(&self, texts: &mut Texts, sink: Sink<'_>) -> Result<()> {
        let [executor, ..] = texts;
        sink(&[
            Value::Int(self.o_orderkey),
            Value::Int(self.o_custkey),
            Value::Text(self.o_orderstatus.as_str()),
            money(self.o_totalprice),
            day(self.o_orderdate),
            Value::Text(self.o_orderpriority),
            shown(executor, &self.o_clerk),
            Value::Int(self.o_shippriority.into()),
            Value::Text(self.o_comment),
        ])
    }
}

impl GeneratedRow for LineItem<'_> {
    fn comment(&self) -> &str {
        self.l_comment
    }

    fn put(&self, _: &mut Texts, sink: Sink<'_>) -> Result<()> {
        sink(&[
            Value::Int(self.l_orderkey),
            Value::Int(self.l_partkey),
            Value::Int(self.l_suppkey),
            Value::Int(self.l_linenumber.into()),
            // The generator counts whole pieces; the column is a decimal.
            Value::Decimal {
                unscaled: self.l_quantity * 100,
                places: PLACES,
            },
            money(self.l_extendedprice),
            money(self.l_discount),
            money(self.l_tax),
            Value::Text(self.l_returnflag),
            Value::Text(self.l_linestatus),
            day(self.l_shipdate),
            day(self.l_commitdate),
            day(self.l_receiptdate),
            Value::Text(self.l_shipinstruct),
            Value::Text(self.l_shipmode),
            Value::Text(self.l_comment),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TABLES;

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
            // The two smallest tables are always made as a whole.
            let of = match table {
                "region" | "nation" => 1,
                _ => 3,
            };
            let in_parts: Vec<String> = (1..=of)
                .flat_map(|part| lines(Share { table, part, of }, scale))
                .collect();
            let all = lines(whole[0], scale);
            assert_eq!(in_parts, all, "{table}");
            if let Some(rows) = scale.rows(table) {
                assert_eq!(all.len() as u64, rows, "{table}");
            }
        }
        let parts = |table, jobs| shares(table, Scale::new(1.0).unwrap(), jobs).len();
        assert_eq!((parts("lineitem", 2), parts("lineitem", 16)), (6, 16));
        // Whole tables pack better than the ends of many parts.
        assert_eq!((parts("orders", 2), parts("customer", 2)), (2, 1));
        assert_eq!((parts("region", 64), parts("nation", 64)), (1, 1));
    }

    #[test]
    fn a_stop_ends_the_rows() {
        let stop = AtomicBool::new(true);
        let share = shares("part", Scale::new(0.01).unwrap(), 1)[0];
        let mut source = rows(share, Scale::new(0.01).unwrap(), &stop);
        assert!(source.next_row(&mut |_| Ok(())).is_err());
    }
}
