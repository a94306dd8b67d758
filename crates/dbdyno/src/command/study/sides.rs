//! Studies with more than two sides: measured in random rounds, and judged together.

use anyhow::{Result, anyhow};
use archive::Run;
use stats::contrast::ROUNDS_MIN;

use super::cost::Blocks;
use super::request::{StudyRequest, common};
use crate::command::ab::measured;
use crate::command::requests::AbRequest;
use crate::command::sides::{judge_and_show_all, refuse_of_two};
use crate::exit::Status;

/// Measures the sides, prints the result and writes the page.
pub(super) fn measure(request: &StudyRequest<'_>, study: &AbRequest) -> Result<Status> {
    let runs = measured(study, request.archive_option, &request.watched)?;
    let runs: Vec<&Run> = runs.iter().collect();
    let (judging, tables) = (&request.arguments.judging, request.ending.tables());
    let status = judge_and_show_all(&runs, judging, tables, &request.watched)?;
    match (status, runs.split_first()) {
        (Some(status), Some((first, others))) => request.end(first, others, status),
        _ => Err(anyhow!("the sides are of no study of more than two")),
    }
}

pub(super) fn resume(request: &StudyRequest<'_>) -> Result<Status> {
    refuse_judging(request)?;
    request.refuse_settled()?;
    measure(request, &common(request)?.resumed(&request.name))
}

/// Refuses options that only comparisons of two sides have.
pub(super) fn refuse_judging(request: &StudyRequest<'_>) -> Result<()> {
    Ok(refuse_of_two(&request.arguments.judging)?)
}

/// Asks for consent to a study with too few rounds for any verdict.
pub(super) fn agree_to_few(request: &StudyRequest<'_>, blocks: Blocks) -> Result<()> {
    if blocks.rounds as usize >= ROUNDS_MIN {
        return Ok(());
    }
    let reason = format!(
        "no verdict is possible with --repeat {}: an interval needs {ROUNDS_MIN}",
        blocks.rounds
    );
    let permission = &request.arguments.options.permission;
    permission.agree(&reason, "raise --repeat")
}
