//! Codes of the points.

use olap::step::{OlapStep, QueryTables};
use oltp::step::OltpStep;

use super::shared_tables;

pub const USERS_ALONE: &str = "MIXED-OLTP-ALONE";

pub const QUERIES_ALONE: &str = "MIXED-OLAP-ALONE";

pub const USERS: &str = "MIXED-OLTP";

pub const QUERIES: &str = "MIXED-OLAP";

/// Codes for queries on the users' tables, each with that on separate tables.
const ON_SAME_TABLES: [(&str, &str); 4] = [
    ("HTAP-OLTP-ALONE", USERS_ALONE),
    ("HTAP-OLAP-ALONE", QUERIES_ALONE),
    ("HTAP-OLTP", USERS),
    ("HTAP-OLAP", QUERIES),
];

pub(crate) const TITLES: [(&str, &str); 8] = [
    ("HTAP-OLTP-ALONE", "Same tables: order entry alone"),
    ("HTAP-OLAP-ALONE", "Same tables: queries alone"),
    (
        "HTAP-OLTP",
        "Same tables: order entry with concurrent queries",
    ),
    (
        "HTAP-OLAP",
        "Same tables: queries with concurrent order entry",
    ),
    (USERS_ALONE, "Mixed: order entry alone"),
    (QUERIES_ALONE, "Mixed: queries alone"),
    (USERS, "Mixed: order entry with concurrent queries"),
    (QUERIES, "Mixed: queries with concurrent order entry"),
];

/// Variant of a code for these tables.
pub(crate) fn on(tables: QueryTables, code: &'static str) -> &'static str {
    let same = ON_SAME_TABLES.into_iter().find(|(_, other)| *other == code);
    match (tables, same) {
        (QueryTables::OrderEntry, Some((same, _))) => same,
        _ => code,
    }
}

/// Code of the same measurement on separate tables.
pub(crate) fn role(code: &str) -> &str {
    let same = ON_SAME_TABLES.into_iter().find(|(same, _)| *same == code);
    same.map_or(code, |(_, other)| other)
}

pub fn title(code: &str) -> String {
    let known = TITLES.into_iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, title)| title).to_owned()
}

/// True for a point of order entry, alone or not.
pub(crate) fn is_of_users(code: &str) -> bool {
    [USERS_ALONE, USERS].contains(&role(code))
}

/// Number of users, of order entry or of queries.
pub(crate) fn jobs_of(code: &str, oltp: &OltpStep, olap: &OlapStep) -> u32 {
    if is_of_users(code) {
        oltp.users()[0]
    } else {
        olap.streams().max(1)
    }
}

/// Fingerprint of a point's definition. Order entry with a copy runs in the engine from which the copy comes.
pub(crate) fn definition(code: &str, engine: &str) -> String {
    match (is_of_users(code), role(code) == code) {
        (true, _) => oltp::fingerprint(engine),
        (false, true) => olap::fingerprint(engine),
        (false, false) => shared_tables::fingerprint(engine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_title() {
        for (code, words) in TITLES {
            assert_eq!(title(code), words);
            assert_eq!(is_of_users(code), code.contains("OLTP"));
        }
    }
}
