//! Settings of libpq, JDBC, ORMs and providers in URLs of PostgreSQL.

use engine::url::{Foreign, Meaning};

/// Their meaning here; docs/SERVERS.md refers users to this list.
pub(super) const FOREIGN: &[Foreign] = &[
    Foreign::new("options", Meaning::Options),
    Foreign::nothing(
        "application_name fallback_application_name ApplicationName",
        "dbdyno's sessions are called dbdyno",
    ),
    Foreign::nothing(
        "connect_timeout loginTimeout connectTimeout pool_timeout checkout_timeout",
        "dbdyno waits 10 s for a connection",
    ),
    Foreign::nothing(
        "socketTimeout socket_timeout command_timeout tcp_user_timeout cancelSignalTimeout",
        "a statement takes as long as it takes; dbdyno notices a server that is gone by itself",
    ),
    Foreign::nothing(
        "keepalives keepalives_idle keepalives_interval keepalives_count tcpKeepAlive",
        "the connections of a run are in use",
    ),
    Foreign::nothing(
        "target_session_attrs targetServerType load_balance_hosts loadBalanceHosts",
        "a run measures the one server that is named; on a standby it only reads, and says so",
    ),
    Foreign::nothing(
        "pgbouncer connection_limit pool pool_size pool_max_conns max_connections statement_cache_size prepareThreshold \
         preparedStatementCacheQueries preparedStatementCacheSizeMiB prepared_statements preferQueryMode defaultRowFetchSize \
         binaryTransfer reWriteBatchedInserts assumeMinServerVersion stringtype adapter",
        "the plan sets the sessions, and each prepares its statements",
    ),
    Foreign::nothing(
        "client_encoding charset encoding",
        "dbdyno's sessions use UTF-8",
    ),
    Foreign::nothing(
        "sslsni sslcompression sslcertmode",
        "TLS is made with the server's name and without compression",
    ),
    Foreign::nothing(
        "krbsrvname gsslib gssdelegation",
        "dbdyno does not log in by GSSAPI",
    ),
    Foreign::only(
        "gssencmode",
        &["disable", "prefer"],
        "dbdyno has no encryption by GSSAPI; use sslmode=verify-full",
    ),
    Foreign::only(
        "ssl_min_protocol_version min_protocol_version",
        &["TLSv1", "TLSv1.1", "TLSv1.2"],
        "dbdyno accepts TLS 1.2 and 1.3; limit the versions on the server (ssl_min_protocol_version)",
    ),
    Foreign::only(
        "ssl_max_protocol_version max_protocol_version",
        &["", "TLSv1.3"],
        "dbdyno accepts TLS 1.2 and 1.3; limit the versions on the server (ssl_max_protocol_version)",
    ),
    Foreign::set_by(
        "ssl",
        &["false", "0", "disable"],
        ("sslmode", "disable"),
        "drivers differ in what it means; write sslmode=require, verify-ca or verify-full instead",
    ),
    Foreign::only(
        "replication",
        &["false", "0", "off", "no"],
        "dbdyno's sessions run statements; leave it out",
    ),
    Foreign::never(
        "sslcrl sslcrldir",
        "dbdyno reads no revocation lists; leave it out to connect without that check",
    ),
    Foreign::never(
        "sslpassword",
        "dbdyno reads no encrypted keys; decrypt the key into a file that only you can read (openssl pkey), and name that in sslkey",
    ),
    Foreign::never(
        "requirepeer require_auth",
        "dbdyno does not check it; leave it out, and use sslmode=verify-full to know the server",
    ),
    Foreign::never(
        "sslfactory sslaccept sslidentity sslhostnameverifier",
        "write sslmode=require, verify-ca or verify-full, and the files in sslrootcert, sslcert and sslkey",
    ),
    Foreign::never(
        "currentSchema server_settings",
        "scripts name a table of another schema as SCHEMA.TABLE; schema=NAME is where dbdyno's own tables are",
    ),
    Foreign::same("ssl-mode sslmode", "sslmode"),
    Foreign::same("channelBinding", "channel_binding"),
    Foreign::same("sslNegotiation", "sslnegotiation"),
];
