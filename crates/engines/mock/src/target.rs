//! The engine and its target.

use std::sync::Arc;

use archive::TargetRecord;

use super::pace::{Pace, SETTINGS};
use super::session::MockSession;
use engine::inspection::Inspection;
use engine::{Cooled, Feature, Result, Session, Target, TargetUrl};
use engine::{Engine, EngineInfo, Reach};

/// Statements cannot change without a release of dbdyno, so its version is theirs.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const ENGINE: &str = "no database (mock)";

pub struct Mock;

impl Engine for Mock {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "mock",
            title: "no database: statements of a given duration, to measure dbdyno itself",
            reach: Reach::Nowhere,
            settings: SETTINGS,
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        Ok(VERSION.to_owned())
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        Pace::from_url(url).map(|_| ())
    }

    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        let mut found = Inspection {
            engine: ENGINE.into(),
            version: VERSION.into(),
            settings: Pace::from_url(url)?.record(),
            rules: "rule = []",
            ..Inspection::default()
        };
        found.lack(lacks);
        found.notes.push(
            "mock only spends time, to measure dbdyno itself: no figure of it is one of a database"
                .into(),
        );
        Ok(found)
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        Ok(Arc::new(MockTarget {
            url: url.to_string(),
            pace: Pace::from_url(url)?,
        }))
    }
}

struct MockTarget {
    url: String,
    pace: Pace,
}

fn lacks(feature: Feature) -> Option<String> {
    let what = match feature {
        Feature::Tables | Feature::KeylessTables => "tables",
        Feature::Storage | Feature::ColdCache | Feature::RandomBlockRead => "storage",
        Feature::Compression => "tables to compress",
        Feature::ConcurrentWriters => "rows to write",
        Feature::ParallelStatement => "statements on several threads",
        Feature::ProceduralLanguage => "procedural language",
        Feature::SmallTransactions => "transactions",
    };
    Some(format!("mock is not a database and has no {what}"))
}

impl Target for MockTarget {
    fn record(&self) -> TargetRecord {
        TargetRecord {
            name: "mock".into(),
            url: self.url.clone(),
            engine: ENGINE.into(),
            engine_version: VERSION.into(),
            nodes: 1,
            device: None,
            settings: self.pace.record(),
            rights_missing: None,
        }
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        lacks(feature)
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(MockSession::new(&self.pace)))
    }

    fn cool(&self) -> Result<Cooled> {
        Ok(Cooled::Lukewarm(
            "mock stores nothing and has no cold state".into(),
        ))
    }
}
