//! The suite that every engine has to pass, run on one database, and its result as text.

use std::fmt::Write;

use anyhow::Result;
use engine::TargetUrl;
use engine::conformance::{CheckResult, Outcome, Suite};
use serde_json::{Value, json};

use crate::consent::Permission;

pub(super) struct Carried {
    location: String,
    results: Vec<CheckResult>,
}

impl Carried {
    pub(super) fn out(url: &TargetUrl, permission: &Permission) -> Result<Self> {
        let suite = Suite::beside(engines::all(), url)?;
        let location = suite.place();
        permission.agree(
            &format!("--compatibility creates tables in {location} and drops them"),
            "leave out --compatibility",
        )?;
        let results = suite.run(|name| tracing::info!("check: {name}"))?;
        Ok(Self { location, results })
    }

    fn count(&self, is_meant: impl Fn(&Outcome) -> bool) -> usize {
        let outcomes = self.results.iter().map(|result| &result.outcome);
        outcomes.filter(|outcome| is_meant(outcome)).count()
    }

    fn counts(&self) -> [usize; 3] {
        let passed = self.count(|outcome| *outcome == Outcome::Passed);
        let failed = self.count(|outcome| matches!(outcome, Outcome::Failed { .. }));
        [passed, failed, self.results.len() - passed - failed]
    }

    pub(super) fn has_passed(&self) -> bool {
        self.counts()[1] == 0
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("\nEngine, in {}\n", self.location);
        let width = |of: fn(&CheckResult) -> &str| {
            let widths = self.results.iter().map(|result| of(result).len());
            widths.max().unwrap_or(0)
        };
        let (groups, names) = (width(|it| it.group), width(|it| it.name));
        for result in &self.results {
            let (group, name, seconds) = (result.group, result.name, result.time.as_secs_f64());
            let outcome = match &result.outcome {
                Outcome::Passed => "passed",
                Outcome::Failed { .. } => "FAILED",
                Outcome::NotOffered(_) => "–",
            };
            let _ = write!(text, "  {group:groups$}  {name:names$}  {outcome:6}");
            let _ = match &result.outcome {
                Outcome::Passed => writeln!(text, "  {seconds:.2} s"),
                Outcome::Failed { expected, seen } => {
                    writeln!(text, "  expected {expected}; seen: {seen}")
                }
                Outcome::NotOffered(why) => writeln!(text, "  {why}"),
            };
        }
        let [passed, failed, not_offered] = self.counts();
        let _ = writeln!(
            text,
            "  {passed} passed, {failed} failed, {not_offered} not offered"
        );
        text
    }

    pub(super) fn json(&self) -> Value {
        let check = |result: &CheckResult| {
            let (outcome, expected, seen, reason) = match &result.outcome {
                Outcome::Passed => ("passed", None, None, None),
                Outcome::Failed { expected, seen } => ("failed", Some(expected), Some(seen), None),
                Outcome::NotOffered(why) => ("not_offered", None, None, Some(why)),
            };
            json!({
                "group": result.group, "name": result.name, "outcome": outcome, "expected": expected,
                "seen": seen, "reason": reason, "time_s": result.time.as_secs_f64(),
            })
        };
        let [passed, failed, not_offered] = self.counts();
        json!({
            "place": self.location, "passed": passed, "failed": failed, "not_offered": not_offered,
            "checks": self.results.iter().map(check).collect::<Vec<_>>(),
        })
    }
}
