//! The inventory for a terminal: aligned sections.

use std::fmt::Write;

use archive::ControlGroup;

use super::difference::shown;
use super::{Block, Changed, Inventory, Role, Stated};

const UNKNOWN: &str = "–";
/// Width of the labels, so that the sections are aligned.
const LABEL_WIDTH: usize = 24;

pub fn sections(found: &Inventory) -> String {
    let mut text = String::new();
    for (title, rows) in [
        ("Machine (found)", machine(found)),
        ("Processor (found)", processor(found)),
        ("Memory (found)", memory(found)),
        ("Control group (found)", control_group(found)),
    ] {
        section(&mut text, title, &rows);
    }
    table(&mut text, "Block devices (found)", blocks(found));
    table(&mut text, "File systems (found)", file_systems(found));
    table(&mut text, "Fibre channel (found)", ports(found));
    table(&mut text, "Network (found)", interfaces(found));
    section(&mut text, "Multipath and udev (found)", &rules(found));
    let sysctl: Vec<(String, String)> = found
        .sysctl
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
        .collect();
    section(&mut text, "Kernel settings (found)", &sysctl);
    text
}

pub fn stated_section(stated: &Stated) -> String {
    let mut text = String::new();
    for (title, fields) in stated.rows() {
        let rows: Vec<(String, String)> = fields
            .iter()
            .map(|(name, value)| (name.clone(), shown(value)))
            .collect();
        section(&mut text, &format!("{title} (stated)"), &rows);
    }
    text
}

pub fn changed_rows(rows: &[Changed], before: &str) -> String {
    if rows.is_empty() {
        return format!("No differences from {before}.\n");
    }
    let or_unknown = |value: &Option<String>| value.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let mut cells = vec![["fact", before, "now"].map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        vec![
            row.fact.clone(),
            or_unknown(&row.before),
            or_unknown(&row.after),
        ]
    }));
    let mut text = String::new();
    table(&mut text, "Changed", cells);
    text
}

fn section(text: &mut String, title: &str, rows: &[(String, String)]) {
    if rows.is_empty() {
        return;
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{title}");
    let width = rows.iter().map(|(label, _)| label.chars().count()).max();
    let width = width.unwrap_or(0).max(LABEL_WIDTH);
    for (label, value) in rows {
        let _ = writeln!(text, "  {label:width$}  {value}");
    }
    text.push('\n');
}

/// A heading and rows below it; nothing if there is only the heading row.
fn table(text: &mut String, title: &str, rows: Vec<Vec<String>>) {
    if rows.len() < 2 {
        return;
    }
    let _ = writeln!(text, "{title}");
    for line in columns(&rows) {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
}

fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(&widths);
            let line: String = cells
                .map(|(cell, width)| format!("{cell:width$}  "))
                .collect();
            line.trim_end().to_owned()
        })
        .collect()
}

fn row(label: &str, value: Option<impl ToString>) -> (String, String) {
    (label.to_owned(), cell(value))
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string())
}

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Powers of two, as memory and volumes are sized.
fn size(bytes: Option<u64>) -> Option<String> {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let bytes = bytes?;
    if bytes == 0 {
        return Some("0".to_owned());
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value.fract() < 0.05 { 0 } else { 1 };
    Some(format!("{value:.digits$} {}", UNITS[unit]))
}

fn yes_no(flag: Option<bool>) -> Option<&'static str> {
    flag.map(|flag| if flag { "yes" } else { "no" })
}

fn machine(found: &Inventory) -> Vec<(String, String)> {
    let m = &found.machine;
    vec![
        row("host name", m.host_name.as_ref()),
        row("product", m.product.as_ref()),
        row("virtualisation", m.virtualisation.as_ref()),
        row("distribution", m.distribution.as_ref()),
        row("kernel", m.kernel.as_ref()),
        row("architecture", m.architecture.as_ref()),
    ]
}

fn processor(found: &Inventory) -> Vec<(String, String)> {
    let p = &found.processor;
    vec![
        row("model", p.model.as_ref()),
        row(
            "nominal frequency",
            p.nominal_mhz.map(|mhz| format!("{mhz} MHz")),
        ),
        row("sockets", p.sockets),
        row("cores", p.cores),
        row("threads", p.threads),
        row("NUMA nodes", p.numa_nodes),
        row("hyper-threading", p.smt.as_ref()),
        row("turbo", yes_no(p.turbo)),
        row("frequency governor", p.governor.as_ref()),
        row("frequency driver", p.frequency_driver.as_ref()),
        row("energy preference", p.energy_preference.as_ref()),
    ]
}

fn memory(found: &Inventory) -> Vec<(String, String)> {
    let m = &found.memory;
    let mut rows = vec![
        row("main memory", size(m.total_bytes)),
        row("swap", size(m.swap_bytes)),
        row("transparent huge pages", m.transparent_huge_pages.as_ref()),
        row(
            "THP defragmentation",
            m.transparent_huge_pages_defrag.as_ref(),
        ),
        row("huge pages, total", size(m.huge_pages_bytes)),
    ];
    for pages in &m.huge_pages {
        let value = format!(
            "{} ({} reserved)",
            cell(pages.pages),
            cell(pages.reserved_pages)
        );
        rows.push((format!("huge pages of {}", pages.name), value));
    }
    for node in &m.nodes {
        let value = format!(
            "{}, threads {}",
            cell(size(node.memory_bytes)),
            cell(node.threads.as_ref())
        );
        rows.push((node.name.clone(), value));
    }
    rows
}

fn control_group(found: &Inventory) -> Vec<(String, String)> {
    let caps = found.control_group.as_ref().map(ControlGroup::caps);
    match caps {
        None => vec![row("caps", None::<String>)],
        Some(caps) if caps.is_empty() => vec![row("caps", Some("none"))],
        Some(caps) => caps,
    }
}

fn blocks(found: &Inventory) -> Vec<Vec<String>> {
    let mut rows = vec![header(&[
        "device",
        "name",
        "role",
        "size",
        "vendor",
        "model",
        "rotational",
        "scheduler",
        "rq_affinity",
        "nr_requests",
        "nomerges",
        "read_ahead_kib",
        "on",
    ])];
    rows.extend(found.block_devices.iter().map(block_row));
    rows
}

fn block_row(block: &Block) -> Vec<String> {
    let role = match block.role {
        Role::Disk => "disk",
        Role::Multipath => "multipath",
        Role::Path => "path",
        Role::Mapped => "mapped",
        Role::Array => "array",
        Role::Other => "other",
    };
    let on = (!block.slaves.is_empty()).then(|| block.slaves.join(" "));
    vec![
        block.name.clone(),
        cell(block.mapped_name.as_ref()),
        role.to_owned(),
        cell(size(block.size_bytes)),
        cell(block.vendor.as_ref()),
        cell(block.model.as_ref()),
        cell(yes_no(block.rotational)),
        cell(block.scheduler.as_ref()),
        cell(block.rq_affinity),
        cell(block.nr_requests),
        cell(block.nomerges),
        cell(block.read_ahead_kib),
        cell(on),
    ]
}

fn file_systems(found: &Inventory) -> Vec<Vec<String>> {
    let mut rows = vec![header(&["mounted at", "type", "source", "options"])];
    rows.extend(found.file_systems.iter().map(|system| {
        let options = system.options.join(",");
        vec![
            system.name.clone(),
            system.kind.clone(),
            system.source.clone(),
            options,
        ]
    }));
    rows
}

fn ports(found: &Inventory) -> Vec<Vec<String>> {
    let mut rows = vec![header(&[
        "port",
        "model",
        "port name",
        "state",
        "Gbit/s",
        "max Gbit/s",
    ])];
    rows.extend(found.fibre_channel_ports.iter().map(|port| {
        vec![
            port.name.clone(),
            cell(port.model.as_ref()),
            cell(port.port_name.as_ref()),
            cell(port.state.as_ref()),
            cell(port.speed_gbit_per_s),
            cell(port.supported_gbit_per_s_max),
        ]
    }));
    rows
}

fn interfaces(found: &Inventory) -> Vec<Vec<String>> {
    let mut rows = vec![header(&[
        "interface",
        "driver",
        "state",
        "Mbit/s",
        "MTU bytes",
    ])];
    rows.extend(found.network_interfaces.iter().map(|nic| {
        vec![
            nic.name.clone(),
            cell(nic.driver.as_ref()),
            cell(nic.state.as_ref()),
            cell(nic.speed_mbit_per_s),
            cell(nic.mtu_bytes),
        ]
    }));
    rows
}

fn rules(found: &Inventory) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let pairs = |section: &super::Section| {
        let pairs: Vec<String> = section
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        pairs.join(", ")
    };
    match &found.multipath {
        None => rows.push(("multipath.conf".to_owned(), UNKNOWN.to_owned())),
        Some(multipath) => {
            rows.push(("multipath defaults".to_owned(), pairs(&multipath.defaults)));
            for device in &multipath.devices {
                rows.push(("multipath device".to_owned(), pairs(device)));
            }
            rows.push(row("multipath volumes", Some(multipath.volumes.len())));
        }
    }
    match &found.udev_rules {
        None => rows.push(("udev rules".to_owned(), UNKNOWN.to_owned())),
        Some(rules) => {
            rows.push(row("udev rules", Some(rules.len())));
            rows.extend(
                rules
                    .iter()
                    .map(|rule| (rule.name.clone(), pairs(&rule.sets))),
            );
        }
    }
    rows
}
