//! Rows of a fresh database (clause 4.3.3 of the specification), a pure function of seed and warehouse: no value
//! depends on the number of jobs, an interruption or the engine.

use engine::{RowSource, Value};
use serde::{Deserialize, Serialize};
use stats::random::{Permutation, Random, mix};
use stats::words::counted;
use workload::loading::{self, Sink};

use super::random::{
    LAST_NAME_MAX, LAST_NAMES, Nurand, fill_alphanumeric, fill_digits, last_names_of_load,
    put_last_name,
};

/// Version of this generator; a load of another one is not resumed.
pub const GENERATOR: u64 = 1;
/// Items of the catalogue of full warehouses.
pub const ITEMS: u64 = 100_000;
pub const DISTRICTS: u64 = 10;
/// Sum that each customer has paid, in one payment.
const PAID_CENTS: i64 = 1000;
pub const ORDER_LINES: std::ops::RangeInclusive<u64> = 5..=15;
/// All timestamps of the load are this one, 2026-01-01, so that a seed gives the same bytes on any day.
pub const MOMENT_US: i64 = 1_767_225_600_000_000;

const ORIGINAL: &[u8; 8] = b"ORIGINAL";
/// Suffix after the four random digits of every postal code.
const ZIP_END: &[u8; 5] = b"11111";
const DIST_INFO_BYTES: usize = 24;
const TEXT_BYTES: usize = 600;

/// Share of the specification's rows per warehouse. The numbers of warehouses and districts are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WarehouseRows {
    #[default]
    Full,
    /// A tenth, which is loaded and checked in a tenth of the time, for a first try. Its figures differ from those of
    /// full warehouses: users work on fewer rows, and more of them fit into a cache.
    Tenth,
}

impl WarehouseRows {
    /// Name in facts and labels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Tenth => "tenth",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::Full, Self::Tenth]
            .into_iter()
            .find(|rows| rows.name() == name)
    }

    pub fn size(self, warehouses: u32) -> String {
        let warehouses = counted(u64::from(warehouses), "warehouse");
        match self {
            Self::Full => warehouses,
            Self::Tenth => format!("{warehouses}, a tenth of the rows"),
        }
    }

    /// Number of full warehouses with as many rows.
    pub fn whole(self, warehouses: u32) -> f64 {
        f64::from(warehouses) * self.customers() as f64 / Self::Full.customers() as f64
    }

    /// Share of the rows of a full warehouse.
    fn share_of(self, whole: u64) -> u64 {
        match self {
            Self::Full => whole,
            Self::Tenth => whole / 10,
        }
    }

    /// Items of the catalogue, and rows of stock in each warehouse.
    pub fn items(self) -> u64 {
        self.share_of(ITEMS)
    }

    pub fn customers(self) -> u64 {
        self.share_of(3000)
    }

    /// Last names of customers: the first customers have one each, and a name has three customers on average.
    pub fn last_names(self) -> u64 {
        self.share_of(LAST_NAMES)
    }

    /// Orders of a district, one for each customer.
    pub fn orders(self) -> u64 {
        self.customers()
    }

    /// The first undelivered order.
    pub fn first_new_order(self) -> u64 {
        self.delivered() + 1
    }

    pub fn delivered(self) -> u64 {
        self.orders() - self.new_orders()
    }

    pub fn new_orders(self) -> u64 {
        self.share_of(900)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct InitialRows {
    seed: u64,
    of: WarehouseRows,
    last_names: Nurand,
}

/// Rows by number, counted from 0.
fn rows(
    count: u64,
    put: impl FnMut(u64, &mut Sink<'_>) -> engine::Result<()> + 'static,
) -> Box<dyn RowSource> {
    Box::new(loading::rows(0..count, put))
}

fn text(bytes: &[u8]) -> Value<'_> {
    Value::Text(std::str::from_utf8(bytes).expect("generated texts are ASCII alone"))
}

fn int(number: u64) -> Value<'static> {
    Value::Int(number as i64)
}

fn cents(unscaled: i64) -> Value<'static> {
    Value::Decimal {
        unscaled,
        places: 2,
    }
}

fn rate(unscaled: u64) -> Value<'static> {
    Value::Decimal {
        unscaled: unscaled as i64,
        places: 4,
    }
}

/// Street, street, city, state and postal code of a warehouse, district or customer.
struct Address {
    letters: [u8; 62],
    lengths: [usize; 3],
    zip: [u8; 9],
}

impl Address {
    fn draw(random: &mut Random) -> Self {
        let mut address = Self {
            letters: [0; 62],
            lengths: std::array::from_fn(|_| random.range(10, 20) as usize),
            zip: [0; 9],
        };
        fill_alphanumeric(random, &mut address.letters);
        fill_digits(random, &mut address.zip[..4]);
        address.zip[4..].copy_from_slice(ZIP_END);
        address
    }

    fn values(&self) -> [Value<'_>; 5] {
        let [street_1, street_2, city] = self.lengths;
        [
            text(&self.letters[..street_1]),
            text(&self.letters[20..20 + street_2]),
            text(&self.letters[40..40 + city]),
            text(&self.letters[60..62]),
            text(&self.zip),
        ]
    }
}

/// A text of `low` to `high` letters.
fn letters<'b>(random: &mut Random, low: u64, high: u64, into: &'b mut [u8]) -> Value<'b> {
    let length = random.range(low, high) as usize;
    fill_alphanumeric(random, &mut into[..length]);
    text(&into[..length])
}

/// `i_data` or `s_data`: 26 to 50 letters, which contain "ORIGINAL" in one of ten.
fn data<'b>(random: &mut Random, into: &'b mut [u8; 50]) -> Value<'b> {
    let length = random.range(26, 50) as usize;
    fill_alphanumeric(random, &mut into[..length]);
    if random.below(10) == 0 {
        let at = random.below((length - ORIGINAL.len() + 1) as u64) as usize;
        into[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL);
    }
    text(&into[..length])
}

impl InitialRows {
    pub fn new(seed: u64, of: WarehouseRows) -> Self {
        Self {
            seed,
            of,
            last_names: last_names_of_load(seed),
        }
    }

    /// Choice of last names; its constant is recorded, because a run's must differ from it.
    pub fn last_names(&self) -> Nurand {
        self.last_names
    }

    /// Rows of a table for warehouse `w`; items belong to no warehouse.
    pub fn rows_of_warehouse(&self, table: &str, w: u64) -> u64 {
        match table {
            "warehouse" => 1,
            "district" => DISTRICTS,
            "customer" | "history" => DISTRICTS * self.of.customers(),
            "orders" => DISTRICTS * self.of.orders(),
            "new_order" => DISTRICTS * self.of.new_orders(),
            "stock" => self.of.items(),
            "order_line" => self.order_lines(w),
            _ => 0,
        }
    }

    /// Rows of a table right after a load.
    pub fn rows_in_all(&self, table: &str, warehouses: u32) -> u64 {
        match table {
            "item" => self.of.items(),
            _ => (1..=u64::from(warehouses))
                .map(|w| self.rows_of_warehouse(table, w))
                .sum(),
        }
    }

    fn order_lines(&self, w: u64) -> u64 {
        (1..=DISTRICTS)
            .flat_map(|d| (1..=self.of.orders()).map(move |o| (d, o)))
            .map(|(d, o)| self.lines_of(w, d, o))
            .sum()
    }

    fn random(&self, table: u64, w: u64) -> Random {
        Random::stream(self.seed, (table << 32) | w)
    }

    /// Number of lines of an order, on which two tables must agree.
    fn lines_of(&self, w: u64, d: u64, o: u64) -> u64 {
        let kinds = ORDER_LINES.end() - ORDER_LINES.start() + 1;
        let bits = mix(mix(self.seed ^ 0x6c69_6e65) ^ ((w << 20) | (d << 13) | o));
        ORDER_LINES.start() + (((bits >> 32) * kinds) >> 32)
    }

    pub fn items(&self) -> Box<dyn RowSource> {
        let mut random = self.random(1, 0);
        let (mut name, mut bytes) = ([0; 24], [0; 50]);
        rows(self.of.items(), move |i, sink| {
            let name = letters(&mut random, 14, 24, &mut name);
            let image = int(random.range(1, 10_000));
            let price = cents(random.range(100, 10_000) as i64);
            let data = data(&mut random, &mut bytes);
            sink(&[int(i + 1), image, name, price, data])
        })
    }

    /// Rows of `table` for warehouse `w`, in the order of their keys; none for the items.
    pub fn of_warehouse(&self, table: &str, w: u64) -> Box<dyn RowSource> {
        match table {
            "warehouse" => self.warehouse(w),
            "district" => self.district(w),
            "customer" => self.customer(w),
            "history" => self.history(w),
            "orders" => self.orders(w),
            "new_order" => self.new_order(w),
            "stock" => self.stock(w),
            "order_line" => self.order_line(w),
            _ => rows(0, |_, _| Ok(())),
        }
    }

    fn warehouse(&self, w: u64) -> Box<dyn RowSource> {
        let mut random = self.random(2, w);
        let paid_cents = self.paid_cents();
        rows(1, move |_, sink| {
            let mut name = [0; 10];
            let name = letters(&mut random, 6, 10, &mut name);
            let address = Address::draw(&mut random);
            let [street_1, street_2, city, state, zip] = address.values();
            let tax = rate(random.range(0, 2000));
            sink(&[
                int(w),
                name,
                street_1,
                street_2,
                city,
                state,
                zip,
                tax,
                cents(DISTRICTS as i64 * paid_cents),
            ])
        })
    }

    fn paid_cents(&self) -> i64 {
        self.of.customers() as i64 * PAID_CENTS
    }

    fn district(&self, w: u64) -> Box<dyn RowSource> {
        let mut random = self.random(3, w);
        let next_order = self.of.orders() + 1;
        let paid_cents = self.paid_cents();
        rows(DISTRICTS, move |d, sink| {
            let mut name = [0; 10];
            let name = letters(&mut random, 6, 10, &mut name);
            let address = Address::draw(&mut random);
            let [street_1, street_2, city, state, zip] = address.values();
            sink(&[
                int(d + 1),
                int(w),
                name,
                street_1,
                street_2,
                city,
                state,
                zip,
                rate(random.range(0, 2000)),
                cents(paid_cents),
                int(next_order),
            ])
        })
    }

    fn customer(&self, w: u64) -> Box<dyn RowSource> {
        let mut random = self.random(4, w);
        let last_names = self.last_names;
        let (customers, names) = (self.of.customers(), self.of.last_names());
        rows(DISTRICTS * self.of.customers(), move |row, sink| {
            let (d, c) = (row / customers + 1, row % customers + 1);
            // The first thousand customers have every name once.
            let number = if c <= names {
                c - 1
            } else {
                last_names.draw(&mut random, 0, names - 1)
            };
            let mut last = [0; LAST_NAME_MAX];
            let last_bytes = put_last_name(number, &mut last);
            let (first_bytes, data_bytes) = (random.range(8, 16), random.range(300, 500));
            let mut letters = [0; TEXT_BYTES];
            let letters = &mut letters[..(first_bytes + data_bytes) as usize];
            fill_alphanumeric(&mut random, letters);
            let (first, data) = letters.split_at(first_bytes as usize);
            let address = Address::draw(&mut random);
            let [street_1, street_2, city, state, zip] = address.values();
            let mut phone = [0; 16];
            fill_digits(&mut random, &mut phone);
            let credit = if random.below(10) == 0 { "BC" } else { "GC" };
            sink(&[
                int(c),
                int(d),
                int(w),
                text(first),
                Value::Text("OE"),
                text(&last[..last_bytes]),
                street_1,
                street_2,
                city,
                state,
                zip,
                text(&phone),
                Value::Moment(MOMENT_US),
                Value::Text(credit),
                cents(5_000_000),
                rate(random.range(0, 5000)),
                cents(-PAID_CENTS),
                cents(PAID_CENTS),
                int(1),
                int(0),
                text(data),
            ])
        })
    }

    fn history(&self, w: u64) -> Box<dyn RowSource> {
        let mut random = self.random(5, w);
        let customers = self.of.customers();
        rows(DISTRICTS * self.of.customers(), move |row, sink| {
            let (d, c) = (int(row / customers + 1), int(row % customers + 1));
            let mut data = [0; 24];
            let data = letters(&mut random, 12, 24, &mut data);
            let (w, moment) = (int(w), Value::Moment(MOMENT_US));
            sink(&[c, d, w, d, w, moment, cents(PAID_CENTS), data])
        })
    }

    fn orders(&self, w: u64) -> Box<dyn RowSource> {
        let mut random = self.random(6, w);
        let population = *self;
        let (orders, first_new) = (self.of.orders(), self.of.first_new_order());
        let order_of = |d: u64| Permutation::new(orders, mix(population.seed ^ ((w << 8) | d)));
        let customers: Vec<Permutation> = (1..=DISTRICTS).map(order_of).collect();
        rows(DISTRICTS * self.of.orders(), move |row, sink| {
            let (d, o) = (row / orders + 1, row % orders + 1);
            let customer = customers[(d - 1) as usize].at(o - 1).unwrap_or_default() + 1;
            let carrier = random.range(1, 10);
            sink(&[
                int(o),
                int(d),
                int(w),
                int(customer),
                Value::Moment(MOMENT_US),
                if o < first_new {
                    int(carrier)
                } else {
                    Value::Null
                },
                int(population.lines_of(w, d, o)),
                int(1),
            ])
        })
    }

    fn new_order(&self, w: u64) -> Box<dyn RowSource> {
        let (count, first) = (self.of.new_orders(), self.of.first_new_order());
        rows(DISTRICTS * self.of.new_orders(), move |row, sink| {
            let (d, o) = (row / count + 1, row % count + first);
            sink(&[int(o), int(d), int(w)])
        })
    }

    fn order_line(&self, w: u64) -> Box<dyn RowSource> {
        let mut random = self.random(8, w);
        let population = *self;
        let (mut d, mut o, mut number) = (1, 1, 0);
        let mut lines = self.lines_of(w, d, o);
        let (orders, items) = (self.of.orders(), self.of.items());
        let first_new = self.of.first_new_order();
        let mut info = [0; DIST_INFO_BYTES];
        rows(self.order_lines(w), move |_, sink| {
            number += 1;
            if number > lines {
                (o, number) = (o + 1, 1);
                if o > orders {
                    (d, o) = (d + 1, 1);
                }
                lines = population.lines_of(w, d, o);
            }
            fill_alphanumeric(&mut random, &mut info);
            let item = random.range(1, items);
            let amount = random.range(1, 999_999) as i64;
            let (delivered, amount) = if o >= first_new {
                (Value::Null, amount)
            } else {
                (Value::Moment(MOMENT_US), 0)
            };
            sink(&[
                int(o),
                int(d),
                int(w),
                int(number),
                int(item),
                int(w),
                delivered,
                int(5),
                cents(amount),
                text(&info),
            ])
        })
    }

    fn stock(&self, w: u64) -> Box<dyn RowSource> {
        let mut random = self.random(7, w);
        let mut infos = [0; DIST_INFO_BYTES * DISTRICTS as usize];
        let mut bytes = [0; 50];
        rows(self.of.items(), move |row, sink| {
            fill_alphanumeric(&mut random, &mut infos);
            let quantity = random.range(10, 100);
            let data = data(&mut random, &mut bytes);
            let mut values = [int(0); 17];
            values[..3].copy_from_slice(&[int(row + 1), int(w), int(quantity)]);
            for (value, info) in values[3..].iter_mut().zip(infos.chunks(DIST_INFO_BYTES)) {
                *value = text(info);
            }
            values[16] = data;
            sink(&values)
        })
    }
}

#[cfg(test)]
mod tests;
