//! Studies: configurations whose repetitions were interleaved, so that a drift of the machine affects both.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Remark;

/// Most configurations of a study: the letters "a" to "p".
pub const SIDES_MAX: usize = 16;

/// The part of one run in a study of several configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StudyPart {
    /// Name of the study, the same in all runs.
    pub name: String,
    /// This run's configuration.
    #[schemars(extend("enum" = StudyPart::letters()))]
    pub side: String,
    /// Number of configurations.
    pub sides: u32,
    /// Order of the repetitions, a letter per block: abba…
    pub order: String,
    /// Settings of this side only, as KEY=VALUE.
    pub settings: Vec<String>,
    /// Length of the slices in which both sides took turns, ms; null if a block followed another.
    pub slice_ms: Option<u32>,
    /// Analyses of a study that may stop early; null if the number of pairs was fixed.
    pub until: Option<Until>,
    /// How both sides were measured and why.
    pub arranged: Option<Arranged>,
    /// Settings that are screened, if the configurations are the rows of a design.
    pub screened: Option<Screened>,
    /// This configuration, if each is compared with each other one.
    pub alternative: Option<Alternative>,
}

impl Default for StudyPart {
    fn default() -> Self {
        Self {
            name: String::new(),
            side: String::new(),
            sides: 2,
            order: String::new(),
            settings: Vec::new(),
            slice_ms: None,
            until: None,
            arranged: None,
            screened: None,
            alternative: None,
        }
    }
}

/// One of several configurations that are compared with each other in all pairs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Alternative {
    /// One of several that are compared in all pairs.
    pub name: String,
    /// Description in one sentence.
    pub about: String,
    /// Its layout, TOML; null without one of its own.
    pub layout: Option<String>,
    /// Remarks without which its results must not be read.
    #[serde(serialize_with = "crate::remark::with_sentences")]
    pub remarks: Vec<Remark>,
}

/// One configuration of a screening: a row of a two-level design.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Screened {
    /// Settings with two values each.
    pub factors: Vec<Factor>,
    /// For each setting, whether this configuration has its second value.
    pub high: Vec<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Factor {
    /// The setting.
    pub key: String,
    /// Its first value.
    pub low: String,
    /// Its second value.
    pub high: String,
}

/// A study that stops at one of several analyses, planned in advance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Until {
    /// The effect to find or exclude, in percent.
    pub effect_pct: f64,
    /// Half the practical band of the verdicts that could stop it, in percent.
    pub band_pct: f64,
    /// Primary metrics that replace those of the plan.
    pub primary: Vec<String>,
    /// Bound of time, s; null without one.
    pub within_s: Option<f64>,
    /// Time that the study took so far, s; pauses after an interruption do not count.
    pub elapsed_s: f64,
    /// The planned analyses, in order.
    pub analyses: Vec<PlannedAnalysis>,
    /// Analyses that were taken.
    pub taken: u32,
    /// Why it stopped; null while it goes on.
    pub ended: Option<Ended>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlannedAnalysis {
    /// Pairs at this analysis.
    pub pairs: u32,
    /// Share of the error spent by then; 1 at the last analysis.
    pub spent: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Every primary metric was answered.
    Answered,
    /// As many pairs as were planned.
    Pairs,
    /// The bound of time.
    Time,
}

impl Until {
    /// Pairs of the last analysis that was taken; 0 before the first.
    pub fn pairs_seen(&self) -> u32 {
        let last = self.taken.checked_sub(1);
        let analysis = last.and_then(|at| self.analyses.get(at as usize));
        analysis.map_or(0, |analysis| analysis.pairs)
    }

    /// Pairs that the study has in all: those of the last analysis that was taken, once it stopped.
    pub fn pairs(&self) -> u32 {
        match self.ended {
            Some(_) => self.pairs_seen(),
            None => self.analyses.last().map_or(0, |analysis| analysis.pairs),
        }
    }
}

/// Arrangement of the blocks of a pair, and its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arranged {
    /// Arrangement of the two blocks of a pair.
    pub how: Arrangement,
    /// Of blocks: the arrangement in which slices in turn would have been possible.
    #[serde(default)]
    pub in_slices: Option<Arrangement>,
    /// Of blocks: why slices in turn are not possible.
    #[serde(default)]
    pub obstacle: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// In slices in turn, on the same databases, opened once for each pair.
    InPlace,
    /// In slices in turn, in sessions of their own on the same running servers.
    OneServer,
    /// In slices in turn, on databases of their own at the same time.
    TwoInstances,
    /// One block after the other, each with its database opened or its server created again.
    BlocksAnew,
    /// … with its server restarted on the same data directory.
    BlocksRestarted,
    /// … on a server that keeps running.
    BlocksRunning,
}

/// Label of the run of one configuration of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideLabel<'n> {
    pub study: &'n str,
    pub number: usize,
}

impl<'n> SideLabel<'n> {
    pub fn new(study: &'n str, number: usize) -> Self {
        Self { study, number }
    }

    /// A run outside a study may have such a label too.
    pub fn read(label: &'n str) -> Option<Self> {
        let (study, letter) = label.rsplit_once('-')?;
        let is_own = |number: &usize| letter.chars().eq([StudyPart::letter(*number)]);
        let number = (0..SIDES_MAX).find(is_own)?;
        Some(Self { study, number })
    }
}

impl fmt::Display for SideLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.study, StudyPart::letter(self.number))
    }
}

impl StudyPart {
    /// Rounds for which the order was drawn: of two configurations its pairs.
    pub fn rounds(&self) -> usize {
        self.order.len() / self.sides.max(1) as usize
    }

    /// The letters of a round, counted from 1, in the order of its blocks.
    pub fn round(&self, number: usize) -> &str {
        let sides = self.sides as usize;
        let first = number.saturating_sub(1) * sides;
        self.order.get(first..first + sides).unwrap_or_default()
    }

    /// Letters of all configurations that a study can have.
    pub(crate) fn letters() -> Vec<char> {
        (0..SIDES_MAX).map(Self::letter).collect()
    }

    /// Letter of the configuration of this number, from 0.
    pub fn letter(number: usize) -> char {
        char::from(b'a' + (number % SIDES_MAX) as u8)
    }

    /// True for another side of the same study, drawn in the same order.
    pub fn pairs_with(&self, other: &StudyPart) -> bool {
        (&self.name, &self.order, self.sides) == (&other.name, &other.order, other.sides)
            && self.side != other.side
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sides_of_one_study_are_a_pair() {
        let part = |name: &str, side: &str| StudyPart {
            name: name.into(),
            side: side.into(),
            order: "abba".into(),
            settings: Vec::new(),
            ..StudyPart::default()
        };
        assert!(part("s", "a").pairs_with(&part("s", "b")));
        assert!(!part("s", "a").pairs_with(&part("s", "a")));
        assert!(!part("s", "a").pairs_with(&part("t", "b")));
        assert_eq!(part("s", "a").rounds(), 2);
        assert_eq!(
            (part("s", "a").round(2), part("s", "a").round(3)),
            ("ba", "")
        );
        let of_four = StudyPart {
            sides: 4,
            ..part("s", "c")
        };
        assert!(!of_four.pairs_with(&part("s", "a")));
        assert_eq!((of_four.rounds(), of_four.round(1)), (1, "abba"));
    }

    #[test]
    fn labels_of_sides_are_read_as_they_are_written() {
        let last = SideLabel::new("s-b", 15);
        assert_eq!(last.to_string(), "s-b-p");
        assert_eq!(SideLabel::read("s-b-p"), Some(last));
        for label in ["s", "s-", "s-q", "s-ab", "s-before"] {
            assert_eq!(SideLabel::read(label), None, "{label}");
        }
    }

    #[test]
    fn a_study_has_the_pairs_of_the_look_at_which_it_stopped() {
        let analysis = |pairs, spent| PlannedAnalysis { pairs, spent };
        let mut until = Until {
            analyses: vec![analysis(8, 0.3), analysis(12, 1.0)],
            ..Until::default()
        };
        assert_eq!((until.pairs_seen(), until.pairs()), (0, 12));
        until.taken = 1;
        assert_eq!((until.pairs_seen(), until.pairs()), (8, 12));
        until.ended = Some(Ended::Answered);
        assert_eq!(until.pairs(), 8);
    }

    #[test]
    fn a_study_of_an_earlier_version_has_no_analyses() {
        let old = r#"{"name": "s", "side": "a", "order": "ab", "settings": []}"#;
        let part: StudyPart = serde_json::from_str(old).unwrap();
        assert_eq!((part.until, part.slice_ms), (None, None));
        assert_eq!((part.sides, part.screened), (2, None));
        assert_eq!(part.alternative, None);
    }
}
