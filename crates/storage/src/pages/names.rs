//! Names of pages, and links between them.

use std::collections::BTreeSet;

use crate::run::Run;

/// SDs, and WDs, with a separate page: each page is an open file.
const OWN_PAGES_MAX: usize = 200;
const PAGES: [(&str, &str); 8] = [
    ("logfile", "Link to logfile:                 "),
    ("totals", "Run totals:                      "),
    ("status", "Vdbench status:                  "),
    ("parmfile", "Copy of input parameter files:   "),
    ("errorlog", "Link to errorlog:                "),
    ("flatfile", "Link to flatfile:                "),
    ("histogram", "Link to response time histogram: "),
    ("skew", "Link to workload skew report:    "),
];

/// Pages of SDs and WDs, each as (name, file name without extension).
pub(super) struct PageNames {
    pub sds: Vec<(String, String)>,
    /// Empty for a single WD.
    pub workloads: Vec<(String, String)>,
}

impl PageNames {
    pub fn of(runs: &[Run]) -> Self {
        let mut taken: BTreeSet<String> =
            PAGES.iter().map(|(page, _)| (*page).to_owned()).collect();
        taken.insert("summary".to_owned());
        let sds = once(
            runs.iter()
                .flat_map(|run| run.storage.iter().map(|sd| sd.name.as_str())),
        );
        let workloads = once(
            runs.iter()
                .flat_map(|run| run.streams.iter().map(|stream| stream.workload.as_str())),
        );
        let sds = files(&sds, &mut taken);
        let workloads = if workloads.len() > 1 {
            files(&workloads, &mut taken)
        } else {
            Vec::new()
        };
        Self { sds, workloads }
    }

    pub fn links(&self) -> String {
        let mut text: String = PAGES
            .iter()
            .map(|(page, label)| format!("{label}{}\n", link(page, page)))
            .collect();
        let own = |label: &str, pages: &[(String, String)]| -> String {
            let links: Vec<String> = pages.iter().map(|(name, file)| link(file, name)).collect();
            format!("{label}{}\n", links.join(" "))
        };
        text.push_str(&own("Link to SD reports:              ", &self.sds));
        if !self.workloads.is_empty() {
            text.push_str(&own("Link to workload reports:        ", &self.workloads));
        }
        text
    }
}

fn link(file: &str, name: &str) -> String {
    format!("<A HREF=\"{file}.html\">{}</A>", escaped(name))
}

fn once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut met = BTreeSet::new();
    names.filter(|name| met.insert(*name)).collect()
}

/// Safe and distinct file names, for as many as may have a page.
fn files(names: &[&str], taken: &mut BTreeSet<String>) -> Vec<(String, String)> {
    let names = names.iter().take(OWN_PAGES_MAX);
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_".contains(c) {
            c
        } else {
            '_'
        }
    };
    names
        .map(|name| {
            let mut file: String = name.chars().map(plain).collect();
            while !taken.insert(file.clone()) {
                file.push('_');
            }
            ((*name).to_owned(), file)
        })
        .collect()
}

pub(super) fn links_to_runs(runs: &[Run]) -> String {
    let links = runs.iter().enumerate().map(|(number, run)| {
        let label = if number == 0 {
            "Link to Run Definitions:"
        } else {
            ""
        };
        let name = escaped(&run.name);
        format!(
            "{label:<33}<A HREF=\"#_{}\">{name} For loops: {}</A>\n",
            anchor(number),
            run.loops_text()
        )
    });
    links.collect()
}

/// A number unrelated to its position, like the original's, so that programs do not rely on an order. Multiplication
/// by an odd number keeps numbers distinct.
fn anchor(number: usize) -> u32 {
    (number as u32 + 1).wrapping_mul(0x9E37_79B1) & 0x7FFF_FFFF
}

pub(super) fn anchored(number: usize, line: &str) -> String {
    let (anchor, line) = (anchor(number), escaped(line));
    format!("<a name=\"_{anchor}\"></a><i><b>{line}</b></i>")
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_an_anchor_of_its_own() {
        let anchors: BTreeSet<u32> = (0..10_000).map(anchor).collect();
        assert_eq!(anchors.len(), 10_000);
    }

    #[test]
    fn names_of_pages_are_safe_and_different() {
        let mut taken = BTreeSet::from(["summary".to_owned()]);
        let files = files(&["sd1", "../x", "___x", "summary", "a b"], &mut taken);
        let files: Vec<&str> = files.iter().map(|(_, file)| file.as_str()).collect();
        assert_eq!(files, ["sd1", "___x", "___x_", "summary_", "a_b"]);
    }
}
