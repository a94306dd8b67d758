//! URLs of targets: what they say, and what they never show.

use engine::{TargetUrl, UrlError, secrets_in};

use crate::{file, find, open, parse};

#[test]
fn urls_come_apart_and_together() {
    let url = parse("sqlite:/data/a.db?cache_mb=64&page_size=4096").unwrap();
    assert_eq!(
        (url.scheme.as_str(), url.path.as_str()),
        ("sqlite", "/data/a.db")
    );
    assert_eq!(url.settings["page_size"], "4096");
    assert_eq!(
        url.to_string(),
        "sqlite:/data/a.db?cache_mb=64&page_size=4096"
    );
    assert_eq!(file(&parse("duckdb:").unwrap()), None);
}

#[test]
fn the_text_of_a_url_never_has_the_password() {
    let url = parse("nosuch://u:s?c=r@h/d?x=1").unwrap();
    assert_eq!(url.to_string(), "nosuch://u@h/d?x=1");
    assert_eq!(url.password.as_ref().unwrap().expose(), "s?c=r");
    assert!(!format!("{url:?}").contains("s?c"));
    assert!(!find_error(&url).contains("s?c"));
    let error = parse("nosuch://u:secret@h/d?x").unwrap_err();
    assert!(!error.to_string().contains("secret"));
    // A file may be called anything.
    let file = parse("sqlite:a:b@c").unwrap();
    assert_eq!((file.path.as_str(), file.password), ("a:b@c", None));
}

#[test]
fn what_may_be_a_password_is_found_wherever_it_is_typed() {
    let hidden = |text: &str| {
        let mut hidden = text.to_owned();
        for range in secrets_in(text.as_bytes()).into_iter().rev() {
            hidden.replace_range(range, "*");
        }
        hidden
    };
    for (typed, shown) in [
        ("postgres://u:p:w@x@h/d?a=b", "postgres://u:*@h/d?a=b"),
        (
            "--b=target=mysql://u:p//w@h/d",
            "--b=target=mysql://u:*@h/d",
        ),
        ("postgres//u:pw@h/d", "postgres//u:*@h/d"),
        ("postgres:u:pw@h/d", "postgres:*@h/d"),
        (
            "postgres://u@h/d?password=p=w&x=1",
            "postgres://u@h/d?password=*&x=1",
        ),
        ("--a=target.password=p=w", "--a=target.password=*"),
        ("host=h PassWord=pw user=u", "host=h PassWord=* user=u"),
        ("password='p w' user=u", "password=*' user=u"),
        ("password = pw user=u", "password = * user=u"),
        ("postgres://u@h/d?x=1", "postgres://u@h/d?x=1"),
        ("ssh://u@h:22", "ssh://u@h:22"),
        ("postgres://u:@h", "postgres://u:@h"),
    ] {
        assert_eq!(hidden(typed), shown);
    }
}

#[test]
fn a_password_among_the_settings_of_a_file_is_refused_unsaid() {
    let error = parse("sqlite:x?Password=PaSs&x=1").unwrap_err();
    assert!(matches!(error, UrlError::PasswordSetting(_)));
    assert!(!format!("{error} {error:?}").contains("PaSs"));
}

#[test]
fn no_malformed_url_shows_its_password() {
    for bad in [
        "postgres//u:PaSs@h/d",
        "postgres_x://u:PaSs@h/d",
        "postgres:u:PaSs@h/d",
        "postgres:PaSs@h",
        "postgres+local://u:PaSs@h/d",
        "postgres://u:p@ss?PaSs@h/d",
        "postgres://u:p@ss?x=PaSs@h/d",
        "postgres://u:PaSs@h:port/d",
        "mysql://u:PaSs@h/d?x",
        "mysql://u:PaSs@h/a-b",
        "nosuch:u:PaSs@h/d",
        "u:PaSs@h/d",
        ":u:PaSs@h",
    ] {
        let said = match parse(bad) {
            Err(error) => format!("{error} {error:?}"),
            Ok(url) => {
                let error = find(&url).err().map(|e| e.to_string());
                let opened = open(&url).err().map(|e| e.to_string());
                format!("{url} {url:?} {error:?} {opened:?}")
            }
        };
        assert!(!said.contains("PaSs"), "{bad}: {said}");
    }
}

fn find_error(url: &TargetUrl) -> String {
    find(url).err().unwrap().to_string()
}

#[test]
fn a_local_server_uses_the_files_of_its_engine() {
    let url = parse("duckdb+local:/a/b?x=1").unwrap();
    assert_eq!(url.engine(), "duckdb");
}

#[test]
fn bad_urls_say_what_is_right() {
    for bad in ["", "plain", ":x", "/a/b:c"] {
        assert!(
            parse(bad).unwrap_err().to_string().contains("ENGINE:PATH"),
            "{bad}"
        );
    }
    let error = parse("sqlite:x?cache").unwrap_err();
    assert_eq!(error, UrlError::BadSetting("cache".into()));
}
