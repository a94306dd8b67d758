//! Histograms of a storage array beside a run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::Run;
use archive::array::attach;
use testing::Says;

/// A run below a database with two runs of a list, one of which has two values of a loop.
fn run() -> Run {
    let mut run = crate::common::example_run();
    let names = ["rd1", "rd2 threads=1", "rd2 threads=8"];
    for (point, name) in run.points.iter_mut().zip(names) {
        point.key.test = name.to_owned();
        point.work.below_database = true;
        point.by_operation.times.clear();
    }
    run
}

#[test]
fn buckets_become_times_of_the_array() {
    let text = "run,operation,up_to_us,count\nrd1,write,125,10\nrd1,write,250,30\nrd1,write,,2\n\nrd2 threads=8,read,500,1\n";
    let mut run = run();
    attach(&mut run, "after.csv", text).unwrap();
    let times = &run.points[0].by_operation.times;
    assert_eq!(times.len(), 1);
    assert!(times[0].is("array", "write", "whole") && times[0].subject == "after.csv");
    assert_eq!(times[0].count, Some(42));
    let histogram = times[0].histogram().unwrap();
    // The middle of 125 … 250 µs, and of the open bucket from 250 µs.
    assert!((histogram.percentile_us(50.0) - 176.8).abs() < 0.5);
    assert!((histogram.max_us() - 353.6).abs() < 0.5);
    assert!(run.points[1].by_operation.times.is_empty());
    assert_eq!(run.points[2].by_operation.times[0].count, Some(1));
}

/// As a spreadsheet of a country with a decimal comma writes it, with columns of the array's own.
#[test]
fn semicolons_decimal_commas_and_other_columns_are_read() {
    for text in [
        "pool;run;operation;up_to_us;count\nA;rd1;write;62,5;10\nA;rd1;write;;2\n",
        "pool,run,operation,up_to_us,count\nA,rd1,write,\"62,5\",10\nA,rd1,write,,2\n",
        "count\trun\tpool\tup_to_us\toperation\r\n10\trd1\tA\t62.5\twrite\r\n2\trd1\tA\t\twrite\r\n",
    ] {
        let mut run = run();
        attach(&mut run, "a.csv", text).unwrap();
        let times = &run.points[0].by_operation.times[0];
        assert_eq!(times.count, Some(12), "{text}");
        let max_us = times.histogram().unwrap().max_us();
        assert!((max_us - 62.5 * 2f64.sqrt()).abs() < 0.5, "{max_us}");
        times.remark.says("columns ignored: pool");
    }
}

/// A point of a database is named by its test, or by its level where there are several.
#[test]
fn times_of_the_array_stand_beside_a_database_too() {
    let mut run = crate::common::example_run();
    let key = run.points[0].key.clone();
    let level = match key.threads {
        1 => format!("{}@{}", key.test, key.jobs),
        threads => format!("{}@{}x{threads}", key.test, key.jobs),
    };
    run.points[0].work.below_database = false;
    let before = run.points[0].by_operation.times.len();
    let text = format!("run,operation,up_to_us,count\n{level},read,125,10\n");
    attach(&mut run, "after.csv", &text).unwrap();
    let times = &run.points[0].by_operation.times;
    assert_eq!(times.len(), before + 1);
    assert!(times[before].is("array", "read", "whole"));
    let text = "run,operation,up_to_us,count\nT999,read,125,10\n";
    let error = attach(&mut run, "after.csv", text).unwrap_err();
    assert!(error.to_string().contains(&level), "{error}");
}

#[test]
fn what_is_wrong_is_reported_with_its_line_and_changes_nothing() {
    let head = "run,operation,up_to_us,count\n";
    for (text, said) in [
        ("time,count\n".to_owned(), "first line"),
        (format!("{head}rd1,write,125\n"), "line 2: it has 3 fields"),
        (format!("{head}rd1,delete,125,1\n"), "write read or write"),
        (format!("{head}rd1,read,-1,1\n"), "above 0"),
        (format!("{head}rd1,read,1,many\n"), "not a whole number"),
        (
            format!("{head}rd1,read,250,1\nrd1,read,125,1\n"),
            "line 3: the upper ends",
        ),
        (
            format!("{head}rd1,read,,1\nrd1,read,125,1\n"),
            "must increase",
        ),
        (format!("{head}rd3,read,1,1\n"), "matches 0 points"),
        (format!("{head}rd2,read,1,1\n"), "matches 2 points"),
        (
            format!("{head}rd1,read,1,1\nrd1,write,1,1\nrd1,read,2,1\n"),
            "line 4: the reads of rd1 already occur",
        ),
    ] {
        let mut run = run();
        let error = attach(&mut run, "a.csv", &text).unwrap_err().to_string();
        assert!(error.contains(said), "{said}: {error}");
        assert_eq!(run, self::run(), "{said}");
    }
}
