//! Selection of SDs and WDs by name, range, or prefix.

use super::error::{Position, Result};

pub(super) fn chosen(
    patterns: &[String],
    names: &[&str],
    head: &str,
    place: &Position,
) -> Result<Vec<usize>> {
    let mut found: Vec<usize> = Vec::new();
    let mut taken = vec![false; names.len()];
    for pattern in patterns {
        let matches = matching(pattern, names, head, place)?;
        if matches.is_empty() {
            return Err(place.wrong(format!(
                "{head}={pattern}: there is no such {head}; {}",
                known(names, head)
            )));
        }
        for index in matches {
            if std::mem::replace(&mut taken[index], true) {
                return Err(place.wrong(format!(
                    "{head}={pattern}: {} is named twice; name each once",
                    names[index]
                )));
            }
            found.push(index);
        }
    }
    Ok(found)
}

fn matching(pattern: &str, names: &[&str], head: &str, place: &Position) -> Result<Vec<usize>> {
    let position = |name: &str| names.iter().position(|other| *other == name);
    if let Some(index) = position(pattern) {
        return Ok(vec![index]);
    }
    if let Some(beginning) = pattern.strip_suffix('*') {
        let indices = (0..names.len()).filter(|index| names[*index].starts_with(beginning));
        return Ok(indices.collect());
    }
    let Some((prefix, from, to)) = range(pattern) else {
        return Ok(Vec::new());
    };
    if to < from || to - from >= names.len() as u64 {
        return Err(place.wrong(format!(
            "{head}={pattern}: not all of this range are defined; {}",
            known(names, head)
        )));
    }
    (from..=to)
        .map(|number| {
            let name = format!("{prefix}{number}");
            position(&name).ok_or_else(|| {
                place.wrong(format!(
                    "{head}={pattern}: there is no {name}; {}",
                    known(names, head)
                ))
            })
        })
        .collect()
}

/// `sd1-sd99`: the common prefix, and the numbers.
fn range(pattern: &str) -> Option<(&str, u64, u64)> {
    let (first, last) = pattern.split_once('-')?;
    let prefix = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let from = &first[prefix.len()..];
    let to = last.strip_prefix(prefix)?;
    let plain = |digits: &str| digits == "0" || !digits.starts_with('0');
    if !plain(from) || !plain(to) {
        return None;
    }
    Some((prefix, from.parse().ok()?, to.parse().ok()?))
}

fn known(names: &[&str], head: &str) -> String {
    const SHOWN_MAX: usize = 8;
    if names.is_empty() {
        return format!("no {head} is defined before this line");
    }
    let more = if names.len() > SHOWN_MAX { " …" } else { "" };
    format!(
        "defined: {}{more}",
        names[..names.len().min(SHOWN_MAX)].join(", ")
    )
}

#[cfg(test)]
mod tests {

    use super::*;

    fn choose(patterns: &str) -> std::result::Result<Vec<usize>, String> {
        let patterns: Vec<String> = patterns.split(',').map(str::to_owned).collect();
        let place = Position::new("p", 1);
        chosen(&patterns, &["sd1", "sd2", "sd10", "log-1"], "sd", &place).map_err(|e| e.to_string())
    }

    #[test]
    fn names_are_chosen_singly_by_range_and_by_beginning() {
        for (patterns, found) in [
            ("sd2", vec![1]),
            ("sd10,sd1", vec![2, 0]),
            ("sd1*", vec![0, 2]),
            ("*", vec![0, 1, 2, 3]),
            ("sd1-sd2,log*", vec![0, 1, 3]),
            ("log-1", vec![3]),
        ] {
            assert_eq!(choose(patterns), Ok(found), "{patterns}");
        }
    }

    #[test]
    fn names_that_are_not_there_or_twice_are_refused() {
        for (patterns, said) in [
            ("sd3", "there is no such sd; defined: sd1, sd2, sd10, log-1"),
            ("sd1-sd3", "there is no sd3"),
            ("sd01-sd02", "no such sd"),
            ("sd1-sd99999999999", "not all of this range"),
            ("sd2-sd1", "not all of this range"),
            ("sd1,sd*", "sd1 is named twice"),
            ("x*", "no such sd"),
        ] {
            let error = choose(patterns).unwrap_err();
            assert!(error.contains(said), "{patterns}: {error}");
        }
    }
}
