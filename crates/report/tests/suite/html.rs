//! The page as text: structure, escaping, links, size.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use std::collections::HashSet;

use archive::Run;
use report::{Against, HtmlOptions, html};

fn page(run: &Run, against: &[Against<'_>]) -> String {
    html(run, against, &HtmlOptions::default())
}

/// Values of an attribute, in order.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    page.split(&format!(" {attribute}=\""))
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect()
}

/// The visible text, one block per line, without pictures and embedded data.
fn text(page: &str) -> String {
    let mut out = String::new();
    let mut rest = &page[page.find("<body").unwrap()..];
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start].replace('\n', " "));
        let tag = &rest[start..];
        let skipped = ["svg", "script"]
            .iter()
            .find(|n| tag.starts_with(&format!("<{n}")));
        let end = match skipped {
            Some(name) => tag.find(&format!("</{name}>")).unwrap() + name.len() + 3,
            None => tag.find('>').unwrap() + 1,
        };
        let blocks = [
            "</h",
            "</p",
            "</tr",
            "</li",
            "</dt",
            "</dd",
            "</figc",
            "</summary",
            "</pre",
        ];
        if blocks.iter().any(|b| tag.starts_with(b)) {
            out.push('\n');
        } else if tag.starts_with("</t") {
            out.push_str(" | ");
        }
        rest = &tag[end..];
    }
    let lines = out
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    lines
        .filter(|l| !l.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

pub fn section(page: &str, id: &str) -> String {
    let start = page.find(&format!("<section id=\"{id}\"")).unwrap();
    let rest = &page[start..];
    let end = rest[1..].find("<section").map_or(rest.len(), |e| e + 1);
    text(&format!("<body>{}", &rest[..end]))
}

#[test]
fn verdict_scorecard_and_a_test() {
    let (run, reference) = (crate::fixture::few(), crate::fixture::reference());
    let page = page(&run, &[Against::Reference(&reference)]);
    let first = ["verdict", "answer", "sure"].map(|id| section(&page, id));
    insta::assert_snapshot!("verdict", first.join("\n\n"));
    insta::assert_snapshot!("scorecard", section(&page, "scorecard"));
    insta::assert_snapshot!("test_section", section(&page, "T621"));
}

#[test]
fn the_complete_platform_and_its_advice() {
    let page = page(&crate::fixture::few(), &[]);
    // A section with nested sections ends before the next one with an id.
    let whole = |id: &str| {
        let start = page.find(&format!("<section id=\"{id}\"")).unwrap();
        let rest = &page[start..];
        let end = rest[1..].find("<section id=").map_or(rest.len(), |e| e + 1);
        text(&format!("<body>{}", &rest[..end]))
    };
    insta::assert_snapshot!("inventory", whole("inventory"));
    insta::assert_snapshot!("practice", whole("practice"));
}

#[test]
fn differences_of_configuration_precede_the_scorecard() {
    let (run, mut other) = (crate::fixture::few(), crate::fixture::few());
    other.label = "before".to_owned();
    let alike = page(&run, &[Against::Run(&other)]);
    assert!(section(&alike, "differences").contains("No recorded difference"));
    other.targets[0]
        .settings
        .insert("cache_size".to_owned(), "-8192".to_owned());
    other.inventory.facts.retain(|f| f.name != "governor");
    for fact in &mut other.inventory.facts {
        if fact.name == "total bytes" {
            fact.value = "4163608576".to_owned();
        }
    }
    let page = page(&run, &[Against::Run(&other)]);
    insta::assert_snapshot!("differences", section(&page, "differences"));
    let place = |id: &str| page.find(&format!("<section id=\"{id}\"")).unwrap();
    assert!(place("differences") < place("scorecard") && place("scorecard") < place("platform"));
}

/// A large share of a tiny amount is no caution, and the sentence gives the bound.
#[test]
fn other_programs_with_tiny_io_disturb_nobody() {
    let mut run = crate::fixture::few();
    for point in &mut run.points {
        let figures = &mut point.figures;
        (figures.read_mb_per_s, figures.write_mb_per_s) = (Some(0.5), Some(0.0));
        (
            figures.read_by_others_mb_per_s,
            figures.write_by_others_mb_per_s,
        ) = (Some(0.45), Some(0.0));
    }
    let points = run.points.len();
    let text = section(&page(&run, &[]), "sure");
    let expected =
        format!("device I/O at most 90.0 %, above 10 % and 1 MB/s in 0 of {points} points");
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_chart_as_svg() {
    let page = page(&crate::fixture::few(), &[]);
    let section = &page[page.find("<section id=\"T621\"").unwrap()..];
    let svg = &section[section.find("<svg").unwrap()..section.find("</svg>").unwrap() + 6];
    insta::assert_snapshot!("throughput_svg", svg.replace("><", ">\n<"));
}

#[test]
fn a_single_point_of_nulls() {
    insta::assert_snapshot!("single", text(&page(&crate::fixture::single(), &[])));
}

#[test]
fn the_states_of_a_run() {
    let headline = |run: &Run| {
        let page = page(run, &[]);
        let (verdict, sure) = (section(&page, "verdict"), section(&page, "sure"));
        let grade = verdict
            .lines()
            .filter(|line| line.contains("the figures") || line.starts_with("The figures"));
        let state = sure.lines().skip_while(|line| *line != "State").take(2);
        grade.chain(state).collect::<Vec<_>>().join(" / ")
    };
    let mut valid = crate::fixture::run();
    valid.points.retain(archive::Point::valid);
    let mut calm = valid.clone();
    calm.points
        .retain(|p| p.steady == Some(archive::Steady::Yes));
    let mut changed = valid.clone();
    changed.reasons = vec![crate::fixture::remark(
        "12 points are gone from the archive",
    )];
    let mut empty = crate::fixture::frame();
    empty.state = archive::RunState::Interrupted;
    insta::assert_snapshot!(format!(
        "{}\n{}\n{}\n{}\n{}\n{}",
        headline(&calm),
        headline(&valid),
        headline(&crate::fixture::run()),
        headline(&crate::fixture::interrupted()),
        headline(&changed),
        headline(&empty),
    ));
}

/// Users come first, in a separate table, and no table shows columns without known values.
#[test]
fn users_stand_before_everything_else() {
    let page = page(&crate::fixture::ramp(), &[]);
    insta::assert_snapshot!("users", section(&page, "users"));
    insta::assert_snapshot!("users_kind", section(&page, "NEWORDER"));
    let place = |id: &str| page.find(&format!("<section id=\"{id}\"")).unwrap();
    let order = [
        "verdict",
        "users",
        "scorecard",
        "platform",
        "database",
        "method",
    ]
    .map(place);
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn another_run_is_compared_with_it() {
    let (run, mut other) = (crate::fixture::few(), crate::fixture::once());
    other.label = "before <b>".to_owned();
    let page = page(&run, &[Against::Run(&other)]);
    let card = section(&page, "scorecard");
    let is_head = |line: &&str| line.starts_with("metric | ");
    let head = card.lines().find(is_head).unwrap();
    assert_eq!(head.matches("run before &lt;b&gt;").count(), 2, "{head}");
    assert!(
        page.contains("before &lt;b&gt; · sqlite"),
        "legend of a chart"
    );
}

/// A comparison shows both runs in every chart of a test that a single run has.
#[test]
fn the_run_before_is_in_every_chart() {
    let (run, mut before) = (crate::fixture::few(), crate::fixture::few());
    before.label = "before".to_owned();
    let page = page(&run, &[Against::Run(&before)]);
    let section = &page[page.find("<section id=\"T621\"").unwrap()..];
    let section = &section[..section.find("</section>").unwrap()];
    let figures: Vec<&str> = section.split("<figure").skip(1).collect();
    for caption in [
        "Throughput over time",
        "Response time p99 over time",
        "Latency distribution",
        "Top timed events",
    ] {
        assert!(
            figures.iter().any(|f| f.contains(caption)),
            "no chart {caption}"
        );
    }
    for figure in figures {
        assert!(
            figure.contains("before · "),
            "{}",
            text(&format!("<body>{figure}"))
        );
    }
}

#[test]
fn hostile_text_stays_text() {
    let mut run = crate::fixture::single();
    let hostile = || crate::fixture::HOSTILE.to_owned();
    run.plan_name = hostile();
    run.plan_toml = hostile();
    run.targets[0].name = hostile();
    run.targets[0].url = hostile();
    run.targets[0].settings = [(hostile(), hostile())].into();
    run.platform.host_name = Some(hostile());
    run.reasons = vec![crate::fixture::remark(&hostile())];
    let point = &mut run.points[0];
    point.key.test = hostile();
    point.title = hostile();
    point.notes = vec![crate::fixture::remark(&hostile())];
    point.reasons = vec![crate::fixture::remark(&hostile())];
    point.work.cache = hostile().into();
    let mut reference = crate::fixture::reference();
    reference.title = hostile();
    reference.document = hostile();
    let page = page(&run, &[Against::Reference(&reference)]);
    assert!(!page.contains("<script>"), "a script came through");
    assert_eq!(page.matches("<script").count(), 1, "only the data");
    assert!(page.contains("<script type=\"application/gzip;base64\""));
    assert!(page.contains("&lt;script&gt;") || page.contains("&#60;script&#62;"));
    balanced(&page);
}

/// Every element that is opened is closed, in order.
pub fn balanced(page: &str) {
    const VOID: [&str; 5] = ["meta", "!DOCTYPE", "br", "wbr", "input"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag without end");
        let tag = &rest[start + 1..end];
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(|c| !c.is_whitespace() && *c != '/')
            .collect();
        if tag.starts_with('/') {
            assert_eq!(
                open.pop().as_deref(),
                Some(name.as_str()),
                "near {}",
                &page[..40]
            );
        } else if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn no_address_leaves_the_page_and_every_link_arrives() {
    let (run, reference) = (crate::fixture::run(), crate::fixture::reference());
    let page = page(&run, &[Against::Reference(&reference)]);
    balanced(&page);
    let ids = values(&page, "id");
    let known: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "an id stands twice");
    let links = values(&page, "href");
    assert!(links.len() > 30);
    for link in links {
        let fragment = link
            .strip_prefix('#')
            .unwrap_or_else(|| panic!("{link} leaves the page"));
        assert!(known.contains(fragment), "{link} leads nowhere");
    }
    for word in [
        " src=", "url(", "@import", "<link", "<iframe", "<object", "onload",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    let (before_data, _) = page.split_once("<script").unwrap();
    assert!(
        !before_data.contains("http"),
        "an address stands in the page"
    );
}

#[test]
fn every_chart_is_also_a_table_and_says_how_to_read_it() {
    let page = page(&crate::fixture::run(), &[]);
    let figures: Vec<&str> = page
        .split("<figure>")
        .skip(1)
        .map(|f| f.split("</figure>").next().unwrap())
        .collect();
    assert!(figures.len() > 60, "{}", figures.len());
    for figure in figures {
        for part in [
            "<figcaption>",
            "<svg",
            "role=\"img\"",
            "class=\"how\"",
            "<details>",
            "<table>",
        ] {
            assert!(
                figure.contains(part),
                "{part} is missing in {}",
                &figure[..200]
            );
        }
        assert!(!figure.contains("NaN") && !figure.contains("inf\""));
    }
}

/// The same values under the same names, figures to the nine digits that the page keeps.
fn assert_alike(page: &serde_json::Value, export: &serde_json::Value, place: &str) {
    use serde_json::Value;
    match (page, export) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{place}");
            for (name, value) in a {
                assert_alike(value, &b[name], &format!("{place}.{name}"));
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                assert_alike(a, b, &format!("{place}[{at}]"));
            }
        }
        (Value::Number(a), Value::Number(b)) if b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-8 * b.abs(), "{place}: {a} is not {b}");
        }
        (a, b) => assert_eq!(a, b, "{place}"),
    }
}

#[test]
fn the_data_can_be_read_back() {
    let run = crate::fixture::run();
    let page = page(&run, &[]);
    let (_, data) = page.split_once("id=\"dbdyno-data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let packed = STANDARD.decode(data).unwrap();
    let data: serde_json::Value = serde_json::from_reader(GzDecoder::new(&packed[..])).unwrap();
    let mut direct = archive::export::Exported::of(&run);
    direct.grade = Some(report::grade(&run, &[]));
    let direct = serde_json::to_value(direct).unwrap();
    assert_alike(&data, &direct, "");
}

/// Most of a page with many points is data, and most of these are the distributions.
#[test]
fn a_page_of_thousands_of_points_leaves_the_distributions_out_and_says_so() {
    let mut run = crate::fixture::run();
    let points = run.points.clone();
    for round in 1..=2_000 / points.len() as u32 {
        run.points.extend(points.iter().cloned().map(|mut point| {
            point.key.repetition += round * run.repetitions;
            point
        }));
    }
    let page = page(&run, &[]);
    let (_, foot) = page.split_once("<footer>").unwrap();
    assert!(foot.contains("too many points to embed their histograms"));
    assert!(foot.len() < 2_000_000, "{}", foot.len());
}

#[test]
fn a_typical_page_is_small() {
    let mut run = crate::fixture::once();
    // Points of the quick plan last a second or two.
    run.points.iter_mut().for_each(|p| p.samples.truncate(2));
    let reference = crate::fixture::reference();
    let page = page(&run, &[Against::Reference(&reference)]);
    assert!(run.points.len() > 110);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}
