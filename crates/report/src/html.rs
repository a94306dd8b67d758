//! The report as one self-contained HTML file: static tables and SVG, no script, nothing fetched.

pub(crate) mod alternatives;
mod backup;
mod before_after;
mod charts;
pub(crate) mod columnar;
mod columns;
mod customer;
mod data;
mod devices;
mod diagnostics;
mod differences;
mod events;
mod facts;
mod figure;
pub(crate) mod first;
mod fleet;
pub(crate) mod forest;
mod fragment;
mod held_back;
mod inventory;
mod io_by_purpose;
mod latency;
mod load;
mod load_curve;
mod machine;
mod method;
mod network;
pub(crate) mod observed;
mod options;
mod price;
mod published;
mod queries;
mod ramp;
mod rounds;
mod scaling;
pub(crate) mod screening;
mod section;
mod series;
mod sides;
pub(crate) mod sweep;
mod test;
mod timeline;
mod times;
mod transactions;
pub(crate) mod verdict;

pub use fleet::fleet;
pub use options::HtmlOptions;

use ::verdict::contrasts::{Kind, belong_together};
use archive::{Component, Run};
use askama::Template;

use crate::delivered::delivered;
use crate::level::{self, missing};
use crate::scorecard::{self, Against};
use crate::users::{self, Summary};
use data::Data;
use section::Fragment;

/// Renders a run and its comparisons as one HTML page.
pub fn html(run: &Run, against: &[Against<'_>], options: &HtmlOptions) -> String {
    let groups = level::tests(run, scorecard::rank);
    // The sides of a study with more than two form one result instead of separate comparisons.
    let (sides, against) = &divide(run, against);
    let (screening, effects) = screening::view(run, of_kind(sides, Kind::Screening), options);
    let (alternatives, order) =
        alternatives::view(run, of_kind(sides, Kind::Alternatives), options);
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
            delivered: match delivered(run, &groups) {
                Some(delivered) if section.below_database => Fragment::of(3, &delivered),
                None if section.below_database && run.is_of_parameter_file() => {
                    load_curve::view(groups.iter().filter(|g| section.holds(g)))
                }
                _ => Fragment::default(),
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
        outcomes: forest.outcomes,
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
        users: users_view(&users),
        facts: facts::view(run, against),
        customer: customer::view(run, against),
        differences: differences::view(run, against),
        screening,
        alternatives,
        forest: forest.section,
        before_after: before_after::view(run, against),
        price: price::view(run, against, options),
        inventory: inventory::view(run),
        practice: inventory::practice(&run.inventory.advice),
        scorecard: Fragment::of_blocks(&scorecard::section(
            &scorecard::scorecard(run, against),
            scorecard::ends,
        ))
        .folded_but_printed("Every metric, always in the same order")
        .section("scorecard", "Scorecard"),
        columnar: columnar::view(run, against),
        columnar_title: columnar::title(run, against),
        backup: backup::view(run),
        observed: observed::view(run),
        components,
        missing: Fragment::of_blocks(&missing(run)).section("missing", "Missing capabilities"),
        generated_at: options.generated_at.clone(),
        data: Data::of(run),
        method: method::METHOD,
        disclaimer: method::DISCLAIMER,
    };
    page.links = page.sections();
    page.render()
        .expect("the template writes plain values into a String, which cannot fail")
}

/// Identifies the run of a page.
pub fn run_mark(run: &Run) -> String {
    format!("{} {}", run.id, run.started_at)
}

/// The other sides of a run's study with more than two sides, and the remaining comparisons.
pub(crate) fn divide<'a>(run: &Run, against: &[Against<'a>]) -> (Vec<&'a Run>, Vec<Against<'a>>) {
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
pub(crate) fn of_kind<'s, 'r>(sides: &'s [&'r Run], kind: Kind) -> &'s [&'r Run] {
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
    users: Fragment,
    facts: facts::View,
    customer: Fragment,
    differences: Fragment,
    screening: Fragment,
    alternatives: Fragment,
    forest: Fragment,
    before_after: Fragment,
    price: Fragment,
    inventory: Fragment,
    practice: Fragment,
    scorecard: Fragment,
    columnar: Fragment,
    columnar_title: &'static str,
    backup: Fragment,
    observed: Fragment,
    components: Vec<ComponentView>,
    missing: Fragment,
    generated_at: Option<String>,
    data: Data,
    method: &'static [(&'static str, &'static str)],
    disclaimer: &'static str,
}

impl Page<'_> {
    /// The page's sections in order.
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
            (!self.observed.is_empty(), ("observed", "Database activity")),
            (!self.price.is_empty(), ("prices", "Prices")),
            (!self.scorecard.is_empty(), ("scorecard", "Scorecard")),
            (!self.columnar.is_empty(), ("columnar", self.columnar_title)),
            (!self.backup.is_empty(), ("backup", "Backup and restore")),
            (true, ("platform", "Platform")),
            (
                !self.missing.is_empty(),
                ("missing", "Missing capabilities"),
            ),
            (
                !self.inventory.is_empty(),
                ("inventory", "Platform inventory"),
            ),
            (!self.practice.is_empty(), ("practice", "Configuration")),
            (true, ("method", "Method")),
        ];
        let components = self.components.iter().map(|c| (c.id, c.name));
        let mut links: Vec<_> = (all.into_iter())
            .filter_map(|(is_there, link)| is_there.then_some(link))
            .collect();
        let after_platform = links.iter().position(|(id, _)| *id == "platform");
        let at = after_platform.map_or(links.len(), |at| at + 1);
        links.splice(at..at, components);
        links
    }
}

const USERS_HOW: &str = "Throughput and response time of the order-entry users, all transaction types together. Each transaction type has its \
     own section below.";

fn users_view(users: &[Summary]) -> Fragment {
    let mut parts = Fragment::default();
    users
        .iter()
        .for_each(|summary| _ = parts.results(3, &summary.levels));
    if !parts.is_empty() {
        let mut all = Fragment::default();
        all.how(USERS_HOW).add(&parts);
        return all.section("users", "Users");
    }
    parts
}

struct ComponentView {
    name: &'static str,
    id: &'static str,
    tests: Vec<test::View>,
    /// The delivered share of the device, or the curves of a parameter file; only in the section below the database.
    delivered: Fragment,
}

/// A section of tests: one component's, with storage tests below the database kept separate.
struct Section {
    component: Component,
    below_database: bool,
    title: &'static str,
    id: &'static str,
}

const SECTIONS: [Section; 5] = [
    Section::of(Component::Database, "Database: all components"),
    Section {
        component: Component::Storage,
        below_database: true,
        title: "Storage, below the database",
        id: "below",
    },
    Section::of(Component::Storage, "Storage, through the database"),
    Section::of(Component::Server, "Server: CPU, memory and cache"),
    Section::of(Component::Cpu, "CPU"),
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
