//! Two values of a setting against each other: pairs of blocks, in an order drawn by lot. Several settings are screened.

use anyhow::Result;
use archive::Factor;
use engine::{Reach, TargetUrl};
use lab::LabError;

use super::asked::{StudyRequest, common, judged};
use super::cost::Blocks;
use super::many;
use super::screening;
use crate::arguments::study::Size;
use crate::arguments::{AbArguments, SecretText, urls};
use crate::command::ab::{measured, show, two};
use crate::exit::{InvalidInput, Status};

/// The key of a local server's version.
const VERSION: &str = "target.version";

pub(super) fn carry_out(asked: &StudyRequest<'_>) -> Result<Status> {
    if asked.is_resumed() {
        return match &asked.first {
            Some(first) if verdict::screening::is_screened(first) => many::resume(asked),
            _ => against(asked, None),
        };
    }
    let varied = varied(asked)?;
    let targets = urls(&asked.targets()?)?;
    for one in &varied {
        refuse_for(one, &targets, asked)?;
    }
    let [one] = varied.as_slice() else {
        return screening::carry_out(asked, &varied);
    };
    if asked.arguments.configurations.is_some() {
        let why = "--configurations belongs to a screening of several settings; name another one with --vary";
        return Err(InvalidInput(why.into()).into());
    }
    let side = |value: &str| vec![screening::set_to(one, value)];
    let arguments = AbArguments {
        a: side(&one.low),
        b: side(&one.high),
        ..common(asked)?
    };
    against(asked, Some(arguments))
}

/// What is measured at this size: pairs, or the configurations that screen several settings.
///
/// # Errors
/// When what is varied is wrong in itself.
pub(super) fn blocks(asked: &StudyRequest<'_>, size: Size) -> Result<Blocks> {
    match varied(asked)?.as_slice() {
        [_] => Ok(Blocks::in_pairs(
            asked.built_in.scale(size),
            asked.arguments.pairs,
        )),
        several => screening::blocks(asked, size, several),
    }
}

/// What cannot be measured is told before anything is.
fn refuse_for(varied: &Factor, targets: &[TargetUrl], asked: &StudyRequest<'_>) -> Result<()> {
    if let Some(key) = varied.key.strip_prefix("target.") {
        for target in targets {
            refuse_fixed(target, key, asked)?;
        }
    }
    if varied.key == VERSION {
        for target in targets {
            for version in [&varied.low, &varied.high] {
                refuse_missing(target, version)?;
            }
        }
    }
    let is_set = |setting: &&String| setting.split('=').next() == Some(&varied.key);
    match asked.arguments.settings.iter().find(is_set) {
        None => Ok(()),
        Some(_) => Err(InvalidInput(format!(
            "{} is set with --set and varied with --vary; leave out one of them",
            varied.key
        ))
        .into()),
    }
}

/// Carries out the study of two sides, or goes on with it, and writes its page.
///
/// # Errors
/// What is wrong with it, or ended it.
pub(super) fn against(asked: &StudyRequest<'_>, new: Option<AbArguments>) -> Result<Status> {
    let arguments = match new {
        Some(arguments) => arguments,
        None => {
            asked.refuse_settled()?;
            AbArguments {
                resume: Some(asked.name.clone()),
                ..common(asked)?
            }
        }
    };
    let runs = measured(&arguments, asked.archive_asked, &asked.watched)
        .map_err(|error| asked.of_study(error))?;
    let [a, b] = two(runs)?;
    let status = show(&a, &b, &arguments, asked.archive_asked, &asked.watched)?;
    asked.write_page(&b, &[&a])?;
    Ok(judged(status, &[&a, &b]))
}

/// The settings that are asked for, else those of the study's file.
fn varied(asked: &StudyRequest<'_>) -> Result<Vec<Factor>> {
    let given = asked.arguments.vary.iter().map(SecretText::expose);
    let given: Vec<&str> = given.collect();
    let own: Vec<&str> = asked.built_in.vary.iter().map(String::as_str).collect();
    let study = &asked.built_in.name;
    let taken = if given.is_empty() { own } else { given };
    let varied: Vec<Factor> = taken.into_iter().map(read).collect::<Result<_>>()?;
    if varied.is_empty() {
        return Err(InvalidInput(format!(
            "study {study} needs a setting with two values: --vary KEY=A,B, such as \
             --vary target.shared_buffers=128MB,512MB or --vary step.oltp.users=8,16"
        ))
        .into());
    }
    let is_again = |(at, one): &(usize, &Factor)| varied[..*at].iter().any(|v| v.key == one.key);
    match varied.iter().enumerate().find(is_again) {
        None => Ok(varied),
        Some((_, twice)) => Err(InvalidInput(format!(
            "--vary names {} twice; give each setting its two values once",
            twice.key
        ))
        .into()),
    }
}

fn read(text: &str) -> Result<Factor> {
    let parts = text.split_once('=').and_then(|(key, values)| {
        let (a, b) = values.split_once(',')?;
        let is_one = |value: &str| !value.is_empty() && !value.contains(',');
        (!key.is_empty() && is_one(a) && is_one(b)).then_some((key, a, b))
    });
    // What was typed may hold a password.
    let Some((key, a, b)) = parts else {
        return Err(InvalidInput(
            "--vary is not KEY=A,B: a key and exactly two values, such as target.work_mem=4MB,64MB"
                .into(),
        )
        .into());
    };
    if a == b {
        return Err(InvalidInput(format!("--vary {key}: both values are the same")).into());
    }
    if key == "target" {
        let why = "--vary varies settings; set two databases against each other with `dbdyno ab --a target=URL --b target=URL`";
        return Err(InvalidInput(why.into()).into());
    }
    Ok(Factor {
        key: key.to_owned(),
        low: a.to_owned(),
        high: b.to_owned(),
    })
}

/// A URL that fixes what is varied contradicts it.
fn refuse_fixed(url: &TargetUrl, key: &str, asked: &StudyRequest<'_>) -> Result<()> {
    if url.settings.contains_key(key) {
        Err(InvalidInput(format!(
            "{url} sets {key}, which study {} varies; leave it out of the URL",
            asked.built_in.name
        ))
        .into())
    } else {
        Ok(())
    }
}

/// Found after the first side was measured, a missing version would be found too late.
fn refuse_missing(url: &TargetUrl, version: &str) -> Result<()> {
    let engine = engines::find(url).map_err(LabError::from)?;
    if engine.reach() != Reach::LocalServer {
        let why = format!(
            "{url} has the version that it has; versions are compared on servers that dbdyno starts itself, such as \
             --target postgres+local:"
        );
        return Err(InvalidInput(why).into());
    }
    let found = engine.found();
    let versions: Vec<&str> = (found.iter())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    if versions.iter().any(|found| is_of(found, version)) {
        return Ok(());
    }
    let title = engine.info().title;
    let title = title.split(',').next().unwrap_or_default();
    Err(InvalidInput(format!(
        "version {version} of {title} is not installed (found: {}); install its package (PostgreSQL on Debian: apt-get install \
         postgresql-{version}; `make postgres` in dbdyno's source gets 18), or compare others: --vary {VERSION}=A,B",
        if versions.is_empty() { "none".to_owned() } else { versions.join(", ") }
    ))
    .into())
}

/// Whether a version is of a series: 18.6.3 of 18 and of 18.6, and 1.10 not of 1.1.
fn is_of(found: &str, series: &str) -> bool {
    found
        .strip_prefix(series)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_two_values() {
        let varied = read("target.work_mem=4MB,64MB").unwrap();
        assert_eq!(
            [varied.key, varied.low, varied.high],
            ["target.work_mem", "4MB", "64MB"]
        );
        for (wrong, says) in [
            ("target.work_mem", "KEY=A,B"),
            ("target.work_mem=4MB", "KEY=A,B"),
            ("target.work_mem=4MB,", "KEY=A,B"),
            ("=1,2", "KEY=A,B"),
            ("k=1,2,3", "exactly two values"),
            ("k=1,1", "both values are the same"),
            ("target=sqlite:a,sqlite:b", "dbdyno ab"),
        ] {
            let error = read(wrong).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_version_is_of_its_series() {
        assert!(is_of("18.6.3", "18") && is_of("18.6.3", "18.6") && is_of("15", "15"));
        assert!(!is_of("18.6", "1") && !is_of("1.10", "1.1") && !is_of("15.3", "18"));
    }
}
