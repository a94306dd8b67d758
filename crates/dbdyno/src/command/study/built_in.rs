//! Built-in studies: plans with sizes, as data in `plans/studies`.

use std::collections::BTreeMap;

use archive::{Remark, SideLabel};
use column_store::Level;
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use workload::columnar::memory::bytes_of;

use crate::arguments::study::Size;
use crate::exit::InvalidInput;

static STUDIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plans/studies");

/// A study as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltIn {
    pub name: String,
    /// Number of the published report whose method it repeats, as in `dbdyno list references`; "–" for one of our own.
    pub document: String,
    pub about: String,
    pub design: Design,
    /// Published figures that stand on its page.
    #[serde(default)]
    pub references: Vec<String>,
    /// Database that is measured when none is named; SQLite and DuckDB in files where nothing is said.
    pub target: Option<String>,
    /// What is varied when nothing is said, as `KEY=A,B`.
    #[serde(default)]
    pub vary: Vec<String>,
    /// The sides, each on a layout.
    #[serde(default, rename = "side")]
    pub sides: Vec<SideOfStudy>,
    /// The document's own protocol; `None` where there is no document.
    pub published: Option<Published>,
    sizes: Sizes,
    plan: toml::Table,
}

/// A side on a layout of its own.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideOfStudy {
    /// As its layout is called, where nothing is said.
    pub name: Option<String>,
    /// As its layout has it, where nothing is said.
    pub about: Option<String>,
    /// A built-in layout, or a file.
    pub layout: String,
    /// What else it sets, by engine; nothing where there is none.
    #[serde(default)]
    pub on: BTreeMap<String, OfEngine>,
}

/// What a side sets of an engine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfEngine {
    /// Settings of the target's URL, as `KEY=VALUE`.
    #[serde(default)]
    pub settings: Vec<String>,
    /// What its results must not be read without.
    #[serde(default)]
    pub remarks: Vec<Remark>,
}

/// What is measured against what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// Layouts against each other, in all pairs.
    Layouts,
    /// Before and after a change that dbdyno cannot make itself.
    Change,
    /// Half of the database's memory and all of it.
    Memory,
    /// One run, or several that differ in their size.
    Runs,
    /// Values of settings against each other.
    Vary,
}

/// What a document's own protocol has beyond its sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Keys of the plan, behind those of the size.
    #[serde(default)]
    pub settings: Vec<String>,
    /// What is unsound in it.
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
    /// Keys of the plan, as `--set` takes them.
    #[serde(default)]
    pub settings: Vec<String>,
    /// All the memory of the database, as "64MB".
    memory: Option<String>,
    /// Pairs of blocks, where they are not those of `dbdyno ab`.
    pub pairs: Option<u32>,
    /// Rounds of blocks where there are more than two sides.
    rounds: Option<u32>,
    /// How many times as large as they are the files of layouts are made.
    devices_times: Option<u64>,
    /// Levels of an in-memory column store that tables are lifted to.
    #[serde(default)]
    levels: Vec<String>,
    /// Runs; a single one when nothing is said.
    #[serde(default)]
    runs: Vec<Part>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What its label ends with.
    pub name: String,
    /// Keys of the plan that it sets alone.
    pub settings: Vec<String>,
}

impl Part {
    /// Label of the run in a study of this name.
    pub fn label(&self, study: &str) -> String {
        match self.name.as_str() {
            "" => study.to_owned(),
            own => format!("{study}-{own}"),
        }
    }
}

/// Rounds where the size says nothing.
const ROUNDS_DEFAULT: u32 = 6;

impl Scale {
    /// How many times as large as they are the files of layouts are made.
    pub fn devices_times(&self) -> u64 {
        self.devices_times.unwrap_or(1)
    }

    /// Rounds of blocks where there are more than two sides.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS_DEFAULT)
    }

    /// The runs: a single one without a name of its own where nothing is said.
    pub fn parts(&self) -> Vec<Part> {
        if self.runs.is_empty() {
            vec![Part::default()]
        } else {
            self.runs.clone()
        }
    }

    /// All the memory of the database.
    ///
    /// # Errors
    /// When what the file says is no size.
    pub fn memory_bytes(&self) -> anyhow::Result<Option<u64>> {
        let bytes = self.memory.as_deref().map(bytes_of).transpose();
        bytes.map_err(anyhow::Error::msg)
    }

    /// Levels of an in-memory column store.
    ///
    /// # Errors
    /// When one is none.
    pub fn levels(&self) -> anyhow::Result<Vec<Level>> {
        let levels = self.levels.iter().map(|word| word.parse::<Level>());
        levels.collect::<Result<_, _>>().map_err(anyhow::Error::msg)
    }
}

impl BuiltIn {
    pub fn all() -> anyhow::Result<Vec<Self>> {
        let texts = STUDIES.files().filter_map(|file| file.contents_utf8());
        let studies = texts.map(|text| Ok(toml::from_str::<Self>(text)?));
        let mut studies = studies.collect::<anyhow::Result<Vec<_>>>()?;
        studies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(studies)
    }

    /// The one of this name.
    ///
    /// # Errors
    /// When there is none: those that there are.
    pub fn named(name: &str) -> anyhow::Result<Self> {
        let mut studies = Self::all()?;
        if let Some(at) = studies.iter().position(|study| study.name == name) {
            return Ok(studies.swap_remove(at));
        }
        let names: Vec<&str> = studies.iter().map(|study| study.name.as_str()).collect();
        let hint = archive::nearest(name, &names);
        Err(InvalidInput(format!(
            "there is no study \"{name}\"{hint}; the built-in studies are {}",
            names.join(", ")
        ))
        .into())
    }

    /// Its plan, as text; with the document's own protocol it tells what is unsound in that.
    ///
    /// # Errors
    /// When that cannot be written as TOML.
    pub fn plan(&self, is_published: bool) -> anyhow::Result<String> {
        let mut plan = self.plan.clone();
        if let Some(published) = self.published.as_ref().filter(|_| is_published) {
            let unsound = toml::Value::try_from(&published.unsound)?;
            plan.insert("unsound".to_owned(), unsound);
        }
        Ok(plan.to_string())
    }

    /// Label of the run that a study of this name is begun with.
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
        let workloads = workload::registry(workload::Library::embedded().unwrap());
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
                let told = ["minutes", "hour", "day"].map(|word| scale.about.contains(word));
                assert_eq!(told, [false; 3], "{}: {}", study.name, scale.about);
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
                    // What is unsound goes with the plan into the archive.
                    let unsound = protocol.map_or(&[][..], |published| &published.unsound);
                    assert_eq!(plan.unsound, unsound);
                    let mut run = archive::Run::planned(&plan.name);
                    run.plan_toml = plan.to_toml();
                    assert_eq!(run.unsound(), unsound);
                    assert_eq!(plan.name, study.name);
                    let is_compared = study.design != Design::Runs;
                    assert!(!is_compared || !plan.primary.is_empty(), "{}", study.name);
                    // A resumed study is known by the label of its first run, whatever its size.
                    let first = scale.parts()[0].label("s");
                    assert!(study.design != Design::Runs || study.first_label("s") == first);
                }
            }
        }
    }

    #[test]
    fn a_study_that_is_not_there_is_named_with_what_is_near() {
        let error = BuiltIn::named("storage-updates").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no study \"storage-updates\" (did you mean \"storage-update\"?); the built-in studies are backup, backup-half, inmemory, layouts, \
             memory, memory-queries, platform, redo, settings, storage-update, versions"
        );
    }
}
