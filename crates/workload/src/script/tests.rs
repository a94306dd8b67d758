//! Errors in scripts, each reported in one sentence.

use std::path::Path;

use super::Script;

const GOOD: &str = "
name = 'shop'
[setup]
sql = 'CREATE TABLE dbdyno_t (id INTEGER PRIMARY KEY, n INTEGER)'
[[transaction]]
name = 'buy'
weight = 3
[transaction.draw]
id = { uniform = [1, 10] }
[[transaction.statement]]
sql = 'SELECT n FROM dbdyno_t WHERE id = :id'
rows = 1
keep = { old = 1 }
[[transaction.statement]]
sql = 'UPDATE dbdyno_t SET n = :old + 1 WHERE id = :id'
rows = [0, 1]
";

fn error(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    Script::parse(&text, Path::new(".")).unwrap_err()
}

#[test]
fn a_good_script_is_read() {
    let script = Script::parse(GOOD, Path::new(".")).unwrap();
    assert!(script.writes() && script.lacks("sqlite").is_none());
    let transaction = &script.transactions[0];
    assert!(!transaction.autocommit && transaction.weight == 3);
    assert_eq!(transaction.statements[0].keep, [("old".to_owned(), 0)]);
}

#[test]
fn bad_input_is_one_clear_sentence() {
    let cases = [
        (
            "name = 'shop'",
            "name = 'a b'",
            "name = \"a b\" is not a valid name",
        ),
        (
            "name = 'shop'",
            "nam = 'shop'",
            "no key \"nam\" (did you mean \"name\"?)",
        ),
        (
            "weight = 3",
            "weight = 0",
            "transaction \"buy\": weight = 0 is not between 1",
        ),
        ("weight = 3", "wieght = 3", "(did you mean \"weight\"?)"),
        (
            "uniform",
            "unifrom",
            "no generator \"unifrom\" (did you mean \"uniform\"?)",
        ),
        ("[1, 10]", "[10, 1]", "draw id: uniform = [10, 1] is empty"),
        (
            "uniform = [1, 10]",
            "zipf = [1, 10], exponent = -1",
            "exponent = -1",
        ),
        ("uniform = [1, 10]", "nurand = [1, 10]", "nurand needs a"),
        (
            "uniform = [1, 10]",
            "pick = [1, 'a']",
            "mixes numbers and texts",
        ),
        (
            "uniform = [1, 10]",
            "uniform = [1, 10], pick = [1]",
            "one generator",
        ),
        ("{ uniform = [1, 10] }", "7", "write id = { uniform"),
        (
            ":id'\nrows = 1",
            ":ID'\nrows = 1",
            ":ID has no generator and is not kept",
        ),
        (
            "old = 1",
            "older = 1",
            ":old has no generator and is not kept by an earlier statement (did you mean \"older\"?)",
        ),
        ("n = :old + 1", "n = 1", "\"old\" is never used"),
        (
            "n FROM dbdyno_t WHERE id = :id'",
            "n + :old FROM dbdyno_t WHERE id = :id'",
            "kept by statement 1, which does not come earlier",
        ),
        ("old = 1", "old = 0", "must be a column number"),
        (
            "rows = [0, 1]",
            "rows = [2, 1]",
            "put the smaller number first",
        ),
        ("rows = [0, 1]", "rows = -1", "rows must be"),
        (
            "sql = 'SELECT n FROM dbdyno_t WHERE id = :id'\nrows = 1",
            "sql = 'SELECT n FROM dbdyno_t WHERE id = :id'\nsql_for = { mysql = 'SELECT n FROM dbdyno_t WHERE id = ?' }\nrows = 1",
            "statement 1: ? is the place of a parameter on mysql; write :name",
        ),
        (
            "rows = 1",
            "sql_for = { sqlit = 'x' }",
            "no engine \"sqlit\" (did you mean \"sqlite\"?)",
        ),
        (
            "sql = 'CREATE",
            "when = 'never'\nsql = 'CREATE",
            "must be \"point\" or \"run\"",
        ),
        (
            "sql = 'CREATE TABLE dbdyno_t (id INTEGER PRIMARY KEY, n INTEGER)'",
            "file = 'no/such.sql'",
            "setup: ./no/such.sql cannot be read",
        ),
        (
            "[setup]",
            "pipeline = 'al'\n[setup]",
            "is unknown (did you mean \"all\"?); choose off, ends or all",
        ),
        ("[setup]", "think_ms = -1\n[setup]", "think_ms = -1"),
        (
            "[[transaction]]",
            "[[transactions]]",
            "(did you mean \"transaction\"?)",
        ),
        ("name = 'shop'", "name = ", "not valid TOML: line 2"),
    ];
    for (from, to, expected) in cases {
        let message = error(from, to);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn an_engine_without_sql_is_named() {
    let text = GOOD.replacen(
        "sql = 'SELECT n FROM dbdyno_t WHERE id = :id'",
        "sql_for = { sqlite = 'SELECT n FROM dbdyno_t WHERE id = :id' }",
        1,
    );
    let script = Script::parse(&text, Path::new(".")).unwrap();
    assert_eq!(script.lacks("sqlite"), None);
    let reason = script.lacks("duckdb").unwrap().to_string();
    assert!(reason.contains("no SQL for duckdb") && reason.contains("buy"));
}

#[test]
fn reading_scripts_are_known_as_such() {
    let text = "name = 'r'\n[[transaction]]\nname = 't'\n[[transaction.statement]]\nsql = '-- why\n select 1'\n";
    let text = text.replace("'-- why\n select 1'", "\"-- why\\n select 1\"");
    assert!(!Script::parse(&text, Path::new(".")).unwrap().writes());
}

#[test]
fn a_question_mark_is_an_operator_where_the_engine_has_one() {
    let text = GOOD.replacen("WHERE id = :id'", "WHERE id = :id AND d ? 1'", 1);
    let script = Script::parse(&text, Path::new(".")).unwrap();
    assert_eq!(script.misread("postgres"), None);
    for engine in ["mysql", "sqlite", "duckdb"] {
        let reason = script.misread(engine).unwrap();
        assert!(
            reason.contains("place of a parameter") && reason.contains(engine),
            "{reason}"
        );
    }
}

#[test]
fn a_script_of_pgbench_is_known_as_one() {
    for text in [
        "\\set aid random_zipfian(1, 100000 * :scale, 1.2)\nBEGIN;\nEND;\n",
        "-- mine\nSELECT 1;\n",
        "\\sleep 10 ms\n",
    ] {
        let said = Script::parse(text, Path::new(".")).unwrap_err();
        assert!(said.contains("zipf = [a, b], exponent = s"), "{said}");
    }
    let toml = "name = 'x'\nabout = \n[[transaction]]";
    let said = Script::parse(toml, Path::new(".")).unwrap_err();
    assert!(said.contains("line 2"), "{said}");
}
