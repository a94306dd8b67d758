//! Database in its state right after the load, by the fastest way.

use std::sync::atomic::AtomicBool;

use engine::Target;
use lab::point::fingerprint;
use workload::loading::Observer;

use super::load::{LoadOptions, refuse_other, wanted};
use super::restore::{Way, restore};
use super::{Loaded, Metadata, OltpError, Result, files, load, metadata};

/// Way in which a database reached its initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    pub how: String,
    /// `None` if nothing had to be loaded, or a copy was restored.
    pub loaded: Option<Loaded>,
}

/// Brings the database to its initial state, so that all measurements start alike: an identical database without
/// transactions stays; else a copy is restored if there is one; else the database is reloaded. `keep_copy` makes a copy
/// for the next time, which takes as much space again.
///
/// Only a database that the plan has loaded, or found as it would load it, is restored or replaced: any other belongs
/// to someone.
///
/// # Errors
/// As [`mod@load`], and when the database belongs to someone.
pub fn renew(
    target: &dyn Target,
    engine: &str,
    options: &LoadOptions,
    plan: &str,
    keep_copy: bool,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Renewed> {
    files::tables(engine)?;
    let plan = fingerprint(&[plan]);
    let there = Metadata::read(target.open_session()?.as_mut())?;
    let is_of_plan = metadata::is_of_plan(target.open_session()?.as_mut(), &plan)?;
    let other = |there: &Metadata| refuse_other(there, &wanted(options));
    if let Some(there) = there.as_ref().filter(|_| !is_of_plan) {
        other(there)?;
        if there.transactions_since_load {
            return Err(OltpError::Used);
        }
    }
    let again = |replace: bool| {
        let options = LoadOptions {
            replace,
            ..*options
        };
        load(target, engine, &options, stop, tell)
    };
    let restore = || -> Result<String> {
        let restored = restore(target, engine, options.jobs, stop, tell)?;
        Ok(words(&restored.way).to_owned())
    };
    let there = there.map(|there| (other(&there).is_ok(), there));
    let (how, loaded) = match there {
        Some((true, there)) if there.whole => {
            let is_fresh = !there.transactions_since_load;
            if is_fresh && !keep_copy {
                ("kept as loaded".to_owned(), None)
            } else if keep_copy || has_copy(target) {
                (restore()?, None)
            } else {
                ("reloaded".to_owned(), Some(again(true)?))
            }
        }
        there => {
            let how = match there {
                None => "loaded",
                Some((true, _)) => "its load was resumed",
                Some((false, _)) => "loaded in place of another database",
            };
            let loaded = again(there.is_some_and(|(is_wanted, _)| !is_wanted))?;
            if keep_copy {
                restore()?;
            }
            (how.to_owned(), Some(loaded))
        }
    };
    metadata::note_plan(target.open_session()?.as_mut(), &plan)?;
    Ok(Renewed { how, loaded })
}

fn has_copy(target: &dyn Target) -> bool {
    let label = target.snapshot().map(|snapshot| snapshot.label());
    matches!(label, Ok(Ok(Some(_))))
}

fn words(way: &Way) -> &'static str {
    match way {
        Way::CopyTaken | Way::Untouched { .. } => "kept as loaded",
        Way::CopyRestored => "restored from its copy",
        Way::Reloaded { .. } => "reloaded",
    }
}
