//! Databases that are opened, by the driver.

use std::sync::Arc;

use super::inspect::inspect;
use super::source::OracleSource;
use super::target::{OracleTarget, of_url};
use engine::catalogue::Source;
use engine::inspection::Inspection;
use engine::session_settings;
use engine::{Result, Target, TargetUrl};

pub(crate) fn version() -> std::result::Result<String, String> {
    Ok("Oracle Database 12.2 or later".into())
}

pub(crate) fn source(url: &TargetUrl) -> Result<Box<dyn Source>> {
    let (access, session) = of_url(url)?;
    session_settings::refuse(&session)?;
    let source = OracleSource::open(Arc::new(access), url.to_string(), false)?;
    Ok(Box::new(source))
}

pub(crate) fn target(url: &TargetUrl) -> Result<Arc<dyn Target>> {
    let (access, session) = of_url(url)?;
    Ok(Arc::new(OracleTarget::open(url, access, session)?))
}

pub(crate) fn inspection(url: &TargetUrl) -> Result<Inspection> {
    let (access, session) = of_url(url)?;
    inspect(&Arc::new(access), &session, url.others_allowed()?)
}
