//! The tested systems: machine, targets with their settings, and compared platforms.

use archive::{ControlGroup, Run};

use crate::comparison;
use crate::level::storage_name;
use crate::number;
use crate::scorecard::Against;
use crate::summary::database;
use stats::words::date;

pub type Fact = (String, String);

pub struct Section {
    pub title: String,
    pub facts: Vec<Fact>,
}

/// A value split where a line may break: a URL breaks after its separators, never within a word.
pub fn parts(value: &str) -> Vec<&str> {
    const SEPARATORS: [char; 6] = ['/', '?', '&', '@', ':', '='];
    let is_url = [":/", ":?"].iter().any(|mark| value.contains(mark));
    if is_url {
        value
            .split_inclusive(SEPARATORS)
            .flat_map(|part| part.split_inclusive("%2F"))
            .collect()
    } else {
        vec![value]
    }
}

pub struct View {
    /// Facts that every reader asks for first, in the order of an AWR report.
    pub head: Vec<Fact>,
    pub platform: Vec<Fact>,
    /// Block devices: name, size, kind, scheduler, model, mounts.
    pub devices: Vec<[String; 6]>,
    pub targets: Vec<Section>,
    /// Settings read back from each target.
    pub settings: Vec<Section>,
    pub run: Vec<Fact>,
    /// Platforms of other runs: name and sections. Those of references have a table with a column for ours.
    pub others: Vec<(String, Vec<Section>)>,
}

pub fn view(run: &Run, against: &[Against<'_>]) -> View {
    View {
        head: head(run),
        platform: platform(run),
        devices: devices(run),
        targets: targets(run),
        settings: run
            .targets
            .iter()
            .filter(|t| !t.settings.is_empty())
            .map(|t| Section {
                title: t.name.clone(),
                facts: t
                    .settings
                    .iter()
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect(),
            })
            .collect(),
        run: how(run),
        others: against.iter().filter_map(other).collect(),
    }
}

/// Size of the cache by its setting in each engine.
const BUFFERS: [&str; 4] = [
    "shared_buffers",
    "innodb_buffer_pool_size",
    "memory_limit",
    "cache_size",
];

fn head(run: &Run) -> Vec<Fact> {
    let p = &run.platform;
    let mut databases: Vec<String> = (run.targets.iter()).map(database).collect();
    databases.dedup();
    let is_of_file = run.is_of_parameter_file();
    let (subject, sessions_name) = match is_of_file {
        true => (("Storage", storage_name(run)), "I/Os in flight"),
        false => (("Database", databases.join(" · ")), "Sessions"),
    };
    let mut buffers: Vec<String> = (run.targets.iter())
        .filter_map(|target| {
            let mut known = BUFFERS.iter().copied();
            let (name, value) = known.find_map(|name| Some((name, target.settings.get(name)?)))?;
            // SQLite counts KiB as a negative number of pages.
            let kib = value
                .strip_prefix('-')
                .and_then(|kib| kib.parse::<u64>().ok());
            let value = kib.map_or_else(|| value.clone(), |kib| number::bytes(kib * 1024));
            Some(format!("{name} {value}"))
        })
        .collect();
    buffers.dedup();
    let cores = p.cores.or(p.threads);
    let elapsed = Run::elapsed(&[run]);
    let facts = [
        (subject.0, Some(subject.1)),
        ("Host", p.host_name.clone()),
        ("Cores", cores.map(|n| n.to_string())),
        ("Memory", p.memory_bytes.map(number::bytes)),
        ("Buffers", Some(buffers.join(" · "))),
        (sessions_name, sessions(run)),
        (
            "Duration",
            elapsed.map(|time| comparison::length(time.as_secs_f64())),
        ),
        ("Started", Some(date(&run.started_at))),
        ("Plan", Some(run.plan_name.clone())),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some((name.to_owned(), value))
    });
    known.collect()
}

/// "1 to 8"; of an observation the mean of the active ones.
fn sessions(run: &Run) -> Option<String> {
    let observed = run.points.iter().filter(|point| point.key.is_observation());
    let mut active = observed.filter_map(|point| point.figures.active_sessions_mean);
    if let Some(mean) = active.next() {
        return Some(format!("{} active (mean)", number::figure(mean)));
    }
    let jobs = run
        .points
        .iter()
        .map(|point| point.key.jobs)
        .filter(|n| *n > 0);
    match (jobs.clone().min()?, jobs.max()?) {
        (low, high) if low == high => Some(low.to_string()),
        (low, high) => Some(format!("{low} to {high}")),
    }
}

fn fact(name: &str, value: Option<String>) -> Fact {
    let value = value.filter(|v| !v.is_empty());
    (
        name.to_owned(),
        value.unwrap_or_else(|| number::UNKNOWN.to_owned()),
    )
}

fn platform(run: &Run) -> Vec<Fact> {
    let p = &run.platform;
    let count = |n: Option<u32>| n.map(|n| n.to_string());
    let mhz = p
        .processor_mhz
        .map(|mhz| format!("{} MHz", number::whole(Some(mhz))));
    let caps = p.control_group.as_ref().map(ControlGroup::caps);
    let caps = caps.map(|caps| {
        let caps: Vec<String> = caps
            .iter()
            .map(|(name, cap)| format!("{name}: {cap}"))
            .collect();
        if caps.is_empty() {
            "no caps".to_owned()
        } else {
            caps.join("; ")
        }
    });
    vec![
        fact("Host", p.host_name.clone()),
        fact("Machine", p.product.clone()),
        fact("Virtualisation", p.virtualisation.clone()),
        fact("Processor", p.processor.clone()),
        fact("Frequency", mhz),
        fact("Sockets", count(p.sockets)),
        fact("Cores", count(p.cores)),
        fact("Hardware threads", count(p.threads)),
        fact("NUMA nodes", count(p.numa_nodes)),
        fact("Memory", p.memory_bytes.map(number::bytes)),
        fact("Swap", p.swap_bytes.map(number::bytes)),
        fact("Operating system", p.distribution.clone()),
        fact("Kernel", p.kernel.clone()),
        fact("Architecture", p.architecture.clone()),
        fact("Control group", caps),
    ]
}

fn devices(run: &Run) -> Vec<[String; 6]> {
    let unknown = || number::UNKNOWN.to_owned();
    run.platform
        .block_devices
        .iter()
        .map(|d| {
            [
                d.name.clone(),
                d.size_bytes.map_or_else(unknown, number::bytes),
                match d.rotational {
                    Some(true) => "rotational".to_owned(),
                    Some(false) => "solid state".to_owned(),
                    None => unknown(),
                },
                d.scheduler.clone().unwrap_or_else(unknown),
                d.model.clone().unwrap_or_else(unknown),
                d.mounts.join(", "),
            ]
        })
        .collect()
}

fn targets(run: &Run) -> Vec<Section> {
    run.targets
        .iter()
        .map(|t| Section {
            title: t.name.clone(),
            facts: vec![
                fact("Engine", Some(t.engine.clone())),
                fact("Version", Some(t.engine_version.clone())),
                fact("URL", Some(t.url.clone())),
                fact("Nodes", Some(t.nodes.to_string())),
                fact("Device", t.device.clone()),
            ],
        })
        .collect()
}

fn how(run: &Run) -> Vec<Fact> {
    let name = fact("Run", Some(format!("{} “{}”", run.id, run.label)));
    let said = [("Measured as", &run.renamed_from), ("Note", &run.note)];
    let said = said.into_iter().filter(|(_, text)| text.is_some());
    let said = said.map(|(name, text)| fact(name, text.clone()));
    let rest = [
        fact("Plan", Some(run.plan_name.clone())),
        fact("Repetitions", Some(run.repetitions.to_string())),
        fact("Seed", Some(run.seed.to_string())),
        fact("Started", Some(date(&run.started_at))),
        fact("Finished", run.finished_at.as_deref().map(date)),
        fact("dbdyno", Some(run.tool_version.clone())),
    ];
    std::iter::once(name).chain(said).chain(rest).collect()
}

fn other(against: &Against<'_>) -> Option<(String, Vec<Section>)> {
    let section = |title: &str, facts: Vec<Fact>| Section {
        title: title.to_owned(),
        facts,
    };
    match against {
        Against::Run(other) => Some((
            format!("run “{}”", other.label),
            vec![
                section("Machine", platform(other)),
                section("Run", how(other)),
            ],
        )),
        Against::Reference(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_breaks_between_its_parts() {
        let url = "postgres://bench@%2Frun%2Fpg/bench?others=allow";
        let parted = parts(url);
        assert_eq!(parted.concat(), url);
        assert_eq!(
            parted,
            [
                "postgres:",
                "/",
                "/",
                "bench@",
                "%2F",
                "run%2F",
                "pg/",
                "bench?",
                "others=",
                "allow"
            ]
        );
        assert_eq!(
            parts("postgres+local:?version=15"),
            ["postgres+local:", "?", "version=", "15"]
        );
        assert_eq!(parts("Debian: 12"), ["Debian: 12"]);
    }
}
