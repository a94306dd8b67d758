//! Several settings screened: the rows of a two-level design as the sides of a study, in rounds drawn by lot.

use anyhow::Result;
use archive::{Factor, Screened};
use lab::Setting;
use lab::study::Side;
use stats::factorial::{FACTORS_MAX, TwoLevel};

use super::asked::{StudyRequest, common};
use super::cost::Blocks;
use super::many;
use crate::arguments::study::Size;
use crate::arguments::{AbArguments, SecretText, SideAsked, urls};
use crate::command::library;
use crate::exit::{InvalidInput, Status};
use crate::say::say;

pub(super) fn carry_out(asked: &StudyRequest<'_>, varied: &[Factor]) -> Result<Status> {
    many::refuse_judging(asked)?;
    let design = design(asked, varied)?;
    refuse_without_effect(asked, varied)?;
    let blocks = blocks(asked, asked.size(), varied)?;
    let words = report::design_words(design.rows().len(), varied.len(), design.resolution());
    say(&blocks.words(&words));
    many::agree_to_few(asked, blocks)?;
    let row = |high: &Vec<bool>| {
        let row = Screened {
            factors: varied.to_vec(),
            high: high.clone(),
        };
        SideAsked {
            settings: settings_of(varied, high),
            screened: Some(row),
            ..SideAsked::default()
        }
    };
    let arguments = AbArguments {
        sides: design.rows().iter().map(row).collect(),
        pairs: Some(blocks.rounds),
        ..common(asked)?
    };
    many::measure(asked, &arguments)
}

/// Sides and rounds of the screening of these settings.
///
/// # Errors
/// When there is no design for so many.
pub(super) fn blocks(asked: &StudyRequest<'_>, size: Size, varied: &[Factor]) -> Result<Blocks> {
    let scale = asked.built_in.scale(size);
    Ok(Blocks {
        sides: design(asked, varied)?.rows().len() as u32,
        rounds: asked.arguments.pairs.unwrap_or(scale.rounds()),
    })
}

fn design(asked: &StudyRequest<'_>, varied: &[Factor]) -> Result<TwoLevel> {
    let (factors, rows) = (varied.len(), asked.arguments.configurations);
    let sizes = TwoLevel::sizes(factors);
    TwoLevel::of(factors, rows).ok_or_else(|| {
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let why = match (rows, sizes.as_slice()) {
            (Some(rows), [_, ..]) => format!(
                "--configurations {rows}: {factors} settings are screened with {}",
                sizes.join(" or ")
            ),
            _ => format!(
                "{factors} settings are too many for one screening: {FACTORS_MAX} at most; screen the others on their own"
            ),
        };
        InvalidInput(why).into()
    })
}

/// The setting with one of its values, as a side takes it.
pub(super) fn set_to(factor: &Factor, value: &str) -> SecretText {
    SecretText::from(format!("{}={value}", factor.key))
}

fn settings_of(varied: &[Factor], high: &[bool]) -> Vec<SecretText> {
    let each = varied.iter().zip(high);
    each.map(|(factor, high)| set_to(factor, if *high { &factor.high } else { &factor.low }))
        .collect()
}

/// A setting that changes nothing when all others keep their first value: both values mean the same, or another one sets the same.
fn refuse_without_effect(asked: &StudyRequest<'_>, varied: &[Factor]) -> Result<()> {
    let workloads = workload::registry(library(None)?);
    let text = asked.built_in.plan(false)?;
    let common = asked.settings();
    let common = common.iter().map(|text| Setting::parse(text));
    let common: Vec<Setting> = common.collect::<lab::Result<_>>()?;
    let targets = urls(&asked.targets()?)?;
    let configured = |high: &[bool]| -> Result<(String, Vec<String>)> {
        let settings = settings_of(varied, high);
        let own: Vec<String> = settings.iter().map(|s| s.expose().to_owned()).collect();
        let side = Side::new(&workloads, &text, &common, &own, &targets)?;
        let urls = side.targets.iter().map(ToString::to_string);
        Ok((side.plan.to_toml(), urls.collect()))
    };
    let first = configured(&vec![false; varied.len()])?;
    for (number, factor) in varied.iter().enumerate() {
        let high: Vec<bool> = (0..varied.len()).map(|at| at == number).collect();
        if configured(&high)? == first {
            return Err(InvalidInput(format!(
                "--vary {}: both values give the same configuration, or another --vary sets the same",
                factor.key
            ))
            .into());
        }
    }
    Ok(())
}
