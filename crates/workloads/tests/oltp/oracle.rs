//! Order entry on a stand-in for Oracle, never on Oracle: its load and its conditions.

use crate::breaks::all_are_named;
use crate::common::*;

fn loaded() -> Database {
    // Other tests are at work on the server.
    let url = format!("{}?others=allow", testing::oracle_stand_in().new_url());
    let database = Database::running("oracle", &url);
    database.load(&options(1)).unwrap();
    database
}

#[test]
fn every_condition_is_named() {
    all_are_named(&loaded());
}
