//! Settings of libpq, JDBC, ORMs and providers in URLs of PostgreSQL.

use engine::url::{Foreign, Meaning};

const fn nothing(names: &'static [&'static str], why: &'static str) -> Foreign {
    let meaning = Meaning::Nothing(why);
    Foreign { names, meaning }
}

const fn never(names: &'static [&'static str], instead: &'static str) -> Foreign {
    let meaning = Meaning::Never(instead);
    Foreign { names, meaning }
}

const fn only(
    names: &'static [&'static str],
    values: &'static [&'static str],
    instead: &'static str,
) -> Foreign {
    let meaning = Meaning::NothingIf(values, instead);
    Foreign { names, meaning }
}

const fn same(names: &'static [&'static str], own: &'static str) -> Foreign {
    let meaning = Meaning::Same(own);
    Foreign { names, meaning }
}

/// Their meaning here; docs/SERVERS.md refers users to this list.
pub(super) const FOREIGN: &[Foreign] = &[
    Foreign {
        names: &["options"],
        meaning: Meaning::Options,
    },
    nothing(
        &[
            "application_name",
            "fallback_application_name",
            "ApplicationName",
        ],
        "dbdyno's sessions are called dbdyno",
    ),
    nothing(
        &[
            "connect_timeout",
            "loginTimeout",
            "connectTimeout",
            "pool_timeout",
            "checkout_timeout",
        ],
        "dbdyno waits 10 s for a connection",
    ),
    nothing(
        &[
            "socketTimeout",
            "socket_timeout",
            "command_timeout",
            "tcp_user_timeout",
            "cancelSignalTimeout",
        ],
        "a statement takes as long as it takes; dbdyno notices a server that is gone by itself",
    ),
    nothing(
        &[
            "keepalives",
            "keepalives_idle",
            "keepalives_interval",
            "keepalives_count",
            "tcpKeepAlive",
        ],
        "the connections of a run are in use",
    ),
    nothing(
        &[
            "target_session_attrs",
            "targetServerType",
            "load_balance_hosts",
            "loadBalanceHosts",
        ],
        "a run measures the one server that is named; on a standby it only reads, and says so",
    ),
    nothing(
        &[
            "pgbouncer",
            "connection_limit",
            "pool",
            "pool_size",
            "pool_max_conns",
            "max_connections",
            "statement_cache_size",
            "prepareThreshold",
            "preparedStatementCacheQueries",
            "preparedStatementCacheSizeMiB",
            "prepared_statements",
            "preferQueryMode",
            "defaultRowFetchSize",
            "binaryTransfer",
            "reWriteBatchedInserts",
            "assumeMinServerVersion",
            "stringtype",
            "adapter",
        ],
        "the plan sets the sessions, and each prepares its statements",
    ),
    nothing(
        &["client_encoding", "charset", "encoding"],
        "dbdyno's sessions use UTF-8",
    ),
    nothing(
        &["sslsni", "sslcompression", "sslcertmode"],
        "TLS is made with the server's name and without compression",
    ),
    nothing(
        &["krbsrvname", "gsslib", "gssdelegation"],
        "dbdyno does not log in by GSSAPI",
    ),
    only(
        &["gssencmode"],
        &["disable", "prefer"],
        "dbdyno has no encryption by GSSAPI; use sslmode=verify-full",
    ),
    only(
        &["ssl_min_protocol_version", "min_protocol_version"],
        &["TLSv1", "TLSv1.1", "TLSv1.2"],
        "dbdyno accepts TLS 1.2 and 1.3; limit the versions on the server (ssl_min_protocol_version)",
    ),
    only(
        &["ssl_max_protocol_version", "max_protocol_version"],
        &["", "TLSv1.3"],
        "dbdyno accepts TLS 1.2 and 1.3; limit the versions on the server (ssl_max_protocol_version)",
    ),
    only(
        &["ssl"],
        &["false", "0", "disable"],
        "drivers differ in what it means; write sslmode=require, verify-ca or verify-full instead",
    ),
    only(
        &["replication"],
        &["false", "0", "off", "no"],
        "dbdyno's sessions run statements; leave it out",
    ),
    never(
        &["sslcrl", "sslcrldir"],
        "dbdyno reads no revocation lists; leave it out to connect without that check",
    ),
    never(
        &["sslpassword"],
        "dbdyno reads no encrypted keys; decrypt the key into a file that only you can read (openssl pkey), and name that in sslkey",
    ),
    never(
        &["requirepeer", "require_auth"],
        "dbdyno does not check it; leave it out, and use sslmode=verify-full to know the server",
    ),
    never(
        &[
            "sslfactory",
            "sslaccept",
            "sslidentity",
            "sslhostnameverifier",
        ],
        "write sslmode=require, verify-ca or verify-full, and the files in sslrootcert, sslcert and sslkey",
    ),
    never(
        &["currentSchema", "server_settings"],
        "scripts name a table of another schema as SCHEMA.TABLE; schema=NAME is where dbdyno's own tables are",
    ),
    same(&["ssl-mode", "sslmode"], "sslmode"),
    same(&["channelBinding"], "channel_binding"),
    same(&["sslNegotiation"], "sslnegotiation"),
];
