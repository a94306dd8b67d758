//! The whole command through PgBouncer, on a database with user tables of the same names as the workload's.

use local_server::LocalServer;

use crate::common::Workspace;
use crate::pgbouncer::Pooler;
use crate::postgres::{psql, server};

/// Parameters in the order in which PgBouncer's errors suggest them.
const IGNORED: &str = "ignore_startup_parameters = search_path,default_transaction_isolation,\
     default_transaction_read_only,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,\
     client_min_messages";

fn with_tables_of_the_users_own() -> LocalServer {
    let server = server("");
    psql(
        &server,
        "CREATE TABLE public.customer (x INT); INSERT INTO public.customer SELECT generate_series(1, 1000); \
         CREATE TABLE public.orders (x INT); INSERT INTO public.orders SELECT generate_series(1, 500)",
    );
    server
}

fn are_whole(server: &LocalServer) {
    let rows = "SELECT (SELECT count(*) FROM public.customer), (SELECT count(*) FROM public.orders), \
                (SELECT count(*) FROM pg_tables WHERE schemaname = 'public')";
    assert_eq!(psql(server, rows), "1000|500|2");
}

#[test]
fn a_pool_of_sessions_leads_no_load_to_the_users_tables() {
    let server = with_tables_of_the_users_own();
    let workspace = Workspace::new();
    for ignored in ["", IGNORED] {
        let pooler = Pooler::before(&server, &format!("pool_mode = session\n{ignored}"));
        let url = pooler.url("");
        let load = crate::common::order_entry_load(&url, crate::common::TENTH);
        workspace.fine(&load);
        are_whole(&server);
        let again = workspace.ends(2, &load);
        assert!(again.sentence().contains("--replace"), "{}", again.stderr);
        let ours = "SELECT count(*) FROM dbdyno.customer";
        assert_eq!(psql(&server, ours), "3000");
        workspace.fine(&[&load[..], &["--replace"]].concat());
        are_whole(&server);
        workspace.fine(&["data", "drop", "oltp", "--target", &url]);
        are_whole(&server);
        let left =
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'dbdyno' AND tablename = 'customer'";
        assert_eq!(psql(&server, left), "0");
    }
}

#[test]
fn a_pool_that_shares_sessions_makes_and_removes_nothing() {
    let server = with_tables_of_the_users_own();
    let workspace = Workspace::new();
    for mode in ["transaction", "statement"] {
        for ignored in ["", IGNORED] {
            let pooler = Pooler::before(&server, &format!("pool_mode = {mode}\n{ignored}"));
            let url = pooler.url("");
            for arguments in [
                &crate::common::order_entry_load(&url, crate::common::TENTH)[..],
                &["data", "drop", "oltp", "--target", &url],
                &["data", "load", "olap", "--target", &url, "--scale", "0.01"],
                &["data", "drop", "olap", "--target", &url],
            ] {
                let refused = workspace.dbdyno(arguments);
                assert_eq!(refused.status, 1, "{arguments:?} {}", refused.stderr);
                let sentence = refused.sentence();
                assert!(sentence.contains("pool_mode = session"), "{sentence}");
            }
        }
    }
    are_whole(&server);
    let ours = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";
    assert_eq!(psql(&server, ours), "0");
}
