//! Latency by location: the times of an operation, of the data device's requests and of the array's own I/Os, one below the other, at
//! points with a histogram of the array.

use archive::reference;
use archive::{Latency, OperationTimes, Point, Table};
use stats::Histogram;
use verdict::shift::place_of;

use super::section::Fragment;
use crate::level::TestGroup;
use crate::number;

/// The study with published times between server and array, and its section.
const STUDY: &str = "3par-7450c";
const BETWEEN: &str = "Contributors to latency between server and array";
const TABLES_MAX: usize = 12;
const COLUMNS: &str = "place | count | mean | p50 | p99 | measured by | contains";

/// A location with its count, mean, p50, p99, observer and content.
type Row = [String; 7];

/// The tables; empty without a histogram of an array.
pub fn view(group: &TestGroup<'_>) -> Fragment {
    let mut table = Table::new(COLUMNS);
    let mut tables = 0;
    for curve in &group.curves {
        for point in curve.points() {
            let of_array = point.by_operation.times.iter();
            for array in of_array.filter(|times| times.observer == "array") {
                tables += 1;
                if tables <= TABLES_MAX {
                    table.heading(format!(
                        "{} @{}, {}s",
                        curve.label,
                        point.key.dop(),
                        array.operation
                    ));
                    rows(point, array)
                        .into_iter()
                        .for_each(|row| table.row(row));
                }
            }
        }
    }
    let mut parts = Fragment::default();
    if tables > 0 {
        parts
            .heading(4, "Latency by place")
            .table(
                "places",
                &format!("Latency by place of {}", group.test),
                &table,
            )
            .left_out("Tables not shown", tables.saturating_sub(TABLES_MAX))
            .how(&published().unwrap_or_default());
    }
    parts
}

/// The array study's figures for locations between server and array, which dbdyno cannot measure.
fn published() -> Option<String> {
    let study = reference::load(STUDY).ok()?;
    let section = study
        .sections
        .iter()
        .find(|section| section.title == BETWEEN)?;
    let facts = section
        .facts
        .iter()
        .map(|fact| format!("{}: {}", fact.name, fact.value));
    Some(format!(
        "Between server and array, as published (not measured here): {}. {}, {}.",
        facts.collect::<Vec<_>>().join("; "),
        study.document,
        section.place
    ))
}

#[derive(Default)]
struct Known {
    count: u64,
    mean_us: f64,
    latency: Option<Latency>,
}

impl Known {
    /// Several times merged; `None` if none has a count and a mean.
    fn of<'t>(all: impl Iterator<Item = &'t OperationTimes>) -> Option<Self> {
        let (mut count, mut sum_us) = (0_u64, 0.0);
        let mut merged = Histogram::new();
        for times in all {
            let Some((n, mean_us)) = times.count.zip(times.mean_us) else {
                continue;
            };
            count = count.saturating_add(n);
            sum_us += n as f64 * mean_us;
            if let Some(histogram) = times.histogram() {
                merged.merge_snapshot(&histogram);
            }
        }
        (count > 0).then(|| Self {
            count,
            mean_us: sum_us / count as f64,
            latency: Latency::of(&(&merged).into()),
        })
    }
}

fn rows(point: &Point, array: &OperationTimes) -> Vec<Row> {
    let operation = array.operation.as_str();
    let queue = of_device(point, operation, "queue");
    let device = of_device(point, operation, "device");
    let whole = of_device(point, operation, "whole");
    let of_array = Known::of(std::iter::once(array));
    // If queue and device cannot be distinguished, only their sum is known above the array.
    let (above, is_whole) = match device {
        Some(device) => (Some(device), false),
        None => (whole, true),
    };
    let above_contains = if is_whole {
        "the host's queue and everything below it; the two were not distinguished"
    } else {
        "everything below the host's queue: HBA, fabric, switches, array"
    };
    vec![
        driver(point, operation),
        row(
            "host: queue",
            queue.as_ref(),
            "the kernel, each request of the data's device",
            "from insertion to the issue to the device: merging, scheduler, a full device queue",
        ),
        row(
            if is_whole {
                "host: queue and device"
            } else {
                "host: device"
            },
            above.as_ref(),
            "the kernel, the data's device",
            above_contains,
        ),
        way(above.as_ref(), of_array.as_ref(), is_whole),
        row(
            "array",
            of_array.as_ref(),
            &format!("the array's reporter ({})", array.subject),
            "what the array counts, over its own time: cache, disks, its own queues",
        ),
    ]
}

/// Requests of the data's device, or of those below it if its own are not timed.
fn of_device(point: &Point, operation: &str, phase: &str) -> Option<Known> {
    let at = |places: &[&str]| {
        let times = point.by_operation.times.iter();
        let own = times.filter(|t| t.is("device", operation, phase));
        Known::of(own.filter(|t| places.contains(&place_of(point, t).as_str())))
    };
    // Without a named location, the devices are those of a parameter file, which all hold its data.
    at(&["data"])
        .filter(|known| known.latency.is_some())
        .or_else(|| at(&["below data"]).filter(|known| known.latency.is_some()))
        .or_else(|| at(&["data"]))
        .or_else(|| at(&["below data"]))
        .or_else(|| at(&[""]))
}

/// Service time of the driver's operation: the I/O itself, or above a database an operation with any number of I/Os.
fn driver(point: &Point, operation: &str) -> Row {
    let times = point.by_operation.times.iter();
    let own = Known::of(times.filter(|t| t.is("driver", operation, "service")));
    match own {
        Some(own) => row(
            "driver: I/O",
            Some(&own),
            "dbdyno, each I/O",
            "the system call or the io_uring, page cache, file system, and everything below",
        ),
        None => {
            let service = &point.histograms.service;
            let latency = Latency::of(service);
            let known = latency.map(|latency| Known {
                count: service.count(),
                mean_us: service.mean_us(),
                latency: Some(latency),
            });
            row(
                "driver: operation",
                known.as_ref(),
                "dbdyno, each operation of the test",
                "the database's own work and waits, and all I/Os of the operation: several, or none",
            )
        }
    }
}

/// The path between host and array, as a difference of means because it cannot be measured.
fn way(above: Option<&Known>, array: Option<&Known>, is_whole: bool) -> Row {
    let place = if is_whole {
        "host's queue and the way between (HBA, fabric, switch)"
    } else {
        "the way between (HBA, fabric, switch)"
    };
    let unknown = || number::UNKNOWN.to_owned();
    let Some((above, array)) = above.zip(array) else {
        let why = "unknown without the mean of the device and of the array";
        return row(place, None, "", why);
    };
    let mean_us = above.mean_us - array.mean_us;
    let caution = if mean_us < 0.0 {
        "; below 0, so the array counted other I/Os, or another time, than the host"
    } else {
        ""
    };
    [
        place.to_owned(),
        format!(
            "{} − {}",
            number::count(above.count),
            number::count(array.count)
        ),
        signed(mean_us),
        unknown(),
        unknown(),
        "nobody: difference of the means of device and array".to_owned(),
        format!(
            "both directions; HBA, fabric and switch are not distinguished, and percentiles have no difference{caution}"
        ),
    ]
}

fn signed(us: f64) -> String {
    if us < 0.0 {
        format!("−{}", number::latency(Some(-us)))
    } else {
        number::latency(Some(us))
    }
}

fn row(place: &str, known: Option<&Known>, by: &str, contains: &str) -> Row {
    let latency = known.and_then(|known| known.latency.as_ref());
    [
        place.to_owned(),
        known.map_or_else(|| number::UNKNOWN.to_owned(), |k| number::count(k.count)),
        number::latency(known.map(|known| known.mean_us)),
        number::latency(latency.map(|latency| latency.p50_us)),
        number::latency(latency.map(|latency| latency.p99_us)),
        known.map_or("nobody", |_| by).to_owned(),
        contains.to_owned(),
    ]
}
