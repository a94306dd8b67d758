//! The two sides of a study: a plan with the settings of one of them.

use lab::Result;
use lab::study::Side;

use super::registry;

const PLAN: &str = "name = \"p\"\n[[step]]\nuse = \"library\"\ntests = [\"T611\"]\n";

fn side(own: &[&str]) -> Result<Side> {
    let own: Vec<String> = own.iter().map(|s| (*s).to_owned()).collect();
    let target = engines::parse("sqlite:/tmp/x.db").unwrap();
    Side::new(&registry(), PLAN, &[], &own, &[target])
}

#[test]
fn plan_target_and_settings_are_told_apart() {
    let one = side(&["step.jobs=[2]", "target.cache_mb=8"]).unwrap();
    assert_eq!(lab::plan::degrees_on(&one.plan.step[0].jobs, 2), [2]);
    assert_eq!(one.targets[0].to_string(), "sqlite:/tmp/x.db?cache_mb=8");
    let other = side(&["target=sqlite:", "target.cache_mb=8"]).unwrap();
    assert_eq!(other.targets[0].to_string(), "sqlite:?cache_mb=8");
}

#[test]
fn a_password_goes_to_the_server_and_is_not_archived() {
    let own = ["target=postgres://u:s%40cr@h/d", "target.others=allow"];
    let side = side(&own).unwrap();
    let password = side.targets[0].password.as_ref();
    assert_eq!(password.unwrap().expose(), "s@cr");
    assert!(!format!("{side:?}").contains("s@cr"));
    assert_eq!(
        side.settings,
        ["target=postgres://u@h/d", "target.others=allow"]
    );
}

#[test]
fn what_is_wrong_is_said_before_anything_is_measured() {
    for (own, expected) in [
        ("cache_mb", "KEY=VALUE"),
        ("target.=8", "is not a setting"),
        ("target.cache_mb=8&9", "cannot contain &"),
        ("target.cash_mb=8", "cash_mb"),
        ("target=nosql:x", "nosql"),
        ("step.sise=quick", "sise"),
        ("repeat=3", "number of pairs"),
    ] {
        let message = side(&[own]).unwrap_err().to_string();
        assert!(message.contains(expected), "{own}: {message}");
    }
    assert!(Side::new(&registry(), PLAN, &[], &[], &[]).is_err());
}
