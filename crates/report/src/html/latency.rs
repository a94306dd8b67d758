//! Latency by location: the times of an operation, of the data device's requests and of the array's own I/Os, one below the other, at
//! points with a histogram of the array.

use archive::reference;
use archive::{Latency, OperationTimes, Point};
use askama::Template;
use stats::Histogram;
use verdict::shift::place_of;

use crate::level::TestGroup;
use crate::number;

/// The study with published times between server and array, and its section.
const STUDY: &str = "3par-7450c";
const BETWEEN: &str = "Contributors to latency between server and array";
const TABLES_MAX: usize = 12;
/// Cells of a row after its location.
const CELLS: usize = 6;

#[derive(Template, Default)]
#[template(path = "latency.html", whitespace = "minimize")]
pub struct View {
    code: String,
    tables: Vec<TableView>,
    more: usize,
    /// Published times of the locations in between: name and value, and source.
    between: Vec<(String, String)>,
    source: String,
}

/// One kind of I/O at one point.
struct TableView {
    /// "sqlite @4, reads".
    title: String,
    rows: Vec<Row>,
}

/// A location with its count, mean, p50, p99, observer and content.
type Row = (&'static str, [String; CELLS]);

pub fn view(group: &TestGroup<'_>) -> View {
    let mut tables = Vec::new();
    for curve in &group.curves {
        for point in curve.levels.iter().flat_map(|level| &level.points) {
            let of_array = point.by_operation.times.iter();
            for array in of_array.filter(|times| times.observer == "array") {
                let title = format!("{} @{}, {}s", curve.label, point.key.dop(), array.operation);
                let rows = rows(point, array);
                tables.push(TableView { title, rows });
            }
        }
    }
    let more = tables.len().saturating_sub(TABLES_MAX);
    tables.truncate(TABLES_MAX);
    let (between, source) = if tables.is_empty() {
        (Vec::new(), String::new())
    } else {
        published()
    };
    View {
        code: group.test.to_owned(),
        tables,
        more,
        between,
        source,
    }
}

/// The array study's figures for locations between server and array, which dbdyno cannot measure.
fn published() -> (Vec<(String, String)>, String) {
    let study = reference::load(STUDY).ok();
    let section = study.as_ref().and_then(|study| {
        let mut sections = study.sections.iter();
        sections.find(|section| section.title == BETWEEN)
    });
    let Some((study, section)) = study.as_ref().zip(section) else {
        return (Vec::new(), String::new());
    };
    let facts = section.facts.iter();
    let facts = facts.map(|fact| (fact.name.clone(), fact.value.clone()));
    let source = format!("{}, {}", study.document, section.place);
    (facts.collect(), source)
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
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
    let cells = match above.zip(array) {
        None => [
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            "nobody".to_owned(),
            "unknown without the mean of the device and of the array".to_owned(),
        ],
        Some((above, array)) => {
            let mean_us = above.mean_us - array.mean_us;
            let caution = if mean_us < 0.0 {
                "; below 0, so the array counted other I/Os, or another time, than the host"
            } else {
                ""
            };
            [
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
    };
    (place, cells)
}

fn signed(us: f64) -> String {
    if us < 0.0 {
        format!("−{}", number::latency(Some(-us)))
    } else {
        number::latency(Some(us))
    }
}

fn row(place: &'static str, known: Option<&Known>, by: &str, contains: &str) -> Row {
    let latency = known.and_then(|known| known.latency.as_ref());
    let cells = [
        known.map_or_else(|| number::UNKNOWN.to_owned(), |k| number::count(k.count)),
        number::latency(known.map(|known| known.mean_us)),
        number::latency(latency.map(|latency| latency.p50_us)),
        number::latency(latency.map(|latency| latency.p99_us)),
        match known {
            Some(_) => by.to_owned(),
            None => "nobody".to_owned(),
        },
        contains.to_owned(),
    ];
    (place, cells)
}
