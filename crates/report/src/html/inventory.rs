//! The complete platform, and its configuration compared with published practice.

use archive::{Advice, Fact, Run, reference};
use askama::Template;

use crate::number;

/// Larger numbers of bytes are shown in larger units.
const BYTES_LARGE: u64 = 1 << 20;

/// Everything known about the platform beyond its basic facts.
#[derive(Template)]
#[template(path = "inventory.html", whitespace = "minimize")]
pub struct View {
    found: FactList,
    stated: FactList,
    /// Results of the rules; `None` if the run was not judged.
    practice: Option<Practice>,
}

#[derive(Default)]
struct FactList {
    count: usize,
    sections: Vec<(String, Vec<(String, String)>)>,
}

struct Practice {
    /// "59 rules checked: 9 followed, 5 not followed, 45 cannot be decided here."
    summary: String,
    otherwise: Vec<Advice>,
    /// Undecidable rules by reason.
    undecided: Vec<(String, Vec<String>)>,
    undecided_count: usize,
    as_advised: Vec<Advice>,
    /// Documents by the numbers of the sources.
    documents: Vec<String>,
}

pub fn view(run: &Run) -> View {
    let inventory = &run.inventory;
    View {
        found: fact_list(inventory.facts.iter().filter(|f| !f.stated)),
        stated: fact_list(inventory.facts.iter().filter(|f| f.stated)),
        practice: (!inventory.advice.is_empty()).then(|| practice(&inventory.advice)),
    }
}

impl View {
    /// Titles and ids for the table of contents.
    pub fn contents(&self) -> Vec<(&'static str, &'static str)> {
        [
            (
                self.found.count + self.stated.count > 0,
                ("inventory", "Platform inventory"),
            ),
            (self.practice.is_some(), ("practice", "Configuration")),
        ]
        .into_iter()
        .filter_map(|(is_there, link)| is_there.then_some(link))
        .collect()
    }
}

fn fact_list<'a>(facts: impl Iterator<Item = &'a Fact>) -> FactList {
    let mut fact_list = FactList::default();
    for fact in facts {
        let name = fact.name.replace('[', " ").replace(']', "");
        // "vda name: vda" repeats itself.
        if name
            .strip_suffix(" name")
            .is_some_and(|n| n.ends_with(&fact.value))
        {
            continue;
        }
        let value = readable(&name, &fact.value);
        let name = name.strip_suffix(" bytes").unwrap_or(&name);
        let row = (name.to_owned(), value);
        fact_list.count += 1;
        match fact_list.sections.iter_mut().find(|s| s.0 == fact.section) {
            Some((_, rows)) => rows.push(row),
            None => fact_list.sections.push((fact.section.clone(), vec![row])),
        }
    }
    fact_list
}

/// A number of bytes in the unit that reads best; other values unchanged.
pub(super) fn readable(name: &str, value: &str) -> String {
    let bytes = value.strip_suffix(" bytes");
    let is_bytes = bytes.is_some() || name.ends_with(" bytes");
    match bytes.unwrap_or(value).parse::<u64>() {
        Ok(size) if is_bytes && size >= BYTES_LARGE => number::bytes(size),
        Ok(size) if is_bytes => format!("{} B", number::count(size)),
        _ => value.to_owned(),
    }
}

fn practice(advice: &[Advice]) -> Practice {
    let of = |decision: &str| -> Vec<Advice> {
        let same = advice.iter().filter(|a| a.decision == decision);
        same.cloned().collect()
    };
    let mut otherwise = of("advised_otherwise");
    otherwise.sort_by_key(|a| severity(&a.severity));
    let (as_advised, cannot) = (of("ok"), of("cannot_be_decided"));
    let mut undecided: Vec<(String, Vec<String>)> = Vec::new();
    for rule in &cannot {
        match undecided.iter_mut().find(|(why, _)| *why == rule.why) {
            Some((_, rules)) => rules.push(rule.what.clone()),
            None => undecided.push((rule.why.clone(), vec![rule.what.clone()])),
        }
    }
    Practice {
        summary: format!(
            "{} rules checked: {} followed, {} not followed, {} cannot be decided here.",
            advice.len(),
            as_advised.len(),
            otherwise.len(),
            cannot.len()
        ),
        documents: documents(&otherwise),
        undecided_count: cannot.len(),
        undecided,
        otherwise,
        as_advised,
    }
}

/// Rank of a severity; an unknown one comes last.
fn severity(name: &str) -> usize {
    let order = ["important", "advice", "note"];
    order.iter().position(|s| *s == name).unwrap_or(order.len())
}

/// "000: Hewlett Packard Enterprise, …" for each leading number of the sources.
fn documents(advice: &[Advice]) -> Vec<String> {
    let is_cited = |document: &str| {
        let number = document.split(':').next().unwrap_or_default();
        advice.iter().any(|a| {
            a.source
                .split("; ")
                .any(|source| source.split(',').next() == Some(number))
        })
    };
    let mut found: Vec<String> = reference::list()
        .into_iter()
        .filter_map(|name| reference::load(name).ok())
        .map(|reference| reference.document)
        .filter(|document| is_cited(document))
        .collect();
    found.sort_unstable();
    found.dedup_by(|b, a| a.split(':').next() == b.split(':').next());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_the_unit_that_fits() {
        assert_eq!(readable("total bytes", "25274793984"), "23.5 GiB");
        assert_eq!(readable("mtu bytes", "1400"), "1,400 B");
        assert_eq!(readable("swap bytes", "0"), "0 B");
        assert_eq!(readable("", "8327217152 bytes"), "7.76 GiB");
        assert_eq!(readable("vm.min_free_kbytes", "67584"), "67584");
        assert_eq!(readable("kernel", "6.1"), "6.1");
        assert_eq!(readable("threads", "2"), "2");
    }

    #[test]
    fn the_severe_comes_first_and_sources_are_named() {
        let rule = |severity: &str, decision: &str, why: &str| Advice {
            rule: severity.to_owned(),
            severity: severity.to_owned(),
            decision: decision.to_owned(),
            what: format!("what of {severity}"),
            why: why.to_owned(),
            source: "000, appendix E; 004, slide \"x\"".to_owned(),
            ..Advice::default()
        };
        let practice = practice(&[
            rule("note", "advised_otherwise", ""),
            rule("important", "advised_otherwise", ""),
            rule("advice", "cannot_be_decided", "no flash"),
            rule("note", "cannot_be_decided", "no flash"),
            rule("note", "ok", ""),
        ]);
        assert_eq!(practice.otherwise[0].severity, "important");
        let together = [(
            "no flash".to_owned(),
            vec!["what of advice".to_owned(), "what of note".to_owned()],
        )];
        assert_eq!(practice.undecided, together);
        let starts: Vec<&str> = practice.documents.iter().map(|d| &d[..4]).collect();
        assert_eq!(starts, ["000:", "004:"]);
        assert!(
            practice
                .summary
                .starts_with("5 rules checked: 1 followed, 2 not followed, 2 cannot")
        );
    }
}
