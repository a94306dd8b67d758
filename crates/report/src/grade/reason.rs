//! Why figures are not simply good to use.

use std::fmt;

use archive::Grade;

use crate::number;

#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The record of the run cannot be trusted.
    Altered {
        why: String,
    },
    Incomplete {
        measured: usize,
        planned: u32,
    },
    Failed {
        invalid: Part,
        test: String,
        why: Option<String>,
    },
    /// The driver was the limit of a main figure.
    Driver {
        title: String,
    },
    /// Points during most of which other programs had the machine, and the medians of what they used.
    Heavy {
        points: Part,
        cpu_pct: Option<f64>,
        io_pct: Option<f64>,
    },
    /// Main figures with too few repetitions, and the fewest.
    Once {
        times: usize,
        figures: Part,
    },
    /// Main figures whose repetitions lie apart, and the one that varied most.
    Apart {
        figures: Part,
        pct: f64,
        title: String,
    },
    /// Main figures that other programs disturbed.
    Others(Part),
    /// Main figures that rose or fell while they were measured.
    Trend(Part),
    Unsteady(Part),
    /// Nothing says how much of the machine other programs used.
    OthersUnknown {
        in_slices: bool,
    },
    /// Main figures of points that are too short.
    Short(Part),
    /// The shortest point of something that is measured once.
    Brief {
        seconds: f64,
    },
    /// A temporary server with settings that the user did not choose.
    ForeignSettings {
        target: String,
    },
    /// Other sessions of an observed server are hidden from its user.
    Hidden {
        target: String,
    },
    /// A reason of another side of the study.
    OfSide {
        label: String,
        reason: Box<Reason>,
    },
}

/// Some of all points, or of all main figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub some: usize,
    pub of: usize,
}

impl Part {
    /// "3 of 12 points", "all 12 points", "the only point".
    fn words(self, noun: &str) -> String {
        match (self.some, self.of) {
            (_, 1) => format!("the only {noun}"),
            (some, of) if some == of => format!("all {of} {noun}s"),
            (some, of) => format!("{some} of {of} {noun}s"),
        }
    }
}

impl Reason {
    /// The best grade that it leaves.
    pub fn grade(&self) -> Grade {
        match self {
            Self::Altered { .. }
            | Self::Incomplete { .. }
            | Self::Failed { .. }
            | Self::Driver { .. }
            | Self::Heavy { .. } => Grade::DoNotUse,
            Self::Once { .. }
            | Self::Apart { .. }
            | Self::Others(_)
            | Self::Trend(_)
            | Self::Unsteady(_)
            | Self::OthersUnknown { .. }
            | Self::Short(_)
            | Self::Brief { .. }
            | Self::ForeignSettings { .. }
            | Self::Hidden { .. } => Grade::Indicative,
            Self::OfSide { reason, .. } => reason.grade(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAIN: &str = "main figure";
        let text = match self {
            Self::Altered { why } => format!("the record of the run cannot be trusted ({why})"),
            Self::Incomplete { measured: 0, .. } => "nothing was measured".to_owned(),
            Self::Incomplete { measured, planned } => {
                format!("the run is incomplete ({measured} of {planned} points)")
            }
            Self::Failed { invalid, test, why } => format!(
                "{} failed a check ({test}: {})",
                invalid.words("point"),
                why.as_deref().unwrap_or("no reason recorded")
            ),
            Self::Driver { title } => format!("the driver was the limit of {title}"),
            Self::Heavy {
                points,
                cpu_pct,
                io_pct,
            } => {
                let used = [(cpu_pct, "CPU"), (io_pct, "disk's bandwidth")];
                let used = used
                    .iter()
                    .filter_map(|(pct, of)| Some((pct.as_ref()?, of)));
                let used: Vec<String> = used
                    .map(|(pct, of)| format!("{pct:.0} % of the {of}"))
                    .collect();
                format!(
                    "other programs used {} in {}",
                    used.join(" and "),
                    points.words("point")
                )
            }
            Self::Once { times, figures } => match figures.some == figures.of {
                true => format!("measured {}", self::times(*times)),
                false => format!("{} measured {}", figures.words(MAIN), self::times(*times)),
            },
            Self::Apart {
                figures,
                pct,
                title,
            } => format!(
                "{} varied by more than 5 % between repetitions (most: {title}, {} %)",
                figures.words(MAIN),
                number::figure(*pct)
            ),
            Self::Others(part) => {
                format!(
                    "other programs used the machine during {}",
                    part.words(MAIN)
                )
            }
            Self::Trend(part) => format!("throughput rose or fell in {}", part.words(MAIN)),
            Self::OthersUnknown { in_slices: true } => {
                "slices do not show what other programs used, so only the difference counts"
                    .to_owned()
            }
            Self::OthersUnknown { in_slices: false } => {
                "nothing shows how much of the machine other programs used".to_owned()
            }
            Self::Unsteady(part) => format!("throughput was not steady in {}", part.words(MAIN)),
            Self::Short(part) => {
                format!("{} measured for less than a second", part.words(MAIN))
            }
            Self::Brief { seconds } => {
                format!(
                    "it lasted {} s, less than a minute",
                    number::figure(*seconds)
                )
            }
            Self::ForeignSettings { target } => {
                format!("{target} is a temporary server with dbdyno's settings, not yours")
            }
            Self::Hidden { target } => {
                format!("other sessions on {target} are hidden from its user")
            }
            Self::OfSide { label, reason } => format!("run {label}: {reason}"),
        };
        f.write_str(&text)
    }
}

/// "once", "three times".
pub fn times(n: usize) -> String {
    const WORDS: [&str; 8] = [
        "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    match n {
        1 => "once".to_owned(),
        2 => "only twice".to_owned(),
        n => match n.checked_sub(3).and_then(|at| WORDS.get(at)) {
            Some(word) => format!("{word} times"),
            None => format!("{n} times"),
        },
    }
}
