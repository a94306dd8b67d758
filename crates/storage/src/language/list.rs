//! The list of runs as it is printed before its execution.

use stats::random::mix;

use super::value::number_text;
use crate::run::{Range, Rate, Run, Seek, Sizes, Steady, Stream, curve_rate_iops};

/// Kinds of I/Os that a summary names.
const OPERATIONS_NAMED_MAX: usize = 3;
/// Number of WDs that are printed; a digest represents the others.
const WORKLOADS_WRITTEN_MAX: usize = 40;

/// Heading of every report of a run: `rd1; I/O rate: 2000; elapsed=4 warmup=1; For loops: None`.
#[must_use]
pub fn heading(run: &Run) -> String {
    let elapsed = match run.elapsed_s {
        Some(seconds) => format!("elapsed={seconds}"),
        None => "elapsed=(none)".to_owned(),
    };
    let warmup = if run.warmup_s > 0 {
        format!(" warmup={}", run.warmup_s)
    } else {
        String::new()
    };
    let rounds = match run.steady {
        None => String::new(),
        Some(Steady {
            rounds_max,
            matrix: None,
        }) => format!("; steady={rounds_max}"),
        Some(Steady { rounds_max, .. }) => format!("; steady=(matrix,{rounds_max})"),
    };
    format!(
        "RD={}; I/O rate: {}; {elapsed}{warmup}; For loops: {}{rounds}",
        run.name,
        rate_text(run),
        run.loops_text()
    )
}

fn rate_text(run: &Run) -> String {
    match &run.rate {
        Rate::Max { controlled, curve } => {
            let control = if *controlled {
                "Controlled"
            } else {
                "Uncontrolled"
            };
            let aim = if *curve { "curve" } else { "MAX" };
            format!("{control} {aim}")
        }
        Rate::Variable { steps } => {
            let steps: Vec<String> = steps
                .iter()
                .map(|step| format!("{}*{}s", number_text(step.iops, false), step.seconds))
                .collect();
            format!("variable {}", steps.join(" "))
        }
        Rate::Fixed { iops } => number_text(*iops, false),
        // Without results, the points of a curve assume a maximum of 10,000.
        Rate::Curve(point) => number_text(curve_rate_iops(0.0, point.pct), false),
        Rate::PercentOfPrevious { pct } => {
            format!("{}% of the previous run", number_text(*pct, false))
        }
    }
}

/// The I/Os of a run in words: "4k random reads at the maximum rate".
#[must_use]
pub fn summary(run: &Run) -> String {
    let mut each: Vec<String> = Vec::new();
    for stream in &run.streams {
        let text = operations(stream);
        if !each.contains(&text) {
            each.push(text);
        }
    }
    let more = each.split_off(each.len().min(OPERATIONS_NAMED_MAX)).len();
    let mut text = each.join(" + ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    let rate = match &run.rate {
        Rate::Max {
            controlled: false, ..
        } => "the maximum rate".to_owned(),
        Rate::Max { .. } => "the maximum rate, controlled".to_owned(),
        Rate::Fixed { .. } => format!("{}/s", rate_text(run)),
        _ => rate_text(run),
    };
    format!("{text} at {rate}")
}

fn operations(stream: &Stream) -> String {
    let bytes = |bytes: u64| number_text(bytes as f64, true);
    let span = |low: Option<u64>, high: Option<u64>| {
        let [low, high] = [low, high].map(|size| bytes(size.unwrap_or_default()));
        format!("{low} to {high}")
    };
    let size = match &stream.sizes {
        Sizes::Fixed(size) => bytes(*size),
        Sizes::Weighted(sizes) => {
            let sizes = || sizes.iter().map(|size| size.bytes);
            span(sizes().min(), sizes().max())
        }
        Sizes::Uniform {
            min_bytes,
            max_bytes,
            ..
        } => span(Some(*min_bytes), Some(*max_bytes)),
    };
    let seek = match stream.seek {
        Seek::Random { pct } if pct < 100.0 => format!("{} % random", number_text(pct, false)),
        Seek::Random { .. } | Seek::Poisson { .. } => "random".to_owned(),
        Seek::Sequential | Seek::SequentialToEnd | Seek::SequentialFromRandom => {
            "sequential".to_owned()
        }
    };
    match stream.read_pct {
        100.0 => format!("{size} {seek} reads"),
        0.0 => format!("{size} {seek} writes"),
        pct => format!("{size} {seek} I/Os, {} % reads,", number_text(pct, false)),
    }
}

#[must_use]
pub fn simulation(runs: &[Run]) -> String {
    let mut text: String = runs
        .iter()
        .map(|run| format!("Simulating {}\n", heading(run)))
        .collect();
    text.push_str("Vdbench simulation completed successfully\n");
    text
}

/// The WDs of a run in the words of the language and in a canonical form: runs of one name are equal only if this is.
/// It excludes the SDs and shares.
#[must_use]
pub fn workloads(run: &Run) -> String {
    let mut each: Vec<String> = run.streams.iter().map(workload).collect();
    // A WD has a stream on each of its SDs.
    each.dedup();
    let more = each.split_off(each.len().min(WORKLOADS_WRITTEN_MAX));
    let mut text = each.join("; ");
    if !more.is_empty() {
        let letters = more.iter().flat_map(|text| text.bytes());
        let digest = letters.fold(0, |digest, letter| mix(digest ^ u64::from(letter)));
        text += &format!("; and {} more ({digest:016x})", more.len());
    }
    text
}

fn workload(stream: &Stream) -> String {
    let bytes = |bytes: u64| number_text(bytes as f64, true);
    let sizes = match &stream.sizes {
        Sizes::Fixed(size) => bytes(*size),
        Sizes::Weighted(sizes) => {
            let pairs = sizes.iter();
            let pairs =
                pairs.map(|size| format!("{},{}", bytes(size.bytes), number_text(size.pct, false)));
            format!("({})", pairs.collect::<Vec<_>>().join(","))
        }
        Sizes::Uniform {
            min_bytes,
            max_bytes,
            align_bytes,
        } => {
            let [min, max, align] = [min_bytes, max_bytes, align_bytes].map(|size| bytes(*size));
            format!("({min},{max},{align})")
        }
    };
    let seek = match stream.seek {
        Seek::Random { pct } => number_text(pct, false),
        Seek::Sequential => "0".to_owned(),
        Seek::SequentialToEnd => "eof".to_owned(),
        Seek::SequentialFromRandom => "seqnz".to_owned(),
        Seek::Poisson { divisor } => format!("(poisson,{})", number_text(divisor, false)),
    };
    let mut text = format!(
        "wd={},xfersize={sizes},seekpct={seek},rdpct={}",
        stream.workload,
        number_text(stream.read_pct, false)
    );
    let range = |range: Range| match range {
        Range::Whole => None,
        Range::Percent { low_pct, high_pct } => Some(format!("({low_pct},{high_pct})")),
        Range::Bytes { low, high } => Some(format!("({},{})", bytes(low), bytes(high))),
    };
    let percent = |pct: f64| (pct > 0.0).then(|| number_text(pct, false));
    let stride = stream.stride;
    let usual = [
        ("range", range(stream.range)),
        ("hotband", stream.hot_band.and_then(range)),
        ("rhpct", percent(stream.read_hit_pct)),
        ("whpct", percent(stream.write_hit_pct)),
        (
            "stride",
            stride.map(|it| format!("({},{})", bytes(it.min_bytes), bytes(it.max_bytes))),
        ),
        (
            "streams",
            (stream.sequential_streams > 1).then(|| stream.sequential_streams.to_string()),
        ),
        ("iorate", stream.iops.map(|iops| number_text(iops, false))),
        ("priority", stream.priority.map(|it| it.to_string())),
    ];
    for (key, value) in usual {
        if let Some(value) = value {
            text += &format!(",{key}={value}");
        }
    }
    text
}
