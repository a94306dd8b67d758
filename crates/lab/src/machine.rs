//! The machine that a run's figures are about: this one, another one reached through ssh, or one of
//! which nothing is known.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use archive::{Inventory, Platform, Run, TargetRecord};
use engine::{Reach, TargetUrl};
use host::inventory::{Document, Stated};
use host::tuning::{TunedSettings, Tuning};
use host::{HostWatch, NoDevice, Remote, Sampler, SamplerOptions, SshAddress, Stack};

use crate::advice::server_advice;
use crate::error::{LabError, Result};
use crate::nodes::Nodes;

/// Key of a target's settings under which the machine of its server stands.
const HOST: &str = "dbdyno.host";
/// Key under which the device stands that its user named.
const DEVICE: &str = "dbdyno.host_device";
/// Key under which stands what has no device of its own, and why.
const WITHOUT_DEVICE: &str = "dbdyno.without_device";
/// Why nothing of the machine is known.
const ELSEWHERE: &str = "the server runs on another machine; name its host";

/// What a user says about the machine of the servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostAsked {
    /// Where it is; `None` for the one that the targets' URLs tell.
    pub address: Option<SshAddress>,
    /// The block device under the servers' data, where it cannot be found out.
    pub device: Option<String>,
}

impl HostAsked {
    /// Takes `--host` and `--host-device` apart.
    ///
    /// # Errors
    /// When the address is none.
    pub fn parse(address: Option<&str>, device: Option<&str>) -> Result<Self> {
        let address = address.map(SshAddress::parse).transpose();
        Ok(Self {
            address: address.map_err(|e| LabError::Plan(e.to_string()))?,
            device: device.map(str::to_owned),
        })
    }

    /// What was said when a run was begun.
    pub fn of_run(run: &Run) -> Self {
        let said = |key: &str| run.targets.iter().find_map(|t| t.settings.get(key));
        Self {
            address: said(HOST).and_then(|text| SshAddress::parse(text).ok()),
            device: said(DEVICE).cloned(),
        }
    }
}

/// The machine, with everything that is asked of it once in a run.
pub(crate) struct Machine {
    place: HostLocation,
    device: Option<String>,
    /// Its basic facts; empty where nothing is known.
    pub platform: Platform,
}

enum HostLocation {
    Here,
    There(Remote),
    Unknown,
}

/// One target on the machine: what is archived of it, and its devices or why there are none.
pub(crate) struct Site {
    pub record: TargetRecord,
    devices: std::result::Result<Stack, String>,
}

impl Machine {
    /// The machine of these targets; logs on to it where it is another one. Touches no target.
    ///
    /// # Errors
    /// When targets run on different machines, when `--host` is said of a database that runs inside
    /// this process, or when the host cannot be reached.
    pub fn of(groups: &[Vec<TargetUrl>], asked: &HostAsked) -> Result<Self> {
        let urls: Vec<&TargetUrl> = groups.iter().flatten().collect();
        let is_server = |url: &&TargetUrl| {
            engines::find(url).is_ok_and(|engine| engine.reach() == Reach::Network)
        };
        let ours: Vec<&&TargetUrl> = urls.iter().filter(|url| !is_server(url)).collect();
        if asked.address.is_none() && asked.device.is_some() {
            return Err(LabError::Plan(
                "the device of the server's host is given, but not the host; give the host as well, or leave the device out"
                    .into(),
            ));
        }
        let away = match &asked.address {
            Some(_) => urls.len() - ours.len(),
            None => urls.iter().filter(|url| !engines::runs_here(url)).count(),
        };
        if asked.address.is_some() && (away == 0 || !ours.is_empty()) {
            let url = ours.first().map_or_else(String::new, |url| url.to_string());
            return Err(LabError::Plan(format!(
                "the host of a remote server is given, but target {url} runs on this machine; measure this target in a \
                 separate run, without the host"
            )));
        }
        if away > 0 && away < urls.len() {
            return Err(LabError::Plan(
                "some targets run on this machine and some on another, but a run describes one \
                 machine; measure them in separate runs"
                    .into(),
            ));
        }
        Self::at(asked, away > 0)
    }

    fn at(asked: &HostAsked, is_away: bool) -> Result<Self> {
        let place = match &asked.address {
            Some(address) => HostLocation::There(
                Remote::connect(address).map_err(|e| LabError::Host(e.to_string()))?,
            ),
            None if is_away => HostLocation::Unknown,
            None => HostLocation::Here,
        };
        let platform = match &place {
            HostLocation::Here => host::facts(Path::new("/")),
            HostLocation::There(remote) => host::facts(remote.root()),
            HostLocation::Unknown => Platform::default(),
        };
        Ok(Self {
            place,
            device: asked.device.clone(),
            platform,
        })
    }

    /// Hardware threads for the default sweeps. Of an unknown machine the driver's are taken: how far
    /// to sweep is a choice, not a figure.
    pub fn threads(&self) -> u32 {
        let here = || host::facts(Path::new("/")).threads;
        self.platform.threads.or_else(here).unwrap_or(1)
    }

    /// The machine in full with what is advised for it and for the servers on it. Where nothing can be read
    /// of the machine, the servers still have their advice.
    pub fn inventory(&self, stated: &Stated, targets: &[Nodes], sites: &[Site]) -> Inventory {
        let root = match &self.place {
            HostLocation::Here => Some(Path::new("/")),
            HostLocation::There(remote) => Some(remote.root()),
            HostLocation::Unknown => None,
        };
        let found = root.and_then(|root| host::inventory::inventory(root).ok());
        let of_servers = targets
            .iter()
            .zip(sites)
            .flat_map(|(target, site)| server_advice(target, &site.record, &self.platform));
        let Some(found) = found else {
            return Inventory {
                advice: of_servers.collect(),
                ..Inventory::default()
            };
        };
        let makes: Vec<&str> = sites
            .iter()
            .map(|site| site.record.engine.as_str())
            .collect();
        let of_machine = host::lint::lint_for(&found, stated, Some(&makes));
        // What is advised for the engine itself is nearer to its figures than what is for any machine.
        let mut advice: Vec<_> = of_servers.collect();
        advice.extend(host::lint::advice(&of_machine));
        let document = Document {
            found,
            stated: stated.clone(),
        };
        Inventory {
            facts: host::inventory::rows(&document),
            advice,
        }
    }

    /// A target with the devices under its files.
    pub fn site(&self, target: &Nodes) -> Site {
        let mut record = target.record();
        let found = self.devices(target);
        let without = found.as_ref().map_or(&[][..], |(_, without)| without);
        record.settings.extend(words_without(without));
        let devices = found.map(|(stack, _)| stack);
        let data = devices.as_ref().ok().and_then(Stack::first);
        record.device = data.map(str::to_owned);
        let said = match &self.place {
            HostLocation::Here => None,
            HostLocation::There(remote) => Some(remote.address().to_string()),
            HostLocation::Unknown => Some(ELSEWHERE.to_owned()),
        };
        record.settings.extend(said.map(|text| (HOST.into(), text)));
        let named = self.device.clone();
        record
            .settings
            .extend(named.map(|name| (DEVICE.into(), name)));
        Site { record, devices }
    }

    /// The devices under the files of a target, and what has none.
    fn devices(&self, target: &Nodes) -> std::result::Result<(Stack, Vec<NoDevice>), String> {
        match (&self.place, &self.device) {
            (HostLocation::Unknown, _) => Err(ELSEWHERE.to_owned()),
            (HostLocation::There(remote), Some(name)) => {
                Ok((Stack::named(remote.root(), name), Vec::new()))
            }
            (HostLocation::There(remote), None) => {
                let found = remote.stack(&target.first().storage_paths()?);
                found.map_err(|why| format!("{why}, or name the device"))
            }
            (HostLocation::Here, _) => {
                let found = Stack::of(&target.first().storage_paths()?);
                found.map_err(|why| why.to_string())
            }
        }
    }

    /// Makes the settings of the kernel that a plan asks for, on the devices below these targets, until what is returned is
    /// dropped; and puts back what a process left that was killed.
    ///
    /// # Errors
    /// When one of them cannot be made, or the devices are not of this machine.
    pub fn tune(
        &self,
        settings: &BTreeMap<String, String>,
        sites: &[Site],
    ) -> Result<TunedSettings> {
        let tuning = Tuning::default();
        tuning.restore_abandoned();
        let mut devices: Vec<String> = Vec::new();
        if !settings.is_empty() {
            for site in sites {
                devices.extend(self.tunable(site).map_err(LabError::Plan)?);
            }
            devices.sort();
            devices.dedup();
        }
        let tuned = tuning.apply(&devices, settings);
        tuned.map_err(|error| LabError::Host(error.to_string()))
    }

    /// The devices whose requests are those of a target, if settings can be made on them.
    fn tunable(&self, site: &Site) -> std::result::Result<Vec<String>, String> {
        let advice = "leave [host] out of the plan";
        match (&self.place, &site.devices) {
            (HostLocation::Here, Ok(stack)) => {
                let names = stack.requests_of_counted().into_iter();
                Ok(names.map(str::to_owned).collect())
            }
            (HostLocation::Here, Err(why)) => Err(format!(
                "the plan has settings of the host for the devices of {}, but {why}; {advice}",
                site.record.url
            )),
            _ => Err(format!(
                "the plan has settings of the host, but {} runs on another machine; {advice}",
                site.record.url
            )),
        }
    }

    /// Watches the machine and the driver's own process for one target.
    ///
    /// # Errors
    /// When the machine cannot be sampled.
    pub fn watch(&self, site: &Site, interval: Duration) -> Result<HostWatch> {
        let devices = site.devices.clone();
        let driver = || {
            let options = SamplerOptions {
                interval,
                ..SamplerOptions::default()
            };
            Sampler::start(options).map_err(|e| LabError::Host(e.to_string()))
        };
        Ok(match &self.place {
            HostLocation::Here => {
                let watch = HostWatch::here(interval, devices);
                watch.map_err(|e| LabError::Host(e.to_string()))?
            }
            HostLocation::There(remote) => {
                let sampler = remote.sample(devices.clone(), interval);
                let sampler = sampler.map_err(|e| LabError::Host(e.to_string()))?;
                HostWatch::there(driver()?, sampler, devices)
            }
            HostLocation::Unknown => HostWatch::unknown(
                driver()?,
                format!("CPU, IOPS and platform are unknown: {ELSEWHERE}"),
            ),
        })
    }
}

/// What lies on no device, as a setting of the target; none where everything has one.
fn words_without(without: &[NoDevice]) -> Option<(String, String)> {
    let told: Vec<String> = without
        .iter()
        .map(|none| format!("{}: {}", none.purpose.name(), none.why))
        .collect();
    (!told.is_empty()).then(|| (WITHOUT_DEVICE.to_owned(), told.join("; ")))
}

impl Site {
    /// What of the target belongs into a configuration's fingerprint: not where it lies, which is a
    /// place and no property; its device is in it.
    pub fn properties(&self) -> String {
        let mut record = self.record.clone();
        record.url.clear();
        record.settings.remove(HOST);
        record.settings.remove(WITHOUT_DEVICE);
        // What a user may see changes nothing of what is measured.
        record.rights_missing = None;
        format!("{record:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::group;

    fn machine(urls: &[&str], host: Option<&str>, device: Option<&str>) -> Result<Machine> {
        let urls: Vec<TargetUrl> = urls
            .iter()
            .map(|url| engines::parse(url).unwrap())
            .collect();
        Machine::of(&group(&urls)?, &HostAsked::parse(host, device)?)
    }

    fn refused(urls: &[&str], host: Option<&str>, device: Option<&str>) -> String {
        let error = machine(urls, host, device).err().unwrap();
        assert!(matches!(error, LabError::Plan(_)), "{error}");
        error.to_string()
    }

    #[test]
    fn a_run_is_about_one_machine() {
        // Of an address that is kept free for documentation.
        let away = "postgres://u@192.0.2.1/d";
        let unknown = machine(&[away], None, None).unwrap();
        assert_eq!(unknown.platform, Platform::default());
        assert_eq!(
            unknown.inventory(&Stated::default(), &[], &[]),
            Inventory::default()
        );
        assert!(unknown.threads() >= 1);
        assert!(
            machine(&["sqlite:"], None, None)
                .unwrap()
                .platform
                .threads
                .is_some()
        );
        assert!(refused(&[away, "sqlite:"], None, None).contains("separate runs"));
    }

    #[test]
    fn a_host_is_named_for_servers_alone() {
        let host = Some("ssh://u@192.0.2.1");
        assert!(refused(&["sqlite:"], host, None).contains("without the host"));
        assert!(refused(&["sqlite:"], Some("192.0.2.1"), None).contains("ssh://"));
        assert!(refused(&["sqlite:"], None, Some("sda")).contains("give the host as well"));
    }

    #[test]
    fn what_is_known_of_an_unknown_machine_is_the_reason() {
        let urls = [engines::parse("sqlite:").unwrap()];
        let nodes = Nodes::open(&group(&urls).unwrap()[0]).unwrap();
        let unknown = Machine {
            place: HostLocation::Unknown,
            device: None,
            platform: Platform::default(),
        };
        let site = unknown.site(&nodes);
        assert_eq!(site.record.device, None);
        assert_eq!(site.record.settings[HOST], ELSEWHERE);
        assert!(!site.properties().contains("another machine"));
        let watch = unknown.watch(&site, Duration::from_millis(50)).unwrap();
        let used = watch.finish(watch.mark(Err("no server")));
        assert_eq!(used.rates.cpu_pct, None);
        assert!(used.unknown.unwrap().to_string().contains("name its host"));
        assert_eq!((used.owners, used.owners_reason), (None, None));
    }
}
