//! Golden tests of quantities, amounts and licences.

use super::*;

fn list(text: &str) -> PriceList {
    PriceList::parse("prices.toml", text).unwrap()
}

fn oracle(processor: &str, cores: u32) -> PriceList {
    let example = include_str!("../../../../../docs/examples/prices-oracle.toml");
    let own =
        format!("[platform]\nprocessor = \"{processor}\"\ncores = {cores}\n\n[[core_factors]]");
    list(&example.replacen("[[core_factors]]", &own, 1))
}

fn known(list: &PriceList) -> Bill {
    bill(list, &Run::planned("none"))
}

#[test]
fn the_price_slide_of_document_001_adds_up() {
    let slide = list(include_str!("../../../../../docs/examples/prices.toml"));
    let bill = known(&slide);
    let total = bill.for_ratios().unwrap();
    assert_eq!((total.list, total.net), (1_465_000.0, 1_465_000.0));
    // By hand: 1,465,000 USD ÷ 147,207 IOPS.
    assert_eq!((total.net / 147_207.0 * 100.0).round() / 100.0, 9.95);
}

#[test]
fn licences_are_cores_by_their_factor_rounded_up() {
    assert_eq!(licences(32.0, 0.5), 16.0);
    assert_eq!(licences(7.0, 0.5), 4.0);
    assert_eq!(licences(10.0, 0.1), 1.0);
    assert_eq!(licences(3.0, 0.25), 1.0);
    assert_eq!(licences(0.0, 0.5), 0.0);
}

#[test]
fn oracle_on_two_processors() {
    // The 32 cores of document 001 need 16 licences on a Xeon, and 32 on a POWER.
    for (processor, licences) in [("Intel(R) Xeon(R) X7560", 16.0), ("IBM POWER9", 32.0)] {
        let bill = known(&oracle(processor, 32));
        let enterprise = &bill.lines[0];
        assert_eq!(
            enterprise.quantity.as_ref().unwrap().number,
            licences,
            "{processor}"
        );
        assert_eq!(enterprise.amount.unwrap().list, licences * 47_500.0);
        // Three years of support at 22 %: 10,450 per licence and year.
        assert_eq!(
            bill.lines[1].amount.unwrap().list,
            licences * 10_450.0 * 3.0
        );
    }
    assert_eq!(
        known(&oracle("Intel Xeon", 32)).lines[0]
            .quantity
            .as_ref()
            .unwrap()
            .how,
        "32 cores (prices file) × core factor 0.5"
    );
}

#[test]
fn every_rule_counts_as_it_says() {
    let bill = known(&list(
        "currency = \"USD\"\nterm_years = 2\n[platform]\ncores = 9\nsockets = 2\nstorage_tb = 10.5\nusers = 100\n\
         [[item]]\npart = \"core\"\nquantity = \"per core\"\nlist = 10\n\
         [[item]]\npart = \"least\"\nquantity = \"per core\"\ncore_factor = 0.5\nleast = 8\nlist = 10\n\
         [[item]]\npart = \"socket\"\nquantity = \"per socket\"\nlist = 7\nyearly = true\n\
         [[item]]\npart = \"tb\"\nquantity = \"per TB\"\nlist = 100\ndiscount_pct = 40\n\
         [[item]]\npart = \"hour\"\nquantity = \"per hour\"\nlist = 0.5\n\
         [[item]]\npart = \"user\"\nquantity = \"per user\"\nlist = 1\n\
         [[item]]\npart = \"named user\"\nquantity = \"per user\"\ncore_factor = 0.5\nleast_per_licence = 25\nlist = 1\n\
         [[item]]\npart = \"rack\"\nquantity = 1.5\nlist = 4\n",
    ));
    let amounts: Vec<f64> = bill
        .lines
        .iter()
        .map(|line| line.amount.unwrap().list)
        .collect();
    assert_eq!(
        amounts,
        [90.0, 80.0, 28.0, 1050.0, 8760.0, 100.0, 125.0, 6.0]
    );
    let total = bill.total.unwrap();
    assert_eq!((total.list, total.net), (10_239.0, 10_239.0 - 420.0));
}

#[test]
fn an_item_without_quantity_source_or_date_keeps_ratios_back() {
    let text = "currency = \"USD\"\n[[item]]\npart = \"EE\"\nquantity = \"per core\"\nlist = 1\nsource = \"s\"\n";
    let without_cores = known(&list(text));
    assert_eq!(without_cores.total, None);
    assert_eq!(
        without_cores.for_ratios().unwrap_err(),
        "the total is not known: \"EE\" is priced by cores, which are not known; add cores to [platform] of the prices file"
    );
    let with_cores = known(&list(&format!("{text}[platform]\ncores = 4\n")));
    assert_eq!(with_cores.total.unwrap().net, 4.0);
    assert_eq!(
        with_cores.for_ratios().unwrap_err(),
        "a price without source and date is no basis for a ratio; add to prices.toml: EE (date)"
    );
}

#[test]
fn what_is_stated_comes_before_what_is_found() {
    let mut run = Run::planned("none");
    run.platform.cores = Some(2);
    let list =
        list("currency = \"USD\"\n[[item]]\npart = \"EE\"\nquantity = \"per core\"\nlist = 1\n");
    assert_eq!(Platform::of(&list, &run).cores, Some((2.0, Origin::Found)));
    run.inventory.facts.push(Fact {
        section: "server".into(),
        name: "cores".into(),
        value: "32".into(),
        stated: true,
    });
    assert_eq!(
        Platform::of(&list, &run).cores,
        Some((32.0, Origin::Stated))
    );
}

#[test]
fn fewer_cores_save_whole_licences() {
    let list = oracle("Intel Xeon", 72);
    // 72 cores need 36 licences, 7 cores 4: 32 are saved, each with three years of support.
    let saved = saved_by_cores(
        &list,
        list.stated
            .processor
            .clone()
            .map(|name| (name, Origin::Prices)),
        72.0,
        7.0,
    )
    .unwrap();
    assert_eq!(
        (saved[0].fewer, saved[0].amount.list),
        (32.0, 32.0 * 47_500.0)
    );
    assert_eq!(
        (saved[1].fewer, saved[1].amount.list),
        (32.0, 32.0 * 10_450.0 * 3.0)
    );
}
