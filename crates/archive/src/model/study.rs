//! Studies: configurations whose repetitions were interleaved, so that a drift of the machine meets both.

use serde::{Deserialize, Serialize};

/// The part that one run plays in a study of two configurations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudyPart {
    /// Name of the study, the same in both runs.
    pub name: String,
    /// This run's configuration: "a" or "b".
    pub side: String,
    /// Order in which the repetitions were measured, drawn before the first: "abba…", two letters a pair.
    pub order: String,
    /// What was set for this side alone, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// Length of the slices in which both blocks of a pair were measured in turn, in milliseconds; `None` where one was
    /// measured after the other.
    pub slice_ms: Option<u32>,
}

impl StudyPart {
    /// Pairs that the study consists of.
    pub fn pairs(&self) -> usize {
        self.order.len() / 2
    }

    /// Whether `other` is the other side of the same study, drawn in the same order.
    pub fn pairs_with(&self, other: &StudyPart) -> bool {
        self.name == other.name && self.order == other.order && self.side != other.side
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
            slice_ms: None,
        };
        assert!(part("s", "a").pairs_with(&part("s", "b")));
        assert!(!part("s", "a").pairs_with(&part("s", "a")));
        assert!(!part("s", "a").pairs_with(&part("t", "b")));
        assert_eq!(part("s", "a").pairs(), 2);
    }
}
