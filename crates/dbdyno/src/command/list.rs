//! `dbdyno list`: tests, plans, studies, engines and references.

use std::fmt::Write;

use anyhow::Result;
use archive::reference;
use clap::ValueEnum;
use engine::Reach;
use lab::Plan;

use super::study::built_in::BuiltIn;
use super::study::cost::{self, Machine};
use super::{plan_text, print};
use crate::arguments::study::Size;
use crate::arguments::{ListArguments, Listing};
use crate::exit::{Status, invalid};

pub fn list(arguments: &ListArguments) -> Result<Status> {
    if arguments.name.is_some() && !matches!(arguments.what, Listing::References) {
        return invalid("only references can be listed by name: `dbdyno list references NAME`");
    }
    let text = match arguments.what {
        Listing::Tests => tests()?,
        Listing::Plans => plans()?,
        Listing::Studies => studies()?,
        Listing::Engines => engines(),
        Listing::References => match &arguments.name {
            Some(name) => report::published(&reference::load(name)?),
            None => references()?,
        },
    };
    print(&text)?;
    Ok(Status::Fine)
}

fn tests() -> Result<String> {
    let library = super::library(None)?;
    let mut rows =
        vec![["code", "component", "title", "for OLTP", "for warehouses"].map(String::from)];
    for test in library.tests() {
        let d = &test.definition;
        rows.push([
            d.code.clone(),
            d.component.name().into(),
            d.title.clone(),
            d.importance.oltp.name().into(),
            d.importance.warehouse.name().into(),
        ]);
    }
    let run =
        "dbdyno run T611,T616 TARGET -c 1,8 -T 10s   measures two of them with 1 and 8 sessions";
    Ok(format!("{}\n{run}\n", columns(&rows)))
}

fn plans() -> Result<String> {
    let mut rows = vec![["plan", "what it measures"].map(String::from)];
    let workloads = workloads::registry(super::library(None)?);
    for name in Plan::built_in() {
        let plan = Plan::parse(&workloads, &Plan::text(name)?, &[])?;
        rows.push([plan.name, plan.about]);
    }
    Ok(columns(&rows))
}

fn studies() -> Result<String> {
    let heads = [
        "study",
        "document",
        "size",
        "writes at most",
        "timed points",
        "fits here",
        "what it measures",
    ];
    let mut rows = vec![heads.map(String::from)];
    let workloads = workloads::registry(super::library(None)?);
    let machine = Machine::here(&std::env::temp_dir());
    for study in BuiltIn::all()? {
        let [name, document, about] =
            [&study.name, &study.document, &study.about].map(Clone::clone);
        let none = String::new;
        rows.push([name, document, none(), none(), none(), none(), about]);
        for size in Size::value_variants() {
            let cost = cost::of(
                &study,
                *size,
                cost::How::default(),
                &workloads,
                &[(engines::DEFAULT_ENGINE, 1)],
                &[],
            )?;
            rows.push([
                String::new(),
                String::new(),
                plan_text::word(*size),
                stats::words::bytes(cost.written_bytes),
                cost::time(cost.timed_s),
                machine
                    .lacks(&cost)
                    .map_or("yes".into(), |lacks| format!("no: {lacks}")),
                study.scale(*size).about.clone(),
            ]);
        }
    }
    let how = "For PostgreSQL, from the plan of each size. Bytes: an upper bound of all data and logs that its workloads write. Timed \
               points: the seconds that the plan sets, with the longest warm-up; loads, checks and work of a fixed amount are extra.\n";
    Ok(columns(&rows) + how)
}

fn engines() -> String {
    let mut text = String::new();
    for engine in engines::engines() {
        let info = engine.info();
        let version = engine
            .version()
            .unwrap_or_else(|how_to_get_it| format!("– {how_to_get_it}"));
        let path = match engine.reach() {
            Reach::Nowhere | Reach::Replica => "",
            Reach::Embedded => "PATH",
            Reach::LocalServer => "[DATA_DIR]",
            Reach::Network => "//USER[:PASSWORD]@HOST[:PORT]/DATABASE",
        };
        let _ = writeln!(
            text,
            "{}:{path}  {}  {version}",
            engine.scheme(),
            info.title
        );
        if let Some(tried) = info.tried.sentence() {
            let _ = writeln!(text, "    {tried}");
        }
        for found in engine.found() {
            let _ = writeln!(text, "    {found}");
        }
        for (key, meaning) in info.settings {
            let _ = writeln!(text, "    ?{key}=  {meaning}");
        }
    }
    text
}

fn references() -> Result<String> {
    let mut rows = vec![["reference", "platform", "document"].map(String::from)];
    for name in reference::list() {
        let reference = reference::load(name)?;
        rows.push([format!("ref:{name}"), reference.title, reference.document]);
    }
    Ok(columns(&rows))
}

pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|r| r[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn columns_are_aligned_and_not_padded_at_the_end() {
        let rows = [["a", "bb"], ["ccc", "d"]].map(|r| r.map(String::from));
        assert_eq!(columns(&rows), "a    bb\nccc  d\n");
    }
}
