//! The limit at each level of a curve, merged over neighbouring levels with the same limit.

use archive::Bottleneck;

use crate::level::{Curve, Level};
use crate::users::parallelism;

/// One sentence for each stretch of levels, e.g. "4 sessions to 16 sessions: CPU-bound: …".
///
/// The sentence, with its numbers, is that of the stretch's highest level.
pub fn sentences(curve: &Curve<'_>) -> Vec<String> {
    let mut stretches: Vec<(&Level<'_>, &Level<'_>, &Bottleneck)> = Vec::new();
    for level in &curve.levels {
        let Some(bottleneck) = &level.first().held_back.bottleneck else {
            continue;
        };
        match stretches.last_mut() {
            Some(last) if last.2.resource == bottleneck.resource => {
                (last.1, last.2) = (level, bottleneck);
            }
            _ => stretches.push((level, level, bottleneck)),
        }
    }
    if let [(_, _, only)] = stretches[..] {
        return vec![only.sentence.clone()];
    }
    let sentences = stretches.iter().map(|(from, to, bottleneck)| {
        let (from, to) = (place(from), place(to));
        if from == to {
            format!("{from}: {}", bottleneck.sentence)
        } else {
            format!("{from} to {to}: {}", bottleneck.sentence)
        }
    });
    sentences.collect()
}

/// "4 sessions", "4 users".
pub fn place(level: &Level<'_>) -> String {
    parallelism(&level.first().key)
}
