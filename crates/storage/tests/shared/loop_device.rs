use std::path::{Path, PathBuf};
use std::process::Command;

pub struct LoopDevice {
    path: PathBuf,
}

impl LoopDevice {
    /// A device over `file`, or the reason why this machine has none: it needs root and a kernel with loop devices.
    pub fn over(file: &Path) -> Result<Self, String> {
        let made = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=off"])
            .arg(file)
            .output()
            .map_err(|error| format!("losetup cannot be started: {error}"))?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr);
            return Err(format!("losetup makes no device: {}", said.trim()));
        }
        let path = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        Ok(Self { path: path.into() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let done = Command::new("losetup").arg("-d").arg(&self.path).status();
        assert!(done.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}
