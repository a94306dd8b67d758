//! Embeds the studies again if a file is added, because the compiler notices only changed files.
fn main() {
    println!("cargo::rerun-if-changed=../../plans/studies");
}
