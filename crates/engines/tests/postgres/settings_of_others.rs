//! Settings of roles, databases and servers that others chose: kept, replaced and named, or a reason to refuse.

use std::thread::sleep;
use std::time::Duration;

use engine::{ErrorKind, Session, Wanted};
use engines::{inspect, open_observed};
use local_server::LocalServer;

use crate::common::*;
use testing::Says;

fn shown(session: &mut dyn Session, name: &str) -> String {
    let rows = session.texts(&format!("SHOW {name}")).unwrap();
    rows[0][0].clone().unwrap()
}

fn inspected(url: &str) -> engine::Inspection {
    inspect(&engines::parse(url).unwrap()).unwrap()
}

#[test]
fn scripts_keep_the_settings_of_their_role_and_others_replace_and_name_them() {
    let server = server();
    psql(
        &server,
        "ALTER ROLE dbdyno SET statement_timeout = '70s'; ALTER ROLE dbdyno SET lock_timeout = '5s'; \
         ALTER ROLE dbdyno SET max_parallel_workers_per_gather = 3; ALTER ROLE dbdyno SET TimeZone = 'Asia/Tokyo'; \
         ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'; CREATE SCHEMA app; \
         ALTER ROLE dbdyno SET search_path = app, \"$user\"; CREATE TABLE app.orders AS SELECT 7 AS n",
    );
    let target = opened(&url_of(&server, "dbdyno", "?work_mem=7MB")).unwrap();
    let settings = [
        ("statement_timeout", "70s", "0"),
        ("lock_timeout", "5s", "0"),
        ("max_parallel_workers_per_gather", "3", "0"),
        ("TimeZone", "Asia/Tokyo", "UTC"),
        (
            "default_transaction_isolation",
            "serializable",
            "read committed",
        ),
        (
            "search_path",
            "dbdyno, app, \"$user\", pg_temp",
            "dbdyno, pg_temp",
        ),
        ("work_mem", "7MB", "7MB"),
    ];
    let mut script = target.open_script_session().unwrap();
    let mut other = target.open_session().unwrap();
    let record = target.record().settings;
    let replaced = &record["dbdyno.replaced_settings"];
    let found = inspected(&url_of(&server, "dbdyno", "?others=allow"));
    for (name, of_role, own) in settings {
        assert_eq!(shown(script.as_mut(), name), of_role, "{name}");
        assert_eq!(shown(other.as_mut(), name), own, "{name}");
        if of_role != own && name != "search_path" {
            let said = format!("{name} = {own} instead of {of_role} (ALTER");
            assert!(replaced.contains(&said), "{replaced}");
            let checked = found.replaced.iter().find(|of| of.name == name).unwrap();
            assert!(checked.to_string().starts_with(&said), "{checked}");
            assert!(!checked.in_scripts, "{checked}");
        }
    }
    assert_eq!(number(script.as_mut(), "SELECT n FROM orders"), 7);
    // A script's set-up creates and drops dbdyno's tables, whatever else bears the name.
    script
        .batch_in_own_schema("DROP TABLE IF EXISTS orders")
        .unwrap();
    assert_eq!(number(script.as_mut(), "SELECT n FROM orders"), 7);
    script
        .batch("CREATE TABLE orders AS SELECT 8 AS n")
        .unwrap();
    assert_eq!(number(script.as_mut(), "SELECT n FROM orders"), 8);
    script.batch_in_own_schema("DROP TABLE orders").unwrap();
    assert_eq!(number(script.as_mut(), "SELECT n FROM orders"), 7);
}

#[test]
fn what_would_end_a_session_is_lifted_in_every_session() {
    let server = server();
    psql(
        &server,
        "ALTER DATABASE postgres SET idle_session_timeout = '2s'; \
         ALTER ROLE dbdyno SET idle_in_transaction_session_timeout = '2s'; ALTER ROLE dbdyno SET exit_on_error = on",
    );
    let url = url_of(&server, "dbdyno", "");
    let target = opened(&url).unwrap();
    let mut sessions = [
        target.open_session().unwrap(),
        target.open_script_session().unwrap(),
    ];
    let mut watch = target.watch().unwrap().unwrap();
    let observed = open_observed(&engines::parse(&url).unwrap()).unwrap();
    let wanted = Wanted {
        texts: true,
        lines: 9,
    };
    let mut activity = observed.activity(wanted).unwrap();
    sessions[0].batch("BEGIN").unwrap();
    // A session that is being opened has so long on a busy machine.
    sleep(Duration::from_millis(2500));
    sessions[0].batch("COMMIT").unwrap();
    for session in &mut sessions {
        session.batch("SELECT 1/0").unwrap_err();
        assert_eq!(number(session.as_mut(), "SELECT 1"), 1);
    }
    watch.ping().unwrap();
    activity.look().unwrap();
    let record = target.record().settings;
    let replaced = &record["dbdyno.replaced_settings"];
    replaced.says("idle_session_timeout = 0 instead of 2s (ALTER DATABASE postgres)");
}

/// Waits until a session that begins has it, because a server takes a moment to read its configuration again.
fn is_read_only(server: &LocalServer, expected: &str) {
    let turns = (0..250).map(|_| sleep(Duration::from_millis(20)));
    let mut shown = turns.map(|()| psql(server, "SHOW default_transaction_read_only"));
    assert!(shown.any(|value| value == expected), "never {expected}");
}

#[test]
fn a_role_database_or_server_that_is_read_only_is_not_written_to() {
    let server = server();
    let here = url_of(&server, "dbdyno", "");
    for (set, lift) in testing::rows(
        "
            ALTER ROLE dbdyno SET default_transaction_read_only = on => ALTER ROLE dbdyno SET default_transaction_read_only = off
            ALTER DATABASE postgres SET default_transaction_read_only = on => ALTER DATABASE postgres SET default_transaction_read_only = off
            ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf() => ALTER SYSTEM SET default_transaction_read_only = off; SELECT pg_reload_conf()
        ",
    ) {
        psql(&server, set);
        is_read_only(&server, "on");
        let why = opened(&here).unwrap().read_only().unwrap();
        assert!(why.contains(lift), "{why}");
        let checked = inspected(&here);
        assert_eq!(checked.read_only.as_ref(), Some(&why));
        assert!(checked.is_fit(), "{:?}", checked.obstacles);
        let there = "SELECT count(*) FROM pg_namespace WHERE nspname = 'dbdyno'";
        assert_eq!(psql(&server, there), "0");
        psql(
            &server,
            &format!(
                "SET default_transaction_read_only = off; {lift}; ALTER ROLE dbdyno RESET ALL; ALTER DATABASE postgres RESET ALL"
            ),
        );
        is_read_only(&server, "off");
    }
    psql(
        &server,
        "ALTER ROLE dbdyno SET default_transaction_read_only = on",
    );
    let lifted = url_of(&server, "dbdyno", "?default_transaction_read_only=off");
    assert_eq!(inspected(&lifted).read_only, None);
    let target = opened(&lifted).unwrap();
    assert_eq!(target.read_only(), None);
    let mut session = target.open_session().unwrap();
    session
        .create_table("t", "CREATE TABLE {schema}.t (i INT)")
        .unwrap();
    let error = refused(&url_of(
        &server,
        "dbdyno",
        "?default_transaction_read_only=on",
    ));
    assert!(error.message.contains("is not off"), "{error}");
}

/// Objects of an extension belong to it, and not to another user.
#[test]
fn an_extension_in_dbdynos_schema_locks_nobody_out() {
    let server = server();
    psql(
        &server,
        "CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain; GRANT pg_checkpoint, pg_monitor TO plain; \
         CREATE EXTENSION citext SCHEMA public",
    );
    let url = url_of(&server, "plain", "");
    let target = opened(&url).unwrap();
    let mut session = target.open_script_session().unwrap();
    session.batch("CREATE EXTENSION hstore").unwrap();
    let equal = "SELECT ('A'::citext = 'a' AND 'a=>1'::hstore ? 'a')::int";
    let rows = session.texts(equal).unwrap();
    assert_eq!(rows[0][0].as_deref(), Some("1"));
    drop((session, target));
    let target = opened(&url).unwrap();
    // A column of somebody else's would go with the extension.
    let secondary = target.secondary_schema("x").unwrap();
    let mut session = secondary.open_script_session().unwrap();
    session.batch("CREATE EXTENSION pg_trgm").unwrap();
    session.batch("CREATE TYPE mood AS ENUM ('a')").unwrap();
    drop((session, secondary));
    psql(&server, "CREATE TABLE public.t (m dbdyno_x.mood)");
    let error = target.remove_secondary_schema("x").unwrap_err();
    assert!(error.message.contains("needs tables"), "{error}");
    psql(&server, "DROP TABLE public.t");
    target.remove_secondary_schema("x").unwrap();
    psql(
        &server,
        "CREATE FUNCTION dbdyno.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    );
    drop(target);
    let error = refused(&url);
    assert!(error.message.contains("function \"f\""), "{error}");
}

#[test]
fn an_event_trigger_that_takes_tables_away_is_named_before_anything_is_made() {
    let server = server();
    psql(
        &server,
        "CREATE ROLE taker; CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain; \
         GRANT pg_checkpoint, pg_monitor TO plain; CREATE TABLE public.audit (tag text)",
    );
    let function = |body: &str| {
        // The helper sends each statement by itself, up to its semicolon.
        let body = body.replace(';', "\\073");
        let sql = format!(
            "CREATE OR REPLACE FUNCTION public.own() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER \
             AS E'BEGIN {body} END'"
        );
        psql(&server, &sql);
    };
    let nothing = "NULL;";
    function(nothing);
    psql(
        &server,
        "CREATE EVENT TRIGGER own ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS') EXECUTE FUNCTION public.own()",
    );
    let takes = "EXECUTE (SELECT format(''ALTER TABLE %s OWNER TO taker'', object_identity) \
                 FROM pg_event_trigger_ddl_commands() WHERE object_type = ''table'' LIMIT 1);";
    let forbids = "IF session_user = ''plain'' THEN RAISE EXCEPTION ''no tables here''; END IF;";
    for (body, says) in [(takes, "to the role taker"), (forbids, "no tables here")] {
        function(body);
        let error = refused(&url_of(&server, "plain", ""));
        assert_eq!(error.kind, ErrorKind::Foreign);
        let names = ["(own)", says, "ALTER EVENT TRIGGER own DISABLE"];
        for part in names {
            assert!(error.message.contains(part), "{part}: {error}");
        }
        let there = "SELECT count(*) FROM pg_namespace WHERE nspname = 'dbdyno'";
        assert_eq!(psql(&server, there), "0");
        function(nothing);
    }
    function("INSERT INTO public.audit VALUES (tg_tag);");
    for _ in 0..2 {
        let target = opened(&url_of(&server, "plain", "")).unwrap();
        let mut session = target.open_session().unwrap();
        session
            .create_table("t", "CREATE TABLE {schema}.t (i INT)")
            .unwrap();
        assert!(session.drop_table("t").unwrap());
    }
}

/// The default would let others create in the schema, for which dbdyno would refuse it the next time.
#[test]
fn default_privileges_on_schemas_lock_nobody_out() {
    let server = server();
    psql(
        &server,
        "CREATE ROLE \"Any body\"; ALTER DEFAULT PRIVILEGES GRANT CREATE, USAGE ON SCHEMAS TO \"Any body\", PUBLIC",
    );
    for _ in 0..2 {
        drop(opened(&url_of(&server, "dbdyno", "")).unwrap());
    }
}
