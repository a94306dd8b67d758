//! Settings of other clients' connect strings in URLs.

use engine::url::Foreign;

/// Their meaning here; docs/SERVERS.md refers users to this list.
pub(super) const FOREIGN: &[Foreign] = &[
    Foreign::same(
        "transport_connect_timeout tcp_connect_timeout",
        "connect_timeout",
    ),
    Foreign::same("my_wallet_directory wallet", "wallet_location"),
    Foreign::same("instance", "instance_name"),
    Foreign::never(
        "service_name service sid",
        "write the service at the end of the address, as in oracle://user@host:1521/service",
    ),
    Foreign::never(
        "mode auth_mode as",
        "measure as an ordinary user: dbdyno makes its tables in that user's schema",
    ),
    Foreign::nothing(
        "retry_count retry_delay expire_time sdu failover load_balance source_route enable pool_boundary pool_purity pool_connection_class",
        "each session is connected once",
    ),
    Foreign::nothing(
        "ssl_server_dn_match ssl_server_cert_dn ssl_version",
        "the driver checks the name of the server's certificate itself",
    ),
    Foreign::nothing(
        "encoding nencoding events threaded stmtcachesize statement_cache_size arraysize prefetchrows",
        "dbdyno's sessions set it themselves",
    ),
];

/// Settings that a URL cannot change, with the reason.
pub(super) const RESERVED: &[(&str, &str)] = &[
    (
        "nls_comp nls_date_format nls_length_semantics nls_numeric_characters nls_sort nls_timestamp_format time_zone",
        "dbdyno sets it, so that results and tables do not depend on it",
    ),
    (
        "isolation_level",
        "dbdyno sets it, so that transactions behave the same on every server",
    ),
    (
        "current_schema container edition",
        "dbdyno's tables are in the user's own schema",
    ),
];
