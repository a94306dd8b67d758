//! Databases that this build cannot open, because it has no driver.

use std::sync::Arc;

use engine::catalogue::Source;
use engine::inspection::Inspection;
use engine::{ErrorKind, Result, Target, TargetError, TargetUrl};

const HOW: &str = "this build of dbdyno has no driver for Oracle; install a released package, or build with: cargo build --release \
     --package dbdyno --features oracle";

pub(super) fn version() -> std::result::Result<String, String> {
    Err(HOW.into())
}

fn refused<T>() -> Result<T> {
    Err(TargetError::new(ErrorKind::NotInstalled, HOW))
}

pub(super) fn source(_url: &TargetUrl) -> Result<Box<dyn Source>> {
    refused()
}

pub(super) fn target(_url: &TargetUrl) -> Result<Arc<dyn Target>> {
    refused()
}

pub(super) fn inspection(_url: &TargetUrl) -> Result<Inspection> {
    refused()
}
