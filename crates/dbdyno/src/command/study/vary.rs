//! Two values of a setting: pairs of blocks in random order. Several settings are screened.

use anyhow::Result;
use archive::Factor;
use engine::{Reach, TargetUrl};
use lab::LabError;
use verdict::contrasts::Kind;

use super::cost::Blocks;
use super::request::{StudyRequest, common};
use super::screening;
use super::sides;
use crate::arguments::study::Size;
use crate::arguments::{SecretText, urls};
use crate::command::ab::{measured, show, two};
use crate::command::requests::{AbRequest, SideRequest};
use crate::exit::{Status, invalid};

const VERSION: &str = "target.version";

pub(super) fn carry_out(request: &StudyRequest<'_>) -> Result<Status> {
    if request.is_resumed() {
        return match &request.first {
            Some(first) if Kind::of(first) == Some(Kind::Screening) => sides::resume(request),
            _ => against(request, None),
        };
    }
    let varied = varied(request)?;
    let targets = urls(&request.targets()?)?;
    for one in &varied {
        refuse_for(one, &targets, request)?;
    }
    let [one] = varied.as_slice() else {
        return screening::carry_out(request, &varied);
    };
    if request.keys.configurations.is_some() {
        return invalid(
            "--set configurations belongs to a screening of several settings; name another one with --vary",
        );
    }
    let side = |value: &str| SideRequest::of(vec![screening::set_to(one, value)]);
    let study = AbRequest {
        sides: vec![side(&one.low), side(&one.high)],
        ..common(request)?
    };
    against(request, Some(study))
}

/// Pairs at this size, or the configurations of a screening of several settings.
pub(super) fn blocks(request: &StudyRequest<'_>, size: Size) -> Result<Blocks> {
    match varied(request)?.as_slice() {
        [_] => Ok(Blocks::in_pairs(
            request.built_in.scale(size),
            request.arguments.repeat,
        )),
        several => screening::blocks(request, size, several),
    }
}

/// Errors are reported before the measurement begins.
fn refuse_for(varied: &Factor, targets: &[TargetUrl], request: &StudyRequest<'_>) -> Result<()> {
    if let Some(key) = varied.key.strip_prefix("target.") {
        for target in targets {
            refuse_fixed(target, key, request)?;
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
    match request.keys.settings.iter().find(is_set) {
        None => Ok(()),
        Some(_) => invalid(format!(
            "{} is set with --set and varied with --vary; leave out one of them",
            varied.key
        )),
    }
}

/// Runs or resumes the study of two sides, and writes its page.
pub(super) fn against(request: &StudyRequest<'_>, new: Option<AbRequest>) -> Result<Status> {
    let study = match new {
        Some(study) => study,
        None => {
            request.refuse_settled()?;
            common(request)?.resumed(&request.name)
        }
    };
    let runs = measured(&study, request.archive_option, &request.watched)?;
    let [a, b] = two(runs)?;
    let tables = request.ending.tables();
    let status = show(
        &a,
        &b,
        &study,
        tables,
        request.archive_option,
        &request.watched,
    )?;
    request.end(&b, &[&a], status)
}

/// The requested settings, or those of the study's file.
fn varied(request: &StudyRequest<'_>) -> Result<Vec<Factor>> {
    let given = request.keys.vary.iter().map(SecretText::expose);
    let given: Vec<&str> = given.collect();
    let own: Vec<&str> = request.built_in.vary.iter().map(String::as_str).collect();
    let study = &request.built_in.name;
    let taken = if given.is_empty() { own } else { given };
    let varied: Vec<Factor> = taken.into_iter().map(read).collect::<Result<_>>()?;
    if varied.is_empty() {
        return invalid(format!(
            "study {study} needs a setting with two values: --vary KEY=A,B, such as \
             --vary target.shared_buffers=128MB,512MB or --vary step.oltp.users=8,16"
        ));
    }
    let is_again = |(at, one): &(usize, &Factor)| varied[..*at].iter().any(|v| v.key == one.key);
    match varied.iter().enumerate().find(is_again) {
        None => Ok(varied),
        Some((_, twice)) => invalid(format!(
            "--vary names {} twice; give each setting its two values once",
            twice.key
        )),
    }
}

fn read(text: &str) -> Result<Factor> {
    let parts = text.split_once('=').and_then(|(key, values)| {
        let (a, b) = values.split_once(',')?;
        let is_one = |value: &str| !value.is_empty() && !value.contains(',');
        (!key.is_empty() && is_one(a) && is_one(b)).then_some((key, a, b))
    });
    // The argument may hold a password and must not be repeated.
    let Some((key, a, b)) = parts else {
        return invalid(
            "--vary is not KEY=A,B: a key and exactly two values, such as target.work_mem=4MB,64MB",
        );
    };
    if a == b {
        return invalid(format!("--vary {key}: both values are the same"));
    }
    if key == "target" {
        return invalid(
            "--vary varies settings; set two databases against each other with `dbdyno ab --a target=URL --b target=URL`",
        );
    }
    Ok(Factor {
        key: key.to_owned(),
        low: a.to_owned(),
        high: b.to_owned(),
    })
}

/// A URL that fixes the varied setting contradicts the study.
fn refuse_fixed(url: &TargetUrl, key: &str, request: &StudyRequest<'_>) -> Result<()> {
    if url.settings.contains_key(key) {
        invalid(format!(
            "{url} sets {key}, which study {} varies; leave it out of the URL",
            request.built_in.name
        ))
    } else {
        Ok(())
    }
}

/// A missing version is reported before the first side is measured.
fn refuse_missing(url: &TargetUrl, version: &str) -> Result<()> {
    let engine = engines::find(url).map_err(LabError::from)?;
    if engine.reach() != Reach::LocalServer {
        return invalid(format!(
            "{url} has the version that it has; versions are compared on servers that dbdyno starts itself, such as \
             --target postgres+local:"
        ));
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
    invalid(format!(
        "version {version} of {title} is not installed (found: {}); install its package (PostgreSQL on Debian: apt-get install \
         postgresql-{version}; `make postgres` in dbdyno's source gets 18), or compare others: --vary {VERSION}=A,B",
        if versions.is_empty() {
            "none".to_owned()
        } else {
            versions.join(", ")
        }
    ))
}

/// True if a version belongs to a series: 18.6.3 to 18 and to 18.6, and 1.10 not to 1.1.
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
