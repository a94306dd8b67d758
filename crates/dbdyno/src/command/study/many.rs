//! Studies of more than two sides: measured in rounds drawn by lot, and judged together.

use anyhow::{Result, anyhow};
use archive::Run;
use stats::contrast::ROUNDS_MIN;

use super::asked::{StudyRequest, common, judged};
use super::cost::Blocks;
use crate::arguments::AbArguments;
use crate::command::ab::measured;
use crate::command::many::{judge_and_show_all, refuse_of_two};
use crate::exit::Status;

/// Measures the sides, prints what was found and writes the page.
///
/// # Errors
/// What is wrong with them, or ended it.
pub(super) fn measure(asked: &StudyRequest<'_>, arguments: &AbArguments) -> Result<Status> {
    let runs = measured(arguments, asked.archive_asked, &asked.watched)
        .map_err(|error| asked.of_study(error))?;
    let runs: Vec<&Run> = runs.iter().collect();
    let status = judge_and_show_all(&runs, &asked.arguments.judging, &asked.watched)?;
    let status = status.ok_or_else(|| anyhow!("the sides are of no study of more than two"))?;
    if let Some((first, others)) = runs.split_first() {
        asked.write_page(first, others)?;
    }
    Ok(judged(status, &runs))
}

/// Goes on with a study that was interrupted.
///
/// # Errors
/// As [`measure`].
pub(super) fn resume(asked: &StudyRequest<'_>) -> Result<Status> {
    refuse_judging(asked)?;
    asked.refuse_settled()?;
    let arguments = AbArguments {
        resume: Some(asked.name.clone()),
        ..common(asked)?
    };
    measure(asked, &arguments)
}

/// What belongs to comparisons of two sides alone.
///
/// # Errors
/// When it is asked for.
pub(super) fn refuse_judging(asked: &StudyRequest<'_>) -> Result<()> {
    Ok(refuse_of_two(&asked.arguments.judging)?)
}

/// Asks whether a study is meant that has too few rounds for any verdict.
///
/// # Errors
/// When it is not.
pub(super) fn agree_to_few(asked: &StudyRequest<'_>, blocks: Blocks) -> Result<()> {
    if blocks.rounds as usize >= ROUNDS_MIN {
        return Ok(());
    }
    let reason = format!(
        "no verdict is possible with --rounds {}: an interval needs {ROUNDS_MIN}",
        blocks.rounds
    );
    let permission = &asked.arguments.permission;
    permission.agree(&reason, "raise --rounds")
}
