//! The codes of the points, and what each of them is.

use crate::olap::step::OlapStep;
use crate::oltp::step::OltpStep;
use crate::{olap, oltp};

/// Order entry on its own.
pub const USERS_ALONE: &str = "MIXED-OLTP-ALONE";

/// Queries on their own.
pub const QUERIES_ALONE: &str = "MIXED-OLAP-ALONE";

/// Order entry with queries beside it.
pub const USERS: &str = "MIXED-OLTP";

/// Those queries.
pub const QUERIES: &str = "MIXED-OLAP";

/// Codes with their titles.
pub(crate) const TITLES: [(&str, &str); 4] = [
    (USERS_ALONE, "Mixed: order entry alone"),
    (QUERIES_ALONE, "Mixed: queries alone"),
    (USERS, "Mixed: order entry with concurrent queries"),
    (QUERIES, "Mixed: queries with concurrent order entry"),
];

/// Title of a point.
pub fn title(code: &str) -> String {
    let known = TITLES.into_iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, title)| title).to_owned()
}

/// Whether a point is of order entry, be it alone or not.
pub(crate) fn is_of_users(code: &str) -> bool {
    [USERS_ALONE, USERS].contains(&code)
}

/// Users, of order entry or of queries.
pub(crate) fn jobs_of(code: &str, oltp: &OltpStep, olap: &OlapStep) -> u32 {
    match is_of_users(code) {
        true => oltp.users()[0],
        false => olap.streams().max(1),
    }
}

/// The fingerprint of what a point is of. Order entry beside a copy goes on in the engine that the copy comes from.
pub(crate) fn definition(code: &str, engine: &str) -> String {
    match is_of_users(code) {
        true => oltp::fingerprint(engine),
        false => olap::fingerprint(engine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_title() {
        for (code, words) in TITLES {
            assert_eq!(title(code), words);
        }
    }
}
