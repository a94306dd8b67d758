//! The options that change the steps of any plan: how long its points last, and with how many sessions.

use std::time::Duration;

use anyhow::Result;
use toml::Value;

use crate::exit::invalid;

/// The values of `-T` and `-c`.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub time: Option<Duration>,
    pub clients: Vec<u32>,
}

impl Shape {
    /// The settings of the plan's steps that follow. Component tests become timed where nothing in the plan is.
    ///
    /// # Errors
    /// If the plan has no step to which an option applies.
    pub fn settings(&self, plan: &str) -> Result<Vec<String>> {
        // Text that is no TOML is reported when the plan is parsed.
        let plan: toml::Table = toml::from_str(plan).unwrap_or_default();
        let steps = plan.get("step").and_then(Value::as_array);
        let steps: &[Value] = steps.map_or(&[], Vec::as_slice);
        let numbers = |applies: fn(&Value) -> bool| -> Vec<usize> {
            let steps = (1..).zip(steps).filter(|(_, step)| applies(step));
            steps.map(|(number, _)| number).collect()
        };
        let (timed, tests) = (
            numbers(|step| step.get("seconds").is_some()),
            numbers(is_of_tests),
        );
        let mut all = Vec::new();
        if let Some(time) = self.time {
            let seconds = |n: &usize| format!("step.{n}.seconds={}", time.as_secs_f64());
            if timed.is_empty() {
                all.extend(tests.iter().map(|n| format!("step.{n}.mode=time")));
                all.extend(tests.iter().map(seconds));
            }
            all.extend(timed.iter().map(seconds));
            if all.is_empty() && !steps.is_empty() {
                return invalid(
                    "no step of the plan is measured by time, so --time has no place in it",
                );
            }
        }
        if !self.clients.is_empty() {
            if tests.is_empty() && !steps.is_empty() {
                return invalid(
                    "the plan has no component tests, so --clients has no place in it; `run oltp` and `run olap` have their own",
                );
            }
            all.extend(
                tests
                    .iter()
                    .map(|n| format!("step.{n}.jobs={:?}", self.clients)),
            );
        }
        Ok(all)
    }
}

fn is_of_tests(step: &Value) -> bool {
    step.get("use").and_then(Value::as_str) == Some("library")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(seconds: Option<f64>, clients: &[u32], plan: &str) -> Result<Vec<String>> {
        let shape = Shape {
            time: seconds.map(Duration::from_secs_f64),
            clients: clients.to_vec(),
        };
        shape.settings(plan)
    }

    const LIBRARY: &str = "[[step]]\nuse = \"olap\"\n[[step]]\nuse = \"library\"\njobs = [1]\n";

    #[test]
    fn tests_become_timed_unless_the_plan_has_timed_steps() {
        let found = settings(Some(10.0), &[1, 8], LIBRARY).unwrap();
        assert_eq!(
            found,
            [
                "step.2.mode=time",
                "step.2.seconds=10",
                "step.2.jobs=[1, 8]"
            ]
        );
        let timed = "[[step]]\nuse = \"oltp\"\nseconds = 60\n";
        assert_eq!(
            settings(Some(0.5), &[], timed).unwrap(),
            ["step.1.seconds=0.5"]
        );
        let both = format!("{LIBRARY}[[step]]\nuse = \"library\"\nseconds = 1\n");
        assert_eq!(
            settings(Some(2.0), &[], &both).unwrap(),
            ["step.3.seconds=2"]
        );
    }

    #[test]
    fn an_option_without_a_place_is_refused() {
        let olap = "[[step]]\nuse = \"olap\"\n";
        assert!(settings(Some(1.0), &[], olap).is_err());
        assert!(settings(None, &[4], olap).is_err());
        assert!(settings(None, &[], olap).unwrap().is_empty());
    }
}
