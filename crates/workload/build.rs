//! Embeds the library anew when a file is added to it; the compiler by itself only sees changed files.
fn main() {
    println!("cargo::rerun-if-changed=../../library");
}
