//! Sentences on the pairs of a study: their oddities, and the sources of their scatter.

use verdict::compare::{Between, Oddity, Remedy, Scatter, Within};

use crate::number::percent;

/// The meaning of an oddity for a study in slices or in blocks.
pub(crate) fn odd_words(oddity: &Oddity, in_slices: bool) -> String {
    let (what, remedy) = if in_slices {
        ("slice", "longer slices would make it surer")
    } else {
        (
            "block",
            "a longer ramp-up, or a reload between blocks, would make it surer",
        )
    };
    match oddity {
        Oddity::Order { second_to_first, p } => format!(
            "the {what} measured second in a pair came out {} against the first, whichever side it was (p = {p:.3}): a {what} \
             leaves something to the next. The verdict holds, because the order was drawn; {remedy}",
            signed(*second_to_first)
        ),
        Oddity::CarryOver {
            a_first_to_b_first,
            p,
        } => format!(
            "pairs of {what}s in which A was first came out {} against those in which B was, both sides together (p = {p:.3}): A leaves \
             something else to B than B to A, and the ratio is off by about as much. Do not use it before both sides begin from \
             the same state",
            signed(*a_first_to_b_first)
        ),
        Oddity::Moved { early, late, p } => format!(
            "the difference moved from {} in the first half of the pairs to {} in the second (p = {p:.3}): something changed \
             during the study, and the ratio is a mixture of both",
            signed(*early),
            signed(*late)
        ),
        Oddity::Drifted { late_to_early, p } => format!(
            "both sides alike rose or fell from pair to pair, by {} from the first half to the second (p = {p:.3}): the machine or the \
             data changed during the study. The ratio of the pairs is free of it",
            signed(*late_to_early)
        ),
        Oddity::Outlier {
            pair,
            ratio,
            others,
        } => format!(
            "pair {pair} came out at {} and all others around {}: something happened during it, which its points may tell. It \
             counts all the same, as one rank of many",
            signed(*ratio),
            signed(*others)
        ),
    }
}

/// A ratio as a change: "+3.1 %".
fn signed(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// The source of a metric's scatter, and the way to reduce it.
pub(crate) fn scatter_words(scatter: &Scatter) -> String {
    let components = &scatter.components;
    let [total, within, between] =
        [components.total, components.within, components.between].map(percent);
    let longer = percent(components.with_blocks_longer(2.0));
    let more = match scatter.between {
        Between::Instances => "instances",
        _ => "pairs",
    };
    let remedy = match scatter.remedy {
        Remedy::MoreSeconds => "more seconds a point would help".to_owned(),
        Remedy::MorePairs => {
            format!("more seconds a point would hardly help, more {more} would")
        }
        Remedy::Either => format!(
            "whether more seconds a point would help as much as more {more} cannot be decided from these pairs"
        ),
    };
    format!(
        "of the scatter of a pair ({total} %), {within} % comes from {} and {between} % from {}: {remedy} (points twice as long \
         would leave {longer} %)",
        within_words(scatter.within),
        between_words(scatter.between)
    )
}

pub(crate) fn within_words(within: Within) -> &'static str {
    match within {
        Within::Slices => "slices",
        Within::Intervals => "the seconds within a block",
    }
}

pub(crate) fn between_words(between: Between) -> &'static str {
    match between {
        Between::Sessions => "the sessions of each pair",
        Between::Instances => "instances",
        Between::Blocks => "differences from block to block",
        Between::Pairs => "differences from pair to pair",
    }
}
