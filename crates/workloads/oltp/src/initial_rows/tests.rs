//! Initial rows, compared with the specification.

use std::collections::{BTreeMap, BTreeSet};

use engine::BulkRow;

use super::*;
use crate::TABLES;

/// A cell as text: decimals with their point, null as "-".
fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Int(n) | Value::Moment(n) => n.to_string(),
        Value::Text(text) => (*text).to_owned(),
        Value::Decimal { unscaled, places } => format!("{unscaled}e-{places}"),
        Value::Null => "-".into(),
        Value::Blob(_) | Value::Date(_) => panic!("no table has bytes or days"),
    }
}

fn all(mut source: Box<dyn RowSource>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut keep = |row: &BulkRow<'_>| {
        rows.push(row.iter().map(cell).collect());
        Ok(())
    };
    while source.next_row(&mut keep).unwrap() {}
    rows
}

fn of(table: &str) -> Vec<Vec<String>> {
    all(InitialRows::new(7, WarehouseRows::Full).of_warehouse(table, 3))
}

/// Frequencies of the values of a column.
fn column(rows: &[Vec<String>], at: usize) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    rows.iter()
        .for_each(|row| *counts.entry(row[at].as_str()).or_default() += 1);
    counts
}

fn lengths(rows: &[Vec<String>], at: usize) -> (usize, usize) {
    let lengths: BTreeSet<usize> = rows.iter().map(|row| row[at].len()).collect();
    (*lengths.first().unwrap(), *lengths.last().unwrap())
}

fn numbers(rows: &[Vec<String>], at: usize) -> (i64, i64) {
    let number = |row: &Vec<String>| row[at].split('e').next().unwrap().parse::<i64>().unwrap();
    let numbers: BTreeSet<i64> = rows.iter().map(number).collect();
    (*numbers.first().unwrap(), *numbers.last().unwrap())
}

fn near(found: usize, of: usize, share: f64) {
    let found = found as f64 / of as f64;
    assert!(
        (found - share).abs() < 0.1 * share,
        "{found} instead of {share}"
    );
}

#[test]
fn every_table_has_its_rows() {
    let population = InitialRows::new(7, WarehouseRows::Full);
    for table in TABLES {
        let rows = all(population.of_warehouse(table, 3)).len() as u64;
        assert_eq!(rows, population.rows_of_warehouse(table, 3), "{table}");
    }
    let lines = population.rows_of_warehouse("order_line", 3);
    assert!((297_000..=303_000).contains(&lines), "{lines}");
    assert_eq!(population.rows_in_all("item", 5), 100_000);
    assert_eq!(population.rows_in_all("new_order", 5), 45_000);
}

#[test]
fn seed_and_warehouse_alone_decide() {
    let rows =
        |seed, w| all(InitialRows::new(seed, WarehouseRows::Full).of_warehouse("district", w));
    assert_eq!(rows(1, 1), rows(1, 1));
    assert_ne!(rows(1, 1)[0][2..], rows(1, 2)[0][2..]);
    assert_ne!(rows(1, 1), rows(2, 1));
    let constants: BTreeSet<u64> = (0..50)
        .map(|s| InitialRows::new(s, WarehouseRows::Full).last_names().c)
        .collect();
    assert!(constants.len() > 40 && constants.iter().all(|c| *c <= 255));
}

#[test]
fn warehouses_and_districts() {
    let (warehouse, districts) = (of("warehouse"), of("district"));
    assert_eq!(
        (warehouse[0][0].as_str(), warehouse[0][8].as_str()),
        ("3", "30000000e-2")
    );
    assert_eq!(numbers(&districts, 0), (1, 10));
    assert!(
        districts
            .iter()
            .all(|d| d[1] == "3" && d[9] == "3000000e-2" && d[10] == "3001")
    );
    for row in warehouse
        .iter()
        .map(|row| &row[1..8])
        .chain(districts.iter().map(|d| &d[2..9]))
    {
        assert!((6..=10).contains(&row[0].len()), "{row:?}");
        assert!(
            row[1..4].iter().all(|text| (10..=20).contains(&text.len())),
            "{row:?}"
        );
        assert!(
            row[4].len() == 2 && row[5].len() == 9 && row[5].ends_with("11111"),
            "{row:?}"
        );
        let tax: i64 = row[6].trim_end_matches("e-4").parse().unwrap();
        assert!((0..=2000).contains(&tax), "{row:?}");
    }
}

#[test]
fn customers() {
    let rows = of("customer");
    assert_eq!((numbers(&rows, 0), numbers(&rows, 1)), ((1, 3000), (1, 10)));
    assert_eq!(lengths(&rows, 3), (8, 16));
    assert_eq!(
        (lengths(&rows, 11), lengths(&rows, 20)),
        ((16, 16), (300, 500))
    );
    near(column(&rows, 13)["BC"], rows.len(), 0.1);
    assert_eq!(column(&rows, 13).len(), 2);
    let (low, high) = numbers(&rows, 15);
    assert!(
        (0..50).contains(&low) && (4950..=5000).contains(&high),
        "{low} {high}"
    );
    for (at, value) in [
        (4, "OE"),
        (14, "5000000e-2"),
        (16, "-1000e-2"),
        (17, "1000e-2"),
        (18, "1"),
        (19, "0"),
    ] {
        assert_eq!(column(&rows, at).len(), 1);
        assert!(column(&rows, at).contains_key(value), "{at}");
    }
    // The first thousand of a district have every name once; the others have some names far more often.
    assert_eq!(column(&rows[..1000], 5).len(), 1000);
    assert!(column(&rows[1000..3000], 5).values().max() > Some(&10));
}

#[test]
fn orders_and_their_lines() {
    let (orders, lines) = (of("orders"), of("order_line"));
    for district in orders.chunks(3000) {
        assert_eq!(
            column(district, 3).len(),
            3000,
            "every customer has one order"
        );
        assert!(
            district.windows(2).any(|pair| pair[0][3] > pair[1][3]),
            "in no order"
        );
    }
    let mut of_order: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in &lines {
        *of_order.entry((&line[1], &line[0])).or_default() += 1;
        let is_new = line[0].parse::<u64>().unwrap() >= WarehouseRows::Full.first_new_order();
        assert_eq!(
            (line[6] == "-", line[8] != "0e-2"),
            (is_new, is_new),
            "{line:?}"
        );
    }
    for order in &orders {
        let is_new = order[0].parse::<u64>().unwrap() >= WarehouseRows::Full.first_new_order();
        assert_eq!(order[5] == "-", is_new);
        assert_eq!(
            of_order[&(order[1].as_str(), order[0].as_str())].to_string(),
            order[6]
        );
    }
    assert_eq!(numbers(&orders, 6), (5, 15));
    column(&orders, 6)
        .values()
        .for_each(|count| near(*count, orders.len(), 1.0 / 11.0));
    assert_eq!(
        (numbers(&lines, 3), lengths(&lines, 9)),
        ((1, 15), (24, 24))
    );
    let (low, high) = numbers(&lines, 4);
    assert!(low < 50 && high > 99_950 && high <= 100_000);
    let (_, high) = numbers(&lines, 8);
    assert!((990_000..=999_999).contains(&high), "{high}");
}

#[test]
fn stock_and_items() {
    let (stock, items) = (
        of("stock"),
        all(InitialRows::new(7, WarehouseRows::Full).items()),
    );
    assert_eq!(
        (numbers(&stock, 0), numbers(&items, 0)),
        ((1, 100_000), (1, 100_000))
    );
    assert_eq!(
        (numbers(&stock, 2), lengths(&stock, 3)),
        ((10, 100), (24, 24))
    );
    assert_eq!(
        (lengths(&items, 2), numbers(&items, 3)),
        ((14, 24), (100, 10_000))
    );
    for (rows, at) in [(&stock, 16), (&items, 4)] {
        assert_eq!(lengths(rows, at), (26, 50));
        let original = rows
            .iter()
            .filter(|row| row[at].contains("ORIGINAL"))
            .count();
        near(original, rows.len(), 0.1);
    }
}

#[test]
fn payments_and_new_orders() {
    let (history, new_orders) = (of("history"), of("new_order"));
    assert_eq!(
        (lengths(&history, 7), column(&history, 6).len()),
        ((12, 24), 1)
    );
    assert!(
        history
            .iter()
            .all(|h| h[1] == h[3] && h[2] == "3" && h[4] == "3")
    );
    assert_eq!(numbers(&new_orders, 0), (2101, 3000));
}

/// Golden numbers of a tenth, and its consistency: payments, names, customers of orders, items of lines.
#[test]
fn a_tenth_of_the_rows_is_as_consistent_as_all_of_them() {
    let rows = InitialRows::new(7, WarehouseRows::Tenth);
    let counts = ["warehouse", "district", "customer", "history"].map(|t| rows.rows_in_all(t, 2));
    assert_eq!(counts, [2, 20, 6000, 6000]);
    let counts = ["orders", "new_order", "stock", "item"].map(|t| rows.rows_in_all(t, 2));
    assert_eq!(counts, [6000, 1800, 20_000, 10_000]);
    for table in TABLES.into_iter().filter(|table| *table != "item") {
        let right = rows.rows_of_warehouse(table, 3);
        assert_eq!(
            all(rows.of_warehouse(table, 3)).len() as u64,
            right,
            "{table}"
        );
    }
    let of = |table: &str| all(rows.of_warehouse(table, 3));
    assert_eq!(of("warehouse")[0][8], "3000000e-2");
    let districts = of("district");
    assert!(
        districts
            .iter()
            .all(|d| d[9] == "300000e-2" && d[10] == "301")
    );
    let customers = of("customer");
    assert_eq!(column(&customers, 5).len(), 100, "last names");
    assert_eq!(column(&customers[..100], 5).len(), 100, "each once");
    let orders = of("orders");
    let whose = column(&orders[..300], 3);
    assert!(whose.len() == 300 && whose.values().all(|count| *count == 1));
    assert_eq!(column(&orders[..300], 5)["-"], 90, "without a carrier");
    assert_eq!(numbers(&of("new_order"), 0), (211, 300));
    assert_eq!(numbers(&of("order_line"), 4), (1, 10_000));
}
