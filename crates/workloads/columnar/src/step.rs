//! Table `[step.columnar]` of a plan.

use crate::JOBS_MAX;
use lab::plan::{Keys, TableKind};
use olap::step::check_dop;
use serde::{Deserialize, Serialize};

pub(crate) const TABLE: TableKind = TableKind {
    name: "columnar",
    keys: Keys {
        of_more: &["do", "jobs"],
        of_a_run: &["dop"],
        run: "change",
    },
    read: lab::plan::read::<ColumnarStep>,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnarStep {
    #[serde(rename = "do")]
    pub order: ColumnarOrder,
    /// Reading streams (default: one per processor; one if the source supports no more).
    pub jobs: Option<u32>,
    /// Degrees of parallelism at which a copy is changed (default: that of the target).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dop: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnarOrder {
    /// Copies the tables of the analytical workload from the first target with tables of its own to every replica.
    Lift,
    /// Inserts, updates and deletes orders at every target with tables of its own, and once more at the first of them
    /// for each copy that follows.
    Change,
}

impl ColumnarStep {
    pub(crate) fn check(&self) -> Result<(), String> {
        check_dop(&self.dop)?;
        match (self.order, self.jobs) {
            (_, Some(jobs)) if !(1..=JOBS_MAX).contains(&jobs) => {
                Err(format!("jobs is not between 1 and {JOBS_MAX}"))
            }
            (ColumnarOrder::Change, Some(_)) => Err("jobs needs do = \"lift\"".into()),
            (ColumnarOrder::Lift, _) if !self.dop.is_empty() => {
                Err("dop needs do = \"change\"".into())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use lab::{Plan, Registry};

    fn read(text: &str) -> Result<Plan, String> {
        let alone = Registry::new(vec![Box::new(crate::measure::Columnar)]);
        Plan::parse(&alone, text, &[]).map_err(|error| error.to_string())
    }

    fn plan(columnar: &str) -> Result<Plan, String> {
        let text = format!("name = 'p'\n[[step]]\nuse = 'columnar'\n[step.columnar]\n{columnar}");
        read(&text)
    }

    #[test]
    fn a_plan_is_read_as_written_and_contradictions_are_refused() {
        let written = plan("do = 'lift'\njobs = 2").unwrap();
        assert_eq!(read(&written.to_toml()).unwrap(), written);
        for (wrong, says) in [
            ("do = 'lift'\njobs = 0", "jobs is not"),
            ("do = 'lift'\njob = 1", "did you mean \"jobs\""),
            ("do = 'lift'\ndop = [2]", "dop needs do"),
            ("do = 'change'\ndop = [0]", "dop contains 0"),
            ("do = 'change'\njobs = 2", "jobs needs do"),
            ("do = 'drop'", "unknown variant"),
        ] {
            let error = plan(wrong).unwrap_err();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }
}
