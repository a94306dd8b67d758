//! Errors in a file of prices, with their positions.

use super::*;

fn error(text: &str) -> String {
    PriceList::parse("prices.toml", text)
        .unwrap_err()
        .to_string()
}

fn item(lines: &str) -> String {
    format!("currency = \"USD\"\n\n[[item]]\npart = \"server\"\n{lines}\n")
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let two =
        |second: &str| item("quantity = 1\nlist = 5") + "[[item]]\npart = \"disk\"\n" + second;
    let cases = [
        String::new(),
        "item = 3".into(),
        item("quantity = 1"),
        item("quantity = 1\nlist = \"65k\""),
        item("quantity = 1\nlist = -1"),
        item("quantity = 1\nlist = nan"),
        item("quantity = 1\nlst = 1"),
        item("quantity = \"per cor\"\nlist = 1"),
        item("quantity = true\nlist = 1"),
        item("quantity = -1\nlist = 1"),
        item("quantity = 1\nlist = 1\ndiscount_pct = 101"),
        item("quantity = 1\nlist = 1\ndate = \"spring 2012\""),
        item("quantity = 1\nlist = 1\ndate = \"2012-13\""),
        item("quantity = \"per hour\"\nlist = 1"),
        item("quantity = 1\nlist = 1\nyearly = true"),
        item("quantity = 1\nlist = 1\nyearly = false\nterm_years = 3"),
        item("quantity = 1\nlist = 1\nterm_years = 0"),
        item("quantity = 1\nlist = 1\ncore_factor = 0.5"),
        item("quantity = \"per core\"\nlist = 1\ncore_factor = \"oracle\""),
        item("quantity = \"per core\"\nlist = 1\ncore_factor = 0"),
        item("quantity = \"per socket\"\nlist = 1\nleast = 2"),
        two("quantity = 1\nlist = 1\ncurrency = \"EUR\""),
        two("quantity = 1\nlist = 1\ncurrency = \"Dollar\""),
        "[[item]]\npart = \"server\"\nquantity = 1\nlist = 1\n".into(),
        two(
            "quantity = 1\nlist = 1\nterm_years = 3\n[[item]]\npart = \"x\"\nquantity = 1\nlist = 1\nterm_years = 5",
        ),
        item("quantity = 1\nlist = 1") + "[platform]\ncores = 0",
        item("quantity = 1\nlist = 1")
            + "[[core_factors]]\nname = \"x\"\nfactors = [{ processor = \"\", factor = 1 }]",
    ];
    let messages: Vec<String> = cases.iter().map(|text| error(text)).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn the_examples_are_files_of_prices() {
    let examples = Path::new("../../docs/examples");
    for name in ["prices.toml", "prices-oracle.toml", "prices-open.toml"] {
        let list = PriceList::load(&examples.join(name)).unwrap();
        let sourced = |item: &Item| item.source.is_some() && item.date.is_some();
        assert!(list.items.iter().all(sourced), "{name}");
    }
}

#[test]
fn a_processor_has_the_factor_of_the_entry_with_most_of_its_words() {
    let entry = |words: &str, factor| (words.to_owned(), factor);
    let mut table = FactorTable {
        name: "t".into(),
        source: None,
        date: None,
        factors: vec![
            entry("SPARC", 0.75),
            entry("SPARC T5", 0.5),
            entry("intel xeon", 0.5),
            entry("POWER", 1.0),
        ],
        others: None,
    };
    assert_eq!(
        table.of("Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz"),
        Some(0.5)
    );
    assert_eq!(
        (table.of("SPARC-T5"), table.of("SPARC64 VII")),
        (Some(0.5), Some(0.75))
    );
    assert_eq!(table.of("AMD EPYC 7763"), None);
    table.others = Some(1.0);
    assert_eq!(table.of("AMD EPYC 7763"), Some(1.0));
}
