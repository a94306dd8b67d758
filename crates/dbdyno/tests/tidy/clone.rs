//! Build products are independent of the clone, because the user's build folder serves several clones.

use crate::repository::{File, rust};
use crate::{CODE, holds_samples};

/// No program contains the path of the folder that it was built from. Tests run in the folder of their crate and use relative paths.
fn no_program_knows_its_clone(files: &[File]) -> Vec<String> {
    // Concatenated, so that this file does not contain it.
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
fn builds_work_in_every_clone() {
    let bad = ["Path::new(env!(\"CARGO_MANI", "FEST_DIR\"))"].concat();
    holds_samples(
        no_program_knows_its_clone,
        &[(CODE, &bad), ("crates/lab/tests/suite/main.rs", &bad)],
        &[
            (CODE, "Path::new(\"../target\")"),
            (CODE, "env!(\"CARGO_PKG_VERSION\")"),
        ],
    );
}
