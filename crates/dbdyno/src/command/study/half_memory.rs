//! Half of the memory against all of it: pairs of blocks in random order, or the document's order.

use std::collections::BTreeMap;

use anyhow::Result;
use archive::SideLabel;
use engine::TargetUrl;

use super::request::{StudyRequest, common};
use super::runs::{self, Planned};
use super::vary::against;
use crate::arguments::{SecretText, urls};
use crate::command::compare::{How, judge_and_show};
use crate::command::requests::{AbRequest, SideRequest};
use crate::exit::{InvalidInput, Status, invalid};

pub(super) fn carry_out(request: &StudyRequest<'_>) -> Result<Status> {
    if request.is_published() {
        return in_sequence(request);
    }
    if request.is_resumed() {
        return against(request, None);
    }
    let cache = Cache::of(request)?;
    let setting = |value: &str| SecretText::from(format!("target.{}={value}", cache.key));
    let side = |value: &str| SideRequest::of(vec![setting(value)]);
    let study = AbRequest {
        sides: vec![side(&cache.half), side(&cache.all)],
        ..common(request)?
    };
    against(request, Some(study))
}

/// The document's order: all repetitions of one side, then all of the other.
fn in_sequence(request: &StudyRequest<'_>) -> Result<Status> {
    let cache = Cache::of(request)?;
    let sides = [(0, &cache.half), (1, &cache.all)].map(|(side, value)| Planned {
        label: SideLabel::new(&request.name, side).to_string(),
        settings: Vec::new(),
        of_target: BTreeMap::from([(cache.key.to_owned(), value.clone())]),
    });
    let runs = runs::measure(request, &sides)?;
    let [half, all] = runs.as_slice() else {
        unreachable!("each side is a run");
    };
    let how = How {
        watched: &request.watched,
        judging: &request.arguments.judging,
        allow_mismatch: true,
        tables: request.ending.tables(),
        trust_sequential: false,
    };
    let status = judge_and_show(half, all, &how, request.archive_option)?;
    request.end(all, &[half], status)
}

/// The cache setting for half of the memory and for all of it.
struct Cache {
    key: &'static str,
    half: String,
    all: String,
}

impl Cache {
    fn of(request: &StudyRequest<'_>) -> Result<Self> {
        let study = &request.built_in.name;
        let scale = request.built_in.scale(request.size());
        let all_bytes = request.arguments.memory.or(scale.memory_bytes()?);
        let all_bytes = all_bytes.ok_or_else(|| {
            InvalidInput(format!(
                "study {study} needs the whole memory of the database at this size: --memory SIZE"
            ))
        })?;
        let targets = urls(&request.targets()?)?;
        let [target] = targets.as_slice() else {
            return invalid(format!(
                "study {study} sets the memory of the database; name exactly one that dbdyno starts or opens itself, such \
                 as --target postgres+local:"
            ));
        };
        let (key, half) = cache_of(target, all_bytes / 2, request)?;
        let (_, all) = cache_of(target, all_bytes, request)?;
        Ok(Self { key, half, all })
    }
}

/// The setting for a cache of this size.
fn cache_of(
    url: &TargetUrl,
    bytes: u64,
    request: &StudyRequest<'_>,
) -> Result<(&'static str, String)> {
    let study = &request.built_in.name;
    let Some((key, value)) = engines::find(url)?.cache_setting(bytes) else {
        return invalid(format!(
            "study {study} sets the memory of the database, which dbdyno cannot do for {url}; name a local server, or change \
             it yourself and measure with `dbdyno study storage-update --change TEXT`"
        ));
    };
    // The URL of a resumed run already contains the study's value.
    if url.settings.contains_key(key) && !request.is_resumed() {
        return invalid(format!(
            "{url} sets {key}, which study {study} sets itself; use --memory SIZE"
        ));
    }
    Ok((key, value))
}
