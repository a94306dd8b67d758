//! The codes of the points, and what each of them is.

use super::same;
use crate::olap::step::{OlapStep, QueryTables};
use crate::oltp::step::OltpStep;
use crate::{olap, oltp};

/// Order entry on its own.
pub const USERS_ALONE: &str = "MIXED-OLTP-ALONE";

pub const QUERIES_ALONE: &str = "MIXED-OLAP-ALONE";

/// Order entry with queries beside it.
pub const USERS: &str = "MIXED-OLTP";

pub const QUERIES: &str = "MIXED-OLAP";

/// The same where queries are asked of the tables on which the users work: each code with that on other tables.
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

/// What a code is on these tables.
pub(crate) fn on(tables: QueryTables, code: &'static str) -> &'static str {
    let same = ON_SAME_TABLES.into_iter().find(|(_, other)| *other == code);
    match (tables, same) {
        (QueryTables::OrderEntry, Some((same, _))) => same,
        _ => code,
    }
}

/// The code of the same measurement on other tables.
pub(crate) fn role(code: &str) -> &str {
    let same = ON_SAME_TABLES.into_iter().find(|(same, _)| *same == code);
    same.map_or(code, |(_, other)| other)
}

pub fn title(code: &str) -> String {
    let known = TITLES.into_iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, title)| title).to_owned()
}

/// Whether a point is of order entry, be it alone or not.
pub(crate) fn is_of_users(code: &str) -> bool {
    [USERS_ALONE, USERS].contains(&role(code))
}

/// Users, of order entry or of queries.
pub(crate) fn jobs_of(code: &str, oltp: &OltpStep, olap: &OlapStep) -> u32 {
    if is_of_users(code) {
        oltp.users()[0]
    } else {
        olap.streams().max(1)
    }
}

/// The fingerprint of what a point is of. Order entry beside a copy goes on in the engine that the copy comes from.
pub(crate) fn definition(code: &str, engine: &str) -> String {
    match (is_of_users(code), role(code) == code) {
        (true, _) => oltp::fingerprint(engine),
        (false, true) => olap::fingerprint(engine),
        (false, false) => same::fingerprint(engine),
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
