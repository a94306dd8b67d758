//! Rebuilds the crate when a plan is added to the folder of plans, which the compiler would not notice.
fn main() {
    println!("cargo::rerun-if-changed=../../plans");
}
