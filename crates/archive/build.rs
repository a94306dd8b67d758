//! Embeds `reference/` anew when a file is added there or removed.

fn main() {
    println!("cargo:rerun-if-changed=../../reference");
}
