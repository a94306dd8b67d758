//! Defaults of a URL, from where libpq looks for them: a service, the environment, and its own.

use std::fs;
use std::path::{Path, PathBuf};

use engine::Incomplete;
use engine::url::{Partial, Password, port_of};
use local_server::own_name;

/// Where the socket of a server of this machine is, as distributions and PostgreSQL itself put it.
const SOCKET_DIRECTORIES: [&str; 3] = ["/run/postgresql", "/var/run/postgresql", "/tmp"];
/// Where the services of all users are, behind those of `$PGSYSCONFDIR`.
const SERVICES_OF_ALL: [&str; 2] = [
    "/etc/postgresql-common/pg_service.conf",
    "/etc/pg_service.conf",
];

/// Fills what the URL leaves out. A URL that names a host stays there: `$PGSERVICE` and `$PGHOSTADDR` do not count for it.
pub(super) fn complete(url: &mut Incomplete<'_>) -> Result<(), String> {
    let variable = |name: &str| (url.variable)(name);
    let has_host = url.place.host.is_some();
    let service = url.settings.get("service").cloned();
    let service = service.or_else(|| variable("PGSERVICE").filter(|_| !has_host));
    if let Some(service) = service {
        let file = url.settings.remove("servicefile");
        let found = service_of(&service, file.map(PathBuf::from), &variable)?;
        url.settings.insert("service".into(), service);
        take(url, found)?;
    }
    let host = variable("PGHOST").or_else(|| variable("PGHOSTADDR"));
    let mut of_environment = Partial {
        user: variable("PGUSER").or_else(own_name),
        host: host.filter(|_| !has_host),
        port: variable("PGPORT").map(|text| port_of(&text)).transpose()?,
        database: variable("PGDATABASE"),
    };
    if of_environment
        .host
        .as_ref()
        .is_some_and(|host| host.contains(','))
    {
        return Err("$PGHOST names several hosts, and a run measures one server; name one".into());
    }
    // A port that is the usual one need not stand in the URL.
    of_environment.port = of_environment
        .port
        .filter(|port| *port != super::endpoint::PORT_DEFAULT);
    url.place.fill(of_environment);
    let port = url.place.port.unwrap_or(super::endpoint::PORT_DEFAULT);
    let place = &mut url.place;
    place.host.get_or_insert_with(|| host_of_this_machine(port));
    place.database = place.database.take().or_else(|| place.user.clone());
    Ok(())
}

fn host_of_this_machine(port: u16) -> String {
    let has_socket = |d: &&&str| Path::new(d).join(format!(".s.PGSQL.{port}")).exists();
    let directory = SOCKET_DIRECTORIES.iter().find(has_socket);
    (*directory.unwrap_or(&"localhost")).to_owned()
}

/// Puts what a service says into the place of what the URL leaves out.
fn take(url: &mut Incomplete<'_>, service: Vec<(String, String)>) -> Result<(), String> {
    let mut said = Partial::default();
    for (key, value) in service {
        match key.as_str() {
            "host" => said.host = Some(value),
            "hostaddr" => said.host = said.host.or(Some(value)),
            "port" => said.port = Some(port_of(&value)?),
            "user" => said.user = Some(value),
            "dbname" => said.database = Some(value),
            "password" => {
                url.password.get_or_insert_with(|| Password::new(value));
            }
            _ => {
                url.settings.entry(key).or_insert(value);
            }
        }
    }
    url.place.fill(said);
    Ok(())
}

/// Keys and values of a service, from the first file that has it.
fn service_of(
    name: &str,
    named: Option<PathBuf>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, String> {
    let of_user = named
        .or_else(|| variable("PGSERVICEFILE").map(PathBuf::from))
        .or_else(|| Some(Path::new(&variable("HOME")?).join(".pg_service.conf")));
    let of_system = variable("PGSYSCONFDIR").map(|d| Path::new(&d).join("pg_service.conf"));
    let of_all = SERVICES_OF_ALL.iter().map(PathBuf::from);
    let files: Vec<PathBuf> = of_user.into_iter().chain(of_system).chain(of_all).collect();
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        if let Some(found) = section(&text, name) {
            return found
                .map_err(|line| format!("{}, line {line}, is not KEY=VALUE", file.display()));
        }
    }
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    Err(format!(
        "there is no service \"{name}\" in {}",
        files.join(", ")
    ))
}

/// The lines of a section; the number of the first that is wrong.
fn section(text: &str, name: &str) -> Option<Result<Vec<(String, String)>, usize>> {
    let is_head =
        |line: &str| line.strip_prefix('[').and_then(|l| l.split(']').next()) == Some(name);
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut of_section = lines.skip_while(|(_, line)| !is_head(line));
    of_section.next()?;
    let mut found = Vec::new();
    for (number, line) in of_section.take_while(|(_, line)| !line.starts_with('[')) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Services in a directory begin with ldap: and are no settings.
        match line.split_once('=').filter(|(key, _)| !key.contains(':')) {
            Some((key, value)) => found.push((key.trim().to_owned(), value.trim().to_owned())),
            None => return Some(Err(number)),
        }
    }
    Some(Ok(found))
}
