//! Stored procedures of the transactions: files of the library, installed before a run.

use engine::{Session, Target};
use workload::owned::with_schema;

use super::files::FOLDER;
use super::mix::Kind;
use super::statements::procedure;
use super::{OltpError, Result};

const PACKAGE: &str = "procedure/package";

pub fn are_there(engine: &str) -> bool {
    Kind::ALL
        .iter()
        .all(|kind| procedure(*kind, "call", engine).is_some())
}

/// Replaces existing ones.
///
/// # Errors
/// When the engine has none, or refuses one.
pub fn install(target: &dyn Target, engine: &str) -> Result<()> {
    if !are_there(engine) {
        return Err(OltpError::Procedures(engine.to_owned()));
    }
    let mut session = target.open_session()?;
    remove(session.as_mut(), engine)?;
    for sql in parts("create", engine) {
        session.batch(&with_schema(session.as_ref(), sql))?;
    }
    Ok(())
}

pub(super) fn remove(session: &mut dyn Session, engine: &str) -> Result<()> {
    for sql in parts("drop", engine) {
        session.batch(&with_schema(session, sql))?;
    }
    Ok(())
}

/// Statements for each procedure, or for the package of an engine that has them in one.
fn parts(part: &str, engine: &str) -> Vec<&'static str> {
    let kinds = Kind::ALL.into_iter();
    let own = kinds.filter_map(|kind| procedure(kind, part, engine));
    let package = FOLDER.steps(PACKAGE, engine).into_iter();
    let package = package
        .filter(|step| step.name == part)
        .map(|step| step.sql);
    own.chain(package).collect()
}
