//! Sentences of the judgement, each with its numbers.

use archive::{BackgroundEvent, Figures, Resource};
use engine::WaitClass;

use super::{CPU_BUSY_PCT_MIN, Evidence, Finding, SWAP_MB_PER_S_MIN, Shortage};
use crate::session_sampler::Link;
use crate::timed::{Class, Event};

const LISTED_MAX: usize = 4;
/// Stolen processor time that is mentioned.
const STEAL_PCT_NOTED: f64 = 1.0;

pub(super) fn sentence(finding: &Finding, evidence: &Evidence<'_>) -> String {
    let sentence = of_jobs(finding, evidence);
    if evidence.is_observed {
        sentence.replace("job", "session")
    } else {
        sentence
    }
}

fn of_jobs(finding: &Finding, evidence: &Evidence<'_>) -> String {
    let figures = evidence.figures;
    match finding {
        Finding::NothingDone => "Unknown: no job did anything.".into(),
        Finding::DriverAlone { pct } => {
            format!(
                "Driver-bound: {pct:.0} % of the sessions' time was spent in the driver itself."
            )
        }
        Finding::Paused { busy_pct } => format!(
            "Nothing is saturated: the sessions paused {:.0} % of their time{}.",
            100.0 - busy_pct,
            processors(figures)
        ),
        Finding::Unreported { pct } => format!(
            "Unknown: {pct:.0} % of the sessions' busy time was spent in the server, which does not report \
             its wait events; see docs/SERVERS.md for the rights that dbdyno needs."
        ),
        Finding::Memory { pct, shortage } => memory(*pct, *shortage, figures),
        Finding::Most {
            resource,
            pct,
            others,
        } => format!("{}{}.", most(*resource, *pct, evidence), besides(others)),
        Finding::Several { parts } => format!(
            "No single bottleneck: of the sessions' busy time, {}{}{}.",
            list(&parts[..parts.len().min(LISTED_MAX)]),
            processors(figures),
            device_numbers(figures)
        ),
    }
}

fn title(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "the CPU",
        Resource::Device => "data reads and writes",
        Resource::LogSync => "log writes and syncs",
        Resource::Lock => "locks",
        Resource::Latch => "the server's internal locks",
        Resource::Network => "the network",
        Resource::Scheduling => "scheduling between driver and server",
        Resource::Driver => "the driver",
        Resource::Memory => "paging",
        Resource::OtherWait => "other waits",
        Resource::None | Resource::Unknown | Resource::Several => "something else",
    }
}

/// Example: "35 % went to locks, 30 % to processors".
fn list(parts: &[(Resource, f64)]) -> String {
    let mut verb = "went to";
    let parts = parts.iter().map(|(resource, pct)| {
        let verb = std::mem::replace(&mut verb, "to");
        format!("{pct:.0} % {verb} {}", title(*resource))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn besides(others: &[(Resource, f64)]) -> String {
    match others {
        [] => String::new(),
        others => format!("; besides, {}", list(others)),
    }
}

fn memory(pct: f64, shortage: Shortage, figures: &Figures) -> String {
    let mut numbers = Vec::new();
    numbers.extend(
        (shortage.pressure_pct)
            .map(|pct| format!("tasks waited for memory {pct:.0} % of the time")),
    );
    let swapped = (shortage.swap_mb_per_s).filter(|rate| *rate >= SWAP_MB_PER_S_MIN);
    numbers.extend(swapped.map(|rate| format!("{rate:.1} MB/s went to and from swap")));
    format!(
        "Memory-bound: {}, and {pct:.0} % of the sessions' busy time was spent on paging and its \
         effects{}{}.",
        numbers.join(", "),
        processors(figures),
        device_numbers(figures)
    )
}

/// The sentence, without its end, for a resource that took `pct` of the sessions' busy time.
fn most(resource: Resource, pct: f64, evidence: &Evidence<'_>) -> String {
    let figures = evidence.figures;
    match resource {
        Resource::Cpu => cpu(pct, figures),
        Resource::Device => device(pct, evidence),
        Resource::LogSync => format!(
            "Log-bound: {pct:.0} % of the sessions' busy time was spent writing and syncing the \
             log{}{}",
            log_latency(evidence.background),
            device_numbers(figures)
        ),
        Resource::Lock => format!(
            "Lock-bound: {pct:.0} % of the sessions' busy time was spent waiting for locks{}",
            longest(evidence.events, &[WaitClass::Lock, WaitClass::Blocked])
        ),
        Resource::Latch => format!(
            "Bound by the server's internal locks: {pct:.0} % of the sessions' busy time{}{}",
            longest(evidence.events, &[WaitClass::Latch]),
            processors(figures)
        ),
        Resource::Network => network(pct, evidence),
        Resource::Scheduling => format!(
            "Bound by scheduling between driver and server: {pct:.0} % of the sessions' busy time was \
             spent on context switches and wake-ups on this machine while neither was running{}{}",
            round_trip(evidence.link),
            processors(figures)
        ),
        Resource::Driver => format!(
            "Driver-bound: {pct:.0} % of the sessions' busy time was the client's own work or \
             the server's wait for it{}",
            processors(figures)
        ),
        _ => format!(
            "Bound by other waits: {pct:.0} % of the sessions' busy time{}{}{}",
            longest(evidence.events, &[WaitClass::Other, WaitClass::Blocked]),
            processors(figures),
            device_numbers(figures)
        ),
    }
}

fn cpu(pct: f64, figures: &Figures) -> String {
    match figures.cpu_pct_avg {
        Some(busy) if busy >= CPU_BUSY_PCT_MIN => {
            let steal = figures
                .cpu_steal_pct
                .filter(|steal| *steal >= STEAL_PCT_NOTED);
            let steal = steal.map_or(String::new(), |steal| {
                format!("; the hypervisor took {steal:.0} %")
            });
            let others = others(figures);
            let whose = if others.is_empty() {
                ""
            } else {
                ", and not by the database alone"
            };
            format!(
                "CPU-bound{whose}: CPU {busy:.0} % busy{others}, and the sessions spent {pct:.0} % of \
                 their busy time on it or in its run queue{steal}"
            )
        }
        Some(busy) => format!(
            "Nothing is saturated: the sessions spent {pct:.0} % of their busy time on the CPU, which was \
             {busy:.0} % busy{}; more sessions would use more of it",
            others(figures)
        ),
        None => format!(
            "Nothing is known to be saturated: the sessions spent {pct:.0} % of their busy time on the CPU, \
             but how busy the CPU was is unknown"
        ),
    }
}

fn others(figures: &Figures) -> String {
    let pct = figures
        .cpu_by_others_pct
        .filter(|_| figures.are_processors_crowded() == Some(true));
    let Some(pct) = pct else {
        return String::new();
    };
    let shares = [
        ("database", figures.cpu_by_database_pct),
        ("other programs", Some(pct)),
        ("driver", figures.cpu_by_driver_pct),
        ("kernel", figures.cpu_by_kernel_pct),
    ];
    let known = shares.iter().filter_map(|(who, pct)| Some((who, (*pct)?)));
    let words: Vec<String> = known
        .map(|(who, pct)| format!("{who} {pct:.0} %"))
        .collect();
    format!(" ({})", words.join(", "))
}

fn device(pct: f64, evidence: &Evidence<'_>) -> String {
    let name = evidence.device.map_or(String::new(), |d| format!(" {d}"));
    let busy = evidence.figures.device_busy_pct;
    let verdict = if busy.is_some_and(|busy| busy >= CPU_BUSY_PCT_MIN) {
        format!("Device-bound: the device{name} is saturated")
    } else {
        format!(
            "Device-bound: the sessions wait for the latency of the device{name}, which is not saturated (a faster device would help, more of \
             them would not)"
        )
    };
    format!(
        "{verdict}; {pct:.0} % of the sessions' busy time was spent reading and writing data{}",
        device_numbers(evidence.figures)
    )
}

fn network(pct: f64, evidence: &Evidence<'_>) -> String {
    let rate = evidence.figures.network_mb_per_s;
    let rate = rate.map_or(String::new(), |rate| {
        format!("; {rate:.1} MB/s through the network interfaces")
    });
    format!(
        "Network-bound: {pct:.0} % of the sessions' busy time was spent between driver and \
         server{}{rate}{}",
        round_trip(evidence.link),
        processors(evidence.figures)
    )
}

fn round_trip(link: Option<Link>) -> String {
    link.map_or(String::new(), |link| {
        let ms = link.round_trip.as_secs_f64() * 1e3;
        format!("; round trip when idle {ms:.2} ms")
    })
}

fn processors(figures: &Figures) -> String {
    figures.cpu_pct_avg.map_or(String::new(), |pct| {
        format!("; CPU {pct:.0} % busy{}", others(figures))
    })
}

/// "270 µs", "1.25 ms".
fn time(ms: f64) -> String {
    match ms < 0.9995 {
        true => format!("{:.0} µs", ms * 1e3),
        false => format!("{ms:.2} ms"),
    }
}

fn device_numbers(figures: &Figures) -> String {
    // A resource without requests took no measurable time.
    let was_requested = |per_s: Option<f64>| per_s.is_none_or(|per_s| per_s > 0.0);
    let read_await_ms = figures
        .read_await_ms
        .filter(|_| was_requested(figures.read_iops));
    let write_await_ms = figures
        .write_await_ms
        .filter(|_| was_requested(figures.write_iops));
    let numbers: Vec<String> = [
        figures
            .device_busy_pct
            .map(|pct| format!("busy {pct:.0} %")),
        read_await_ms.map(|ms| format!("{} a read", time(ms))),
        write_await_ms.map(|ms| format!("{} a write", time(ms))),
        figures
            .device_queue_mean
            .map(|n| format!("queue depth {n:.1}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if numbers.is_empty() {
        return String::new();
    }
    format!("; device: {}", numbers.join(", "))
}

fn log_latency(background: &[BackgroundEvent]) -> String {
    let syncs = background.iter().find(|e| e.event == "log syncs");
    syncs
        .and_then(BackgroundEvent::mean_ms)
        .map_or(String::new(), |ms| format!(", {ms:.2} ms a sync"))
}

fn longest(events: &[Event], classes: &[WaitClass]) -> String {
    let is_one = |class| matches!(class, Class::Session(class) if classes.contains(&class));
    events
        .iter()
        .filter(|e| is_one(e.class))
        .max_by(|a, b| a.share_pct.total_cmp(&b.share_pct))
        .map_or(String::new(), |e| format!(", most in \"{}\"", e.name))
}
