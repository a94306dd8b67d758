//! The files of the repository, and helpers of the rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::source::Source;

/// Hosts of common page resources.
const CDNS: &[&str] = &[
    "//cdn.",
    "cdnjs.",
    "unpkg.com",
    "jsdelivr.",
    "googleapis.",
    "gstatic.",
    "esm.sh",
    "skypack.dev",
];

pub struct File {
    pub path: String,
    /// Empty for a binary file.
    pub text: String,
}

/// The crate that a file belongs to, and its path there. The engines and the workloads have a folder of crates each,
/// which is a crate itself.
pub fn in_crate(path: &str) -> Option<(&str, &str)> {
    const OF_A_CRATE: &[&str] = &["src", "tests", "examples", "benches"];
    const FOLDERS: &[&str] = &["engines", "workloads"];
    let below = path.strip_prefix("crates/")?;
    let (name, rest) = below.split_once('/')?;
    match rest.split_once('/') {
        Some((inner, rest)) if FOLDERS.contains(&name) && !OF_A_CRATE.contains(&inner) => {
            Some((&below[..name.len() + 1 + inner.len()], rest))
        }
        _ => Some((name, rest)),
    }
}

pub fn rust(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.ends_with(".rs"))
}

pub fn product(files: &[File]) -> impl Iterator<Item = (&File, Source)> {
    let is_test = |path: &str| {
        path.split('/')
            .any(|part| ["tests", "benches", "tests.rs"].contains(&part))
    };
    rust(files)
        .filter(move |file| !is_test(&file.path))
        .map(|file| (file, Source::without_tests(&file.path, &file.text)))
}

/// The first address that a browser would fetch automatically.
pub fn fetched(text: &str) -> Option<&str> {
    const FETCHING: &[&str] = &["src=", "href=", "url(", "@import ", "srcset="];
    if let Some(cdn) = CDNS.iter().find(|cdn| text.contains(**cdn)) {
        return Some(cdn);
    }
    FETCHING.iter().find_map(|mark| {
        text.match_indices(mark).find_map(|(at, _)| {
            let address = text[at + mark.len()..].trim_start_matches(['"', '\'', ' ']);
            let remote = ["http:", "https:", "//"]
                .iter()
                .any(|start| address.starts_with(start));
            remote.then(|| address.split(['"', '\'', ')', ' ']).next())?
        })
    })
}

/// Names in all tables of dependencies of a Cargo.toml, including those for tests.
pub fn imports(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_table = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            in_table = header.ends_with("dependencies");
            if let Some((_, name)) = header.split_once("dependencies.") {
                names.push(name.to_owned());
            }
        } else if in_table && !line.starts_with('#') {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            names.push(name.to_owned());
        }
    }
    names
}

/// Targets of the links and pictures of a Markdown text that are no addresses.
pub fn links(markdown: &str) -> Vec<String> {
    let after = |mark: &'static str, close: char| {
        markdown.match_indices(mark).filter_map(move |(at, _)| {
            let rest = &markdown[at + mark.len()..];
            rest.split_once(close).map(|(link, _)| link.to_owned())
        })
    };
    after("](", ')')
        .chain(after("src=\"", '"'))
        .chain(after("href=\"", '"'))
        .filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
        .collect()
}

/// A relative link from a file, as a path in the repository; `None` if it leads outside.
/// Names of the headings of a document, as links write them after `#`.
pub fn headings(markdown: &str) -> BTreeSet<String> {
    let outside = markdown.split("```").step_by(2);
    let titles = outside.flat_map(|text| text.lines().filter(|line| line.starts_with('#')));
    let name = |title: &str| {
        let title = title.trim_start_matches('#').trim().to_lowercase();
        let is_part = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        title
            .chars()
            .filter(is_part)
            .collect::<String>()
            .replace(' ', "-")
    };
    titles.map(name).collect()
}

pub fn resolve(from: &str, link: &str) -> Option<PathBuf> {
    let mut path = PathBuf::from(from);
    path.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." if !path.pop() => return None,
            ".." => {}
            name => path.push(name),
        }
    }
    Some(path)
}

/// Every authored file of the repository, without build products and third-party files.
pub fn repository() -> Vec<File> {
    let root = Path::new("../..");
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(root.join(&folder)).expect("the folder was listed");
        for entry in entries {
            let entry = entry.expect("the folder can be read");
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = folder.join(&name);
            if root.join(&path).is_dir() {
                let hidden = name.starts_with('.') && name != ".ci";
                // Cargo marks its folders; `target` is also the name of modules.
                let is_built = path == Path::new("target")
                    || ["bin", "node_modules"].contains(&name.as_str())
                    || root.join(&path).join("CACHEDIR.TAG").exists();
                if !hidden && !is_built {
                    folders.push(path);
                }
            } else if !name.ends_with(".new") && !name.starts_with("dbdyno-report") {
                files.push(File {
                    // A file may vanish while other processes work here.
                    text: std::fs::read_to_string(root.join(&path)).unwrap_or_default(),
                    path: path.to_string_lossy().into_owned(),
                });
            }
        }
    }
    let found = files.iter().any(|f| f.path == "crates/stats/src/lib.rs");
    assert!(found, "{} is not the repository", root.display());
    files
}

pub fn sample(path: &str, text: &str) -> Vec<File> {
    vec![File {
        path: path.to_owned(),
        text: text.to_owned(),
    }]
}
