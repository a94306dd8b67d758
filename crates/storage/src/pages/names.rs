//! Names of pages, and the links between them.

use std::collections::BTreeSet;

use crate::run::Run;

/// SDs, and WDs, that have a page of their own: each page is an open file.
const OWN_PAGES_MAX: usize = 200;
/// Pages that every folder has, with what is said of them.
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

/// Pages of SDs and WDs, each as (name, file without its ending).
pub(super) struct PageNames {
    pub sds: Vec<(String, String)>,
    /// Only where there is more than one.
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

    /// The links at the top of the summary.
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

/// Each name once, in the order they are met.
fn once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut met = BTreeSet::new();
    names.filter(|name| met.insert(*name)).collect()
}

/// Names of files that are safe and different, for as many as may have a page.
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

/// The list of runs, each a link to where it begins.
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

/// A number that says nothing of its place, as the original's: programs must not count on an order. Multiplied by an odd
/// number, so that no two are alike.
fn anchor(number: usize) -> u32 {
    (number as u32 + 1).wrapping_mul(0x9E37_79B1) & 0x7FFF_FFFF
}

/// A line where a link leads.
pub(super) fn anchored(number: usize, line: &str) -> String {
    let (anchor, line) = (anchor(number), escaped(line));
    format!("<a name=\"_{anchor}\"></a><i><b>{line}</b></i>")
}

/// Text that is nothing but text on a page.
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
