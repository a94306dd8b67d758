//! The findings for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Decision, Finding, Severity};

const LINE_WIDTH: usize = 100;

/// Shows rules that advise otherwise in full, then undecided ones by reason, then those that are ok.
pub fn findings(findings: &[Finding]) -> String {
    let with = |decision: Decision| findings.iter().filter(move |f| f.decision == decision);
    let count = |decision| with(decision).count();
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "Lint: {} not followed, {} cannot be decided, {} followed",
        count(Decision::AdvisedOtherwise),
        count(Decision::CannotBeDecided),
        count(Decision::Ok)
    );
    let mut advised: Vec<&Finding> = with(Decision::AdvisedOtherwise).collect();
    advised.sort_by_key(|finding| rank(finding.severity));
    for finding in advised {
        let _ = writeln!(
            text,
            "\n  {} [{}] {}",
            finding.id,
            word(finding.severity),
            finding.what
        );
        for (label, value) in [
            ("found", &finding.found),
            ("advised", &finding.advised),
            ("why", &finding.why),
            ("source", &finding.source),
        ] {
            let _ = writeln!(text, "    {label:8} {value}");
        }
    }
    undecided(&mut text, with(Decision::CannotBeDecided));
    let ok: Vec<&str> = with(Decision::Ok)
        .map(|finding| finding.id.as_str())
        .collect();
    if !ok.is_empty() {
        let _ = writeln!(text, "\n  Followed\n{}", wrapped(&ok, "    "));
    }
    text
}

fn undecided<'a>(text: &mut String, findings: impl Iterator<Item = &'a Finding>) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for finding in findings {
        by_reason.entry(&finding.why).or_default().push(&finding.id);
    }
    if by_reason.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  Cannot be decided");
    for (reason, ids) in by_reason {
        let _ = writeln!(text, "    {reason}\n{}", wrapped(&ids, "      "));
    }
}

/// Names with commas, in lines that fit a page.
fn wrapped(names: &[&str], indent: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for (number, name) in names.iter().enumerate() {
        let comma = if number + 1 < names.len() { ", " } else { "" };
        let width = lines.last().map_or(0, String::len) + name.len() + comma.len();
        if width > LINE_WIDTH {
            lines.push(indent.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(name);
            line.push_str(comma);
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

fn rank(severity: Severity) -> u8 {
    match severity {
        Severity::Important => 0,
        Severity::Advice => 1,
        Severity::Note => 2,
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Important => "important",
        Severity::Advice => "advice",
        Severity::Note => "note",
    }
}
