//! Poolers between dbdyno and the server.

use engine::ErrorKind;

use crate::common::*;
use crate::pgbouncer::Pooler;

/// As the errors of PgBouncer suggest them one after the other.
const IGNORED: &str = "ignore_startup_parameters = search_path,default_transaction_isolation,\
     default_transaction_read_only,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,\
     client_min_messages";

/// Tables of somebody in the schema in which names are looked up when a session's settings are ignored.
fn stage(server: &local_server::LocalServer) {
    psql(
        server,
        "CREATE TABLE public.customer (x INT); INSERT INTO public.customer SELECT generate_series(1, 1000); \
         CREATE TABLE public.dbdyno_tables (name TEXT); \
         INSERT INTO public.dbdyno_tables VALUES ('customer'), ('orders')",
    );
}

#[test]
fn a_pool_of_sessions_works_and_the_settings_hold_whatever_it_ignores() {
    let server = server();
    stage(&server);
    for ignored in ["", IGNORED] {
        let pooler = Pooler::before(&server, &format!("pool_mode = session\n{ignored}"));
        let target = opened(&pooler.url("")).unwrap();
        assert!(target.record().settings.contains_key("dbdyno.pooler"));
        let mut sessions = [0; 3].map(|_| target.open_session().unwrap());
        for session in &mut sessions {
            let session = session.as_mut();
            let ours = "SELECT (current_schema() = 'dbdyno' AND current_setting('statement_timeout') = '0' \
                        AND current_setting('timezone') = 'UTC')::int";
            assert_eq!(number(session, ours), 1, "{ignored}");
        }
        let [session, ..] = &mut sessions;
        session
            .create_table("customer", "CREATE TABLE {schema}.customer (x INT)")
            .unwrap();
        session.batch("INSERT INTO customer VALUES (1)").unwrap();
        assert_eq!(psql(&server, "SELECT count(*) FROM dbdyno.customer"), "1");
        assert!(session.drop_table("customer").unwrap());
        assert!(!session.drop_table("customer").unwrap());
        drop((sessions, target));
    }
    assert_eq!(
        psql(&server, "SELECT count(*) FROM public.customer"),
        "1000"
    );
}

/// Settings of dbdyno's session do not reach its next user, also where the pool leaves sessions as
/// they are.
#[test]
fn a_session_goes_back_to_the_pool_as_it_was() {
    let server = server();
    let settings = "pool_mode = session\nserver_reset_query =\ndefault_pool_size = 2";
    let pooler = Pooler::before(&server, settings);
    for _ in 0..3 {
        drop(opened(&pooler.url("")).unwrap());
        let theirs = psql_at(
            &server,
            &pooler,
            "SHOW search_path; SHOW client_min_messages",
        );
        assert_eq!(theirs, "\"$user\", public\nnotice");
    }
}

#[test]
fn a_pool_that_shares_sessions_is_refused_by_name_and_nothing_is_touched() {
    let server = server();
    stage(&server);
    for mode in ["transaction", "statement"] {
        for ignored in ["", IGNORED] {
            for more in ["", "server_round_robin = 1"] {
                let settings = format!("pool_mode = {mode}\n{ignored}\n{more}");
                let pooler = Pooler::before(&server, &settings);
                let error = refused(&pooler.url(""));
                assert_eq!(error.kind, ErrorKind::Unreachable, "{settings}");
                assert!(
                    error.message.contains("pool_mode = session"),
                    "{settings}: {error}"
                );
                let theirs = psql_at(&server, &pooler, "SHOW search_path");
                assert_eq!(theirs, "\"$user\", public", "{settings}");
            }
        }
    }
    let ours = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";
    assert_eq!(psql(&server, ours), "0");
    assert_eq!(
        psql(&server, "SELECT count(*) FROM public.customer"),
        "1000"
    );
}
