//! What the published schema says of spare cores.

use serde_json::Value;

use super::parts::{array, choice, count, flag, object, or_null, properties, real, text};

/// An item of `spare_cores`.
pub(super) fn spare_cores() -> Value {
    object(properties([
        ("target", text("Name of the target.")),
        ("test", text("Test that was looked at.")),
        (
            "level",
            choice(
                &["supported", "best"],
                "The most users within the response-time limit, or the level with the highest throughput.",
            ),
        ),
        ("jobs", count("Jobs or users of the level.")),
        ("threads", count("Threads of each job.")),
        ("cores", count("Physical cores of the host.")),
        ("threads_per_core", real("Hardware threads of a core.")),
        ("repetitions", count("Valid repetitions of the level.")),
        (
            "busy_cores",
            real("Cores busy without those of other programs, median of the repetitions."),
        ),
        ("busy_cores_low", real("… lowest.")),
        ("busy_cores_high", real("… highest.")),
        (
            "busy_cores_by_database",
            or_null(real("Cores kept busy by the database alone, median.")),
        ),
        (
            "busy_cores_by_others",
            or_null(real("Cores kept busy by other programs, median.")),
        ),
        (
            "saturated",
            flag(
                "Whether the processors were saturated: the load may need more cores than the host has.",
            ),
        ),
        (
            "headroom_pct",
            real("Share of the needed cores that stays idle on average."),
        ),
        (
            "cores_needed_by_use",
            count("Cores that are enough by the measured use."),
        ),
        (
            "cores_needed_by_threads",
            or_null(count("Cores that are enough for so many threads at once.")),
        ),
        (
            "cores_needed",
            count("The larger of both, at most all; all where the processors were saturated."),
        ),
        ("spare_cores", count("Cores that may be taken out.")),
        ("saved", or_null(object(saved()))),
        (
            "saved_unknown",
            or_null(text("Why it is unknown what they save.")),
        ),
    ]))
}

fn saved() -> super::Properties {
    let item = properties([
        ("part", text("What is bought.")),
        ("fewer", real("How many fewer.")),
        ("list", real("List price saved.")),
        ("net", real("Net price saved.")),
    ]);
    properties([
        ("currency", text("Currency of the prices.")),
        (
            "term_years",
            or_null(real("Years for which yearly prices count.")),
        ),
        ("items", array(object(item))),
    ])
}
