//! Half of the memory against all of it: pairs of blocks, in an order drawn by lot.

use anyhow::Result;
use target::TargetUrl;

use super::asked::{Asked, judged};
use crate::arguments::{AbArguments, SecretText, urls};
use crate::command::ab::{measured, show};
use crate::exit::{InvalidInput, Status};

pub(super) fn carry_out(asked: &Asked<'_>) -> Result<Status> {
    let arguments = match asked.is_resumed() {
        true => {
            asked.refuse_size()?;
            AbArguments {
                resume: Some(asked.name.clone()),
                ..common(asked)
            }
        }
        false => new(asked)?,
    };
    let [half, all] =
        measured(&arguments, asked.archive_asked).map_err(|error| asked.of_study(error))?;
    let status = show(&half, &all, &arguments, asked.archive_asked)?;
    asked.write_page(&all, &[&half])?;
    Ok(judged(status, &[&half, &all]))
}

/// What a study has whether it begins or goes on.
fn common(asked: &Asked<'_>) -> AbArguments {
    let arguments = asked.arguments;
    AbArguments {
        plan: asked.built_in.name.clone(),
        plan_text: Some(asked.built_in.plan()),
        a: Vec::new(),
        b: Vec::new(),
        pairs: arguments.pairs,
        until: None,
        within: None,
        interleave: None,
        targets: Vec::new(),
        name: None,
        settings: Vec::new(),
        seed: arguments.seed,
        resume: None,
        library: None,
        work_dir: arguments.work_dir.clone(),
        platform: arguments.platform.clone(),
        server: arguments.server.clone(),
        permission: arguments.permission.clone(),
        judging: arguments.judging.clone(),
    }
}

fn new(asked: &Asked<'_>) -> Result<AbArguments> {
    let (arguments, built_in) = (asked.arguments, &asked.built_in);
    let scale = built_in.scale(arguments.size());
    let all_bytes = arguments.memory.or(scale.memory_bytes()?);
    let all_bytes = all_bytes.ok_or_else(|| {
        InvalidInput(format!(
            "study {} needs the whole memory of the database at this size: --memory SIZE",
            built_in.name
        ))
    })?;
    let targets = urls(&arguments.targets)?;
    let [target] = targets.as_slice() else {
        let why = format!(
            "study {} sets the memory of the database; name exactly one that dbdyno starts or opens itself, such as \
             --target postgres+local:",
            built_in.name
        );
        return Err(InvalidInput(why).into());
    };
    let side = |bytes: u64| Ok::<_, anyhow::Error>(vec![cache_of(target, bytes, &built_in.name)?]);
    Ok(AbArguments {
        name: Some(asked.name.clone()),
        targets: arguments.targets.clone(),
        pairs: arguments.pairs.or(scale.pairs),
        a: side(all_bytes / 2)?,
        b: side(all_bytes)?,
        settings: (scale.settings.iter())
            .chain(&arguments.settings)
            .cloned()
            .collect(),
        ..common(asked)
    })
}

/// The setting that gives a database so large a cache.
fn cache_of(url: &TargetUrl, bytes: u64, study: &str) -> Result<SecretText> {
    let Some((key, value)) = target::find(url)?.cache_setting(bytes) else {
        let why = format!(
            "study {study} sets the memory of the database, which dbdyno cannot do for {url}; name a local server, or change \
             it yourself and measure with `dbdyno study storage-update --pause`"
        );
        return Err(InvalidInput(why).into());
    };
    if url.settings.contains_key(key) {
        let why = format!("{url} sets {key}, which study {study} sets itself; use --memory SIZE");
        return Err(InvalidInput(why).into());
    }
    Ok(SecretText::from(format!("target.{key}={value}")))
}
