//! The report as one self-contained HTML file: static tables and SVG, no script, nothing fetched.

mod alternatives;
mod backup;
mod before_after;
mod charts;
mod columnar;
mod columns;
mod customer;
mod data;
mod devices;
mod diagnostics;
mod differences;
mod events;
mod facts;
mod figure;
mod first;
mod fleet;
mod forest;
mod held_back;
mod inventory;
mod io_by_purpose;
mod latency;
mod load;
mod machine;
mod method;
mod metric_name;
mod network;
mod observed;
mod options;
mod price;
mod published;
mod queries;
mod ramp;
mod rounds;
mod scaling;
mod scorecard_table;
mod screening;
mod series;
mod sides;
mod sweep;
mod test;
mod timeline;
mod times;
mod transactions;
mod verdict;

pub use fleet::fleet;
pub use options::HtmlOptions;

use ::verdict::contrasts::{Kind, belong_together};
use archive::{Component, Run};
use askama::Template;

use crate::delivered::{Delivered, delivered};
use crate::level;
use crate::scorecard::{self, Against};
use crate::users::{self, Summary};
use data::Data;

/// Renders a run and its comparisons as one HTML page.
pub fn html(run: &Run, against: &[Against<'_>], options: &HtmlOptions) -> String {
    let groups = level::tests(run, scorecard::rank);
    // The sides of a study with more than two form one result instead of separate comparisons.
    let (sides, against) = &divide(run, against);
    let (screening, effects) = screening::view(run, of(sides, Kind::Screening), options);
    let (alternatives, order) = alternatives::view(run, of(sides, Kind::Alternatives), options);
    let components = SECTIONS
        .into_iter()
        .map(|section| ComponentView {
            name: section.title,
            id: section.id,
            tests: groups
                .iter()
                .filter(|g| section.holds(g))
                .map(|g| test::view(run, g, against))
                .collect(),
            delivered: if section.below_database {
                delivered(run, &groups)
            } else {
                Vec::new()
            },
        })
        .filter(|c: &ComponentView| !c.tests.is_empty())
        .collect();
    let (users, forest) = (
        users::summaries(&groups),
        forest::view(run, against, options),
    );
    let charts = ramp::figures(run, &groups, against);
    let answers = first::Answers {
        sides,
        screening: effects,
        alternatives: order,
        columnar: columnar::answer(run, against),
        outcomes: forest.outcomes(),
    };
    let first = first::view(run, &groups, against, &users, charts, answers);
    let mut page = Page {
        title: options
            .title
            .clone()
            .unwrap_or_else(|| format!("dbdyno · {}", title(run, sides))),
        run,
        first,
        links: Vec::new(),
        users,
        facts: facts::view(run, against),
        customer: customer::view(run, against),
        differences: differences::view(run, against),
        screening,
        alternatives,
        forest,
        before_after: before_after::view(run, against),
        price: price::view(run, against, options),
        inventory: inventory::view(run),
        scorecard: scorecard_table::view(run, against),
        columnar: columnar::view(run, against),
        backup: backup::view(run),
        observed: observed::view(run),
        components,
        missing: missing(run),
        generated_at: options.generated_at.clone(),
        data: Data::of(run),
        method: method::METHOD,
        disclaimer: method::DISCLAIMER,
    };
    page.links = page.sections();
    page.render()
        .expect("the template writes plain values into a String, which cannot fail")
}

/// Sentences for the end of a terminal's output that answer the question of the run's study.
pub fn answer(run: &Run, against: &[Against<'_>], options: &HtmlOptions) -> Vec<String> {
    let mut said = columnar::answer(run, against);
    for outcome in forest::view(run, against, options).outcomes() {
        said.push(format!("{}: {}.", outcome.question, outcome.tally));
        said.extend(outcome.said);
    }
    said
}

/// The other sides of a run's study with more than two sides, and the remaining comparisons.
fn divide<'a>(run: &Run, against: &[Against<'a>]) -> (Vec<&'a Run>, Vec<Against<'a>>) {
    let mut sides = Vec::new();
    let mut others = Vec::new();
    for other in against {
        match other {
            Against::Run(side) if belong_together(run, side) => sides.push(*side),
            other => others.push(*other),
        }
    }
    (sides, others)
}

/// The sides if all of them are of this kind.
fn of<'s, 'r>(sides: &'s [&'r Run], kind: Kind) -> &'s [&'r Run] {
    if sides.iter().any(|side| Kind::of(side) == Some(kind)) {
        sides
    } else {
        &[]
    }
}

/// The label of the run, or the study's name if all its sides are present.
fn title<'r>(run: &'r Run, sides: &[&Run]) -> &'r str {
    let study = run.study.as_ref().filter(|_| !sides.is_empty());
    study.map_or(&run.label, |study| &study.name)
}

#[derive(Template)]
#[template(path = "report.html", whitespace = "minimize")]
struct Page<'a> {
    title: String,
    run: &'a Run,
    first: first::View,
    links: Vec<(&'static str, &'static str)>,
    users: Vec<Summary>,
    facts: facts::View,
    customer: customer::View,
    differences: differences::View,
    screening: screening::View,
    alternatives: alternatives::View,
    forest: forest::View,
    before_after: before_after::View,
    price: price::View,
    inventory: inventory::View,
    scorecard: scorecard_table::View,
    columnar: columnar::View,
    backup: backup::View,
    observed: observed::View,
    components: Vec<ComponentView>,
    missing: Vec<[String; 3]>,
    generated_at: Option<String>,
    data: Data,
    method: &'static [(&'static str, &'static str)],
    disclaimer: &'static str,
}

impl Page<'_> {
    /// The page's sections before and after those of the components, in order.
    fn sections(&self) -> Vec<(&'static str, &'static str)> {
        let all = [
            (true, ("verdict", "Answer")),
            (!self.users.is_empty(), ("users", "Users")),
            (!self.screening.is_empty(), ("screening", "Screening")),
            (
                !self.alternatives.is_empty(),
                ("alternatives", "Alternatives"),
            ),
            (
                !self.forest.is_empty(),
                ("forest", "Performance comparison"),
            ),
            (
                !self.differences.is_empty(),
                ("differences", "Configuration differences"),
            ),
            (!self.before_after.is_empty(), ("shift", "Before and after")),
            (!self.observed.is_empty(), ("observed", "Database at work")),
            (!self.price.is_empty(), ("prices", "Prices")),
            (!self.scorecard.is_empty(), ("scorecard", "Scorecard")),
            (
                !self.columnar.is_empty(),
                ("columnar", self.columnar.title()),
            ),
            (!self.backup.is_empty(), ("backup", "Backup and restore")),
            (true, ("platform", "Platform")),
            (
                !self.missing.is_empty(),
                ("missing", "Missing capabilities"),
            ),
        ];
        let there = all
            .into_iter()
            .filter_map(|(is_there, link)| is_there.then_some(link));
        let inventory = self.inventory.contents();
        there
            .chain(inventory)
            .chain([("method", "Method")])
            .collect()
    }
}

struct ComponentView {
    name: &'static str,
    id: &'static str,
    tests: Vec<test::View>,
    /// The delivered share of the device; only in the section below the database.
    delivered: Vec<Delivered>,
}

/// A section of tests: one component's, with storage tests below the database kept separate.
struct Section {
    component: Component,
    below_database: bool,
    title: &'static str,
    id: &'static str,
}

const SECTIONS: [Section; 5] = [
    Section::of(Component::Cpu, "Processor"),
    Section::of(Component::Server, "Server: processor, memory and cache"),
    Section {
        component: Component::Storage,
        below_database: true,
        title: "Storage, below the database",
        id: "below",
    },
    Section::of(Component::Storage, "Storage, through the database"),
    Section::of(Component::Database, "Database: all components"),
];

impl Section {
    const fn of(component: Component, title: &'static str) -> Self {
        Self {
            component,
            below_database: false,
            title,
            id: component.name(),
        }
    }

    fn holds(&self, group: &level::TestGroup<'_>) -> bool {
        group.component == self.component && group.below_database() == self.below_database
    }
}

fn missing(run: &Run) -> Vec<[String; 3]> {
    run.missing
        .iter()
        .map(|m| {
            [
                level::target_name(run, m.target),
                format!("{} {}", m.test, m.title),
                m.reason.to_string(),
            ]
        })
        .collect()
}
