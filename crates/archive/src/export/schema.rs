//! The published JSON Schema of the JSON export, generated from the declaration of the figures.

mod cores;
mod machine;
mod parts;
mod remark;
mod study;

use serde_json::{Value, json};

use parts::{Properties, array, choice, count, flag, object, or_null, properties, real, text};

use super::json::{DISTRIBUTIONS, PERCENTILES, SCHEMA_NAME};
use crate::{Better, EventSource, FIGURES, OperationTimes, Resource, Unseen};

/// JSON Schema (draft 2020-12) of what [`super::json`] writes.
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:dbdyno:result:2",
        "title": "One run of dbdyno",
        "description": "Unknown values are null, never 0. MB is 10^6 bytes. Times are RFC 3339 in UTC.",
        "type": "object",
        "additionalProperties": false,
        "required": ["schema", "run", "targets", "platform", "inventory", "missing", "points"],
        "properties": {
            "schema": { "const": SCHEMA_NAME },
            "run": object(run_properties()),
            "targets": array(object(target_properties())),
            "platform": object(platform_properties()),
            "inventory": object(inventory_properties()),
            "missing": array(object(missing_properties())),
            "points": array(object(point_properties())),
            "spare_cores": { "type": "array", "description": "Cores of the host that each target could do without (docs/FORMAT.md, Spare cores).", "items": cores::spare_cores() },
            "prices": { "type": "object", "description": "With --prices: items, total, and what the figures cost (docs/FORMAT.md, Prices)." },
        },
        "$defs": { "remark": remark::definition() },
    })
}

/// Names of the CSV's columns: every single value of a row, `work` spread out, the run's label first.
pub(super) fn flat_names() -> Vec<String> {
    let mut names = vec!["run".to_owned()];
    for (name, _) in point_properties() {
        match name.as_str() {
            "timed_events" | "background_events" | "wait_histograms" | "samples"
            | "operation_times" | "operation_samples" | "transactions" | "devices"
            | "engine_io" | "interfaces" | "executions" | "observed" | "service_histogram"
            | "response_histogram" => {}
            "work" => names.extend(
                work_properties()
                    .into_iter()
                    .map(|(n, _)| format!("work.{n}")),
            ),
            _ => names.push(name),
        }
    }
    names
}

fn run_properties() -> Properties {
    properties([
        (
            "id",
            json!({ "type": "integer", "description": "Number in its archive." }),
        ),
        ("label", text("Unique name in its archive.")),
        (
            "renamed_from",
            or_null(text(
                "The label that the run was measured under; null if it was not renamed.",
            )),
        ),
        (
            "note",
            or_null(text("The user's note on the run; null without one.")),
        ),
        (
            "state",
            choice(&["running", "interrupted", "complete"], "State of the run."),
        ),
        (
            "valid",
            flag("True if the run is complete and unchanged and every point is valid."),
        ),
        (
            "reasons",
            remark::list("Why the run as a whole is invalid."),
        ),
        ("started_at", text("Wall-clock start.")),
        ("finished_at", or_null(text("Wall-clock end."))),
        (
            "tool_version",
            text("Version of dbdyno that measured the run."),
        ),
        ("plan_name", text("Name of the plan.")),
        ("plan_toml", text("The plan as it was executed.")),
        (
            "seed",
            count("Seed from which every point's seed is derived (64 bits)."),
        ),
        ("repetitions", count("Repetitions requested.")),
        ("points_planned", count("Points of the complete run.")),
        ("points_finished", count("Points that are finished.")),
        ("study", or_null(object(study::properties_of_study()))),
    ])
}

fn target_properties() -> Properties {
    properties([
        ("name", text("Short name, as in the points.")),
        ("url", text("URL without secrets.")),
        ("engine", text("Kind of database.")),
        ("engine_version", text("Version as the engine reports it.")),
        ("nodes", count("Nodes of the cluster.")),
        ("device", or_null(text("Block device under its files."))),
        (
            "settings",
            json!({
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Settings read back from the engine.",
            }),
        ),
        ("rights_missing", or_null(object(rights_properties()))),
    ])
}

fn rights_properties() -> Properties {
    properties([
        (
            "unseen",
            array(choice(
                &Unseen::ALL.map(Unseen::name),
                "What the target's user may not see.",
            )),
        ),
        (
            "grant",
            text("The statements that grant all of these rights."),
        ),
    ])
}

fn platform_properties() -> Properties {
    let device = properties([
        ("name", text("Kernel name.")),
        ("size_bytes", or_null(count("Size."))),
        ("rotational", or_null(flag("True for spinning disks."))),
        ("scheduler", or_null(text("I/O scheduler in force."))),
        ("model", or_null(text("Vendor and model."))),
        ("mounts", array(text("Mount point and file system."))),
    ]);
    let cap = || or_null(count("Limit; null without one."));
    let capped = properties([
        ("name", text("Kernel name, or the number of the device.")),
        ("read_max_bytes_per_s", cap()),
        ("write_max_bytes_per_s", cap()),
        ("read_max_iops", cap()),
        ("write_max_iops", cap()),
    ]);
    let control_group = properties([
        (
            "cpu_max_threads",
            or_null(real("Limit of processor time, in hardware threads.")),
        ),
        (
            "threads",
            or_null(text("Hardware threads that may be used; null if all.")),
        ),
        ("memory_max_bytes", cap()),
        ("memory_high_bytes", cap()),
        ("swap_max_bytes", cap()),
        ("devices", array(object(capped))),
    ]);
    properties([
        ("host_name", or_null(text("Name of the host."))),
        ("distribution", or_null(text("Name of the distribution."))),
        ("kernel", or_null(text("Kernel release."))),
        ("architecture", or_null(text("Machine architecture."))),
        (
            "product",
            or_null(text("Vendor and product of the machine.")),
        ),
        ("virtualisation", or_null(text("Hypervisor or \"none\"."))),
        ("processor", or_null(text("Processor model."))),
        ("processor_mhz", or_null(real("Nominal frequency."))),
        ("sockets", or_null(count("Processor sockets."))),
        ("cores", or_null(count("Physical cores."))),
        ("threads", or_null(count("Hardware threads."))),
        ("numa_nodes", or_null(count("NUMA nodes."))),
        ("memory_bytes", or_null(count("Main memory."))),
        ("swap_bytes", or_null(count("Swap space."))),
        ("block_devices", array(object(device))),
        ("control_group", or_null(object(control_group))),
    ])
}

fn inventory_properties() -> Properties {
    let fact = properties([
        ("section", text("Part of the inventory.")),
        ("name", text("Name of the fact within its section.")),
        ("value", text("Formatted value.")),
        (
            "stated",
            flag("Stated by the user rather than found on the machine."),
        ),
    ]);
    let decisions = ["ok", "advised_otherwise", "cannot_be_decided"];
    let advice = properties([
        ("rule", text("Name of the rule.")),
        (
            "severity",
            choice(&["important", "advice", "note"], "How much it matters."),
        ),
        ("decision", choice(&decisions, "Outcome of the rule.")),
        ("what", text("What the rule checks.")),
        ("found", text("What was found or stated.")),
        ("advised", text("What the source advises.")),
        ("why", text("Why it matters, or why it cannot be decided.")),
        ("source", text("Document and place.")),
    ]);
    properties([
        ("facts", array(object(fact))),
        ("advice", array(object(advice))),
    ])
}

fn missing_properties() -> Properties {
    properties([
        ("target", text("Short name of the target.")),
        ("test", text("Test code.")),
        ("title", text("Title of the test.")),
        ("reason", remark::one("Why the target cannot do it.")),
    ])
}

fn point_properties() -> Properties {
    let components = ["cpu", "server", "storage", "database"];
    let mut all = properties([
        ("repetition", count("Repetition of the whole plan, from 1.")),
        ("step", count("Step of the plan, from 1.")),
        ("target", text("Short name of the target.")),
        ("engine", text("Kind of database.")),
        ("engine_version", text("Version as the engine reports it.")),
        ("test", text("Test code.")),
        ("title", text("Title of the test.")),
        (
            "component",
            choice(&components, "Part of the platform that the test loads."),
        ),
        ("nodes", count("Nodes of the cluster (#N).")),
        ("jobs", count("Concurrent database sessions (#J).")),
        (
            "threads",
            count("Degree of parallelism inside one job (#T)."),
        ),
        ("dop", count("Degree of parallelism: jobs × threads.")),
    ]);
    all.extend(FIGURES.iter().map(|figure| {
        let direction = match figure.better {
            Better::Higher => " Higher is better.",
            Better::Lower => " Lower is better.",
            Better::Neither => "",
        };
        let description = format!("[{}] {}{direction}", figure.unit, figure.meaning);
        (figure.name.to_owned(), or_null(real(&description)))
    }));
    for (kind, from) in DISTRIBUTIONS.into_iter().zip(["actual", "intended"]) {
        all.extend(PERCENTILES.map(|ending| {
            let meaning =
                format!("[µs] From the {from} start to the end of an operation: {ending}.");
            (format!("{kind}_us_{ending}"), or_null(real(&meaning)))
        }));
    }
    all.extend(properties([
        ("valid", flag("True if there are no reasons of invalidity.")),
        (
            "crowded",
            or_null(flag(
                "True if programs other than the database and the driver used more of the processors, or of the device, than a \
                 point tolerates.",
            )),
        ),
        ("reasons", remark::list("Why the point is invalid.")),
        (
            "notes",
            remark::list("Remarks that do not make the point invalid."),
        ),
        (
            "steady",
            or_null(choice(
                &["yes", "no", "trend"],
                "Was the throughput steady?",
            )),
        ),
        ("timed_events", array(object(event_properties()))),
        (
            "bottleneck_resource",
            or_null(choice(
                &Resource::ALL.map(Resource::name),
                "What limited the point; null if not judged.",
            )),
        ),
        (
            "bottleneck_sentence",
            or_null(text("… in one sentence with the numbers behind it.")),
        ),
        (
            "background_events",
            array(object(background_event_properties())),
        ),
        (
            "wait_histograms",
            array(object(wait_histogram_properties())),
        ),
        ("samples", array(object(machine::sample_properties()))),
        (
            "operation_times",
            array(object(operation_times_properties())),
        ),
        (
            "operation_samples",
            array(object(operation_sample_properties())),
        ),
        (
            "transactions",
            array(object(transaction_kind_properties())),
        ),
        ("devices", array(object(machine::device_properties()))),
        ("engine_io", array(object(machine::engine_io_properties()))),
        (
            "interfaces",
            array(object(machine::interface_properties())),
        ),
        ("executions", array(object(execution_properties()))),
        ("observed", array(object(machine::observed_properties()))),
        ("work", object(work_properties())),
        (
            "seed",
            count("Seed of everything random in the point (64 bits)."),
        ),
        (
            "configuration",
            text("Fingerprint of everything that was configured."),
        ),
        (
            "definition",
            text("Fingerprint of the test definition with its SQL."),
        ),
        ("started_at", text("Wall-clock start.")),
    ]));
    let histogram = json!({
        "type": ["string", "null"],
        "contentEncoding": "base64",
        "description": "HdrHistogram V2, deflated, in nanoseconds; null when nothing was recorded.",
    });
    all.extend(DISTRIBUTIONS.map(|kind| (format!("{kind}_histogram"), histogram.clone())));
    all
}

fn event_properties() -> Properties {
    properties([
        ("event", text("Name of the event.")),
        ("class", text("Class of the event.")),
        ("waits", or_null(count("How often it happened."))),
        ("time_s", real("Time spent in it by all jobs.")),
        ("share_pct", real("Part of the jobs' time.")),
        (
            "source",
            choice(&EventSource::ALL.map(EventSource::name), "How it is known."),
        ),
    ])
}

fn background_event_properties() -> Properties {
    properties([
        ("process", text("Process or thread of the server.")),
        ("event", text("What it did.")),
        ("count", or_null(count("How often."))),
        ("time_s", or_null(real("Total time."))),
        ("mb", or_null(real("10^6 bytes moved by it."))),
        (
            "source",
            choice(&EventSource::ALL.map(EventSource::name), "How it is known."),
        ),
    ])
}

fn wait_histogram_properties() -> Properties {
    properties([
        ("class", text("Class of waits.")),
        (
            "counts",
            or_null(array(count(
                "Waits below 1 ms, 2 ms, 4 ms …; the last bucket has all others.",
            ))),
        ),
        (
            "remark",
            text("Where the counts come from, or why there are none."),
        ),
    ])
}

fn operation_times_properties() -> Properties {
    properties([
        (
            "observer",
            choice(
                &OperationTimes::OBSERVERS,
                "Who measured: dbdyno, the kernel at the block device, or the array itself.",
            ),
        ),
        (
            "subject",
            text("The device or array; empty for the driver."),
        ),
        (
            "operation",
            choice(&["read", "write", "flush", "discard"], "Kind of operation."),
        ),
        (
            "phase",
            choice(
                &["service", "response", "whole", "queue", "device"],
                "Part of the time: of the driver's operations, or of requests of the device.",
            ),
        ),
        ("count", or_null(count("How many."))),
        ("mean_us", or_null(real("Arithmetic mean."))),
        (
            "remark",
            text(
                "Where the times come from, what they were compared with, or why there are no more.",
            ),
        ),
        (
            "histogram",
            json!({
                "type": ["string", "null"],
                "contentEncoding": "base64",
                "description": "HdrHistogram V2, deflated, in nanoseconds; null where only the mean is known.",
            }),
        ),
    ])
}

fn operation_sample_properties() -> Properties {
    properties([
        (
            "at_s",
            real("End of the interval, from the start of the point."),
        ),
        (
            "operation",
            choice(&["read", "write"], "Kind of operation."),
        ),
        ("operations", count("How many completed in the interval.")),
        ("service_us_mean", or_null(real("Mean service time."))),
        ("response_us_mean", or_null(real("Mean response time."))),
    ])
}

fn transaction_kind_properties() -> Properties {
    properties([
        ("name", text("Name of the kind in the script.")),
        ("completed", count("How many were completed.")),
        ("rows", count("Rows returned or changed.")),
        (
            "rows_per_transaction",
            or_null(real(
                "Mean rows per transaction; null if none was completed.",
            )),
        ),
    ])
}

fn execution_properties() -> Properties {
    properties([
        (
            "round",
            count("Round over all statements of the point, from 1."),
        ),
        ("statement", text("Code of the statement.")),
        (
            "elapsed_us",
            or_null(count(
                "Time until its last row was there; null if it failed.",
            )),
        ),
        (
            "plan",
            or_null(text("Fingerprint of its plan, without numbers.")),
        ),
        (
            "device_read_bytes",
            or_null(count(
                "What the block devices under the database read meanwhile, for whomever.",
            )),
        ),
        (
            "buffer_gets",
            or_null(count("Pages asked of the engine's own cache.")),
        ),
        (
            "pages_read",
            or_null(count("Of these, pages that the cache did not have.")),
        ),
    ])
}

fn work_properties() -> Properties {
    properties([
        (
            "mode",
            text("\"work\" (a fixed amount per job) or \"time\"."),
        ),
        ("size", text("Size class that scales the amount of work.")),
        (
            "operations_per_job",
            or_null(count("Operations declared for each job.")),
        ),
        ("seconds", or_null(real("Seconds declared."))),
        ("schedule", text("Closed, open …")),
        ("state", text("State of the data before the point.")),
        ("cache", text("Cache before the point.")),
        (
            "limit_percentile",
            or_null(real(
                "Percentile of the response times that had to meet a limit.",
            )),
        ),
        ("limit_response_us", or_null(real("That limit, µs."))),
        (
            "below_database",
            flag("True if I/Os went directly to files or devices, without a database."),
        ),
        (
            "threads_asked",
            or_null(count(
                "Degree of parallelism requested for a statement; `threads` is the one that the engine used.",
            )),
        ),
        (
            "server_since",
            or_null(text(
                "Start of the server by its own clock; null if unknown, and for servers that dbdyno starts itself.",
            )),
        ),
        (
            "plan",
            or_null(text(
                "Fingerprint of the statement's plan, without numbers that change from one execution to the next.",
            )),
        ),
    ])
}
