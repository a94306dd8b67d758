//! The platform fact by fact next to that of a reference: the document's tables with a column for this run.

use archive::reference::{Fact, FactKind, Reference};
use archive::{Platform, Run, Table};

use super::section::Fragment;
use crate::number;
use crate::scorecard::Against;

/// A table for each reference that describes its platform.
pub fn view(run: &Run, against: &[Against<'_>]) -> Fragment {
    let mut parts = Fragment::default();
    for against in against {
        if let Against::Reference(reference) = against {
            parts.add(&of_reference(run, reference));
        }
    }
    parts
}

fn of_reference(run: &Run, reference: &Reference) -> Fragment {
    let mut table = Table::new("fact | yours | theirs | note");
    let mut facts = 0;
    let platform = reference.sections.iter();
    for section in platform.filter(|section| section.kind == FactKind::Platform) {
        table.heading(format!("{}\n{}", section.title, section.place));
        section
            .facts
            .iter()
            .for_each(|fact| table.row(row(run, fact)));
        facts += section.facts.len();
    }
    let title = format!("Your platform and {}", reference.title);
    let mut parts = Fragment::default();
    if facts > 0 {
        parts.how(&format!(
            "Theirs as published ({}). Yours as found on the machine or, where marked, as stated in the platform file; “–”: unknown, \
             or not printed.",
            reference.document
        ));
    }
    parts.table("words customer", &title, &table);
    parts.folded_but_printed(&format!("{title}: {facts} facts"))
}

/// Name, ours, theirs, and the note of a fact.
fn row(run: &Run, fact: &Fact) -> [String; 4] {
    let known = fact.is.iter().find_map(|is| match is.split_once('.') {
        Some((section, field)) => Some(stated_by_owner(run, section, field)? + "\nstated"),
        None => found(run, is),
    });
    let theirs = match fact.value.as_str() {
        "-" => number::UNKNOWN,
        value => value,
    };
    [
        fact.name.clone(),
        known.unwrap_or_else(|| number::UNKNOWN.to_owned()),
        theirs.to_owned(),
        fact.note.clone().unwrap_or_default(),
    ]
}

/// A field of the platform file, as the archive names it.
fn stated_by_owner(run: &Run, section: &str, field: &str) -> Option<String> {
    let words = |name: &str| name.replace('_', " ");
    let (section, field) = (words(section), words(field));
    let mut facts = run.inventory.facts.iter().filter(|fact| fact.stated);
    let fact = facts.find(|fact| fact.section == section && fact.name == field)?;
    Some(match field.rsplit_once(' ') {
        Some((_, "gib")) => format!("{} GiB", fact.value),
        Some((_, "kib")) => format!("{} KiB", fact.value),
        Some((_, "tb")) => format!("{} TB", fact.value),
        Some((_, "ghz")) => format!("{} GHz", fact.value),
        _ => fact.value.clone(),
    })
}

/// A fact that dbdyno finds by itself; `None` if unknown.
fn found(run: &Run, is: &str) -> Option<String> {
    let p = &run.platform;
    match is {
        "processor" => p.processor.clone(),
        "processor_frequency" => p.processor_mhz.map(|mhz| format!("{:.2} GHz", mhz / 1e3)),
        "sockets" => p.sockets.map(|n| n.to_string()),
        "cores" => p.cores.map(|n| n.to_string()),
        "threads" => p.threads.map(|n| n.to_string()),
        "cores_per_socket" => quotient(p.cores, p.sockets).map(|n| n.to_string()),
        "threads_per_core" => quotient(p.threads, p.cores).map(multithreading),
        "memory" => p.memory_bytes.map(number::bytes),
        "operating_system" => joined(
            [p.distribution.clone(), p.kernel.clone()]
                .into_iter()
                .flatten(),
        ),
        "devices" => devices(p),
        "queue_depths" => joined(of_inventory(run, "block devices", "nr requests")),
        "file_systems" => joined(of_inventory(run, "file systems", "type")),
        "mount_options" => joined(of_inventory(run, "file systems", "options")),
        "nodes" => joined(run.targets.iter().map(|t| t.nodes.to_string())),
        "engines" => joined(run.targets.iter().map(|t| t.engine.clone())),
        "engine_versions" => joined(run.targets.iter().map(|t| t.engine_version.clone())),
        "shared_memory" => settings(
            run,
            &["shared_buffers", "innodb_buffer_pool_size", "cache_size"],
        ),
        "private_memory" => settings(run, &["work_mem", "sort_buffer_size", "memory_limit"]),
        "database_block" => settings(run, &["block_size", "innodb_page_size", "page_size"]),
        "tool" => Some(format!("dbdyno {}", run.tool_version)),
        _ => None,
    }
}

/// `of` / `each` if it is a whole number.
fn quotient(of: Option<u32>, each: Option<u32>) -> Option<u32> {
    let (of, each) = (of?, each.filter(|each| *each > 0)?);
    (of % each == 0).then_some(of / each)
}

fn multithreading(threads_per_core: u32) -> String {
    match threads_per_core {
        1 => "none".to_owned(),
        fold => format!("{fold}-fold"),
    }
}

fn joined(values: impl Iterator<Item = String>) -> Option<String> {
    let mut once: Vec<String> = Vec::new();
    for value in values.filter(|value| !value.is_empty()) {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    (!once.is_empty()).then(|| once.join("; "))
}

fn devices(platform: &Platform) -> Option<String> {
    let devices = platform.block_devices.iter().map(|device| {
        let size = device.size_bytes.map(number::bytes);
        let parts = [Some(device.name.clone()), device.model.clone(), size];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    });
    joined(devices)
}

/// "vda: 256" for each item of a section that has the field.
fn of_inventory(run: &Run, section: &str, field: &str) -> impl Iterator<Item = String> {
    let facts = run.inventory.facts.iter();
    let facts = facts.filter(move |fact| !fact.stated && fact.section == section);
    facts.filter_map(move |fact| {
        let item = fact.name.strip_suffix(field)?.trim();
        Some(format!("{item}: {}", fact.value))
    })
}

/// The first of these settings that each target reported.
fn settings(run: &Run, names: &[&str]) -> Option<String> {
    let values = run.targets.iter().filter_map(|target| {
        let known = |name: &&str| Some((*name).to_owned()).zip(target.settings.get(*name).cloned());
        names.iter().find_map(known)
    });
    joined(values.map(|(name, value)| format!("{name} = {value}")))
}

#[cfg(test)]
mod tests {
    use archive::reference;
    use archive::{Fact as Told, TargetRecord};

    use super::*;

    fn run() -> Run {
        Run {
            platform: Platform {
                processor: Some("AMD EPYC 9654".to_owned()),
                sockets: Some(2),
                cores: Some(192),
                threads: Some(384),
                memory_bytes: Some(1 << 40),
                ..Platform::default()
            },
            targets: vec![TargetRecord {
                name: "server".to_owned(),
                url: String::new(),
                engine: "engine".to_owned(),
                engine_version: "18.1".to_owned(),
                nodes: 1,
                device: None,
                settings: [("shared_buffers".to_owned(), "64GB".to_owned())].into(),
                rights_missing: None,
            }],
            ..Run::planned("library")
        }
    }

    /// Ours, theirs, and the note.
    fn ours(run: &Run, section: &str, name: &str) -> [String; 3] {
        let reference = reference::load("dl980-violin").unwrap();
        let mut sections = reference.sections.iter();
        let section = sections.find(|s| s.title == section).unwrap();
        let fact = section.facts.iter().find(|f| f.name == name).unwrap();
        let [_, ours, theirs, note] = row(run, fact);
        [ours, theirs, note]
    }

    #[test]
    fn our_facts_appear_next_to_theirs() {
        let run = run();
        let of = |section: &str, name: &str| {
            let [ours, theirs, _] = ours(&run, section, name);
            (ours, theirs)
        };
        let pair = |ours: &str, theirs: &str| (ours.to_owned(), theirs.to_owned());
        assert_eq!(of("CPU", "#cores"), pair("96", "8"));
        assert_eq!(of("CPU", "Multithreading"), pair("2-fold", "2-fold"));
        assert_eq!(of("Server", "#threads (CPU_COUNT)"), pair("384", "64"));
        assert_eq!(of("Server", "Main Memory [GByte]"), pair("1.00 TiB", "192"));
        assert_eq!(
            of("Database System: Configuration", "SGA capacity [GByte]"),
            pair("shared_buffers = 64GB", "64")
        );
        assert_eq!(
            of("Storage System", "Hardware RAID-Level"),
            pair("–", "RAID-3 (4+1)")
        );
        assert_eq!(of("Server", "Cluster: #server").1, "–");
    }

    #[test]
    fn stated_facts_take_precedence_over_found_ones() {
        let mut run = run();
        let state = |section: &str, name: &str, value: &str| Told {
            section: section.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
            stated: true,
        };
        run.inventory.facts = vec![
            state("cpu", "type", "2 x EPYC 9654"),
            state("storage", "usable flash tb", "40"),
        ];
        assert_eq!(ours(&run, "CPU", "Type")[0], "2 x EPYC 9654\nstated");
        let [ours, theirs, note] = ours(&run, "Storage System", "Usable flash capacity [TByte]");
        assert_eq!(
            (ours.as_str(), theirs.as_str()),
            ("40 TB\nstated", "~ 10.5")
        );
        assert!(note.contains("10.75"));
    }

    /// A misspelt name would show "–" for ever.
    #[test]
    fn every_requested_fact_is_known() {
        let fields: toml::Table =
            toml::from_str(include_str!("../../../host/rules/stated.toml")).unwrap();
        let mut stated = Vec::new();
        for section in fields["section"].as_array().unwrap() {
            for field in section["fields"].as_array().unwrap() {
                let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
                stated.push(format!(
                    "{}.{}",
                    text(&section["name"]),
                    text(&field["key"])
                ));
            }
        }
        let source = include_str!("customer.rs");
        for name in reference::list() {
            let reference = reference::load(name).unwrap();
            for is in reference
                .sections
                .iter()
                .flat_map(|s| &s.facts)
                .flat_map(|f| &f.is)
            {
                let is_found = source.contains(&format!("        \"{is}\" => "));
                assert!(is_found || stated.contains(is), "{name}: {is}");
            }
        }
    }
}
