//! Users at work: every kind of transaction, from several connections, then the consistency checks.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::{
    BlockingClient, Clients, Done, Drive, End, Failure, NonblockingClient, Request, Turn,
    UserPopulation as _,
};
use oltp::{
    Account, BlockingExecutor, CommitLog, Constants, ExecutorContext, Kind, Ledger, Metadata, Mode,
    NonblockingExecutor, Pacing, Terminals, World,
};

use crate::common::*;

pub const RUN: u32 = 0xdecade;
pub const USERS: u32 = 20;
/// Decks of each user, if the mix is tested.
const DECKS: u64 = 3;

static GO_ON: AtomicBool = AtomicBool::new(false);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Blocking,
    EventLoop,
}

pub fn world(database: &Database, run: u32) -> World {
    let metadata = Metadata::of_whole(database.session().as_mut()).unwrap();
    World {
        warehouses: metadata.warehouses,
        constants: Constants::draw(3, metadata.c_last_load, metadata.rows),
        pacing: Pacing::None,
        run,
    }
}

/// Context for users of a loaded database; notes that transactions run.
pub fn context(
    database: &Database,
    mode: Mode,
    world: World,
    journal: Option<CommitLog>,
) -> ExecutorContext {
    oltp::note_transactions(database.session().as_mut()).unwrap();
    ExecutorContext {
        engine: database.engine.to_owned(),
        mode,
        terminals: Arc::new(Terminals::new(world, USERS, 3)),
        ledger: Arc::new(Ledger::default()),
        commit_log: journal.map(Arc::new),
    }
}

/// A connection that serves every so manieth user in turn.
struct Serves<C> {
    connection: C,
    terminals: Arc<Terminals>,
    first: u32,
    step: u32,
}

impl<C> Serves<C> {
    fn next(&self, request: Request) -> Request {
        let users = self.terminals.len() as u32 / self.step;
        let user = self.first + (request.index as u32 % users) * self.step;
        Request {
            user,
            kind: self.terminals.next_operation(user).kind,
            ..request
        }
    }
}

impl BlockingClient for Serves<BlockingExecutor> {
    fn operate(&mut self, request: Request) -> Result<Done, Failure> {
        self.connection.operate(self.next(request))
    }
}

impl NonblockingClient for Serves<NonblockingExecutor> {
    fn descriptor(&self) -> std::os::fd::RawFd {
        self.connection.descriptor()
    }

    fn begin(&mut self, request: Request) -> Turn {
        self.connection.begin(self.next(request))
    }

    fn ready(&mut self) -> Turn {
        self.connection.ready()
    }
}

/// Serves users over so many connections until each has executed `per_connection` transactions.
pub fn serve(
    database: &Database,
    context: &ExecutorContext,
    by: By,
    connections: u32,
    per_connection: u64,
) -> load::Outcome {
    let end = End::Operations {
        per_job: per_connection,
    };
    let how = Drive {
        interval: Duration::from_millis(100),
        ..Drive::of_jobs(end, &GO_ON)
    };
    let target = database.target.as_ref();
    match by {
        By::Blocking => {
            let each = (0..connections).map(|first| -> Box<dyn BlockingClient> {
                let connection = context.blocking(target).unwrap();
                serves(connection, context, first, connections)
            });
            load::drive(Clients::Blocking(each.collect()), &how)
        }
        By::EventLoop => {
            let each = (0..connections).map(|first| -> Box<dyn NonblockingClient> {
                let connection = context.nonblocking(target).unwrap();
                let connection = connection.expect("the engine can be awaited");
                serves(connection, context, first, connections)
            });
            load::drive(Clients::nonblocking(each.collect()), &how)
        }
    }
}

fn serves<C>(connection: C, context: &ExecutorContext, first: u32, step: u32) -> Box<Serves<C>> {
    Box::new(Serves {
        connection,
        terminals: Arc::clone(&context.terminals),
        first,
        step,
    })
}

/// Serves users until each has dealt all decks; nothing fails.
fn work(database: &Database, mode: Mode, by: By, connections: u32) -> Account {
    let deck: usize = Kind::ALL.into_iter().map(Kind::cards).sum();
    let all = DECKS * u64::from(USERS) * deck as u64;
    let each = all / u64::from(connections);
    let context = context(database, mode, world(database, RUN), None);
    let outcome = serve(database, &context, by, connections, each);
    assert_eq!(outcome.operations(), all, "{mode:?} {by:?}");
    assert_eq!(
        (outcome.fatal.as_deref(), outcome.error_texts()),
        (None, Vec::new())
    );
    let account = context.ledger.total();
    assert_eq!(account.completed(), all);
    account
}

fn is_sound(database: &Database) {
    let checked = database.check();
    assert!(checked.is_sound(), "{}: {checked:?}", database.engine);
}

/// Orders, payments and deliveries in the tables are those of the accounts.
fn tables_hold(database: &Database, accounts: &[Account]) {
    let mut session = database.session();
    let mut number = |sql: &str| one(session.as_mut(), sql).parse::<u64>().unwrap();
    let of = |kind: Kind| -> u64 {
        let entered =
            |a: &Account| a.kinds[kind as usize].completed - a.kinds[kind as usize].rolled_back;
        accounts.iter().map(entered).sum()
    };
    let delivered: u64 = accounts.iter().map(|a| a.delivered).sum();
    let (orders, payments, lines) = (of(Kind::NewOrder), of(Kind::Payment), lines(accounts));
    let counts = format!(
        "SELECT count(*) FROM orders WHERE o_id > 300 => {orders}
        SELECT count(*) FROM history WHERE h_data LIKE '00decade%' => {payments}
        SELECT count(*) FROM orders WHERE o_id > 210 AND o_carrier_id IS NOT NULL => {delivered}
        SELECT sum(c_delivery_cnt) FROM customer => {delivered}
        SELECT sum(c_payment_cnt) - count(*) FROM customer => {payments}
        SELECT sum(s_order_cnt) FROM stock => {lines}
        SELECT count(*) FROM order_line WHERE ol_o_id > 300 => {lines}"
    );
    for (sql, right) in testing::rows(&counts) {
        assert_eq!(number(sql).to_string(), right, "{}: {sql}", database.engine);
    }
    let zero = [
        "SELECT sum(s_ytd) - (SELECT sum(ol_quantity) FROM order_line WHERE ol_o_id > 300) FROM stock",
        "SELECT sum(s_remote_cnt) - (SELECT count(*) FROM order_line WHERE ol_o_id > 300 AND ol_supply_w_id <> ol_w_id) FROM stock",
        "SELECT count(*) FROM stock WHERE s_quantity < 10 OR s_quantity > 100",
        // The price, and the words of the supplying warehouse for the ordering district.
        "SELECT count(*) FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 300 AND round(ol_amount * 100) <> round(i_price * ol_quantity * 100)",
        "SELECT count(*) FROM order_line JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 300 AND ol_dist_info <> CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END",
        "SELECT count(*) FROM orders WHERE o_id > 300 AND o_all_local <> CASE WHEN EXISTS (SELECT 1 FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_supply_w_id <> o_w_id) THEN 0 ELSE 1 END",
    ];
    for sql in zero {
        assert_eq!(number(sql), 0, "{}: {sql}", database.engine);
    }
}

/// Lines of committed orders; those that were rolled back are in the inputs alone.
fn lines(accounts: &[Account]) -> u64 {
    accounts.iter().map(|a| a.lines_entered).sum()
}

#[test]
fn on_sqlite() {
    let database = Database::loaded("sqlite", 2);
    let account = work(&database, Mode::Client, By::Blocking, 2);
    is_sound(&database);
    tables_hold(&database, &[account]);
    mix_is_right(&account);
}

fn in_every_way(engine: &'static str) -> [Account; 4] {
    let database = Database::loaded(engine, 2);
    oltp::procedures::install(database.target.as_ref(), database.engine).unwrap();
    let accounts = [
        work(&database, Mode::Client, By::Blocking, 4),
        work(&database, Mode::Client, By::EventLoop, 4),
        work(&database, Mode::Procedure, By::Blocking, 4),
        work(&database, Mode::Procedure, By::EventLoop, 4),
    ];
    is_sound(&database);
    tables_hold(&database, &accounts);
    accounts.iter().for_each(mix_is_right);
    accounts
}

#[test]
fn on_postgres_in_every_way() {
    let accounts = in_every_way("postgres");
    // A conflict costs more round trips, and one of a hundred new orders is rolled back by one more.
    round_trips_are(&accounts[1], [2.0, 1.0, 1.0, 3.0, 1.0]);
    round_trips_are(&accounts[3], [1.0; 5]);
}

/// A call is a round trip. Client SQL takes one per statement, except for the first one after a BEGIN, because the rest
/// would be executed after a failure; of 9.95 lines with two statements each, and so on.
#[test]
fn on_mariadb_in_every_way() {
    as_on_mariadb_in_every_way("mariadb");
}

#[test]
fn on_mysql_in_every_way() {
    as_on_mariadb_in_every_way("mysql");
}

fn as_on_mariadb_in_every_way(scheme: &'static str) {
    let accounts = in_every_way(scheme);
    round_trips_are(&accounts[2], [1.0; 5]);
    round_trips_are(&accounts[3], [1.0; 5]);
}

fn round_trips_are(account: &Account, meant: [f64; 5]) {
    let found = account.kinds.map(|kind| kind.round_trips_mean().unwrap());
    let are_close =
        (meant.iter().zip(found)).all(|(meant, found)| (*meant..meant + 0.2).contains(&found));
    assert!(are_close, "{found:?} instead of {meant:?}");
}

/// The result of a procedure agrees with its tables.
#[test]
fn procedures_show_what_they_did() {
    let functions = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'dbdyno'::regnamespace";
    they_show_what_they_did(&Database::loaded("postgres", 1), functions);
    let routines =
        "SELECT count(*) FROM information_schema.routines WHERE routine_schema = database()";
    they_show_what_they_did(&Database::loaded("mariadb", 1), routines);
    if mysql_is_there() {
        they_show_what_they_did(&Database::loaded("mysql", 1), routines);
    }
}

fn call(engine: &str, name: &str, values: &[(&str, &str)]) -> String {
    let file = format!("../../library/oltp/procedure/{name}.{engine}.sql");
    let text = std::fs::read_to_string(file).unwrap();
    let mut sql = text.split("-- step: call\n").nth(1).unwrap().to_owned();
    for (parameter, value) in values {
        for end in [",", ")"] {
            sql = sql.replace(&format!(":{parameter}{end}"), &format!("{value}{end}"));
        }
    }
    assert!(!sql.contains(" :") && !sql.contains("(:"), "{sql}");
    sql
}

fn they_show_what_they_did(database: &Database, count: &str) {
    oltp::procedures::install(database.target.as_ref(), database.engine).unwrap();
    let mut session = database.session();
    let mut ask = |sql: &str| session.texts(sql).unwrap().remove(0);
    let cell = |row: &[Option<String>], at: usize| row[at].clone().unwrap();
    let at = [("w", "1"), ("d", "2"), ("now", "'2026-01-02'")];
    let with =
        |name: &str, more: &[(&str, &str)]| call(database.engine, name, &[&at, more].concat());
    let order = |items: &str| {
        let lines = [("supply_ws", "'[1,1,1]'"), ("quantities", "'[1,5,10]'")];
        let customer = [("c_id", "3"), ("items", items)];
        with("new_order", &[&lines[..], &customer].concat())
    };
    // The same item twice, and three items, of which the second order has the last one again.
    for (items, number) in [("'[7,7,9999]'", "301"), ("'[8,9,9999]'", "302")] {
        let row = ask(&order(items));
        assert_eq!(cell(&row, 0), number);
        let total = format!(
            "SELECT round(100 * sum(ol_amount) * (1 - c_discount) * (1 + w_tax + d_tax)), count(*) \
             FROM order_line, customer, warehouse, district \
             WHERE ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = {number} AND c_w_id = 1 AND c_d_id = 2 AND c_id = 3 \
             AND w_id = 1 AND d_w_id = 1 AND d_id = 2 GROUP BY c_discount, w_tax, d_tax"
        );
        let written = ask(&total);
        assert_eq!(cell(&row, 1), cell(&written, 0), "{items}");
        assert_eq!(cell(&written, 1), "3");
    }
    let stocks = [
        (7, "6", "2"),
        (8, "1", "1"),
        (9, "5", "1"),
        (9999, "20", "2"),
    ];
    for (item, quantity, orders) in stocks {
        let stock = format!(
            "SELECT round(s_ytd), s_order_cnt, s_remote_cnt FROM stock WHERE s_w_id = 1 AND s_i_id = {item}"
        );
        let stock = ask(&stock);
        let found = [0, 1, 2].map(|at| cell(&stock, at));
        assert_eq!(found, [quantity, orders, "0"], "stock of item {item}");
    }
    assert_eq!(cell(&ask(&order("'[8,9,100001]'")), 0), "0", "rolled back");
    assert_eq!(cell(&ask("SELECT max(o_id) FROM orders"), 0), "302");
    let paid = [
        ("c_w", "1"),
        ("c_d", "2"),
        ("amount", "12.34"),
        ("mark", "'mark'"),
    ];
    let third = [("c_id", "3"), ("c_last", "NULL")];
    let row = ask(&with("payment", &[&paid[..], &third].concat()));
    assert_eq!((cell(&row, 0), cell(&row, 1)), ("3".into(), "-2234".into()));
    // The middle one of the customers with the name, the first of two.
    let middle = "SELECT c_id FROM (SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, \
        count(*) OVER () AS bearers FROM customer WHERE c_w_id = 1 AND c_d_id = 2 AND c_last = 'BARBARBAR') AS named \
        WHERE place = CASE WHEN bearers % 2 = 0 THEN bearers ELSE bearers + 1 END / 2";
    let middle = cell(&ask(middle), 0);
    let named = [("c_id", "NULL"), ("c_last", "'BARBARBAR'")];
    let row = ask(&with("payment", &[&paid[..], &named].concat()));
    assert_eq!(cell(&row, 0), middle);
    let row = ask(&with("order_status", &third));
    assert_eq!((cell(&row, 0), cell(&row, 1)), ("3".into(), "3".into()));
    let shown = cell(&ask(&with("order_status", &named)), 2);
    assert!(
        shown.starts_with(&format!("{middle} ")) || shown.starts_with(&format!("({middle},")),
        "{shown}"
    );
    let row = ask(&with("delivery", &[("carrier", "5")]));
    assert_eq!(cell(&row, 0), ["211"; 10].join(","));
    let low = cell(&ask(&with("stock_level", &[("threshold", "101")])), 0);
    assert!(
        low.parse::<u32>().unwrap() > 150,
        "{low} items of about 200 lines"
    );
    let few = cell(&ask(&with("stock_level", &[("threshold", "0")])), 0);
    assert_eq!(few, "0");
    // An error leaves no transaction open.
    let nobody = with(
        "payment",
        &[&paid[..], &[("c_id", "301"), ("c_last", "NULL")]].concat(),
    );
    assert!(session.texts(&nobody).is_err());
    session.begin().unwrap();
    session.rollback().unwrap();
    oltp::note_transactions(session.as_mut()).unwrap();
    assert_eq!(database.check().broken(), [0_u32; 0]);
    // A database with procedures is removed with them.
    drop(session);
    assert!(oltp::drop_all(database.target.as_ref(), database.engine).unwrap());
    assert_eq!(one(database.session().as_mut(), count), "0");
}

#[test]
fn procedures_are_refused_where_there_are_none() {
    let database = Database::sqlite();
    let error = oltp::procedures::install(database.target.as_ref(), database.engine).unwrap_err();
    assert!(error.to_string().contains("= \"client\""), "{error}");
}

/// Whole decks of every user; rollbacks are 1 %, here six or so with a spread of 2.4.
fn mix_is_right(account: &Account) {
    for kind in Kind::ALL {
        let meant = DECKS * u64::from(USERS) * kind.cards() as u64;
        assert_eq!(account.kinds[kind as usize].completed, meant, "{kind:?}");
    }
    let entered = account.kinds[Kind::NewOrder as usize];
    let meant = entered.completed as f64 / 100.0;
    let found = entered.rolled_back as f64;
    assert!(
        found > 0.0 && (found - meant).abs() < 5.0 * meant.sqrt(),
        "{found} of {meant}"
    );
    assert_eq!(account.inputs.orders_mistyped, entered.rolled_back);
    assert!(
        oltp::audit(account, 2)
            .iter()
            .all(|one| one.holds() != Some(false))
    );
}

/// A database that loses a payment's sum of its warehouse looks like a driver that forgets it.
#[test]
fn a_forgotten_sum_is_caught() {
    let database = Database::loaded("sqlite", 1);
    database
        .session()
        .batch(
            "CREATE TRIGGER forget AFTER UPDATE OF w_ytd ON warehouse BEGIN \
             UPDATE warehouse SET w_ytd = OLD.w_ytd WHERE w_id = OLD.w_id; END",
        )
        .unwrap();
    let context = context(&database, Mode::Client, world(&database, RUN), None);
    let outcome = serve(&database, &context, By::Blocking, 1, 50);
    assert_eq!(outcome.error_texts(), Vec::<String>::new());
    assert_eq!(database.check().broken(), [1, 8]);
}
