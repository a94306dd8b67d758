//! Cycles in the imports between the modules of a crate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::holds;
use crate::modules::{Import, Modules};
use crate::repository::{File, sample};

/// Modules of one folder, each with everything below it, and their imports from each other. Items of the folder's own module form a node as
/// well, under that module's name.
type Graph<'a> = BTreeMap<String, BTreeMap<String, Vec<&'a Import>>>;

/// The cycles of all crates, each as a message.
fn circles(files: &[File]) -> Vec<String> {
    let is_root = |path: &&str| {
        let parts: Vec<_> = path.split('/').collect();
        matches!(parts[..], ["crates", .., "src", "lib.rs" | "main.rs"])
    };
    let roots = files.iter().map(|file| file.path.as_str()).filter(is_root);
    roots
        .flat_map(|root| of_crate(&Modules::of(files, root)))
        .collect()
}

fn of_crate(modules: &Modules) -> Vec<String> {
    let imports = modules.imports();
    let mut folders: BTreeMap<Vec<String>, Graph> = BTreeMap::new();
    for import in &imports {
        let (from, to) = (&modules.0[import.from].name, &modules.0[import.to].name);
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let node = |name: &[String]| match name.get(shared) {
            Some(below) => below.clone(),
            None => name
                .last()
                .map_or_else(|| "crate".to_owned(), |own| format!("{own} itself")),
        };
        let graph = folders.entry(from[..shared].to_vec()).or_default();
        let imported = graph.entry(node(from)).or_default();
        imported.entry(node(to)).or_default().push(import);
    }
    let found = folders.iter().flat_map(|(folder, graph)| {
        let circles = separate(graph).into_iter();
        circles.map(move |circle| describe(modules, folder, graph, &circle))
    });
    found.collect()
}

/// A cycle with the locations of its imports.
fn describe(modules: &Modules, folder: &[String], graph: &Graph, circle: &[String]) -> String {
    let root = &modules.0[0].file;
    let names = circle.join(" → ");
    let first = &circle[0];
    let mut message = format!("{root}: circle in crate");
    message.extend(folder.iter().map(|name| format!("::{name}")));
    message += &format!(": {names} → {first}");
    for (from, to) in circle.iter().zip(circle.iter().cycle().skip(1)) {
        message += &format!("\n  {from} imports {to}:");
        let mut lines = BTreeSet::new();
        for import in &graph[from][to] {
            let file = &modules.0[import.from].file;
            if lines.insert((file, import.line)) {
                message += &format!("\n    {file}:{}: {}", import.line, import.path);
            }
        }
    }
    message
}

/// A shortest cycle of each strongly connected group.
fn separate(graph: &Graph) -> Vec<Vec<String>> {
    let mut visited = BTreeSet::new();
    let mut found = Vec::new();
    let mut shortest: Vec<_> = graph
        .keys()
        .filter_map(|node| circle_through(graph, node))
        .collect();
    shortest.sort_by_key(Vec::len);
    for circle in shortest {
        if circle.iter().all(|node| !visited.contains(node)) {
            visited.extend(circle.iter().cloned());
            found.push(circle);
        }
    }
    found
}

/// The shortest path from a node back to it.
fn circle_through(graph: &Graph, start: &str) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![start.to_owned()]]);
    let mut reached = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in graph.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                return Some(way);
            }
            if reached.insert(next) {
                ways.push_back([&way[..], std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

#[test]
fn no_modules_form_a_circle() {
    holds(
        circles,
        r#"
            crates/attic/src/lib.rs: mod a { use crate::b::B; pub struct A; } mod b { use super::a; pub struct B(a::A); }
            crates/attic/src/lib.rs: pub use a::A; mod a { use crate::b::B; pub struct A; } mod b { use crate::c::C; pub struct B; } mod c { pub struct C(crate::A); }
            crates/attic/src/lib.rs: mod a { pub mod inner { pub fn f() { crate::b::g(); } } } mod b { pub fn g() { print!("{}", crate::a::inner::f()); } }
            crates/attic/src/lib.rs: mod a { pub use crate::b::B; pub struct A; } mod b { pub struct B; pub struct C(crate::a::A); }
            crates/attic/src/lib.rs: mod a { mod part { pub fn f() -> super::A { super::A } } pub struct A; fn g() { part::f(); } }
            crates/attic/src/lib.rs: use a::*; mod a { pub struct A; pub fn f() { crate::root(); } } pub fn root() { A }
        "#,
        r#"
            crates/attic/src/lib.rs: pub use a::A; mod a { use crate::b::B; pub struct A(B); } mod b { pub struct B; pub fn html() { let a = html; } }
            crates/attic/src/lib.rs: mod a { mod part { pub fn f() -> super::A { super::A } } pub struct A; }
            crates/attic/src/lib.rs: mod a { mod part { pub struct P; } mod other { use super::P; } pub use part::P; fn g() -> P { P } }
            crates/attic/src/lib.rs: mod a { pub struct A; #[cfg(test)] mod tests { use crate::b::B; } } mod b { use crate::a::A; pub struct B; }
            crates/attic/src/lib.rs: mod a { pub(in crate::b) struct A; } mod b { use crate::a::A; pub struct B; }
        "#,
    );
}

#[test]
fn a_cycle_is_reported_with_its_locations() {
    let file = |path: &str, text: &str| sample(path, text).pop().expect("a sample is a file");
    let complaints = circles(&[
        file("crates/attic/src/lib.rs", "mod a;\nmod b;\npub use b::B;"),
        file("crates/attic/src/a.rs", "mod c;\npub struct A;"),
        file("crates/attic/src/a/c.rs", "\nuse crate::B;"),
        file("crates/attic/src/b.rs", "use crate::a::A;\npub struct B;"),
    ]);
    assert_eq!(
        complaints,
        ["crates/attic/src/lib.rs: circle in crate: a → b → a\n  \
             a imports b:\n    crates/attic/src/a/c.rs:2: crate::B\n  \
             b imports a:\n    crates/attic/src/b.rs:1: crate::a::A"]
    );
}
