//! `dbdyno storage layout`: creation, display and removal of layouts for trials.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use archive::Purpose;
use engine::{Engine, Reach, TargetUrl};
use storage::layout::{Definition, Layouts, StandingLayout, Stands, Step};

use crate::arguments::LayoutVerb;
use crate::command::print;
use crate::console::say;
use crate::exit::Status;

pub fn layout(verb: &LayoutVerb) -> Result<Status> {
    let layouts = Layouts::default();
    // Showing changes nothing, except that it removes the remains of a killed process.
    layouts.remove_left_behind(&mut left)?;
    match verb {
        LayoutVerb::Make { layout } => {
            let definition = Definition::load(layout)?;
            let made = layouts.make(&definition, Stands::UntilRemoved, &mut step)?;
            print(&standing(&made))?;
        }
        LayoutVerb::Show { layout: None } => print(&all(&layouts)?)?,
        LayoutVerb::Show {
            layout: Some(layout),
        } => {
            let mut made = layouts.made()?;
            let at = made.iter().position(|it| it.definition.name == *layout);
            match at {
                Some(at) => print(&standing(&made.swap_remove(at)))?,
                None => print(&described(&Definition::load(layout)?))?,
            }
        }
        LayoutVerb::Remove { name } => {
            layouts.remove(name, &mut step)?;
            print(&format!("removed: layout {name}\n"))?;
        }
    }
    Ok(Status::Fine)
}

fn step(step: &Step) {
    say(&step.to_string());
}

pub fn left(step: &Step) {
    say(&format!(
        "dbdyno: left by a process that was killed: {step}"
    ));
}

fn all(layouts: &Layouts) -> Result<String> {
    let made = layouts.made()?;
    let mut text = String::from("built in:\n");
    let built_in = Definition::built_in()?;
    for layout in &built_in {
        let _ = writeln!(text, "  {:<14} {}", layout.name, layout.about);
    }
    text.push_str("made:\n");
    if made.is_empty() {
        text.push_str("  none\n");
    }
    for made in &made {
        let _ = writeln!(
            text,
            "  {:<14} {}",
            made.definition.name, made.definition.about
        );
    }
    Ok(text)
}

fn described(layout: &Definition) -> String {
    let mut text = format!("layout {}: {}\n", layout.name, layout.about);
    for device in &layout.devices {
        let what = match (&device.path, device.size_mib) {
            (Some(path), _) => path.display().to_string(),
            (None, mib) => format!(
                "file of {} MiB behind a loop device",
                mib.unwrap_or_default()
            ),
        };
        let _ = writeln!(text, "  device {:<10} {what}", device.name);
    }
    for volume in &layout.volumes {
        let _ = writeln!(text, "  volume {:<10} {}", volume.name, volume.summary());
    }
    for (purpose, volume) in &layout.place {
        let _ = writeln!(text, "  {:<9} on volume {volume}", purpose.name());
    }
    for (table, volume) in &layout.tables {
        let _ = writeln!(text, "  table {table} on volume {volume}");
    }
    text
}

/// An existing layout, with the parts of a target's URL.
fn standing(made: &StandingLayout) -> String {
    let layout = &made.definition;
    let mut text = format!("layout {}: {}\n", layout.name, layout.about);
    for device in &layout.devices {
        let node = made.device(device);
        let node = node.map_or("–".to_owned(), |node| node.display().to_string());
        let _ = writeln!(text, "  device {:<10} {node}", device.name);
    }
    for volume in &layout.volumes {
        let point = made.mount_point(&volume.name);
        let point = if volume.file_system.is_mounted() {
            format!(", mounted at {}", point.display())
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "  volume {:<10} {}{point}",
            volume.name,
            volume.summary()
        );
    }
    for purpose in layout.place.keys() {
        if let Some(place) = made.place(*purpose) {
            let _ = writeln!(text, "  {:<9} in {}", purpose.name(), place.display());
        }
    }
    for table in layout.tables.keys() {
        if let Some(place) = made.table_place(table) {
            let _ = writeln!(text, "  table {table} in {}", place.display());
        }
    }
    let engines = engines::engines()
        .iter()
        .filter(|it| it.reach().makes_files());
    for engine in engines.filter(|it| lacking(**it, layout).is_none()) {
        if let Some(url) = url(*engine, made, &BTreeMap::new()) {
            let _ = writeln!(text, "  --target '{url}'");
        }
    }
    text
}

/// URL of a database of an engine with its files in a layout, and these settings; `None` if the layout has no location for data.
pub fn url(
    engine: &dyn Engine,
    made: &StandingLayout,
    settings: &BTreeMap<String, String>,
) -> Option<TargetUrl> {
    let layout = &made.definition;
    let data = data_path(engine, made)?;
    let kinds = engine
        .info()
        .places
        .iter()
        .filter(|of| is_apart(layout, **of));
    let kinds = kinds.filter_map(|of| Some((of.name().to_owned(), made.place(*of)?)));
    let tables = layout.tables.keys();
    let tables =
        tables.filter_map(|table| Some((format!("table.{table}"), made.table_place(table)?)));
    let places = kinds.chain(tables);
    let places = places.map(|(key, place)| (format!("place.{key}"), place.display().to_string()));
    Some(TargetUrl {
        scheme: engine.scheme().to_owned(),
        path: data.display().to_string(),
        settings: settings.clone().into_iter().chain(places).collect(),
        password: None,
        sql_of: engine.info().sql_of,
    })
}

/// Directory of a server's data, or file of an embedded database.
pub fn data_path(engine: &dyn Engine, made: &StandingLayout) -> Option<PathBuf> {
    let directory = made.place(Purpose::Data)?;
    Some(match engine.reach() {
        Reach::Embedded => directory.with_extension(engine.scheme()),
        _ => directory,
    })
}

/// The first location of a layout for which the engine has no files, or which it cannot separate from its data: "place.log".
pub fn lacking(engine: &dyn Engine, layout: &Definition) -> Option<String> {
    let kinds = layout.place.keys();
    let mut kinds = kinds.filter(|of| is_apart(layout, **of) && !engine.info().places.contains(of));
    let mut tables = layout
        .tables
        .keys()
        .filter(|_| !engine.info().places_tables);
    let kind = kinds.next().map(|of| format!("place.{}", of.name()));
    kind.or_else(|| tables.next().map(|table| format!("tables.{table}")))
}

/// True if the files have a volume other than the data's; else they stay where the engine puts them.
fn is_apart(layout: &Definition, of: Purpose) -> bool {
    let volume = layout.place.get(&of);
    volume.is_some() && volume != layout.place.get(&Purpose::Data)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The location of a built-in layout that an engine cannot separate.
    fn lacks(url: &str, layout: &str) -> Option<String> {
        let engine = engines::find(&engines::parse(url).unwrap()).unwrap();
        lacking(engine, &Definition::load(layout).unwrap())
    }

    #[test]
    fn a_layout_with_a_location_that_an_engine_cannot_use_is_detected() {
        for (url, layout, lack) in [
            ("postgres+local:", "all-apart", None),
            ("postgres+local:", "hot-spread", None),
            ("mariadb+local:", "all-apart", Some("place.indexes")),
            ("mariadb+local:", "hot-spread", None),
            ("sqlite:/x", "log-apart", Some("place.log")),
            ("sqlite:/x", "shared", None),
            ("duckdb:/x", "log-apart", Some("place.log")),
            // Files on the volume of the data need no separate location.
            ("duckdb:/x", "pool", None),
        ] {
            assert_eq!(lacks(url, layout).as_deref(), lack, "{url} {layout}");
        }
    }
}
