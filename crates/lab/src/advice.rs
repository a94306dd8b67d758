//! Advice on the settings of servers, by the rules of their engines.

use archive::{Advice, Platform, TargetRecord};
use host::lint::ServerFacts;

use crate::nodes::Nodes;

pub(crate) fn server_advice(
    target: &Nodes,
    record: &TargetRecord,
    platform: &Platform,
) -> Vec<Advice> {
    let limit = record.settings.get("dbdyno.memory_bytes");
    let limit = limit.and_then(|text| text.parse().ok());
    let disk = record.device.as_deref();
    let disk = disk.and_then(|name| platform.block_devices.iter().find(|d| d.name == name));
    let facts = ServerFacts {
        settings: Some(&record.settings),
        memory_bytes: limit.or(platform.memory_bytes),
        rotational: disk.and_then(|disk| disk.rotational),
    };
    let findings = host::lint::lint_server(target.first().setting_rules(), &facts)
        .expect("the tests of the engines parse the rules that they give");
    let mut advice = host::lint::advice(&findings);
    for one in &mut advice {
        one.what = format!("{}: {}", record.name, one.what);
    }
    advice
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use host::lint::Decision;

    /// The test reads the engines' texts from their files, so that none can be forgotten.
    #[test]
    fn the_rules_of_all_engines_parse_and_have_their_sources() {
        let engines = Path::new("../engines");
        let mut files = 0;
        let sources = std::fs::read_dir(engines).unwrap();
        let sources =
            sources.filter_map(|of| std::fs::read_dir(of.unwrap().path().join("src")).ok());
        let names = sources.flatten().map(|entry| entry.unwrap().path());
        let is_rules = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("rules.") && name.ends_with("toml")
        };
        for path in names.filter(is_rules) {
            let text = std::fs::read_to_string(path).unwrap();
            files += 1;
            let findings = host::lint::lint_server(&text, &ServerFacts::default()).unwrap();
            let mut names: Vec<_> = findings.iter().map(|f| f.id.as_str()).collect();
            names.dedup();
            assert_eq!(names.len(), findings.len());
            for finding in &findings {
                // Without facts about this server nothing can be decided, and the reason is a sentence.
                assert_eq!(
                    finding.decision,
                    Decision::CannotBeDecided,
                    "{}",
                    finding.id
                );
                assert!(finding.why.ends_with('.'), "{}", finding.id);
                assert!(
                    finding.source.contains(" documentation, "),
                    "{}",
                    finding.id
                );
            }
        }
        assert_eq!(files, 4, "PostgreSQL, MariaDB, MySQL and Oracle");
    }
}
