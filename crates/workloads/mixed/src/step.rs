//! Contradictions between the tables of both workloads.

use olap::step::{OlapOrder, OlapStep, QueryTables};
use olap::work::Cache;
use oltp::step::{OltpStep, Order};

use super::shared_tables;

/// Refuses keys of the two workloads that contradict each other when they run together.
pub(super) fn check(oltp: &OltpStep, olap: &OlapStep) -> Result<(), String> {
    let wrong = [
        (
            oltp.order != Order::Run || olap.order != OlapOrder::Run,
            "both workloads need do = \"run\"",
        ),
        (
            oltp.warehouses.is_none(),
            "[step.oltp] needs warehouses: order entry starts with a fresh database each time",
        ),
        (
            oltp.users().len() > 1,
            "users must be a single number: there is no ramp with concurrent queries",
        ),
        (
            oltp.slo().is_some() || oltp.warm_up_max().is_some() || oltp.journal,
            "slo, warm_up_max_seconds and journal require use = \"oltp\"",
        ),
        (
            olap.refresh
                || olap.cache == Cache::Cold
                || olap.iterations() > 1
                || olap.rounds().is_some(),
            "refresh, cache = \"cold\", iterations and rounds require use = \"olap\"",
        ),
    ];
    if olap.tables == QueryTables::OrderEntry {
        let known = shared_tables::queries().len() as u32;
        if olap.scale.is_some() {
            return Err("use = \"mixed\": scale is of the analytical tables, not of tables = \"order-entry\"".into());
        }
        if let Some(unknown) = olap.named_queries().iter().find(|number| **number > known) {
            return Err(format!(
                "use = \"mixed\": queries: {unknown} is not one of the {known} queries on the order-entry tables"
            ));
        }
    }
    match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, what)) => Err(format!("use = \"mixed\": {what}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lab::{Plan, Registry};

    fn read(text: &str) -> Result<Plan, String> {
        let alone = Registry::new(vec![Box::new(crate::Mixed)]);
        Plan::parse(&alone, text, &[]).map_err(|error| error.to_string())
    }

    fn plan(oltp: &str, olap: &str) -> Result<Plan, String> {
        let text = format!(
            "name = 'p'\n[[step]]\nuse = 'mixed'\nseconds = 2\n[step.oltp]\ndo = 'run'\n{oltp}\n\
             [step.olap]\ndo = 'run'\n{olap}"
        );
        read(&text)
    }

    #[test]
    fn both_tables_are_needed_and_contradictions_are_refused() {
        let written = plan("warehouses = 1\nusers = 2", "queries = '6,1'\nstreams = 2").unwrap();
        assert_eq!(read(&written.to_toml()).unwrap(), written);
        for (oltp, olap, says) in [
            ("users = 2", "", "needs warehouses"),
            ("warehouses = 1\nusers = '1,2'", "", "no ramp"),
            (
                "warehouses = 1\njournal = true",
                "",
                "require use = \"oltp\"",
            ),
            ("warehouses = 1", "refresh = true", "require use = \"olap\""),
            ("warehouses = 1", "iterations = 2", "require use = \"olap\""),
            ("warehouses = 1", "rounds = 2", "require use = \"olap\""),
            (
                "warehouses = 1",
                "tables = 'order-entry'\nscale = 1",
                "scale is of the analytical tables",
            ),
            (
                "warehouses = 1",
                "tables = 'order-entry'\nqueries = '8,9'",
                "9 is not one of the 8",
            ),
        ] {
            let error = plan(oltp, olap).unwrap_err();
            assert!(error.contains(says), "{oltp} {olap}: {error}");
        }
        let text = "name = 'p'\n[[step]]\nuse = 'mixed'\nseconds = 2\n[step.oltp]\ndo = 'run'\n";
        let error = read(text).unwrap_err();
        assert!(error.contains("needs [step.olap]"), "{error}");
    }
}
