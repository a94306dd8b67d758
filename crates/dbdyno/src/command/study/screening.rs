//! A screening of several settings: the rows of a two-level design are the sides of a study, in random rounds.

use anyhow::Result;
use archive::{Factor, Screened};
use lab::Setting;
use lab::study::Side;
use stats::factorial::{FACTORS_MAX, TwoLevel};

use super::cost::Blocks;
use super::request::{StudyRequest, common};
use super::sides;
use crate::arguments::study::Size;
use crate::arguments::{SecretText, urls};
use crate::command::library;
use crate::command::requests::{AbRequest, SideRequest};
use crate::console::say;
use crate::exit::{InvalidInput, Status, invalid};

pub(super) fn carry_out(request: &StudyRequest<'_>, varied: &[Factor]) -> Result<Status> {
    sides::refuse_judging(request)?;
    let design = design(request, varied)?;
    refuse_without_effect(request, varied)?;
    let blocks = blocks(request, request.size(), varied)?;
    let words = report::design_words(design.rows().len(), varied.len(), design.resolution());
    say(&blocks.words(&words));
    sides::agree_to_few(request, blocks)?;
    let row = |high: &Vec<bool>| {
        let row = Screened {
            factors: varied.to_vec(),
            high: high.clone(),
        };
        SideRequest {
            settings: settings_of(varied, high),
            screened: Some(row),
            ..SideRequest::default()
        }
    };
    let study = AbRequest {
        sides: design.rows().iter().map(row).collect(),
        pairs: Some(blocks.rounds),
        ..common(request)?
    };
    sides::measure(request, &study)
}

/// Sides and rounds of the screening of these settings; an error if no design fits their number.
pub(super) fn blocks(request: &StudyRequest<'_>, size: Size, varied: &[Factor]) -> Result<Blocks> {
    let scale = request.built_in.scale(size);
    Ok(Blocks {
        sides: design(request, varied)?.rows().len() as u32,
        rounds: request.arguments.repeat.unwrap_or(scale.rounds()),
    })
}

fn design(request: &StudyRequest<'_>, varied: &[Factor]) -> Result<TwoLevel> {
    let (factors, rows) = (varied.len(), request.keys.configurations);
    let sizes = TwoLevel::sizes(factors);
    TwoLevel::of(factors, rows).ok_or_else(|| {
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let why = match (rows, sizes.as_slice()) {
            (Some(rows), [_, ..]) => format!(
                "--set configurations={rows}: {factors} settings are screened with {}",
                sizes.join(" or ")
            ),
            _ => format!(
                "{factors} settings are too many for one screening: {FACTORS_MAX} at most; screen the others on their own"
            ),
        };
        InvalidInput(why).into()
    })
}

/// The setting with one of its values, in the form for a side.
pub(super) fn set_to(factor: &Factor, value: &str) -> SecretText {
    SecretText::from(format!("{}={value}", factor.key))
}

fn settings_of(varied: &[Factor], high: &[bool]) -> Vec<SecretText> {
    let each = varied.iter().zip(high);
    each.map(|(factor, high)| set_to(factor, if *high { &factor.high } else { &factor.low }))
        .collect()
}

/// Refuses a setting without an effect: both values mean the same, or another setting sets the same key.
fn refuse_without_effect(request: &StudyRequest<'_>, varied: &[Factor]) -> Result<()> {
    let workloads = workloads::registry(library(None)?);
    let text = request.built_in.plan(false)?;
    let common = request.settings();
    let common = common.iter().map(|text| Setting::parse(text));
    let common: Vec<Setting> = common.collect::<lab::Result<_>>()?;
    let targets = urls(&request.targets()?)?;
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
            return invalid(format!(
                "--vary {}: both values give the same configuration, or another --vary sets the same",
                factor.key
            ));
        }
    }
    Ok(())
}
