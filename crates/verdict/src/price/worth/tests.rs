//! Golden tests of prices of figures.

use super::*;
use crate::by_hand::{self, point, run};
use crate::price::limit::users_at_limit;
use crate::price::{PriceList, bill};

/// The bill of document 001's last slide.
fn slide(run: &Run) -> Bill {
    let text = include_str!("../../../../../docs/examples/prices.toml");
    bill(&PriceList::parse("prices.toml", text).unwrap(), run)
}

fn users(users: u32, repetition: u32, response_ms: u64, orders: f64) -> Point {
    let mut point = by_hand::users(USERS, users, repetition, response_ms);
    point.figures.operations_per_s = Some(orders / 30.0);
    point.figures.new_orders_per_min = Some(orders);
    point
}

#[test]
fn the_slides_of_document_001_give_the_price_of_an_io() {
    let mut run = run();
    for (repetition, iops) in [(1, 147_207.0), (2, 147_207.0), (3, 146_500.0)] {
        let mut point = point("T721", Component::Storage, 4, repetition);
        point.figures.total_iops = Some(iops);
        run.points.push(point);
        // A test of the database reaches as many, and is no test of storage.
        let mut other = by_hand::point("T611", Component::Database, 4, repetition);
        other.figures.total_iops = Some(200_000.0);
        run.points.push(other);
    }
    let found = worth(&slide(&run), &run);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].what, found[0].place.as_str()),
        (What::Iops, "T721@4")
    );
    assert_eq!(found[0].figure, Ok([147_207.0, 146_500.0, 147_207.0]));
    // By hand: 1,465,000 ÷ 147,207 = 9.952, ÷ 146,500 = 10.0.
    let prices = found[0]
        .price
        .unwrap()
        .map(|money| (money.net * 1e3).round());
    assert_eq!(prices, [9_952.0, 9_952.0, 10_000.0]);
}

#[test]
fn an_io_figure_is_so_many_disks() {
    // By the document, 147,000 IOPS need about 600 disks with 15,000 rpm.
    assert_eq!(disks_15k(147_000.0), 600.0);
    assert_eq!(disks_15k(245.0), 1.0);
    assert_eq!(disks_15k(246.0), 2.0);
    assert_eq!(disks_15k(178_940.0), 731.0);
}

#[test]
fn orders_are_those_of_the_largest_level_within_the_limit() {
    let mut run = run();
    for (repetition, orders) in [(1, 40_000.0), (2, 41_000.0), (3, 39_000.0)] {
        run.points.push(users(100, repetition, 20, 20_000.0));
        run.points.push(users(200, repetition, 30, orders));
        run.points.push(users(300, repetition, 70, 50_000.0));
    }
    assert_eq!(users_at_limit(&run), Some(200.0));
    let found = worth(&slide(&run), &run);
    assert_eq!(found[0].place, "OLTP@200");
    assert_eq!(found[0].figure, Ok([40_000.0, 39_000.0, 41_000.0]));
    assert_eq!(found[0].price.unwrap()[0].net, 36_625.0);
    for point in &mut run.points {
        point.work.limit_response_us = Some(10e3);
    }
    assert_eq!(
        worth(&slide(&run), &run)[0].figure,
        Err(NotKnown::NotSupported)
    );
    for point in &mut run.points {
        point.work.limit_response_us = None;
    }
    let found = worth(&slide(&run), &run);
    assert_eq!(
        (found[0].figure.clone(), found[0].price),
        (Err(NotKnown::NoLimit), None)
    );
}

#[test]
fn memory_and_queries_have_a_price_and_invalid_points_none() {
    let mut run = run();
    let mut lifted = point(LIFTED, Component::Database, 1, 1);
    lifted.figures.table_disk_mb = Some(144.0);
    lifted.figures.compress_factor = Some(3.29);
    run.platform.memory_bytes = Some(3_000_000_000_000);
    let mut power = point("OLAP-POWER", Component::Database, 1, 1);
    power.figures.scaled_queries_per_h = Some(1_000.0);
    run.points = vec![lifted, power];
    let found = worth(&slide(&run), &run);
    let units: Vec<What> = found.iter().map(|of| of.what).collect();
    assert_eq!(units, [What::GbInMemory, What::QueriesPerHour]);
    // By hand: 3,000 GB of memory hold 9,870 GB of tables, however few the test has loaded.
    assert_eq!(found[0].figure, Ok([9_870.0; 3]));
    assert_eq!(found[0].price.unwrap()[0].net.round(), 148.0);
    assert_eq!(found[1].price.unwrap()[0].net, 1_465.0);
    run.points[1]
        .reasons
        .push(archive::Remark::StatisticsOutdated);
    assert_eq!(worth(&slide(&run), &run).len(), 1);
    run.platform.memory_bytes = None;
    let found = worth(&slide(&run), &run);
    assert_eq!(
        (found[0].figure.clone(), found[0].price),
        (Err(NotKnown::NoMemory), None)
    );
}
