//! Differences in the configuration of two runs: plan, targets and machine, as rows.
//!
//! Figures are compared elsewhere; these rows tell a reader what to know first. The seed and the labels are no
//! configuration.

use std::collections::{BTreeMap, BTreeSet};

use archive::{ControlGroup, Fact, Inventory, Platform, Run, TargetRecord};

/// One row of the difference; `None` if a side lacks it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Difference {
    pub subject: String,
    pub a: Option<String>,
    pub b: Option<String>,
}

type Rows = BTreeMap<String, String>;

/// Differences between two runs: the plan first, then the targets, then the machine.
pub fn differences(a: &Run, b: &Run) -> Vec<Difference> {
    let version = |run: &Run| Rows::from([("dbdyno version".to_owned(), run.tool_version.clone())]);
    let mut found = changed("", &version(a), &version(b));
    found.extend(changed("plan: ", &plan(a), &plan(b)));
    found.extend(targets(&a.targets, &b.targets));
    found.extend(machine(a, b));
    found
}

/// True for two sides of a study that differ in what was set for them.
pub fn are_set_apart(a: &Run, b: &Run) -> bool {
    let settings = |run: &Run| run.study.as_ref().map(|study| study.settings.clone());
    settings(a).unwrap_or_default() != settings(b).unwrap_or_default()
}

/// Differences between two inventories, in the order of their sections. A block device that one machine lacks is one
/// row; these rows are last, because the database uses few of the devices.
pub fn inventory_differences(a: &Inventory, b: &Inventory) -> Vec<Difference> {
    let (devices_a, devices_b) = (devices(a), devices(b));
    let is_of_both = |fact: &Fact| match device_of(fact) {
        Some(name) => devices_a.contains_key(name) && devices_b.contains_key(name),
        None => true,
    };
    let mut found = changed("machine: ", &facts(a, is_of_both), &facts(b, is_of_both));
    let names: BTreeSet<&str> = devices_a.keys().chain(devices_b.keys()).copied().collect();
    let one_sided = names.into_iter().filter_map(|name| {
        let (a, b) = (devices_a.get(name), devices_b.get(name));
        (a.is_some() != b.is_some()).then(|| Difference {
            subject: format!("machine: block device {name}"),
            a: a.cloned(),
            b: b.cloned(),
        })
    });
    found.extend(one_sided);
    found
}

/// Section of the inventory whose facts begin with the name of a block device.
const BLOCK_DEVICES: &str = "block devices";

fn device_of(fact: &Fact) -> Option<&str> {
    (fact.section == BLOCK_DEVICES && !fact.stated).then(|| fact.name.split(' ').next())?
}

/// Detected block devices, each with its size and role.
fn devices(inventory: &Inventory) -> BTreeMap<&str, String> {
    let mut devices = BTreeMap::<&str, String>::new();
    for fact in &inventory.facts {
        let Some(name) = device_of(fact) else {
            continue;
        };
        let text = devices.entry(name).or_default();
        if ["size", "role"].contains(&fact.name[name.len()..].trim_start()) {
            if !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(&fact.value);
        }
    }
    devices
}

fn changed(prefix: &str, a: &Rows, b: &Rows) -> Vec<Difference> {
    let only_b = b.keys().filter(|name| !a.contains_key(*name));
    let mut names: Vec<&String> = a.keys().chain(only_b).collect();
    names.sort_unstable();
    names
        .into_iter()
        .filter(|&name| a.get(name) != b.get(name))
        .map(|name| Difference {
            subject: format!("{prefix}{name}"),
            a: a.get(name).cloned(),
            b: b.get(name).cloned(),
        })
        .collect()
}

/// The plan by keys. A plan that is no TOML (an archive made by hand) is compared as a whole.
fn plan(run: &Run) -> Rows {
    let mut rows = Rows::from([("name".to_owned(), run.plan_name.clone())]);
    match run.plan_toml.parse::<toml::Table>() {
        Ok(table) => descend("", &toml::Value::Table(table), &mut rows),
        Err(_) => {
            rows.insert("text".to_owned(), run.plan_toml.clone());
        }
    }
    // The description of a plan does not change figures.
    rows.remove("about");
    rows
}

fn descend(path: &str, value: &toml::Value, rows: &mut Rows) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path} {name}"),
    };
    match value {
        toml::Value::Table(fields) => {
            for (name, value) in fields {
                descend(&below(name), value, rows);
            }
        }
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            for (number, item) in (1..).zip(items) {
                descend(&below(&number.to_string()), item, rows);
            }
        }
        other => {
            rows.insert(path.to_owned(), shown(other));
        }
    }
}

fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Targets with equal names correspond; so do the only targets of two runs.
fn targets(a: &[TargetRecord], b: &[TargetRecord]) -> Vec<Difference> {
    if let ([one], [other]) = (a, b) {
        let prefix = if one.name == other.name {
            format!("target {}: ", one.name)
        } else {
            "target: ".to_owned()
        };
        return changed(&prefix, &target(one), &target(other));
    }
    let named = |side: &[TargetRecord], name: &str| side.iter().find(|t| t.name == name).cloned();
    let only_b = b.iter().filter(|t| named(a, &t.name).is_none());
    a.iter()
        .chain(only_b)
        .flat_map(|t| match (named(a, &t.name), named(b, &t.name)) {
            (Some(one), Some(other)) => changed(
                &format!("target {}: ", t.name),
                &target(&one),
                &target(&other),
            ),
            (one, other) => vec![Difference {
                subject: format!("target {}", t.name),
                a: one.map(|t| engine(&t)),
                b: other.map(|t| engine(&t)),
            }],
        })
        .collect()
}

fn engine(target: &TargetRecord) -> String {
    format!("{} {}", target.engine, target.engine_version)
}

fn target(target: &TargetRecord) -> Rows {
    let mut rows = Rows::from([
        ("engine".to_owned(), target.engine.clone()),
        ("version".to_owned(), target.engine_version.clone()),
        ("nodes".to_owned(), target.nodes.to_string()),
        ("URL".to_owned(), without_path(&target.url)),
    ]);
    if let Some(device) = &target.device {
        rows.insert("device".to_owned(), device.clone());
    }
    // The files and devices of a parameter file are what it measures.
    let is_subject = target.engine == archive::OF_PARAMETER_FILES;
    let settings = target
        .settings
        .iter()
        .filter(|(name, value)| is_subject || !is_place(name, value));
    rows.extend(settings.map(|(name, value)| (format!("setting {name}"), value.clone())));
    rows
}

/// True for settings with a path or an address, which differ for every server and do not change figures.
fn is_place(name: &str, value: &str) -> bool {
    value.starts_with('/') || name == "port"
}

/// Suffix of the schemes of servers that dbdyno starts.
const LOCAL: &str = "+local";

/// Scheme, server and settings of a URL, and a mark for a file. Paths and ports differ in every run and do not change
/// figures; the device has a separate row.
fn without_path(url: &str) -> String {
    let (place, settings) = url.split_once('?').unwrap_or((url, ""));
    let settings = settings.split('&').filter(|setting| {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        !name.is_empty() && !is_place(name, value) && !value.starts_with(SLASH)
    });
    let settings = match settings.collect::<Vec<_>>().join("&") {
        none if none.is_empty() => none,
        settings => format!(" with {settings}"),
    };
    let (scheme, path) = place.split_once(':').unwrap_or((place, ""));
    let where_to = match path.strip_prefix("//") {
        Some(server) => format!(
            "//{}",
            without_port(server.split('/').next().unwrap_or_default())
        ),
        None if path.is_empty() && scheme.ends_with(LOCAL) => " made for the run".to_owned(),
        None if path.is_empty() => " in memory".to_owned(),
        None => " in a file".to_owned(),
    };
    format!("{scheme}:{where_to}{settings}")
}

/// A slash as it is written within a URL.
const SLASH: &str = "%2F";

/// User and host of a server; a socket is a host without a name.
fn without_port(server: &str) -> &str {
    let (user, host) = match server.rsplit_once('@') {
        Some((user, host)) => (&server[..=user.len()], host),
        None => ("", server),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let host_length = match host.rsplit_once(':') {
        _ if host.starts_with(SLASH) => 0,
        Some((name, port)) if is_port(port) => name.len(),
        _ => host.len(),
    };
    &server[..user.len() + host_length]
}

/// Inventories include all basic facts, so these are only used for a run without an inventory.
fn machine(a: &Run, b: &Run) -> Vec<Difference> {
    if a.inventory.facts.is_empty() || b.inventory.facts.is_empty() {
        return changed("machine: ", &basic(&a.platform), &basic(&b.platform));
    }
    inventory_differences(&a.inventory, &b.inventory)
}

fn facts(inventory: &Inventory, is_wanted: impl Fn(&Fact) -> bool) -> Rows {
    let rows = inventory.facts.iter().filter(|fact| is_wanted(fact));
    let rows = rows.map(|fact| {
        let stated = if fact.stated { " (stated)" } else { "" };
        (
            format!("{} {}{stated}", fact.section, fact.name),
            fact.value.clone(),
        )
    });
    rows.collect()
}

fn basic(platform: &Platform) -> Rows {
    let number = |n: Option<u32>| n.map(|n| n.to_string());
    let bytes = |n: Option<u64>| n.map(|n| format!("{n} bytes"));
    let rows = [
        ("host name", platform.host_name.clone()),
        ("product", platform.product.clone()),
        ("virtualisation", platform.virtualisation.clone()),
        ("distribution", platform.distribution.clone()),
        ("kernel", platform.kernel.clone()),
        ("architecture", platform.architecture.clone()),
        ("processor", platform.processor.clone()),
        (
            "processor MHz",
            platform.processor_mhz.map(|mhz| mhz.to_string()),
        ),
        ("sockets", number(platform.sockets)),
        ("cores", number(platform.cores)),
        ("threads", number(platform.threads)),
        ("NUMA nodes", number(platform.numa_nodes)),
        ("memory", bytes(platform.memory_bytes)),
        ("swap", bytes(platform.swap_bytes)),
    ];
    let rows = rows
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let devices = platform.block_devices.iter().flat_map(|device| {
        [
            ("size", bytes(device.size_bytes)),
            (
                "rotational",
                device
                    .rotational
                    .map(|yes| if yes { "yes" } else { "no" }.to_owned()),
            ),
            ("scheduler", device.scheduler.clone()),
            ("model", device.model.clone()),
            (
                "mounts",
                Some(device.mounts.join(", ")).filter(|mounts| !mounts.is_empty()),
            ),
        ]
        .map(|(name, value)| (format!("block device {} {name}", device.name), value))
    });
    let caps = platform.control_group.iter().flat_map(ControlGroup::caps);
    let caps = caps.map(|(name, value)| (format!("caps {name}"), Some(value)));
    rows.chain(devices)
        .chain(caps)
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

#[cfg(test)]
mod tests;
