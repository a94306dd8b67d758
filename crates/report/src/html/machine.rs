//! The machine over time at each sweep's best level: processor, network, memory, paging, pressure.

use archive::Point;
use stats::summary;

use super::figure::Figure;
use super::sweep::{Rate, Sweep};
use super::timeline::{self, Line, Quantity, line};
use crate::number;
use chart::Dash;

struct Drawn {
    quantity: Quantity,
    unit: &'static str,
}

/// Quantities of the charts; a chart appears if its first line is known.
const DRAWN: [Drawn; 6] = [
    Drawn {
        quantity: Quantity {
            caption: "Processors over time, %",
            how: "User mode is the programs' own work; much time in the kernel is I/O, network or scheduling.",
            latency: false,
            counted: false,
            lines: &[
                line("user", Dash::Solid, |s, _| s.cpu_user_pct),
                line("system", Dash::Dashed, |s, _| s.cpu_system_pct),
                line("iowait", Dash::Dotted, |s, _| s.cpu_iowait_pct),
            ],
        },
        unit: " %",
    },
    Drawn {
        quantity: Quantity {
            caption: "Network over time, MB/s",
            how: "Received and sent by the host's interfaces, without loopback.",
            latency: false,
            counted: false,
            lines: &[line("", Dash::Solid, |s, _| s.network_mb_per_s)],
        },
        unit: " MB/s",
    },
    Drawn {
        quantity: Quantity {
            caption: "Memory over time, MB",
            how: "Memory in use, and memory that the kernel caches files in.",
            latency: false,
            counted: false,
            lines: &[
                line("page cache", Dash::Solid, |s, _| s.page_cache_mb),
                line("in use", Dash::Dashed, |s, _| s.memory_used_mb),
            ],
        },
        unit: " MB",
    },
    Drawn {
        quantity: Quantity {
            caption: "Major page faults over time, per second",
            how: "Page faults of any program that had to read from a device.",
            latency: false,
            counted: false,
            lines: &[line("", Dash::Solid, |s, length_s| {
                per_s(s.major_faults, length_s)
            })],
        },
        unit: " /s",
    },
    Drawn {
        quantity: Quantity {
            caption: "Swapping over time, MB/s",
            how: "Swapped in and out: memory is short.",
            latency: false,
            counted: false,
            lines: &[line("", Dash::Solid, |s, length_s| {
                per_s(s.swap_mb, length_s)
            })],
        },
        unit: " MB/s",
    },
    Drawn {
        quantity: Quantity {
            caption: "Pressure over time, %",
            how: "Part of the time in which some task waited for a processor, for memory or for I/O (PSI).",
            latency: false,
            counted: false,
            lines: &[
                line("cpu", Dash::Solid, |s, _| s.pressure_cpu_pct),
                line("memory", Dash::Dotted, |s, _| s.pressure_memory_pct),
                line("I/O", Dash::Dashed, |s, _| s.pressure_io_pct),
            ],
        },
        unit: " %",
    },
];

/// Index of the network in the list; the sentences on TCP go below its chart.
const NETWORK: usize = 1;

fn per_s(amount: Option<f64>, length_s: f64) -> Option<f64> {
    amount
        .filter(|_| length_s > 0.0)
        .map(|amount| amount / length_s)
}

/// The charts; empty without known quantities.
pub fn figures(sweeps: &[Sweep<'_>], rate: Rate) -> Vec<Figure> {
    let points = timeline::points(sweeps, rate);
    let figure = |(index, drawn): (usize, &Drawn)| {
        let quantity = &drawn.quantity;
        // The other quantities also appear in the charts above.
        let is_known = quantity.lines.iter().any(|line| {
            let is_new = !["iowait", "in use"].contains(&line.name);
            is_new
                && points
                    .iter()
                    .any(|(_, point)| known(line, point).next().is_some())
        });
        let mut figure = timeline::figure(quantity, &points).filter(|_| is_known)?;
        for (sweep, point) in &points {
            let name = format!("{} @{}", sweep.label, point.key.dop());
            let mut said = extremes(drawn, point);
            if index == NETWORK {
                said.extend(of_tcp(point));
            }
            if !said.is_empty() {
                figure.said.push(format!("{name}: {}.", said.join("; ")));
            }
        }
        Some(figure)
    };
    DRAWN.iter().enumerate().filter_map(figure).collect()
}

fn known<'a>(line: &Line, point: &'a Point) -> impl Iterator<Item = f64> + use<'a> {
    let values = timeline::values(line, point).into_iter();
    values.filter_map(|(_, value)| value)
}

/// "user p95 62.0 %, peak 81.0 %", for each line.
fn extremes(drawn: &Drawn, point: &Point) -> Vec<String> {
    let of_line = |line: &Line| {
        let values: Vec<f64> = known(line, point).collect();
        let (p95, peak) = summary::quantile(&values, 0.95).zip(summary::max(&values))?;
        let name = match line.name {
            "" => String::new(),
            name => format!("{name} "),
        };
        let unit = drawn.unit;
        let (p95, peak) = (number::figure(p95), number::figure(peak));
        Some(format!("{name}p95 {p95}{unit}, peak {peak}{unit}"))
    };
    drawn.quantity.lines.iter().filter_map(of_line).collect()
}

/// Sentences on TCP, which has no chart.
fn of_tcp(point: &Point) -> Vec<String> {
    let retransmits: Vec<f64> = point
        .samples
        .iter()
        .filter_map(|s| s.tcp_retransmits)
        .collect();
    let sockets: Vec<f64> = point.samples.iter().filter_map(|s| s.tcp_sockets).collect();
    let again = (!retransmits.is_empty()).then(|| {
        let sum = number::whole(Some(retransmits.iter().sum()));
        format!("TCP segments retransmitted: {sum}")
    });
    let open = summary::max(&sockets)
        .map(|most| format!("open TCP sockets: at most {}", number::whole(Some(most))));
    again.into_iter().chain(open).collect()
}
