//! Sentences and table cells of a judged fleet, for page and terminal.

use archive::{Section, Table};
use stats::Interval;
use verdict::fleet::{
    CONFIDENCE, Call, FALSE_SHARE_MAX, Figure, Fleet, LIMITS, Measure, Named, RATE_FACTOR_MAX,
    READ_PCT_CHANGE_MAX, SIZE_FACTOR_MAX, SYSTEMS_MIN, Shift, WINDOWS_MIN, resamples,
};

use crate::number::{self, count, counted};
use crate::terminal::table::wrap;
use crate::terminal::{self, Paint};

/// Conclusions that observational data do not allow.
pub const OBSERVATIONAL: [&str; 2] = [
    "This result is observational: the systems to update and their dates were not drawn at random, so it does not show that the \
     update is the cause, nor what it would do to another system.",
    "Whatever else changed at the same time (load, growth, other updates, the season) is in the shift as well, and systems \
     that were chosen because they were slow come closer to the mean by themselves (regression to the mean).",
];

const HEADS: &str = "measure | systems | before | after | shift | 99 % interval | median";
pub const NAMED_MAX: usize = 50;
const NAMES_MAX: usize = 8;

/// "0.12 ms".
pub fn limit(limit_us: f64) -> String {
    match limit_us {
        us if us < 10.0 => format!("{us} µs"),
        us => format!("{} ms", us / 1e3),
    }
}

/// "writes ≤ 0.12 ms", "mean read time".
pub fn measure(measure: Measure, limits_us: [f64; LIMITS]) -> String {
    let operation = measure.operation.name();
    match measure.figure {
        Figure::Within(place) => format!("{operation}s ≤ {}", limit(limits_us[place])),
        Figure::Mean => format!("mean {operation} time"),
    }
}

pub fn value(measure: Measure, value: f64) -> String {
    match measure.figure {
        Figure::Within(_) => format!("{:.1} %", 100.0 * value),
        Figure::Mean => number::latency(Some(value)),
    }
}

/// A shift of a measure: "+21.3 points", "−34.0 %".
pub fn shifted(measure: Measure, shift: f64) -> String {
    match measure.figure {
        Figure::Within(_) => format!("{} points", signed(100.0 * shift)),
        Figure::Mean => format!("{} %", signed(100.0 * (shift - 1.0))),
    }
}

pub fn signed(value: f64) -> String {
    // Two decimals keep small values distinguishable from zero.
    let digits = if value.abs() < 1.0 { 2 } else { 1 };
    format!("{value:+.digits$}").replace('-', "−")
}

fn interval(measure: Measure, interval: &Interval) -> String {
    format!(
        "{} to {}",
        shifted(measure, interval.low),
        shifted(measure, interval.high)
    )
}

/// Cells of a measure under [`HEADS`].
fn cells(name: String, shift: &Shift) -> [String; 7] {
    let of = shift.measure;
    let found = shift.interval.as_ref();
    // The estimate belongs to the interval; without an interval it is the difference or ratio of the averages, which is the same.
    let average = match of.figure {
        Figure::Within(_) => shift.after - shift.before,
        Figure::Mean => shift.after / shift.before,
    };
    [
        name,
        count(shift.systems as u64),
        value(of, shift.before),
        value(of, shift.after),
        shifted(of, average),
        found.map_or("– (too few)".to_owned(), |i| interval(of, i)),
        shifted(of, shift.median),
    ]
}

/// CSS class, text and explanation of the headline.
pub fn called(fleet: &Fleet) -> (&'static str, String, String) {
    let primary = fleet.question.primary;
    let name = measure(primary, fleet.question.limits_us);
    let shift = fleet.shifts.first().filter(|s| s.measure == primary);
    let found = shift.and_then(|s| Some((s, s.interval.as_ref().ok()?)));
    let average = found.map_or_else(String::new, |(s, i)| {
        format!(
            "From {} to {} on average over {}, each counted once; {:.0} % interval of the shift: {}.",
            value(primary, s.before),
            value(primary, s.after),
            counted(s.systems as u64, "system"),
            100.0 * CONFIDENCE,
            interval(primary, i)
        )
    });
    let by = found.map_or_else(String::new, |(_, i)| shifted(primary, i.estimate));
    let is_better = match primary.figure {
        Figure::Within(_) => fleet.call == Call::Higher,
        Figure::Mean => fleet.call == Call::Lower,
    };
    match fleet.call {
        Call::Higher | Call::Lower => {
            let (tone, word) = if is_better { ("good", "better") } else { ("bad", "worse") };
            (tone, format!("The fleet is {word} after: {name} {by}"), average)
        }
        Call::NotShown => (
            "warn",
            format!("No shift of the fleet is shown: {name} {by}"),
            format!(
                "{average} That is not the same as no change: the interval holds what the shift may be."
            ),
        ),
        Call::TooFew => (
            "warn",
            format!("No call: too few systems tell the shift of {name}"),
            format!(
                "{} with the same mix before and after; {SYSTEMS_MIN} are needed.",
                counted(shift.map_or(0, |s| s.systems) as u64, "system")
            ),
        ),
        Call::OtherMix => (
            "warn",
            format!(
                "No call: {} of {} systems do something else after than before",
                count(fleet.changed.any as u64),
                count(fleet.systems.len() as u64)
            ),
            "What shifted with the update cannot be distinguished from what shifted with the work; the strata show both.".to_owned(),
        ),
    }
}

/// Systems and rows that were left out, with the reasons.
fn cautions(fleet: &Fleet) -> Vec<String> {
    let mut cautions = Vec::new();
    let left_out = &fleet.left_out;
    if !left_out.one_sided.is_empty() {
        cautions.push(format!(
            "Left out, because one side is missing: {}.",
            names(&left_out.one_sided)
        ));
    }
    if !left_out.misordered.is_empty() {
        cautions.push(format!(
            "Left out, because an \"after\" is not later than every \"before\" (a clock or a file is wrong): {}.",
            names(&left_out.misordered)
        ));
    }
    let changed = fleet.changed;
    if changed.any > 0 {
        cautions.push(format!(
            "{} of {} systems changed their mix and are not in the measures: {} by the share of reads (more than \
             {READ_PCT_CHANGE_MAX} points), {} by the size of an I/O (more than {SIZE_FACTOR_MAX} times), {} by the rate (more than \
             {RATE_FACTOR_MAX} times). They are a stratum of their own.",
            count(changed.any as u64),
            count(fleet.systems.len() as u64),
            changed.reads,
            changed.size,
            changed.rate
        ));
    }
    for shift in fleet.shifts.iter().filter(|shift| shift.undecided > 0) {
        cautions.push(format!(
            "{}: unknown for {}, whose buckets hold times on both sides of the limit; choose limits at which buckets end with \
             --limits.",
            measure(shift.measure, fleet.question.limits_us),
            counted(shift.undecided as u64, "system")
        ));
    }
    cautions
}

fn names(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => format!("{} ({shown})", counted(names.len() as u64, "system")),
        more => format!(
            "{} ({shown} and {more} more)",
            counted(names.len() as u64, "system")
        ),
    }
}

/// The rule by which shifted systems were found.
pub fn named(fleet: &Fleet) -> String {
    let which = &fleet.which;
    if which.tested == 0 {
        return format!(
            "No system has {WINDOWS_MIN} windows on each side that tell how much it scatters by itself, so none is claimed to be \
             worse; the list shows the largest shifts to the worse, and some of them are there by chance."
        );
    }
    let pct = 100.0 * FALSE_SHARE_MAX;
    format!(
        "Of {} with {WINDOWS_MIN} windows or more on each side, {} became worse and {} better by {}; on average at most {pct} % of \
         those named are named wrongly (Benjamini and Hochberg).",
        counted(which.tested as u64, "system"),
        count(which.worse.len() as u64),
        count(which.better.len() as u64),
        measure(fleet.question.primary, fleet.question.limits_us)
    )
}

/// Cells of a system: name, before, after, shift, p.
pub fn system(fleet: &Fleet, named: &Named) -> [String; 5] {
    let of = fleet.question.primary;
    let shift = match of.figure {
        Figure::Within(_) => named.after - named.before,
        Figure::Mean => named.after / named.before,
    };
    [
        named.name.clone(),
        value(of, named.before),
        value(of, named.after),
        shifted(of, shift),
        named
            .adjusted_p
            .map_or_else(|| "–".to_owned(), number::figure),
    ]
}

fn how(fleet: &Fleet) -> String {
    let systems = fleet.shifts.first().map_or(0, |shift| shift.systems);
    format!(
        "Each system counts once; intervals by bootstrap over systems ({} resamples, seed {}). The primary measure was named \
         beforehand and alone decides the call; all others carry none.",
        count(resamples(systems) as u64),
        fleet.question.seed
    )
}

/// The primary measure, the secondary ones and the strata, each with its shift, and the cautions.
pub fn measures(fleet: &Fleet) -> Section {
    let mut table = Table::new(HEADS);
    let limits_us = fleet.question.limits_us;
    for (at, shift) in fleet.shifts.iter().enumerate() {
        match at {
            0 => table.heading("primary"),
            1 => table.heading("secondary, without a call"),
            _ => {}
        }
        table.row(cells(measure(shift.measure, limits_us), shift));
    }
    table.heading("primary measure by workload mix, without a call");
    for (class, shift) in &fleet.strata {
        table.row(cells(class.name().to_owned(), shift));
    }
    let strata = format!(
        "The primary measure by kind of work. Same mix: the share of reads differs by at most {READ_PCT_CHANGE_MAX} points, the \
         size of an I/O by {SIZE_FACTOR_MAX} times and the rate by {RATE_FACTOR_MAX} times, as far as they are known."
    );
    let section = Section::new("Measures")
        .note(how(fleet))
        .table(table)
        .sentence(strata);
    cautions(fleet).into_iter().fold(section, Section::caution)
}

pub fn text(fleet: &Fleet, width: usize, colour: bool) -> String {
    let paint = Paint { colour };
    let (tone, headline, sentence) = called(fleet);
    let headline = match tone {
        "bad" => paint.red(&headline),
        _ => paint.bold(&headline),
    };
    let all = [named(fleet)]
        .into_iter()
        .chain(OBSERVATIONAL.map(str::to_owned));
    let measures = all.fold(measures(fleet), Section::sentence);
    let measures = terminal::section::section(&measures, width, &paint);
    format!("{headline}\n{}\n\n{measures}", wrap(&sentence, width, 0))
}
