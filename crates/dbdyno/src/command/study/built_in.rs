//! Built-in studies: plans with sizes, as data in `plans/studies`.

use std::collections::BTreeMap;

use archive::{Remark, SideLabel};
use column_store::Level;
use columnar::memory::bytes_of;
use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::arguments::positional::Kind;
use crate::arguments::study::Size;
use crate::exit::invalid;

static STUDIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plans/studies");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltIn {
    pub name: String,
    /// Number of the published report whose method it repeats, as in `dbdyno list references`; "–" for an original study.
    pub document: String,
    pub about: String,
    pub design: Design,
    /// References shown on its page.
    #[serde(default)]
    pub references: Vec<String>,
    /// Default database; without it SQLite and DuckDB in files.
    pub target: Option<String>,
    /// Default settings to vary, as `KEY=A,B`.
    #[serde(default)]
    pub vary: Vec<String>,
    /// The sides, each on a layout.
    #[serde(default, rename = "side")]
    pub sides: Vec<SideOfStudy>,
    /// The document's own protocol; `None` without a document.
    pub published: Option<Published>,
    sizes: Sizes,
    plan: toml::Table,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideOfStudy {
    /// By default the name of its layout.
    pub name: Option<String>,
    /// By default the description of its layout.
    pub about: Option<String>,
    pub layout: String,
    /// Further settings by engine.
    #[serde(default)]
    pub on: BTreeMap<String, OfEngine>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfEngine {
    /// Settings of the target's URL, as `KEY=VALUE`.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Remarks that readers of the results must not miss.
    #[serde(default)]
    pub remarks: Vec<Remark>,
}

/// Design of a study: the kind of its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    Layouts,
    /// Before and after a change that dbdyno cannot make itself.
    Change,
    /// Half of the database's memory and all of it.
    Memory,
    Runs,
    Vary,
}

/// A document's own protocol beyond its sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Keys of the plan, after those of the size.
    #[serde(default)]
    pub settings: Vec<String>,
    pub unsound: Vec<Remark>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    quick: Scale,
    fit: Scale,
    published: Scale,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Work that it measures, without its duration.
    pub about: String,
    /// Keys of the plan, as for `--set`.
    #[serde(default)]
    pub settings: Vec<String>,
    /// The full memory of the database, as "64MB".
    memory: Option<String>,
    /// Pairs of blocks, if not the default of `dbdyno ab`.
    pub pairs: Option<u32>,
    /// Rounds of blocks with more than two sides.
    rounds: Option<u32>,
    /// Factor on the file sizes of layouts.
    devices_times: Option<u64>,
    #[serde(default)]
    levels: Vec<String>,
    /// Runs; by default a single one.
    #[serde(default)]
    runs: Vec<Part>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Suffix of its label.
    pub name: String,
    /// Keys of the plan that only this run sets.
    pub settings: Vec<String>,
}

impl Part {
    pub fn label(&self, study: &str) -> String {
        match self.name.as_str() {
            "" => study.to_owned(),
            own => format!("{study}-{own}"),
        }
    }
}

const ROUNDS_DEFAULT: u32 = 6;

impl Scale {
    pub fn devices_times(&self) -> u64 {
        self.devices_times.unwrap_or(1)
    }

    /// Rounds of blocks with more than two sides.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS_DEFAULT)
    }

    /// The runs; by default a single one without a name.
    pub fn parts(&self) -> Vec<Part> {
        if self.runs.is_empty() {
            vec![Part::default()]
        } else {
            self.runs.clone()
        }
    }

    /// The full memory of the database; an error if the file's value is no size.
    pub fn memory_bytes(&self) -> anyhow::Result<Option<u64>> {
        let bytes = self.memory.as_deref().map(bytes_of).transpose();
        bytes.map_err(anyhow::Error::msg)
    }

    pub fn levels(&self) -> anyhow::Result<Vec<Level>> {
        let levels = self.levels.iter().map(|word| word.parse::<Level>());
        levels.collect::<Result<_, _>>().map_err(anyhow::Error::msg)
    }
}

impl BuiltIn {
    /// The names of all, for positional arguments.
    pub fn kind() -> anyhow::Result<Kind> {
        let names = Self::all()?.into_iter().map(|study| study.name);
        Ok(Kind {
            noun: "study",
            names: names.collect(),
            lister: "list studies",
        })
    }

    pub fn all() -> anyhow::Result<Vec<Self>> {
        let texts = STUDIES.files().filter_map(|file| file.contents_utf8());
        let studies = texts.map(|text| Ok(toml::from_str::<Self>(text)?));
        let mut studies = studies.collect::<anyhow::Result<Vec<_>>>()?;
        studies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(studies)
    }

    /// The study of this name; the error lists all names.
    pub fn named(name: &str) -> anyhow::Result<Self> {
        let mut studies = Self::all()?;
        if let Some(at) = studies.iter().position(|study| study.name == name) {
            return Ok(studies.swap_remove(at));
        }
        let names: Vec<&str> = studies.iter().map(|study| study.name.as_str()).collect();
        let hint = archive::nearest(name, &names);
        invalid(format!(
            "there is no study \"{name}\"{hint}; the built-in studies are {}",
            names.join(", ")
        ))
    }

    /// The plan as text; with the document's own protocol it includes the flaws.
    pub fn plan(&self, is_published: bool) -> anyhow::Result<String> {
        let mut plan = self.plan.clone();
        if let Some(published) = self.published.as_ref().filter(|_| is_published) {
            let unsound = toml::Value::try_from(&published.unsound)?;
            plan.insert("unsound".to_owned(), unsound);
        }
        Ok(plan.to_string())
    }

    pub fn first_label(&self, study: &str) -> String {
        match self.design {
            Design::Change => format!("{study}-before"),
            Design::Layouts | Design::Memory | Design::Vary => SideLabel::new(study, 0).to_string(),
            Design::Runs => {
                let first = self.sizes.quick.parts().into_iter().next();
                first.unwrap_or_default().label(study)
            }
        }
    }

    pub fn scale(&self, size: Size) -> &Scale {
        match size {
            Size::Quick => &self.sizes.quick,
            Size::Fit => &self.sizes.fit,
            Size::Published => &self.sizes.published,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use lab::{Plan, Setting};

    use super::*;

    #[test]
    fn every_study_is_a_plan_in_every_size() {
        let workloads = workloads::registry(workload::Library::embedded().unwrap());
        let studies = BuiltIn::all().unwrap();
        assert!(!studies.is_empty());
        for study in studies {
            for name in &study.references {
                archive::reference::load(name).unwrap();
            }
            for size in Size::value_variants() {
                let scale = study.scale(*size);
                scale.levels().unwrap();
                let memory = scale.memory_bytes().unwrap();
                assert_eq!(memory.is_some(), study.design == Design::Memory);
                // `list studies` shows the seconds of its plan in another column.
                let duplicates = ["minutes", "hour", "day"].map(|word| scale.about.contains(word));
                assert_eq!(duplicates, [false; 3], "{}: {}", study.name, scale.about);
                let is_of_alternatives = matches!(study.design, Design::Layouts | Design::Vary);
                assert_eq!(study.published.is_none(), is_of_alternatives);
                assert!(scale.runs.is_empty() || study.design == Design::Runs);
                let published = study.published.as_ref();
                let of_protocol = [None, published];
                for (part, protocol) in (scale.parts().iter())
                    .flat_map(|part| of_protocol.map(|protocol| (part, protocol)))
                {
                    let of_protocol = protocol.iter().flat_map(|published| &published.settings);
                    let settings = scale.settings.iter().chain(of_protocol);
                    let settings = settings.chain(&part.settings);
                    let settings = settings.map(|text| Setting::parse(text).unwrap());
                    let settings: Vec<Setting> = settings.collect();
                    let text = study.plan(protocol.is_some()).unwrap();
                    let plan = Plan::parse(&workloads, &text, &settings).unwrap();
                    // Flaws travel with the plan into the archive.
                    let unsound = protocol.map_or(&[][..], |published| &published.unsound);
                    assert_eq!(plan.unsound, unsound);
                    let mut run = archive::Run::planned(&plan.name);
                    run.plan_toml = plan.to_toml();
                    assert_eq!(run.unsound(), unsound);
                    assert_eq!(plan.name, study.name);
                    let is_compared = study.design != Design::Runs;
                    assert!(!is_compared || !plan.primary.is_empty(), "{}", study.name);
                    // A resumed study is recognised by the label of its first run, at any size.
                    let first = scale.parts()[0].label("s");
                    assert!(study.design != Design::Runs || study.first_label("s") == first);
                }
            }
        }
    }

    #[test]
    fn an_unknown_study_is_named_with_similar_ones() {
        let error = BuiltIn::named("storage-updates").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no study \"storage-updates\" (did you mean \"storage-update\"?); the built-in studies are backup, backup-half, inmemory, layouts, \
             memory, memory-queries, platform, redo, settings, storage-update, versions"
        );
    }
}
