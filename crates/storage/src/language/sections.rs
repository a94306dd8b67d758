//! The sections of a file in their order, and the assignment of parameters to definitions.

use super::error::{LanguageError, Result};
use super::general::General;
use super::lexer::Parameter;
use super::limits::NAME_BYTES_MAX;
use super::rd::Rd;
use super::refused::{NO_FILE_SYSTEMS, NO_REPLAY, ONE_MACHINE};
use super::sd::Sd;
use super::wd::Wd;
use super::words::{Definition, Definitions, Section, nearest};

const HEADS: [&str; 4] = ["hd", "sd", "wd", "rd"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    General,
    Host,
    Storage,
    Workload,
    Run,
}

/// Definitions as they were written, with their defaults filled in.
#[derive(Debug)]
pub(super) struct Sections {
    pub general: General,
    pub sds: Definitions<Sd>,
    pub wds: Definitions<Wd>,
    pub rds: Definitions<Rd>,
    part: Part,
}

impl Sections {
    pub fn read(parameters: &[Parameter]) -> Result<Self> {
        let mut sections = Self {
            general: General::default(),
            sds: Definitions::new(),
            wds: Definitions::new(),
            rds: Definitions::new(),
            part: Part::General,
        };
        for parameter in parameters {
            sections.take(parameter)?;
        }
        sections.replicate()?;
        Ok(sections)
    }

    /// A head such as `sd=` begins a definition until its section is over; after that, the same word is a parameter
    /// of the current definition.
    fn take(&mut self, parameter: &Parameter) -> Result<()> {
        let head = match parameter.key.as_str() {
            "hd" => Some(Part::Host),
            "sd" => Some(Part::Storage),
            "wd" => Some(Part::Workload),
            "rd" => Some(Part::Run),
            "fsd" | "fwd" => return Err(parameter.wrong(NO_FILE_SYSTEMS)),
            "rg" => return Err(parameter.wrong(NO_REPLAY)),
            _ => None,
        };
        let Some(part) = head.filter(|part| *part >= self.part) else {
            return self.set(parameter);
        };
        self.part = part;
        match part {
            Part::General => Ok(()),
            Part::Host => begin_host(parameter),
            Part::Storage => self.sds.begin(parameter),
            Part::Workload => self.wds.begin(parameter),
            Part::Run => self.rds.begin(parameter),
        }
    }

    fn set(&mut self, parameter: &Parameter) -> Result<()> {
        match self.part {
            Part::General => known::<General>(self.general.set(parameter)?, parameter),
            Part::Host => set_host(parameter),
            Part::Storage => known::<Sd>(self.sds.set(parameter)?, parameter),
            Part::Workload => known::<Wd>(self.wds.set(parameter)?, parameter),
            Part::Run => known::<Rd>(self.rds.set(parameter)?, parameter),
        }
    }

    /// Writes out `count=`.
    fn replicate(&mut self) -> Result<()> {
        let mut all: Vec<Sd> = Vec::new();
        let mut names = std::collections::BTreeSet::new();
        for sd in &self.sds.named {
            for replica in sd.replicas()? {
                check_name(&replica)?;
                if !names.insert(replica.name.clone()) {
                    return Err(replica.wrong("count= creates this name twice"));
                }
                all.push(replica);
                Definitions::<Sd>::check_number(all.len(), &sd.place)?;
            }
        }
        self.sds.named = all;
        Ok(())
    }
}

/// The journal has the name of its SD and the directory of the list.
fn check_name(sd: &Sd) -> Result<()> {
    let is_odd = |c: char| c == '/' || c.is_control();
    let what = match sd.name.as_str() {
        name if name.len() > NAME_BYTES_MAX => "is longer than 200 bytes",
        name if name.contains(is_odd) => "contains a slash or a control character",
        _ => return Ok(()),
    };
    let name = sd.name.escape_debug();
    Err(sd.place.wrong(format!(
        "sd={name}: the name {what}, and files are named after it; use another"
    )))
}

fn begin_host(parameter: &Parameter) -> Result<()> {
    match parameter.word()? {
        "default" | "localhost" => Ok(()),
        _ => Err(parameter.wrong(ONE_MACHINE)),
    }
}

fn set_host(parameter: &Parameter) -> Result<()> {
    /// Keywords that say how vdbench starts and distributes its processes have no meaning here.
    const WITHOUT_MEANING: [&str; 6] = ["vdbench", "shell", "user", "jvms", "master", "clients"];
    let given = parameter.key.as_str();
    if "system".starts_with(given) && parameter.word()? != "localhost" {
        return Err(parameter.wrong(ONE_MACHINE));
    }
    if "clients".starts_with(given) && parameter.word()? != "1" {
        return Err(parameter.wrong("more than one client cannot be simulated; leave it out"));
    }
    let known = WITHOUT_MEANING.iter().any(|full| full.starts_with(given));
    if known || "system".starts_with(given) {
        return Ok(());
    }
    let own: Vec<&str> = WITHOUT_MEANING.into_iter().chain(["system"]).collect();
    Err(unknown("hd", &own, parameter))
}

fn known<S: Section>(is_known: bool, parameter: &Parameter) -> Result<()> {
    let error = || unknown(S::HEAD, &S::names(), parameter);
    is_known.then_some(()).ok_or_else(error)
}

/// Error of a keyword that a section does not have; it says where the keyword belongs, or which one of `own` may be
/// meant.
fn unknown(section: &str, own: &[&str], parameter: &Parameter) -> LanguageError {
    let given = parameter.key.as_str();
    let general = "the general parameters, which come first";
    let homes = [
        (general, "", General::setter(given).is_some()),
        ("sd=", "sd", Sd::setter(given).is_some()),
        ("wd=", "wd", Wd::setter(given).is_some()),
        ("rd=", "rd", Rd::setter(given).is_some()),
    ];
    let of = if section.is_empty() {
        "the general parameters have".to_owned()
    } else {
        format!("{section}= has")
    };
    let known: Vec<&str> = homes
        .iter()
        .filter(|(_, name, knows)| *knows && *name != section)
        .map(|(home, ..)| *home)
        .collect();
    let belongs = if known.is_empty() {
        let meant = nearest(given, own).or_else(|| nearest(given, &HEADS));
        meant.map_or_else(
            || "see docs/VDBENCH.md for the supported keywords".to_owned(),
            |meant| format!("did you mean {meant}=?"),
        )
    } else {
        format!(
            "{given}= belongs to {} (the order is general, hd, sd, wd, rd)",
            known.join(" or ")
        )
    };
    parameter.wrong(format!(
        "Unknown keyword: {given}; {of} no such keyword; {belongs}"
    ))
}
