//! The findings for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Decision, Finding, Severity};

/// What is advised otherwise in full, then what cannot be decided by its reason, then what is as advised.
pub fn findings(findings: &[Finding]) -> String {
    let with = |decision: Decision| findings.iter().filter(move |f| f.decision == decision);
    let count = |decision| with(decision).count();
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "Lint: {} advised otherwise, {} cannot be decided, {} as advised",
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
        let _ = writeln!(text, "\n  As advised\n    {}", ok.join(", "));
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
        let _ = writeln!(text, "    {reason}\n      {}", ids.join(", "));
    }
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
