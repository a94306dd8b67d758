//! The scripts that a plan names: read, and made tests of the library.

use std::path::Path;

use workload::{Library, Script};

use crate::{LabError, Plan, Result};

/// Reads the scripts of all steps into the library. A closed step without a think time of its own takes the
/// script's.
///
/// # Errors
/// When a file cannot be read or is not right; nothing else has been touched then.
pub fn load(plan: &mut Plan, library: &mut Library) -> Result<()> {
    for step in &mut plan.step {
        let Some(path) = &step.script else { continue };
        let script = Script::read(Path::new(path));
        let script = script.map_err(|what| LabError::Plan(format!("script {path}: {what}")))?;
        if step.think_ms.is_none() && step.rate_per_s.is_none() {
            step.think_ms = script.think_ms.filter(|ms| *ms > 0.0);
        }
        library.add_script(path, script)?;
    }
    Ok(())
}
