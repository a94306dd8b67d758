//! The machine of a run's figures: this one, another one reached through ssh, or an unknown one.

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

/// Key of the server's machine in a target's settings.
const HOST: &str = "dbdyno.host";
/// Key of the device that the user named.
const DEVICE: &str = "dbdyno.host_device";
/// Key of the files without a device, and the reason.
const WITHOUT_DEVICE: &str = "dbdyno.without_device";
const ELSEWHERE: &str = "the server runs on another machine; name its host";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostOptions {
    /// Its address; `None` for the machine in the targets' URLs.
    pub address: Option<SshAddress>,
    /// Block device of the server's data, where dbdyno cannot find it.
    pub device: Option<String>,
}

impl HostOptions {
    /// Parses `ssh://USER@HOST[:PORT][?device=NAME]`; without a device in it, the one that the platform file states counts.
    pub fn parse(address: Option<&str>, stated: &Stated) -> Result<Self> {
        let parsed = address.map(SshAddress::parse_with_device).transpose();
        let (address, device) = parsed
            .map_err(|e| LabError::Plan(e.to_string()))?
            .map_or((None, None), |(address, device)| (Some(address), device));
        Ok(Self {
            address,
            device: device.or_else(|| stated.device().map(str::to_owned)),
        })
    }

    pub fn of_run(run: &Run) -> Self {
        let said = |key: &str| run.targets.iter().find_map(|t| t.settings.get(key));
        Self {
            address: said(HOST).and_then(|text| SshAddress::parse(text).ok()),
            device: said(DEVICE).cloned(),
        }
    }
}

/// The machine, with everything that is read from it once per run.
pub(crate) struct Machine {
    place: HostLocation,
    device: Option<String>,
    pub platform: Platform,
}

enum HostLocation {
    Here,
    There(Remote),
    Unknown,
}

/// One target on the machine: its archived record, and its devices or the reason why there are none.
pub(crate) struct Site {
    pub record: TargetRecord,
    devices: std::result::Result<Stack, String>,
}

impl Machine {
    /// The machine of these targets; logs in if it is another one. Touches no target.
    ///
    /// # Errors
    /// Targets are on different machines, an address is given for an embedded database, or the host cannot be reached.
    pub fn of(groups: &[Vec<TargetUrl>], options: &HostOptions) -> Result<Self> {
        let urls: Vec<&TargetUrl> = groups.iter().flatten().collect();
        let is_server = |url: &&TargetUrl| {
            engines::find(url).is_ok_and(|engine| engine.reach() == Reach::Network)
        };
        let ours: Vec<&&TargetUrl> = urls.iter().filter(|url| !is_server(url)).collect();
        let away = match &options.address {
            Some(_) => urls.len() - ours.len(),
            None => urls.iter().filter(|url| !engines::runs_here(url)).count(),
        };
        if options.address.is_some() && (away == 0 || !ours.is_empty()) {
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
        Self::at(options, away > 0)
    }

    fn at(options: &HostOptions, is_away: bool) -> Result<Self> {
        let place = match &options.address {
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
            device: options.device.clone(),
            platform,
        })
    }

    /// Hardware threads for the default sweeps. For an unknown machine they are the driver's: the range of a sweep is
    /// a choice, not a figure.
    pub fn threads(&self) -> u32 {
        let here = || host::facts(Path::new("/")).threads;
        self.platform.threads.or_else(here).unwrap_or(1)
    }

    /// The machine in full, with advice on it and on the servers. If the machine cannot be read, the servers still
    /// have their advice.
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
        // Advice on the engine precedes advice on any machine, because it is closer to the figures.
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
            (HostLocation::Here, named) => {
                let paths = target.first().storage_paths();
                let found =
                    paths.and_then(|paths| Stack::of(&paths).map_err(|why| why.to_string()));
                match named {
                    Some(name) => {
                        found.or_else(|_| Ok((Stack::named(Path::new("/"), name), Vec::new())))
                    }
                    None => found,
                }
            }
        }
    }

    /// Applies the plan's settings of the kernel to the devices below these targets until the result is dropped, and
    /// restores those of a killed process.
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

    /// Devices with the requests of a target, if settings can be made on them.
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

/// Files without a device, as a setting of the target, if there are any.
fn words_without(without: &[NoDevice]) -> Option<(String, String)> {
    let reasons: Vec<String> = without
        .iter()
        .map(|none| format!("{}: {}", none.purpose.name(), none.why))
        .collect();
    (!reasons.is_empty()).then(|| (WITHOUT_DEVICE.to_owned(), reasons.join("; ")))
}

impl Site {
    /// Properties of the target for a configuration's fingerprint. Its location is no property; its device is.
    pub fn properties(&self) -> String {
        let mut record = self.record.clone();
        record.url.clear();
        record.settings.remove(HOST);
        record.settings.remove(WITHOUT_DEVICE);
        // The rights of a user do not change the figures.
        record.rights_missing = None;
        format!("{record:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::group;

    fn machine(urls: &[&str], host: Option<&str>, platform: &str) -> Result<Machine> {
        let urls: Vec<TargetUrl> = urls
            .iter()
            .map(|url| engines::parse(url).unwrap())
            .collect();
        let stated = Stated::parse("mine.toml", platform).unwrap();
        Machine::of(&group(&urls)?, &HostOptions::parse(host, &stated)?)
    }

    fn refused(urls: &[&str], host: Option<&str>) -> String {
        let error = machine(urls, host, "").err().unwrap();
        assert!(matches!(error, LabError::Plan(_)), "{error}");
        error.to_string()
    }

    #[test]
    fn a_run_is_about_one_machine() {
        // The address is reserved for documentation.
        let away = "postgres://u@192.0.2.1/d";
        let unknown = machine(&[away], None, "").unwrap();
        assert_eq!(unknown.platform, Platform::default());
        assert_eq!(
            unknown.inventory(&Stated::default(), &[], &[]),
            Inventory::default()
        );
        assert!(unknown.threads() >= 1);
        assert!(
            machine(&["sqlite:"], None, "")
                .unwrap()
                .platform
                .threads
                .is_some()
        );
        assert!(refused(&[away, "sqlite:"], None).contains("separate runs"));
    }

    #[test]
    fn a_host_is_named_for_servers_alone() {
        let host = Some("ssh://u@192.0.2.1");
        assert!(refused(&["sqlite:"], host).contains("without the host"));
        assert!(refused(&["sqlite:"], Some("192.0.2.1")).contains("ssh://"));
    }

    #[test]
    fn a_stated_device_counts_where_none_is_found() {
        let device_of = |url: &str| {
            let stated = "[storage]\ndevice = \"sdx\"";
            let machine = machine(&[url], None, stated).unwrap();
            let urls = [engines::parse(url).unwrap()];
            machine.site(&Nodes::open(&group(&urls).unwrap()[0]).unwrap())
        };
        let site = device_of("sqlite:");
        assert_eq!(site.record.device.as_deref(), Some("sdx"));
        assert_eq!(site.record.settings[DEVICE], "sdx");
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
