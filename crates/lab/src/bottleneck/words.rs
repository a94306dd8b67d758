//! The sentences, each with the numbers that it rests on.

use archive::{BackgroundEvent, Figures, TimedEvent};

use super::{CPU_BUSY_PCT_MIN, Evidence, SWAP_MB_PER_S_MIN};

/// Events that are named in a sentence.
const NAMED_MAX: usize = 3;
/// Stolen processor time that is worth a word.
const STEAL_PCT_TOLD: f64 = 1.0;

pub(super) fn driver(pct: f64) -> String {
    format!("The driver itself held it back: {pct:.0} % of the jobs' time was its own.")
}

pub(super) fn idle(busy_pct: f64, figures: &Figures) -> String {
    format!(
        "None saturated: the jobs paused {:.0} % of their time{}.",
        100.0 - busy_pct,
        processors(figures)
    )
}

pub(super) fn untold(pct: f64) -> String {
    format!(
        "Not known: {pct:.0} % of the jobs' busy time was spent in the server, which does not tell \
         what for."
    )
}

pub(super) fn spread(evidence: &Evidence<'_>) -> String {
    let mut longest: Vec<&TimedEvent> = evidence
        .events
        .iter()
        .filter(|e| e.class != "idle")
        .collect();
    longest.sort_by(|a, b| b.share_pct.total_cmp(&a.share_pct));
    let named: Vec<String> = longest
        .iter()
        .take(NAMED_MAX)
        .map(|e| format!("{} {:.0} %", e.event, e.share_pct))
        .collect();
    format!(
        "None saturated: no single resource took most of the jobs' time ({}){}.",
        named.join(", "),
        processors(evidence.figures)
    )
}

pub(super) fn memory(
    pct: f64,
    swap_mb_per_s: Option<f64>,
    pressure_pct: Option<f64>,
    figures: &Figures,
) -> String {
    let mut numbers = Vec::new();
    numbers.extend(
        pressure_pct
            .map(|pct| format!("tasks of the machine waited for it {pct:.0} % of the time")),
    );
    let swapped = swap_mb_per_s.filter(|rate| *rate >= SWAP_MB_PER_S_MIN);
    numbers.extend(swapped.map(|rate| format!("{rate:.1} MB/s went to and from swap")));
    format!(
        "Memory is too small: {}, and {pct:.0} % of the jobs' busy time went to what follows from that{}{}.",
        numbers.join(", "),
        processors(figures),
        device_numbers(figures)
    )
}

/// The sentence for a resource that took `pct` of the jobs' busy time.
pub(super) fn resource(resource: &str, pct: f64, evidence: &Evidence<'_>) -> String {
    let figures = evidence.figures;
    match resource {
        "cpu" => cpu(pct, figures),
        "device" => device(pct, evidence),
        "log sync" => format!(
            "The log held it back: {pct:.0} % of the jobs' busy time went to writing and syncing \
             it{}{}.",
            log_latency(evidence.background),
            device_numbers(figures)
        ),
        "lock" => format!(
            "Locks held it back: {pct:.0} % of the jobs' busy time was spent waiting for one{}.",
            most(evidence.events, &["lock", "wait"])
        ),
        "latch" => format!(
            "The server's internal locks held it back: {pct:.0} % of the jobs' busy time{}{}.",
            most(evidence.events, &["latch"]),
            processors(figures)
        ),
        "network" => network(pct, figures),
        "driver" => format!(
            "The driver held it back: {pct:.0} % of the jobs' busy time was work of the client{}.",
            processors(figures)
        ),
        _ => format!(
            "Other waits held it back: {pct:.0} % of the jobs' busy time{}{}{}.",
            most(evidence.events, &["other", "wait"]),
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
                .filter(|steal| *steal >= STEAL_PCT_TOLD);
            let steal = steal.map_or(String::new(), |steal| {
                format!("; the hypervisor took {steal:.0} %")
            });
            let others = others(figures);
            let whose = match others.is_empty() {
                true => "",
                false => ", and not by the database alone",
            };
            format!(
                "The processors are saturated{whose}: {busy:.0} % busy{others}, and the jobs spent {pct:.0} % of \
                 their busy time on them or waiting for one{steal}."
            )
        }
        Some(busy) => format!(
            "None saturated: the jobs spent {pct:.0} % of their busy time on processors, which were \
             {busy:.0} % busy{}; more jobs would use more of them.",
            others(figures)
        ),
        None => format!(
            "None known to be saturated: the jobs spent {pct:.0} % of their busy time on processors, \
             and how busy those were is not known."
        ),
    }
}

/// What of the processors' time was neither the database's nor the driver's, where that is worth a word.
fn others(figures: &Figures) -> String {
    let pct = figures
        .cpu_by_others_pct
        .filter(|_| figures.is_crowded() == Some(true));
    let Some(pct) = pct else {
        return String::new();
    };
    let own = [
        ("database", figures.cpu_by_database_pct),
        ("driver", figures.cpu_by_driver_pct),
    ];
    let own = own.map(|(who, pct)| match pct {
        Some(pct) => format!("the {who} ({pct:.0} %)"),
        None => format!("the {who}"),
    });
    format!(
        ", {pct:.0} % of their time with other programs than {} and {}",
        own[0], own[1]
    )
}

fn device(pct: f64, evidence: &Evidence<'_>) -> String {
    let busy = evidence.figures.device_busy_pct;
    let verdict = if busy.is_some_and(|busy| busy >= CPU_BUSY_PCT_MIN) {
        "is saturated"
    } else {
        "held it back by the time of each request"
    };
    format!(
        "The device{} {verdict}: {pct:.0} % of the jobs' busy time went to reading and writing \
         data{}.",
        evidence.device.map_or(String::new(), |d| format!(" {d}")),
        device_numbers(evidence.figures)
    )
}

fn network(pct: f64, figures: &Figures) -> String {
    let rate = figures
        .network_mb_per_s
        .map_or(String::new(), |rate| format!("; network {rate:.1} MB/s"));
    format!(
        "The way between driver and server held it back: {pct:.0} % of the jobs' busy time{rate}{}.",
        processors(figures)
    )
}

fn processors(figures: &Figures) -> String {
    figures.cpu_pct_avg.map_or(String::new(), |pct| {
        format!("; processors {pct:.0} % busy{}", others(figures))
    })
}

fn device_numbers(figures: &Figures) -> String {
    let numbers: Vec<String> = [
        figures
            .device_busy_pct
            .map(|pct| format!("busy {pct:.0} %")),
        figures.read_await_ms.map(|ms| format!("{ms:.2} ms a read")),
        figures
            .write_await_ms
            .map(|ms| format!("{ms:.2} ms a write")),
        figures
            .device_queue_mean
            .map(|n| format!("{n:.1} requests at once")),
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

/// The longest event of these classes.
fn most(events: &[TimedEvent], classes: &[&str]) -> String {
    events
        .iter()
        .filter(|e| classes.contains(&e.class.as_str()))
        .max_by(|a, b| a.share_pct.total_cmp(&b.share_pct))
        .map_or(String::new(), |e| format!(", most in \"{}\"", e.event))
}
