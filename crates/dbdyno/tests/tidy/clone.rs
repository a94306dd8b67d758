//! What is built belongs to no clone: the folder that it lies in is the user's, and the next clone uses it.

use crate::repository::{File, rust};
use crate::{CODE, holds};

/// No program has the folder in it that it was built from. Tests run in the folder of their crate and use paths from there.
fn no_program_knows_its_clone(files: &[File]) -> Vec<String> {
    // Put together, so that this file does not hold it.
    let folder = ["env!(\"CARGO_MANI", "FEST_DIR\""].concat();
    let mut complaints = Vec::new();
    for file in rust(files) {
        for (number, line) in (1..).zip(file.text.lines()) {
            if line.contains(&folder) {
                complaints.push(format!(
                    "{}:{number}: another clone's tests would look into this one",
                    file.path
                ));
            }
        }
    }
    complaints
}

#[test]
fn what_is_built_works_in_every_clone() {
    let bad = ["Path::new(env!(\"CARGO_MANI", "FEST_DIR\"))"].concat();
    holds(
        no_program_knows_its_clone,
        &[(CODE, &bad), ("crates/lab/tests/suite/main.rs", &bad)],
        &[
            (CODE, "Path::new(\"../target\")"),
            (CODE, "env!(\"CARGO_PKG_VERSION\")"),
        ],
    );
}
