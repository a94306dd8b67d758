//! Embeds the studies anew when a file is added to them; the compiler by itself only sees changed files.
fn main() {
    println!("cargo::rerun-if-changed=../../plans/studies");
}
