//! What the published schema says of a run's part in a study.

use super::parts::{
    Properties, array, choice, count, flag, object, or_null, properties, real, text,
};
use super::remark;
use crate::{SIDES_MAX, StudyPart};

pub(super) fn properties_of_study() -> Properties {
    let letters: Vec<String> = (0..SIDES_MAX)
        .map(|n| StudyPart::letter(n).into())
        .collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    properties([
        ("name", text("Name of the study, the same in all runs.")),
        ("side", choice(&letters, "This run's configuration.")),
        ("sides", count("Number of configurations.")),
        (
            "order",
            text("Order of the repetitions, a letter per block: abba…"),
        ),
        (
            "settings",
            array(text("A setting of this side only, as KEY=VALUE.")),
        ),
        ("slice_ms", or_null(count("Slices in turn, ms."))),
        ("until", or_null(object(until_properties()))),
        ("arranged", or_null(object(arranged_properties()))),
        ("screened", or_null(object(screened_properties()))),
        ("alternative", or_null(object(alternative_properties()))),
    ])
}

fn alternative_properties() -> Properties {
    properties([
        (
            "name",
            text("One of several that are compared in all pairs."),
        ),
        ("about", text("What it is.")),
        (
            "layout",
            or_null(text("Its layout, TOML; null without one of its own.")),
        ),
        (
            "remarks",
            remark::list("What its results must not be read without."),
        ),
    ])
}

fn screened_properties() -> Properties {
    let factor = properties([
        ("key", text("The setting.")),
        ("low", text("Its first value.")),
        ("high", text("Its second value.")),
    ]);
    properties([
        ("factors", array(object(factor))),
        (
            "high",
            array(flag("Whether the factor has its second value here.")),
        ),
    ])
}

fn arranged_properties() -> Properties {
    let how = |about| {
        let words = [
            "in_place",
            "one_server",
            "two_instances",
            "blocks_anew",
            "blocks_restarted",
            "blocks_running",
        ];
        choice(&words, about)
    };
    properties([
        (
            "how",
            how("How the blocks of a pair lie beside each other."),
        ),
        (
            "in_slices",
            or_null(how(
                "Of blocks: how slices in turn would have been possible.",
            )),
        ),
        (
            "obstacle",
            or_null(text("Of blocks: why slices in turn are not possible.")),
        ),
    ])
}

fn until_properties() -> Properties {
    let look = properties([
        ("pairs", count("Pairs that are there.")),
        (
            "spent",
            real("Share of the error spent by then; 1 at the last."),
        ),
    ]);
    properties([
        ("effect_pct", real("The effect to find or exclude.")),
        (
            "band_pct",
            real("Half the practical band when it was looked at."),
        ),
        (
            "primary",
            array(text("A primary metric instead of the plan's.")),
        ),
        (
            "within_s",
            or_null(real("Bound of time, s; null without one.")),
        ),
        ("elapsed_s", real("Time that the study took so far, s.")),
        ("looks", array(object(look))),
        ("taken", count("Looks that were taken.")),
        (
            "ended",
            or_null(choice(
                &["answered", "pairs", "time"],
                "Why it stopped; null if it did not.",
            )),
        ),
    ])
}
