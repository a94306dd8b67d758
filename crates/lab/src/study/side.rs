//! One configuration of a study: the plan and the targets, with its own settings.

use archive::{Alternative, Screened};
use engine::TargetUrl;

use crate::error::{LabError, Result};
use crate::registry::Registry;
use crate::{Plan, Setting};

#[derive(Debug, Clone)]
pub struct Side {
    pub plan: Plan,
    pub targets: Vec<TargetUrl>,
    pub settings: Vec<String>,
    /// Row of a screening's design, if it is one.
    pub screened: Option<Screened>,
    pub alternative: Option<Alternative>,
}

/// Setting of `--a` or `--b`.
#[derive(Debug, Clone, PartialEq)]
pub enum SideSetting {
    /// A key of the plan, as `--set`.
    Plan(Setting),
    /// `target=URL`: another target; repeated for several.
    Target(TargetUrl),
    /// `target.KEY=VALUE`: a setting of every target's URL.
    TargetSetting(String, String),
}

impl SideSetting {
    pub fn parse(text: &str) -> Result<Self> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| LabError::Plan(format!("\"{text}\" is not KEY=VALUE")))?;
        if key == "target" {
            return Ok(Self::Target(engines::parse(value)?));
        }
        match key.strip_prefix("target.") {
            Some("") => Err(LabError::Plan(format!(
                "\"{text}\" is not a setting; write target.KEY=VALUE"
            ))),
            // A URL would take `&` for the beginning of the next setting.
            Some(_) if value.contains('&') => Err(LabError::Plan(format!(
                "\"{text}\": the value of a target's setting cannot contain &"
            ))),
            Some(name) => Ok(Self::TargetSetting(name.to_owned(), value.to_owned())),
            None => Ok(Self::Plan(Setting::parse(text)?)),
        }
    }
}

impl Side {
    /// Builds a side: the plan's text with the common settings, then its own.
    pub fn new(
        workloads: &Registry,
        plan_text: &str,
        common: &[Setting],
        own: &[String],
        targets: &[TargetUrl],
    ) -> Result<Self> {
        let parsed = (own.iter())
            .map(|text| SideSetting::parse(text))
            .collect::<Result<Vec<_>>>()?;
        let mut of_plan = common.to_vec();
        let mut others = Vec::new();
        for setting in &parsed {
            match setting {
                SideSetting::Plan(setting) if setting.key == "repeat" => {
                    return Err(LabError::Plan(
                        "repeat cannot be set in a study, which repeats in pairs; set the number of pairs"
                            .into(),
                    ));
                }
                SideSetting::Plan(setting) => of_plan.push(setting.clone()),
                SideSetting::Target(url) => others.push(url.clone()),
                SideSetting::TargetSetting(..) => {}
            }
        }
        let targets = (if others.is_empty() { targets } else { &others })
            .iter()
            .map(|url| with_settings(url, &parsed))
            .collect::<Result<Vec<_>>>()?;
        if targets.is_empty() {
            return Err(LabError::Plan(
                "a side of the study has no target; name one".into(),
            ));
        }
        let mut plan = Plan::parse(workloads, plan_text, &of_plan)?;
        // The repetitions of a study are its blocks.
        for step in &mut plan.step {
            step.repeat = None;
        }
        Ok(Self {
            plan,
            targets,
            settings: (own.iter().zip(&parsed))
                .map(|(text, setting)| shown(text, setting))
                .collect(),
            screened: None,
            alternative: None,
        })
    }
}

fn with_settings(url: &TargetUrl, settings: &[SideSetting]) -> Result<TargetUrl> {
    let mut url = url.clone();
    for setting in settings {
        if let SideSetting::TargetSetting(key, value) = setting {
            url = engines::with_setting(url, key, value)?;
        }
    }
    engines::find(&url)?;
    Ok(url)
}

/// A setting as it is archived: without the password of a target.
fn shown(text: &str, setting: &SideSetting) -> String {
    match setting {
        SideSetting::Target(url) => format!("target={url}"),
        _ => text.to_owned(),
    }
}
