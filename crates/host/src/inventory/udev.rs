//! udev rules that set attributes of block devices or the permissions of volumes.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::listing::names;
use crate::facts::text;

const FOLDER: &str = "etc/udev/rules.d";
const RULES_MAX: usize = 4096;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UdevRule {
    /// File and number of the rule's first line, e.g. "10-3par.rules:1".
    pub name: String,
    /// Conditions on the device, as written.
    pub matches: Vec<String>,
    /// Assignments: attributes of the queue without "queue/", and owner, group and mode.
    pub sets: BTreeMap<String, String>,
}

pub(super) fn read(root: &Path) -> Option<Vec<UdevRule>> {
    let folder = root.join(FOLDER);
    folder.is_dir().then(|| {
        let files = names(&folder)
            .into_iter()
            .filter(|name| name.ends_with(".rules"));
        files
            .flat_map(|file| {
                let text = text(root, &format!("{FOLDER}/{file}")).unwrap_or_default();
                rules(&file, &text)
            })
            .take(RULES_MAX)
            .collect()
    })
}

fn rules(file: &str, text: &str) -> Vec<UdevRule> {
    let mut found = Vec::new();
    let (mut rule, mut first_line) = (String::new(), 0);
    for (number, line) in (1usize..).zip(text.lines()) {
        if rule.is_empty() {
            first_line = number;
        }
        match line.strip_suffix('\\') {
            Some(begun) => {
                rule.push_str(begun);
                continue;
            }
            None => rule.push_str(line),
        }
        found.extend(parse(format!("{file}:{first_line}"), &rule));
        rule.clear();
    }
    found
}

/// Parses a rule; `None` for comments and rules without relevant assignments.
fn parse(name: String, rule: &str) -> Option<UdevRule> {
    if rule.trim_start().starts_with('#') {
        return None;
    }
    let mut parsed = UdevRule {
        name,
        ..UdevRule::default()
    };
    let mut rest = rule;
    while let Some((key, after)) = rest.split_once('"') {
        let (value, after) = after.split_once('"')?;
        let key = key.trim_start_matches([',', ' ', '\t']).trim();
        if key.ends_with("==") || key.ends_with("!=") || key.starts_with("PROGRAM") {
            parsed.matches.push(format!("{key}\"{value}\""));
        } else if let Some(name) = set_by(key) {
            parsed.sets.insert(name, value.trim().to_owned());
        }
        rest = after;
    }
    (!parsed.sets.is_empty()).then_some(parsed)
}

/// `ATTR{queue/nomerges}=` and `OWNER:=` are relevant assignments, all others are not.
fn set_by(key: &str) -> Option<String> {
    let name = key.strip_suffix('=')?.trim_end_matches(':').trim();
    if ["OWNER", "GROUP", "MODE"].contains(&name) {
        return Some(name.to_ascii_lowercase());
    }
    let attribute = name.strip_prefix("ATTR{")?.strip_suffix('}')?;
    let attribute = attribute
        .strip_prefix("queue/")
        .or_else(|| attribute.strip_prefix("bdi/"))?;
    Some(attribute.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_sets_and_what_it_means() {
        let text = "# a comment with ATTR{queue/nomerges}=\"1\"\n\
            ACTION==\"add|change\", KERNEL==\"dm-*\", \\\n PROGRAM=\"/bin/bash -c 'cat x'\", \
            ATTR{queue/rq_affinity}=\"2 \", ATTR{queue/scheduler}=\"noop\"\n\
            ENV{DM_NAME}==\"data01\", OWNER:=\"oracle\", MODE:=\"660\"\nKERNEL==\"sd*\", SYMLINK+=\"x\"\n";
        let found = rules("10.rules", text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name, "10.rules:2");
        assert_eq!(found[0].sets["rq_affinity"], "2");
        assert_eq!(found[0].matches[1], "KERNEL==\"dm-*\"");
        assert_eq!(found[1].sets["mode"], "660");
        assert_eq!(
            found[1].sets.get("owner").map(String::as_str),
            Some("oracle")
        );
    }

    #[test]
    fn odd_rules_are_passed_over() {
        for odd in [
            "\"",
            "ATTR{queue/x}=\"1",
            "ATTR{}=\"1\"",
            "=\"1\"",
            "\\",
            "ATTR{queue/x",
        ] {
            assert!(rules("x", odd).is_empty(), "{odd}");
        }
    }
}
