//! Targets of a run: URLs of one engine are the nodes of a cluster, different engines are separate targets.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::lock_file::real_path;
use archive::{Remark, Run, TargetRecord};
use column_store::Replica;
use engine::{Feature, Reach, Target, TargetUrl};

use crate::Result;

/// One target of a run: a database, or the nodes of a cluster of one engine.
pub struct Nodes {
    /// Name of the engine in the library's files.
    pub engine: String,
    pub nodes: Vec<Arc<dyn Target>>,
    pub is_embedded: bool,
    /// Threads inside one statement when each was opened, for tests that do not sweep them.
    threads: Vec<u32>,
}

/// Groups URLs by engine, in the order in which the engines are first named; touches no target.
///
/// # Errors
/// A URL is invalid, or two of them name the same file.
pub fn group(urls: &[TargetUrl]) -> Result<Vec<Vec<TargetUrl>>> {
    let mut groups: Vec<Vec<TargetUrl>> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for url in urls {
        let mut url = url.clone();
        engines::find(&url)?;
        if let Some(file) = engines::file(&url) {
            // A run may be resumed from another directory.
            let file = std::path::absolute(&file).unwrap_or(file);
            url.path = file.display().to_string();
            let file = real_path(&file);
            if files.contains(&file) {
                return Err(crate::LabError::Plan(format!(
                    "target {url} is named twice; name each database once"
                )));
            }
            files.push(file);
        }
        match groups.iter_mut().find(|g| g[0].scheme == url.scheme) {
            Some(group) => group.push(url),
            None => groups.push(vec![url]),
        }
    }
    Ok(groups)
}

/// URLs of a target's nodes, joined by [`Nodes::record`]. Paths may hold spaces, so only a space before a scheme
/// separates two of them.
pub fn urls_of(record: &TargetRecord) -> Result<Vec<TargetUrl>> {
    let scheme = format!("{}:", record.name);
    let mut urls = vec![String::new()];
    for word in record.url.split(' ') {
        match urls.last_mut() {
            Some(url) if !word.starts_with(&scheme) => {
                url.push(' ');
                url.push_str(word);
            }
            Some(url) if url.is_empty() => url.push_str(word),
            _ => urls.push(word.to_owned()),
        }
    }
    let urls = urls.iter().map(|url| Ok(engines::parse(url)?));
    urls.collect()
}

pub fn urls_of_run(run: &Run) -> Result<Vec<TargetUrl>> {
    let each = run.targets.iter().map(urls_of);
    Ok(each.collect::<Result<Vec<_>>>()?.concat())
}

impl Nodes {
    pub fn open(urls: &[TargetUrl]) -> Result<Self> {
        Self::open_each(urls, engines::open)
    }

    /// Opens the databases of one group with `open_one`.
    pub(crate) fn open_each(
        urls: &[TargetUrl],
        open: impl Fn(&TargetUrl) -> engine::Result<Arc<dyn Target>>,
    ) -> Result<Self> {
        let nodes = urls
            .iter()
            .map(|url| {
                let _open = tracing::info_span!("open", %url).entered();
                open(url)
            })
            .collect::<engine::Result<Vec<_>>>()?;
        Ok(Self {
            engine: urls[0].engine().to_owned(),
            threads: nodes.iter().map(|node| node.threads()).collect(),
            nodes,
            is_embedded: matches!(
                engines::find(&urls[0])?.reach(),
                Reach::Embedded | Reach::Replica
            ),
        })
    }

    /// Sets the threads inside one statement on every node: those of a sweep, otherwise those that the target was
    /// opened with, which an earlier sweep has changed.
    pub fn set_threads(&self, swept: Option<u32>) -> engine::Result<()> {
        for (node, opened) in self.nodes.iter().zip(&self.threads) {
            let wanted = swept.unwrap_or(*opened);
            if node.threads() != wanted {
                node.set_threads(wanted)?;
            }
        }
        Ok(())
    }

    /// First node, which represents all.
    pub fn first(&self) -> &Arc<dyn Target> {
        &self.nodes[0]
    }

    /// A secondary schema in each database, for tables of the same names.
    pub fn secondary_schema(&self, name: &str) -> engine::Result<Self> {
        let nodes = self.nodes.iter().map(|node| node.secondary_schema(name));
        let nodes = nodes.collect::<engine::Result<Vec<_>>>()?;
        Ok(Self {
            engine: self.engine.clone(),
            threads: nodes.iter().map(|node| node.threads()).collect(),
            is_embedded: self.is_embedded,
            nodes,
        })
    }

    /// Another database of the same engine with the threads of these.
    pub fn replaced_by(&self, database: Arc<dyn Target>) -> engine::Result<Self> {
        database.set_threads(self.first().threads())?;
        Ok(Self {
            engine: self.engine.clone(),
            threads: vec![database.threads()],
            is_embedded: self.is_embedded,
            nodes: vec![database],
        })
    }

    pub fn record(&self) -> TargetRecord {
        let mut record = self.first().record();
        record.nodes = self.nodes.len() as u32;
        for other in &self.nodes[1..] {
            record.url.push(' ');
            record.url.push_str(&other.record().url);
        }
        record
    }

    pub fn data_path(&self) -> Option<&Path> {
        self.first().data_path()
    }

    /// The first node as a copy of another target's tables; `None` for an original.
    pub fn replica(&self) -> Option<&Replica> {
        Replica::of(self.first().as_ref())
    }

    pub fn is_replica(&self) -> bool {
        self.replica().is_some()
    }

    pub fn read_only(&self) -> Option<Remark> {
        let why = self.first().read_only()?;
        Some(Remark::ReadOnly { why })
    }

    pub fn lacks(&self, feature: Feature) -> Option<String> {
        self.first().lacks(feature)
    }
}

/// First target with original tables, from which replicas are filled.
pub fn source_of(targets: &[Nodes]) -> Option<&Nodes> {
    targets.iter().find(|target| !target.is_replica())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(urls: &[&str]) -> Vec<TargetUrl> {
        let urls = urls.iter().map(|url| engines::parse(url).unwrap());
        urls.collect()
    }

    #[test]
    fn a_file_by_two_names_is_named_twice() {
        let pairs = [
            ["sqlite:a.db", "sqlite:./a.db"],
            ["sqlite:a.db", "sqlite:a.db?cache_mb=8"],
            ["sqlite:a.db", "duckdb:a.db"],
        ];
        for pair in pairs {
            let message = group(&parsed(&pair)).unwrap_err().to_string();
            assert!(message.contains("named twice"), "{pair:?}: {message}");
        }
        let different = ["sqlite:a.db", "sqlite:b.db", "sqlite:", "sqlite:"];
        assert_eq!(group(&parsed(&different)).unwrap()[0].len(), 4);
    }

    #[test]
    fn urls_come_apart_as_they_were_joined() {
        for urls in [
            &["sqlite:/a b/c.db"][..],
            &["sqlite:/a b/c.db", "sqlite:/d.db", "sqlite:/e f"],
            &["sqlite:", "sqlite:"],
        ] {
            let record = TargetRecord {
                name: "sqlite".into(),
                url: urls.join(" "),
                ..TargetRecord::default()
            };
            assert_eq!(urls_of(&record).unwrap(), parsed(urls));
        }
    }
}
