//! Embeds the library again when a file is added, because the compiler sees only changed files.
fn main() {
    println!("cargo::rerun-if-changed=../../library");
}
