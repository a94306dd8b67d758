//! The judgement as JUnit XML, in the dialect of Jenkins and GitLab: one test case for the run as a whole and one for
//! each limit and target. Names exclude values, so that a build server keeps the history of a limit when its bound is
//! changed.

use archive::Run;

use super::hold::{Judgement, Outcome, Row};
use super::words::{limits, plain, sentence};

pub fn junit(run: &Run, judgement: &Judgement) -> String {
    let name = attribute(&run.label);
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        judgement.rows.len() + 1,
        judgement.missed(),
        judgement.unjudged() + usize::from(!judgement.sound())
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.push_str(&format!("<testsuites name=\"dbdyno\" {counts}>\n"));
    xml.push_str(&format!(
        "  <testsuite name=\"{name}\" {counts} skipped=\"0\" timestamp=\"{}\">\n",
        attribute(&run.started_at)
    ));
    xml.push_str("    <properties>\n");
    for (name, value) in properties(run) {
        let (name, value) = (attribute(&name), attribute(&value));
        xml.push_str(&format!(
            "      <property name=\"{name}\" value=\"{value}\"/>\n"
        ));
    }
    xml.push_str("    </properties>\n");
    xml.push_str(&case(
        "dbdyno.run",
        "complete and unchanged",
        &fault(judgement),
    ));
    for row in &judgement.rows {
        // A build server takes everything up to the last dot of a class name for a package.
        let class = format!("dbdyno.sla.{}", row.limit.metric);
        xml.push_str(&case(&class, &row.metric.to_string(), &content(row)));
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn case(class: &str, name: &str, content: &str) -> String {
    let (class, name) = (attribute(class), attribute(name));
    format!("    <testcase classname=\"{class}\" name=\"{name}\">\n{content}    </testcase>\n")
}

fn fault(judgement: &Judgement) -> String {
    let faults = &judgement.soundness.faults;
    match faults.first() {
        None => String::new(),
        Some(first) => element("error", "invalid run", first, &faults.join("; ")),
    }
}

fn content(row: &Row) -> String {
    let sentence = sentence(row);
    match &row.outcome {
        Outcome::Met(_) => format!("      <system-out>{}</system-out>\n", escape(&sentence)),
        Outcome::Missed { .. } => element("failure", "limit missed", &sentence, &sentence),
        Outcome::Unjudged { .. } => {
            let whole = format!("{sentence}; the limit is {}", limits(row));
            element("error", "cannot be judged", &sentence, &whole)
        }
    }
}

fn element(name: &str, kind: &str, message: &str, text: &str) -> String {
    let (message, text) = (attribute(message), escape(text));
    format!("      <{name} message=\"{message}\" type=\"{kind}\">{text}</{name}>\n")
}

/// Data by which a reader of the build finds the run; addresses of targets are omitted.
fn properties(run: &Run) -> Vec<(String, String)> {
    let platform = &run.platform;
    let fixed = [
        ("run.id", Some(run.id.to_string())),
        ("run.state", Some(run.state.name().to_owned())),
        ("run.valid", Some(run.valid().to_string())),
        ("run.started_at", Some(run.started_at.clone())),
        ("run.finished_at", run.finished_at.clone()),
        ("run.plan", Some(run.plan_name.clone())),
        ("run.seed", Some(run.seed.to_string())),
        ("run.repetitions", Some(run.repetitions.to_string())),
        ("dbdyno.version", Some(run.tool_version.clone())),
        ("platform.host_name", platform.host_name.clone()),
        ("platform.processor", platform.processor.clone()),
        ("platform.threads", platform.threads.map(|n| n.to_string())),
        ("platform.kernel", platform.kernel.clone()),
    ];
    let known = fixed
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let targets = run.targets.iter().map(|target| {
        let value = format!("{} {}", target.engine, target.engine_version);
        (format!("target.{}", target.name), value)
    });
    known.chain(targets).collect()
}

fn attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;")
}

fn escape(text: &str) -> String {
    plain(text)
        .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
