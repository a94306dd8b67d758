//! Every row of a fresh database (clause 4.3.3 of the specification), a pure function of seed and warehouse:
//! the number of jobs, an interruption or another engine change no value.

use stats::random::{Permutation, Random, mix};
use target::{BulkRow, RowSource, Value};

use super::random::{
    LAST_NAME_MAX, LAST_NAMES, Nurand, fill_alphanumeric, fill_digits, last_names_of_load,
    put_last_name,
};

/// Version of this generator; a load of another one is not gone on with.
pub const GENERATOR: u64 = 1;
/// Items of the catalogue, and rows of stock in each warehouse.
pub const ITEMS: u64 = 100_000;
/// Districts of a warehouse.
pub const DISTRICTS: u64 = 10;
/// Customers of a district.
pub const CUSTOMERS: u64 = 3000;
/// Orders of a district, one for each customer.
pub const ORDERS: u64 = 3000;
/// The first order that is not delivered.
pub const FIRST_NEW_ORDER: u64 = 2101;
/// Orders of a district that are not delivered.
pub const NEW_ORDERS: u64 = ORDERS - FIRST_NEW_ORDER + 1;
/// Fewest and most lines of an order.
pub const ORDER_LINES: std::ops::RangeInclusive<u64> = 5..=15;
/// All moments of the load are this one, 2026-01-01, so that a seed gives the same bytes on any day.
pub const MOMENT_US: i64 = 1_767_225_600_000_000;

const ORIGINAL: &[u8; 8] = b"ORIGINAL";
/// Behind the four random digits of every postal code.
const ZIP_END: &[u8; 5] = b"11111";
const DIST_INFO_BYTES: usize = 24;
const TEXT_BYTES: usize = 600;

/// What is loaded: its rows by table and warehouse.
#[derive(Debug, Clone, Copy)]
pub struct InitialRows {
    seed: u64,
    last_names: Nurand,
}

/// Puts one row, counted from 0, into the sink.
type Put<'a> = Box<
    dyn FnMut(u64, &mut dyn FnMut(&BulkRow<'_>) -> target::Result<()>) -> target::Result<()> + 'a,
>;

/// Rows of one table.
pub struct Rows<'a> {
    next: u64,
    end: u64,
    put: Put<'a>,
}

impl RowSource for Rows<'_> {
    #[inline]
    fn next_row(
        &mut self,
        sink: &mut dyn FnMut(&BulkRow<'_>) -> target::Result<()>,
    ) -> target::Result<bool> {
        if self.next == self.end {
            return Ok(false);
        }
        (self.put)(self.next, sink)?;
        self.next += 1;
        Ok(true)
    }
}

fn rows<'a>(
    count: u64,
    put: impl FnMut(u64, &mut dyn FnMut(&BulkRow<'_>) -> target::Result<()>) -> target::Result<()> + 'a,
) -> Rows<'a> {
    Rows {
        next: 0,
        end: count,
        put: Box::new(put),
    }
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

/// Street, street, city, state and postal code, as warehouses, districts and customers have them.
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

/// Writes what `i_data` and `s_data` hold: 26 to 50 letters, "ORIGINAL" among them in one of ten.
fn put_data(random: &mut Random, into: &mut [u8; 50]) -> usize {
    let length = random.range(26, 50) as usize;
    fill_alphanumeric(random, &mut into[..length]);
    if random.below(10) == 0 {
        let at = random.below((length - ORIGINAL.len() + 1) as u64) as usize;
        into[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL);
    }
    length
}

impl InitialRows {
    /// The population of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            last_names: last_names_of_load(seed),
        }
    }

    /// The choice of last names; its constant is recorded, because a run's has to differ from it.
    pub fn last_names(&self) -> Nurand {
        self.last_names
    }

    /// Rows that a table has for warehouse `w`; the items belong to none.
    pub fn rows_of_warehouse(&self, table: &str, w: u64) -> u64 {
        match table {
            "warehouse" => 1,
            "district" => DISTRICTS,
            "customer" | "history" => DISTRICTS * CUSTOMERS,
            "orders" => DISTRICTS * ORDERS,
            "new_order" => DISTRICTS * NEW_ORDERS,
            "stock" => ITEMS,
            "order_line" => self.order_lines(w),
            _ => 0,
        }
    }

    /// Rows of a table right after a load of so many warehouses.
    pub fn rows_in_all(&self, table: &str, warehouses: u32) -> u64 {
        match table {
            "item" => ITEMS,
            _ => (1..=u64::from(warehouses))
                .map(|w| self.rows_of_warehouse(table, w))
                .sum(),
        }
    }

    fn order_lines(&self, w: u64) -> u64 {
        (1..=DISTRICTS)
            .flat_map(|d| (1..=ORDERS).map(move |o| (d, o)))
            .map(|(d, o)| self.lines_of(w, d, o))
            .sum()
    }

    /// The random numbers of one table of one warehouse.
    fn random(&self, table: u64, w: u64) -> Random {
        Random::stream(self.seed, (table << 32) | w)
    }

    /// Number of lines of an order, which two tables must agree on.
    fn lines_of(&self, w: u64, d: u64, o: u64) -> u64 {
        let kinds = ORDER_LINES.end() - ORDER_LINES.start() + 1;
        let bits = mix(mix(self.seed ^ 0x6c69_6e65) ^ ((w << 20) | (d << 13) | o));
        ORDER_LINES.start() + (((bits >> 32) * kinds) >> 32)
    }

    /// The catalogue.
    pub fn items(&self) -> Rows<'static> {
        let mut random = self.random(1, 0);
        let (mut name, mut data) = ([0; 24], [0; 50]);
        rows(ITEMS, move |i, sink| {
            let name_bytes = random.range(14, 24) as usize;
            fill_alphanumeric(&mut random, &mut name[..name_bytes]);
            let image = random.range(1, 10_000);
            let price = random.range(100, 10_000) as i64;
            let data_bytes = put_data(&mut random, &mut data);
            sink(&[
                int(i + 1),
                int(image),
                text(&name[..name_bytes]),
                cents(price),
                text(&data[..data_bytes]),
            ])
        })
    }

    /// Rows of `table` for warehouse `w`, in the order of their keys; none for the items.
    pub fn of_warehouse(&self, table: &str, w: u64) -> Rows<'static> {
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

    fn warehouse(&self, w: u64) -> Rows<'static> {
        let mut random = self.random(2, w);
        rows(1, move |_, sink| {
            let mut name = [0; 10];
            let name_bytes = random.range(6, 10) as usize;
            fill_alphanumeric(&mut random, &mut name[..name_bytes]);
            let address = Address::draw(&mut random);
            let [street_1, street_2, city, state, zip] = address.values();
            let tax = rate(random.range(0, 2000));
            let name = text(&name[..name_bytes]);
            sink(&[
                int(w),
                name,
                street_1,
                street_2,
                city,
                state,
                zip,
                tax,
                cents(30_000_000),
            ])
        })
    }

    fn district(&self, w: u64) -> Rows<'static> {
        let mut random = self.random(3, w);
        rows(DISTRICTS, move |d, sink| {
            let mut name = [0; 10];
            let name_bytes = random.range(6, 10) as usize;
            fill_alphanumeric(&mut random, &mut name[..name_bytes]);
            let address = Address::draw(&mut random);
            let [street_1, street_2, city, state, zip] = address.values();
            sink(&[
                int(d + 1),
                int(w),
                text(&name[..name_bytes]),
                street_1,
                street_2,
                city,
                state,
                zip,
                rate(random.range(0, 2000)),
                cents(3_000_000),
                int(ORDERS + 1),
            ])
        })
    }

    fn customer(&self, w: u64) -> Rows<'static> {
        let mut random = self.random(4, w);
        let last_names = self.last_names;
        rows(DISTRICTS * CUSTOMERS, move |row, sink| {
            let (d, c) = (row / CUSTOMERS + 1, row % CUSTOMERS + 1);
            // The first thousand bear every name once.
            let number = match c {
                1..=LAST_NAMES => c - 1,
                _ => last_names.draw(&mut random, 0, LAST_NAMES - 1),
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
                cents(-1000),
                cents(1000),
                int(1),
                int(0),
                text(data),
            ])
        })
    }

    fn history(&self, w: u64) -> Rows<'static> {
        let mut random = self.random(5, w);
        rows(DISTRICTS * CUSTOMERS, move |row, sink| {
            let (d, c) = (int(row / CUSTOMERS + 1), int(row % CUSTOMERS + 1));
            let mut data = [0; 24];
            let data_bytes = random.range(12, 24) as usize;
            fill_alphanumeric(&mut random, &mut data[..data_bytes]);
            let moment = Value::Moment(MOMENT_US);
            sink(&[
                c,
                d,
                int(w),
                d,
                int(w),
                moment,
                cents(1000),
                text(&data[..data_bytes]),
            ])
        })
    }

    fn orders(&self, w: u64) -> Rows<'static> {
        let mut random = self.random(6, w);
        let population = *self;
        let order_of = |d: u64| Permutation::new(CUSTOMERS, mix(population.seed ^ ((w << 8) | d)));
        let customers: Vec<Permutation> = (1..=DISTRICTS).map(order_of).collect();
        rows(DISTRICTS * ORDERS, move |row, sink| {
            let (d, o) = (row / ORDERS + 1, row % ORDERS + 1);
            let customer = customers[(d - 1) as usize].at(o - 1).unwrap_or_default() + 1;
            let carrier = random.range(1, 10);
            sink(&[
                int(o),
                int(d),
                int(w),
                int(customer),
                Value::Moment(MOMENT_US),
                if o < FIRST_NEW_ORDER {
                    int(carrier)
                } else {
                    Value::Null
                },
                int(population.lines_of(w, d, o)),
                int(1),
            ])
        })
    }

    fn new_order(&self, w: u64) -> Rows<'static> {
        rows(DISTRICTS * NEW_ORDERS, move |row, sink| {
            let (d, o) = (row / NEW_ORDERS + 1, row % NEW_ORDERS + FIRST_NEW_ORDER);
            sink(&[int(o), int(d), int(w)])
        })
    }

    fn order_line(&self, w: u64) -> Rows<'static> {
        let mut random = self.random(8, w);
        let population = *self;
        let (mut d, mut o, mut number) = (1, 1, 0);
        let mut lines = self.lines_of(w, d, o);
        let mut info = [0; DIST_INFO_BYTES];
        rows(self.order_lines(w), move |_, sink| {
            number += 1;
            if number > lines {
                (o, number) = (o + 1, 1);
                if o > ORDERS {
                    (d, o) = (d + 1, 1);
                }
                lines = population.lines_of(w, d, o);
            }
            fill_alphanumeric(&mut random, &mut info);
            let item = random.range(1, ITEMS);
            let amount = random.range(1, 999_999) as i64;
            let (delivered, amount) = match o {
                FIRST_NEW_ORDER.. => (Value::Null, amount),
                _ => (Value::Moment(MOMENT_US), 0),
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

    fn stock(&self, w: u64) -> Rows<'static> {
        let mut random = self.random(7, w);
        let mut infos = [0; DIST_INFO_BYTES * DISTRICTS as usize];
        let mut data = [0; 50];
        rows(ITEMS, move |row, sink| {
            fill_alphanumeric(&mut random, &mut infos);
            let quantity = random.range(10, 100);
            let data_bytes = put_data(&mut random, &mut data);
            let info = |d: usize| text(&infos[d * DIST_INFO_BYTES..(d + 1) * DIST_INFO_BYTES]);
            sink(&[
                int(row + 1),
                int(w),
                int(quantity),
                info(0),
                info(1),
                info(2),
                info(3),
                info(4),
                info(5),
                info(6),
                info(7),
                info(8),
                info(9),
                int(0),
                int(0),
                int(0),
                text(&data[..data_bytes]),
            ])
        })
    }
}

#[cfg(test)]
mod tests;
