//! Half of the memory against all of it: pairs of blocks, in an order drawn by lot, or as the document did it.

use std::collections::BTreeMap;

use anyhow::Result;
use archive::SideLabel;
use engine::TargetUrl;

use super::asked::{StudyRequest, common, judged};
use super::parts::{self, Planned};
use super::vary::against;
use crate::arguments::{AbArguments, SecretText, urls};
use crate::command::compare::{How, judge_and_show};
use crate::exit::{InvalidInput, Status};

pub(super) fn carry_out(asked: &StudyRequest<'_>) -> Result<Status> {
    if asked.is_published() {
        return in_sequence(asked);
    }
    if asked.is_resumed() {
        return against(asked, None);
    }
    let cache = Cache::of(asked)?;
    let side = |value: &str| vec![SecretText::from(format!("target.{}={value}", cache.key))];
    let arguments = AbArguments {
        a: side(&cache.half),
        b: side(&cache.all),
        ..common(asked)?
    };
    against(asked, Some(arguments))
}

/// As the document did it: all of one side, then all of the other.
fn in_sequence(asked: &StudyRequest<'_>) -> Result<Status> {
    let cache = Cache::of(asked)?;
    let sides = [(0, &cache.half), (1, &cache.all)].map(|(side, value)| Planned {
        label: SideLabel::new(&asked.name, side).to_string(),
        settings: Vec::new(),
        of_target: BTreeMap::from([(cache.key.to_owned(), value.clone())]),
    });
    let runs = parts::measure(asked, &sides)?;
    let [half, all] = runs.as_slice() else {
        unreachable!("each side is a run");
    };
    let how = How {
        watched: &asked.watched,
        judging: &asked.arguments.judging,
        anyway: true,
        trust_sequential: false,
    };
    let status = judge_and_show(half, all, &how, asked.archive_asked)?;
    asked.write_page(all, &[half])?;
    Ok(judged(status, &[half, all]))
}

/// The setting that gives a database half of its memory, and all of it.
struct Cache {
    key: &'static str,
    half: String,
    all: String,
}

impl Cache {
    fn of(asked: &StudyRequest<'_>) -> Result<Self> {
        let study = &asked.built_in.name;
        let scale = asked.built_in.scale(asked.size());
        let all_bytes = asked.arguments.memory.or(scale.memory_bytes()?);
        let all_bytes = all_bytes.ok_or_else(|| {
            InvalidInput(format!(
                "study {study} needs the whole memory of the database at this size: --memory SIZE"
            ))
        })?;
        let targets = urls(&asked.targets()?)?;
        let [target] = targets.as_slice() else {
            let why = format!(
                "study {study} sets the memory of the database; name exactly one that dbdyno starts or opens itself, such \
                 as --target postgres+local:"
            );
            return Err(InvalidInput(why).into());
        };
        let (key, half) = cache_of(target, all_bytes / 2, asked)?;
        let (_, all) = cache_of(target, all_bytes, asked)?;
        Ok(Self { key, half, all })
    }
}

/// The setting that gives a database so large a cache.
fn cache_of(
    url: &TargetUrl,
    bytes: u64,
    asked: &StudyRequest<'_>,
) -> Result<(&'static str, String)> {
    let study = &asked.built_in.name;
    let Some((key, value)) = engines::find(url)?.cache_setting(bytes) else {
        let why = format!(
            "study {study} sets the memory of the database, which dbdyno cannot do for {url}; name a local server, or change \
             it yourself and measure with `dbdyno study storage-update --pause`"
        );
        return Err(InvalidInput(why).into());
    };
    // The URL of a run that was begun has the value that the study set.
    if url.settings.contains_key(key) && !asked.is_resumed() {
        let why = format!("{url} sets {key}, which study {study} sets itself; use --memory SIZE");
        return Err(InvalidInput(why).into());
    }
    Ok((key, value))
}
