//! The judgement for a person: problems of the run, a line for each limit with its figure, the missed ones first, and
//! the number of those met.

use archive::Run;

use super::hold::{Judgement, Outcome, Row, Surety};
use super::words::{plain, sentence};

pub fn text(run: &Run, judgement: &Judgement) -> String {
    let mut lines = about_the_run(run, judgement);
    let mut rows: Vec<&Row> = judgement.rows.iter().collect();
    // The sort is stable, so limits of one kind stay in the order of the file.
    rows.sort_by_key(|row| rank(&row.outcome));
    for row in rows {
        let word = WORDS[rank(&row.outcome)];
        let metric = plain(&row.metric.to_string());
        lines.push(format!("{word:<7} {metric}: {}", sentence(row)));
    }
    for left_out in &judgement.left_out {
        let metric = plain(&left_out.metric.to_string());
        lines.push(format!("skipped {metric}: {}", plain(&left_out.reason)));
    }
    lines.push(count(judgement));
    lines.join("\n") + "\n"
}

/// First words of the lines, by the rank of their outcomes.
const WORDS: [&str; 4] = ["missed", "failed", "noise", "met"];

/// Rank of an outcome in the output, the most urgent first.
fn rank(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Missed { .. } => 0,
        Outcome::Unjudged { .. } => 1,
        Outcome::Met(finding) if finding.surety == Surety::WithinNoise => 2,
        Outcome::Met(_) => 3,
    }
}

fn about_the_run(run: &Run, judgement: &Judgement) -> Vec<String> {
    let label = plain(&run.label);
    let soundness = &judgement.soundness;
    let mut lines = Vec::new();
    for fault in &soundness.faults {
        lines.push(format!("invalid run {label}: {}", plain(fault)));
    }
    if soundness.points_invalid > 0 {
        lines.push(format!(
            "invalid points: {} of {} in run {label}; limits on these points fail",
            soundness.points_invalid, soundness.points
        ));
    }
    lines
}

/// Example: "3 of 5 limits met (2 from one repetition); 1 missed, 1 cannot be judged".
fn count(judgement: &Judgement) -> String {
    let met_with = |surety| {
        let is = |o: &Outcome| matches!(o, Outcome::Met(finding) if finding.surety == surety);
        judgement.rows.iter().filter(|row| is(&row.outcome)).count()
    };
    let list = |parts: &[(usize, &str)]| {
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(n, what)| format!("{n} {what}")).collect();
        parts.join(", ")
    };
    let doubts = list(&[
        (met_with(Surety::WithinNoise), "within the noise"),
        (
            met_with(Surety::FewRepetitions),
            "from fewer than six repetitions",
        ),
        (met_with(Surety::OneRepetition), "from one repetition"),
    ]);
    let failures = list(&[
        (judgement.missed(), "missed"),
        (judgement.unjudged(), "cannot be judged"),
    ]);
    let mut line = format!("{} of {} limits met", judgement.met(), judgement.rows.len());
    if !doubts.is_empty() {
        line.push_str(&format!(" ({doubts})"));
    }
    if !failures.is_empty() {
        line.push_str(&format!("; {failures}"));
    }
    if !judgement.sound() {
        line.push_str("; the run is invalid, so this result does not count");
    }
    line
}
