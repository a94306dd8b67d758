//! Schemas of what the machine did while a point was measured: its time series, its block devices and its network
//! interfaces, beside them the engine's own account of its I/O, and what was seen of a database at work.

use serde_json::json;

use super::parts::{Properties, array, choice, count, object, or_null, properties, real, text};
use crate::{About, DeviceSample, InterfaceKind, IoOperation, IoUnknown, Purpose};

pub(super) fn sample_properties() -> Properties {
    let known = |description| or_null(real(description));
    properties([
        (
            "at_s",
            real("End of the interval, from the start of the point."),
        ),
        (
            "operations_per_s",
            known("Operations completed in the interval."),
        ),
        (
            "response_us_p99",
            known("99th percentile of the response times."),
        ),
        ("cpu_pct", known("Host processors not idle.")),
        ("cpu_iowait_pct", known("… of which waiting for I/O.")),
        ("read_iops", known("Device reads.")),
        ("write_iops", known("Device writes.")),
        ("read_mb_per_s", known("Device reads.")),
        ("write_mb_per_s", known("Device writes.")),
        ("memory_used_mb", known("Memory in use.")),
        ("cpu_user_pct", known("Host processors in user mode.")),
        ("cpu_system_pct", known("Host processors in the kernel.")),
        (
            "network_mb_per_s",
            known("Received and sent by the host's interfaces without loopback."),
        ),
        (
            "tcp_retransmits",
            known("TCP segments retransmitted in the interval."),
        ),
        (
            "tcp_sockets",
            known("Open TCP sockets at the end of the interval."),
        ),
        (
            "page_cache_mb",
            known("Memory that the kernel caches files in."),
        ),
        (
            "major_faults",
            known("Page faults in the interval that had to read from a device."),
        ),
        ("swap_mb", known("Swapped in and out in the interval.")),
        (
            "pressure_cpu_pct",
            known("Part of the interval in which some task waited for a processor."),
        ),
        ("pressure_memory_pct", known("… for memory.")),
        ("pressure_io_pct", known("… for I/O.")),
    ])
}

pub(super) fn device_properties() -> Properties {
    let requests = || {
        or_null(object(properties([
            ("count", count("How many were completed.")),
            ("mb", real("10^6 bytes moved by them.")),
            (
                "await_ms",
                or_null(real("Mean time of one; null without requests.")),
            ),
        ])))
    };
    properties([
        ("name", text("Kernel name.")),
        (
            "holds",
            array(choice(
                &Purpose::ALL.map(Purpose::name),
                "What of the database lies on it directly; none for a device below others.",
            )),
        ),
        (
            "carries",
            array(text("Kernel name of a device that is built on it.")),
        ),
        ("elapsed_s", or_null(real("Time that its counters cover."))),
        ("reads", requests()),
        ("writes", requests()),
        (
            "busy_pct",
            or_null(real("Part of the time with a request in flight.")),
        ),
        ("queue_mean", or_null(real("Mean requests in flight."))),
        ("samples", array(object(sample_of_device()))),
    ])
}

pub(super) fn engine_io_properties() -> Properties {
    properties([
        (
            "purpose",
            choice(&Purpose::ALL.map(Purpose::name), "What the files are for."),
        ),
        (
            "operation",
            choice(&IoOperation::ALL.map(IoOperation::name), "Direction."),
        ),
        (
            "count",
            or_null(count("Requests, as the engine counts them.")),
        ),
        ("mb", or_null(real("What they moved, 10^6 bytes."))),
        ("time_s", or_null(real("Time that they took altogether."))),
        (
            "source",
            text("Where the engine tells it; empty where it does not."),
        ),
        (
            "unknown",
            or_null(choice(
                &IoUnknown::ALL.map(IoUnknown::name),
                "Why neither requests nor bytes are known; null where one of them is.",
            )),
        ),
    ])
}

fn sample_of_device() -> Properties {
    properties([
        (
            "at_s",
            real("End of the interval, from the start of the point."),
        ),
        (
            "operation",
            choice(&DeviceSample::OPERATIONS, "Kind of request."),
        ),
        (
            "requests",
            count("How many were completed in the interval."),
        ),
        ("service_us_mean", or_null(real("Mean time of one."))),
        (
            "service_us_p99",
            or_null(real(
                "99th percentile of the times; null unless the kernel times each request.",
            )),
        ),
        (
            "service_us_max",
            or_null(real(
                "Longest time; null unless the kernel times each request.",
            )),
        ),
    ])
}

pub(super) fn interface_properties() -> Properties {
    let traffic = || {
        object(properties([
            ("bytes", count("With the frames' heads.")),
            ("packets", count("Packets.")),
            ("errors", count("Packets with an error.")),
            ("drops", count("Packets that the host dropped.")),
        ]))
    };
    properties([
        (
            "name",
            text("Kernel name; \"others\" for all that are not listed."),
        ),
        (
            "kind",
            choice(
                &InterfaceKind::ALL.map(InterfaceKind::name),
                "What is behind it: a device, none, the host itself; or that it is not one interface, but all that are not listed.",
            ),
        ),
        ("elapsed_s", or_null(real("Time that its counters cover."))),
        ("received", traffic()),
        ("sent", traffic()),
    ])
}

pub(super) fn observed_properties() -> Properties {
    let column = properties([
        ("name", text("What stands in the column.")),
        ("unit", text("Its unit; empty for texts.")),
    ]);
    let cell = json!({ "type": ["number", "string", "null"], "description": "A number, a text, or unknown." });
    properties([
        (
            "about",
            choice(&About::ALL.map(About::name), "What the table is about."),
        ),
        (
            "source",
            text("Where it comes from, as the server calls it."),
        ),
        (
            "remark",
            or_null(text("Why there are no rows, or what they lack.")),
        ),
        ("columns", array(object(column))),
        ("rows", array(array(cell))),
    ])
}
