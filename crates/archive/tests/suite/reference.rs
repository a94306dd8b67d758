//! Rules of every reference, and errors of wrong files.

use std::collections::BTreeSet;

use archive::reference::{self, ReferenceError};

fn all() -> Vec<reference::Reference> {
    let names = reference::list();
    names
        .iter()
        .map(|name| reference::load(name).expect("an embedded file loads"))
        .collect()
}

#[test]
fn every_file_of_the_folder_is_embedded_and_loads() {
    let folder = "../../reference";
    let on_disk: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let embedded: BTreeSet<String> = reference::list().iter().map(|s| s.to_string()).collect();
    assert_eq!(on_disk, embedded);
    for reference in all() {
        assert!(embedded.contains(&reference.name));
        assert!(!reference.title.is_empty() && !reference.document.is_empty());
    }
}

#[test]
fn names_and_titles_are_unique() {
    let all = all();
    let names: BTreeSet<_> = all.iter().map(|r| &r.name).collect();
    let titles: BTreeSet<_> = all.iter().map(|r| &r.title).collect();
    assert_eq!((names.len(), titles.len()), (all.len(), all.len()));
}

#[test]
fn every_figure_has_a_place() {
    for r in all() {
        let places = (r.points.iter().map(|x| &x.place))
            .chain(r.stated.iter().map(|x| &x.place))
            .chain(r.result_tables.iter().map(|x| &x.place))
            .chain(r.sections.iter().map(|x| &x.place))
            .chain(r.tables.iter().map(|x| &x.place))
            .chain(r.charts.iter().map(|x| &x.place))
            .chain(r.remarks.iter().map(|x| &x.place));
        for place in places {
            let named = ["slide", "section", "table", "figure", "appendix", "page"];
            let lower = place.to_lowercase();
            assert!(
                named.iter().any(|word| lower.contains(word)),
                "{}: {place}",
                r.name
            );
        }
    }
}

#[test]
fn no_two_stated_figures_of_one_place_have_one_name() {
    for r in all() {
        let keys: BTreeSet<_> = r.stated.iter().map(|s| (&s.place, &s.name)).collect();
        assert_eq!(keys.len(), r.stated.len(), "{}", r.name);
    }
}

#[test]
fn the_prefix_is_accepted_and_an_unknown_name_lists_the_known_ones() {
    let name = reference::list()[0];
    assert_eq!(
        reference::load(&format!("ref:{name}")),
        reference::load(name)
    );
    let error = reference::load("dl98").unwrap_err();
    assert!(matches!(error, ReferenceError::Unknown { .. }));
    let text = error.to_string();
    assert!(text.contains("\"dl98\"") && text.contains(name), "{text}");
}

const HEAD: &str = "title = \"A\"\ndocument = \"D\"\n";

const COLUMNS: &str = r##"
column = [
  { printed = "#N", is = "nodes" }, { printed = "#J", is = "jobs" }, { printed = "#T", is = "threads" },
  { printed = "MBps", is = "read_mb_per_s", factor = 1.048576 }, { printed = "ops", is = "operations_per_s" },
]
"##;

fn results(rest: &str) -> String {
    format!("{HEAD}{COLUMNS}[[results]]\ntest = \"T1\"\ntitle = \"t\"\nplace = \"table 1\"\n{rest}")
}

fn refusal(toml: &str) -> String {
    let text = reference::parse("mine", toml)
        .expect_err("it is wrong")
        .to_string();
    assert!(!text.contains('\n'), "one line: {text}");
    assert!(text.contains("\"mine\""), "names the file: {text}");
    text
}

#[test]
fn a_row_is_converted_and_kept_as_printed() {
    let text = results(
        "zero_means = { ops = \"not applicable\" }\nrows = [ { row = [1, 2, 4, 100, 0.0] } ]",
    );
    let r = reference::parse("mine", &text).unwrap();
    let point = &r.points[0];
    assert_eq!((point.nodes, point.jobs, point.threads), (1, 2, 4));
    let read = point.figures.read_mb_per_s.unwrap();
    assert!((read - 104.8576).abs() < 1e-9, "{read}");
    assert_eq!(point.figures.operations_per_s, None);
    assert_eq!((point.printed["MBps"], point.printed["ops"]), (100.0, 0.0));
    let zero = results("rows = [ { row = [1, 2, 4, 0, 0.0] } ]");
    let r = reference::parse("mine", &zero).unwrap();
    assert_eq!(
        r.points[0].figures.operations_per_s,
        Some(0.0),
        "a zero is a zero unless it is said"
    );
}

#[test]
fn service_labels_are_values_or_bounds() {
    let text = results(
        "rows = [ { row = [1, 1, 1, 1, 1], service = [\"25 ms\", \"LGWR < 500 µs\"] },\n{ row = [1, 1, 1, 1, 1], service = [\"< 2 s\"] } ]",
    );
    let r = reference::parse("mine", &text).unwrap();
    assert_eq!(r.points[0].service_ms_mean, Some(25.0));
    let second = &r.points[0].service_labels[1];
    assert_eq!(second.of.as_deref(), Some("LGWR"));
    assert_eq!(second.ms, 0.5);
    assert!(second.upper_bound);
    assert_eq!(r.points[1].service_ms_mean, None, "a bound is no mean");
    assert_eq!(r.points[1].service_labels[0].ms, 2000.0);
}

#[test]
fn a_wrong_file_is_refused_with_its_place() {
    for (toml, says) in [
        (format!("{HEAD}colour = 1\n"), "line 3"),
        (HEAD.replace("\"D\"", "\" \""), "`document` is empty"),
        ("title = \"A\"\n".to_owned(), "missing field `document`"),
        (
            results("rows = [ { row = [1, 2, 3] } ]"),
            "row 1: it has 3 numbers, but there are 5 columns",
        ),
        (
            results("rows = [ { row = [1, 1.5, 1, 1, 1] } ]"),
            "\"#J\" must be a whole number",
        ),
        (
            results("rows = [ { row = [1, 1, 1, nan, 1] } ]"),
            "\"MBps\" is not a finite number",
        ),
        (
            results("rows = [ { row = [1, 1, 1, 1, 1], service = [\"fast\"] } ]"),
            "service time \"fast\"",
        ),
        (
            results("zero_means = { x = \"y\" }\nrows = []"),
            "\"x\", which is not a column",
        ),
        (
            results("rows = []").replace("read_mb_per_s", "read_mbps"),
            "which is not a figure",
        ),
        (
            results("rows = []").replace("operations_per_s", "read_mb_per_s"),
            "only one may",
        ),
        (
            results("rows = []").replace("table 1", ""),
            "`place` is empty",
        ),
        (
            format!(
                "{HEAD}[[table]]\nkind=\"k\"\ntitle=\"t\"\nplace=\"p\"\ncolumns=[\"a\"]\nrows=[{{row=[1,2]}}]"
            ),
            "2 cells",
        ),
        (
            format!("{HEAD}#{}", "x".repeat(reference::FILE_BYTES_MAX)),
            "the limit is",
        ),
    ] {
        let text = refusal(&toml);
        assert!(text.contains(says), "\"{text}\" does not say \"{says}\"");
    }
}
