//! Tables of others, and everything that could lead dbdyno to them.

use std::thread;

use engine::{ErrorKind, Session};

use crate::common::*;

const MAKE: &str = "CREATE TABLE {schema}.customer (x INT)";

/// A table of somebody's with a row, where dbdyno has none.
const THEIRS: &str = "CREATE TABLE public.customer (x INT); INSERT INTO public.customer VALUES (1); \
     CREATE INDEX customer_x ON public.customer (x)";

fn theirs_are_whole(server: &local_server::LocalServer) {
    let sql = "SELECT count(*), (SELECT count(*) FROM pg_indexes WHERE indexname = 'customer_x') \
               FROM public.customer";
    assert_eq!(psql(server, sql), "1|1");
}

/// Does everything that removes, fills or changes a table called as theirs.
fn work_through(session: &mut dyn Session) {
    session.create_table("customer", MAKE).unwrap();
    session.create_index("customer", "customer_x", "x").unwrap();
    session
        .drop_index_if_exists("customer", "customer_x")
        .unwrap();
    session.analyse("customer").unwrap();
    assert!(session.drop_table("customer").unwrap());
    assert!(!session.drop_table("customer").unwrap());
    session
        .drop_index_if_exists("customer", "customer_x")
        .unwrap();
    session
        .create_table(
            "dbdyno_t",
            "CREATE TABLE {schema}.dbdyno_t (id BIGINT, pad TEXT)",
        )
        .unwrap();
    session.bulk_load("dbdyno_t", &mut Rows(0..3)).unwrap();
    session.drop_table("dbdyno_t").unwrap();
}

#[test]
fn no_setting_leads_to_a_table_of_the_same_name() {
    let server = server();
    psql(&server, THEIRS);
    for setting in [
        "ALTER DATABASE postgres SET search_path = public",
        "ALTER ROLE dbdyno SET search_path = public, dbdyno",
        "ALTER ROLE dbdyno IN DATABASE postgres SET search_path = pg_temp, public",
    ] {
        psql(&server, setting);
        let target = opened(&url_of(&server, "dbdyno", "")).unwrap();
        let mut session = target.open_session().unwrap();
        work_through(session.as_mut());
        // A script may change its own session.
        session
            .batch("SET search_path = public; CREATE TEMP TABLE customer (x INT)")
            .unwrap();
        work_through(session.as_mut());
        theirs_are_whole(&server);
    }
}

/// Ours is gone and theirs stands in its place, before or while ours is to be removed.
#[test]
fn a_table_is_ours_because_we_made_it_and_not_by_its_name() {
    let server = server();
    let target = opened(&url_of(&server, "dbdyno", "")).unwrap();
    let mut session = target.open_session().unwrap();
    for theirs in [
        "CREATE TABLE dbdyno.customer (x INT)",
        "CREATE VIEW dbdyno.customer AS SELECT 1 AS x",
        "CREATE TABLE dbdyno.customer (x INT) PARTITION BY LIST (x)",
    ] {
        session.create_table("customer", MAKE).unwrap();
        psql(&server, &format!("DROP TABLE dbdyno.customer; {theirs}"));
        let error = session.drop_table("customer").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Foreign, "{theirs}: {error}");
        let error = session.create_table("customer", MAKE).unwrap_err();
        assert!(error.message.contains("exists"), "{theirs}: {error}");
        let kind = if theirs.contains("VIEW") {
            "VIEW"
        } else {
            "TABLE"
        };
        psql(&server, &format!("DROP {kind} dbdyno.customer"));
    }
    session.create_table("customer", MAKE).unwrap();
    thread::scope(|scope| {
        let swap = "BEGIN; LOCK TABLE dbdyno.customer; SELECT pg_sleep(2); DROP TABLE dbdyno.customer; \
                    CREATE TABLE dbdyno.customer (x INT); COMMIT";
        let swapped = scope.spawn(|| psql(&server, swap));
        let locked = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' \
                      AND relation = 'dbdyno.customer'::regclass";
        while psql(&server, locked) == "0" {
            assert!(!swapped.is_finished(), "the lock was never seen");
        }
        let error = session.drop_table("customer").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
        swapped.join().unwrap();
    });
    assert_eq!(psql(&server, "SELECT count(*) FROM dbdyno.customer"), "0");
}

#[test]
fn a_table_is_entered_with_its_making_or_not_at_all() {
    let server = server();
    let target = opened(&url_of(&server, "dbdyno", "")).unwrap();
    let mut session = target.open_session().unwrap();
    session.batch("CREATE TABLE orders (x INT)").unwrap();
    let make = "CREATE TABLE {schema}.orders (x INT)";
    assert!(session.create_table("orders", make).is_err());
    assert!(!session.is_entered("orders").unwrap());
    assert_eq!(
        session.drop_table("orders").unwrap_err().kind,
        ErrorKind::Foreign
    );
    // The session goes on.
    session.create_table("customer", MAKE).unwrap();
    assert!(session.is_entered("customer").unwrap());
}

#[test]
fn what_others_have_put_into_the_schema_keeps_dbdyno_out() {
    let server = server();
    psql(
        &server,
        "CREATE ROLE evil LOGIN; CREATE TABLE public.ran (x INT); GRANT ALL ON public.ran TO evil",
    );
    let mark = "COMMENT ON SCHEMA dbdyno IS 'dbdyno: made by dbdyno, may be dropped'";
    let code = "CREATE FUNCTION dbdyno.f() RETURNS text LANGUAGE sql AS \
                'INSERT INTO public.ran VALUES (1) RETURNING ''customer'''";
    let made = format!("CREATE SCHEMA dbdyno; {mark}");
    for (theirs, what) in [
        (
            format!("CREATE SCHEMA dbdyno AUTHORIZATION evil; {mark}"),
            "another user",
        ),
        (
            format!("{made}; GRANT CREATE ON SCHEMA dbdyno TO evil"),
            "GRANT CREATE",
        ),
        (
            format!("{made}; GRANT CREATE ON SCHEMA dbdyno TO public"),
            "GRANT CREATE",
        ),
        (
            format!("{made}; {code}; ALTER FUNCTION dbdyno.f() OWNER TO evil"),
            "function",
        ),
        (
            format!(
                "{made}; {code}; CREATE VIEW dbdyno.dbdyno_tables AS SELECT dbdyno.f() AS name, '' AS identity"
            ),
            "register",
        ),
        (
            format!(
                "{made}; CREATE TABLE dbdyno.dbdyno_tables (name TEXT, identity TEXT); \
                     ALTER TABLE dbdyno.dbdyno_tables OWNER TO evil"
            ),
            "register",
        ),
        // As earlier versions made it, and with names alone.
        (
            format!(
                "{made}; CREATE TABLE dbdyno.customer (x INT); CREATE TABLE dbdyno.dbdyno_tables (name TEXT); \
                     INSERT INTO dbdyno.dbdyno_tables VALUES ('customer'), ('dbdyno_tables')"
            ),
            "dbdyno_tables",
        ),
        (
            format!(
                "{made}; CREATE TABLE dbdyno.dbdyno_x (x INT); ALTER TABLE dbdyno.dbdyno_x OWNER TO evil"
            ),
            "dbdyno_x",
        ),
        (
            format!("{made}; CREATE MATERIALIZED VIEW dbdyno.m AS SELECT 1 AS x"),
            "\"m\"",
        ),
    ] {
        psql(&server, &theirs);
        let error = refused(&url_of(&server, "dbdyno", ""));
        assert_eq!(error.kind, ErrorKind::Foreign, "{theirs}: {error}");
        assert!(error.message.contains(what), "{theirs}: {error}");
        psql(&server, "DROP SCHEMA dbdyno CASCADE");
    }
    assert_eq!(psql(&server, "SELECT count(*) FROM public.ran"), "0");
}
