//! The complete platform, and its configuration compared with published practice.

use archive::{Advice, Fact, Run, reference};

use super::section::Fragment;
use crate::number;
use crate::section::of_texts;

/// Larger numbers of bytes are shown in larger units.
const BYTES_LARGE: u64 = 1 << 20;

const HOW: &str = "“Found” facts were read from the machine when the run started; “stated” facts come from the owner's platform file, \
     because the host cannot discover them. Unknown facts are not listed.";
const NONE_STATED: &str = "No facts were stated. A platform file can name the array, its controllers, cache and RAID level, the database's \
     options and licences.";
const ADVICE: &str = "A rule is published good practice, not a finding of this run: to see whether it pays here, change one setting and \
     measure again.";

/// Everything known about the platform beyond its basic facts.
pub fn view(run: &Run) -> Fragment {
    let of = |is_stated: bool| {
        facts(
            run.inventory
                .facts
                .iter()
                .filter(|fact| fact.stated == is_stated),
        )
    };
    let ((found, found_count), (stated, stated_count)) = (of(false), of(true));
    let mut parts = Fragment::default();
    if found_count + stated_count > 0 {
        let found = found.folded_but_printed(&format!("Facts found on the machine: {found_count}"));
        parts.how(HOW).add(&found);
        match stated_count {
            0 => parts.how(NONE_STATED),
            n => parts.add(&stated.folded_but_printed(&format!("Facts stated by the owner: {n}"))),
        };
    }
    parts.section("inventory", "Platform inventory")
}

/// Facts by section in columns, and their number.
fn facts<'a>(facts: impl Iterator<Item = &'a Fact>) -> (Fragment, usize) {
    let mut sections: Vec<(&str, Vec<(String, String)>)> = Vec::new();
    for fact in facts {
        let name = fact.name.replace('[', " ").replace(']', "");
        // "vda name: vda" repeats itself.
        let subject = name.strip_suffix(" name");
        if subject.is_some_and(|subject| subject.ends_with(&fact.value)) {
            continue;
        }
        let value = readable(&name, &fact.value);
        let row = (
            name.strip_suffix(" bytes").unwrap_or(&name).to_owned(),
            value,
        );
        match sections
            .iter_mut()
            .find(|section| section.0 == fact.section)
        {
            Some((_, rows)) => rows.push(row),
            None => sections.push((&fact.section, vec![row])),
        }
    }
    let count = sections.iter().map(|(_, rows)| rows.len()).sum();
    let mut parts = Fragment::default();
    for (title, rows) in sections {
        let mut part = Fragment::default();
        part.heading(4, title).facts("", rows);
        parts.add(&part.block("facts-of"));
    }
    (parts.block("columns"), count)
}

/// The value of a setting, or "–".
pub(super) fn known(subject: &str, value: &Option<String>) -> String {
    match value.as_deref() {
        None | Some("") => number::UNKNOWN.to_owned(),
        Some(value) => readable(subject, value),
    }
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

/// Results of the rules of published practice; empty if the run was not judged.
pub fn practice(advice: &[Advice]) -> Fragment {
    let mut parts = Fragment::default();
    if advice.is_empty() {
        return parts;
    }
    let of = |decision: &'static str| advice.iter().filter(move |a| a.decision == decision);
    let mut otherwise: Vec<&Advice> = of("advised_otherwise").collect();
    otherwise.sort_by_key(|a| severity(&a.severity));
    let as_advised: Vec<&Advice> = of("ok").collect();
    let mut undecided: Vec<(&str, String)> = Vec::new();
    for rule in of("cannot_be_decided") {
        match undecided.iter_mut().find(|(why, _)| *why == rule.why) {
            Some((_, rules)) => *rules += &format!(" · {}", rule.what),
            None => undecided.push((&rule.why, rule.what.clone())),
        }
    }
    let cannot = of("cannot_be_decided").count();
    parts.how(&format!(
        "{} rules checked: {} followed, {} not followed, {cannot} cannot be decided here. {ADVICE}",
        advice.len(),
        as_advised.len(),
        otherwise.len(),
    ));
    if otherwise.is_empty() {
        parts.sentence("Every rule that can be decided is followed.");
    }
    let row = |a: &&Advice| {
        let cells = [
            &a.severity,
            &a.what,
            &a.found,
            &a.advised,
            &a.why,
            &a.source,
        ];
        cells.map(String::clone)
    };
    let heads = ["severity", "setting", "found", "advised", "why", "source"];
    let table = of_texts(&heads, otherwise.iter().map(row));
    parts.table("words practice", "Rules not followed", &table);
    for document in documents(&otherwise) {
        parts.how(&format!("Source {document}"));
    }
    let mut reasons = Fragment::default();
    if cannot > 0 {
        reasons.facts("method reasons", undecided);
    }
    parts.add(&reasons.folded(
        &format!("Rules that cannot be decided here, with reasons: {cannot}"),
        false,
    ));
    let row = |a: &&Advice| [&a.what, &a.found, &a.advised, &a.source].map(String::clone);
    let table = of_texts(
        &["setting", "found", "advised", "source"],
        as_advised.iter().map(row),
    );
    let mut followed = Fragment::default();
    followed.table("words", "Rules followed", &table);
    parts.add(&followed.folded(&format!("Rules followed: {}", as_advised.len()), false));
    parts.section("practice", "Configuration compared with published practice")
}

/// Rank of a severity; an unknown one comes last.
fn severity(name: &str) -> usize {
    let order = ["important", "advice", "note"];
    order.iter().position(|s| *s == name).unwrap_or(order.len())
}

/// "000: Hewlett Packard Enterprise, …" for each leading number of the sources.
fn documents(advice: &[&Advice]) -> Vec<String> {
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
        let page = practice.to_string();
        let at = |text: &str| {
            page.find(text)
                .unwrap_or_else(|| panic!("no {text:?} in {page}"))
        };
        assert!(
            at("5 rules checked: 1 followed, 2 not followed, 2 cannot") < at("what of important")
        );
        assert!(at("what of important") < at("what of note"));
        assert!(at("<dt>no flash</dt><dd>what of advice · what of note</dd>") > at("Source 004:"));
        assert!(at("Source 000:") < at("Source 004:"));
    }
}
