//! Settings of MySQL's and MariaDB's clients, connectors and ORMs in URLs.

use engine::url::{Foreign, Meaning};

const fn of(names: &'static [&'static str], meaning: Meaning) -> Foreign {
    Foreign { names, meaning }
}

const OFF: &[&str] = &["false", "0", "off", "no", "disabled"];

/// Their meaning here; docs/SERVERS.md refers users to this list.
pub(super) const FOREIGN: &[Foreign] = &[
    of(
        &["ssl-mode", "ssl_mode", "sslMode"],
        Meaning::Same("sslmode"),
    ),
    of(
        &["ssl-ca", "ssl_ca", "serverSslCert"],
        Meaning::Same("sslrootcert"),
    ),
    of(&["ssl-cert", "ssl_cert"], Meaning::Same("sslcert")),
    of(&["ssl-key", "ssl_key"], Meaning::Same("sslkey")),
    of(
        &["unix_socket", "unixSocket", "localSocket"],
        Meaning::Same("socket"),
    ),
    of(
        &["read_default_file", "default_file", "defaults_file"],
        Meaning::Same("defaults-file"),
    ),
    of(
        &[
            "useSSL",
            "ssl",
            "tls",
            "requireSSL",
            "ssl-verify-server-cert",
            "ssl_verify_cert",
            "ssl_verify_identity",
            "verifyServerCertificate",
        ],
        Meaning::NothingIf(
            OFF,
            "clients differ in what it means; write sslmode=require, verify-ca or verify-full instead",
        ),
    ),
    of(
        &[
            "ssl_disabled",
            "trustServerCertificate",
            "skip-ssl",
            "disableSslHostnameVerification",
        ],
        Meaning::NothingIf(
            &["true", "1", "on", "yes", ""],
            "write sslmode=require, verify-ca or verify-full instead",
        ),
    ),
    of(
        &[
            "sslaccept",
            "sslidentity",
            "sslpassword",
            "trustCertificateKeyStoreUrl",
            "clientCertificateKeyStoreUrl",
        ],
        Meaning::Never(
            "write sslmode=require, verify-ca or verify-full, and the files in sslrootcert, sslcert and sslkey (PEM, not encrypted)",
        ),
    ),
    of(
        &["ssl-crl", "ssl-crlpath"],
        Meaning::Never(
            "dbdyno reads no revocation lists; leave it out to connect without that check",
        ),
    ),
    of(
        &[
            "tls-version",
            "tlsVersions",
            "enabledTLSProtocols",
            "enabledSslProtocolSuites",
        ],
        Meaning::Nothing("dbdyno accepts TLS 1.2 and 1.3"),
    ),
    of(
        &[
            "charset",
            "characterEncoding",
            "useUnicode",
            "use_unicode",
            "encoding",
            "connectionCollation",
            "collation",
        ],
        Meaning::Nothing("dbdyno's sessions use utf8mb4"),
    ),
    of(
        &[
            "connect_timeout",
            "connectTimeout",
            "connection_timeout",
            "connectionTimeout",
            "timeout",
            "pool_timeout",
        ],
        Meaning::Nothing("dbdyno waits 10 s for a connection"),
    ),
    of(
        &[
            "socketTimeout",
            "socket_timeout",
            "read_timeout",
            "readTimeout",
            "write_timeout",
            "writeTimeout",
        ],
        Meaning::Nothing(
            "a statement takes as long as it takes; dbdyno notices a server that is gone by itself",
        ),
    ),
    of(
        &[
            "serverTimezone",
            "connectionTimeZone",
            "forceConnectionTimeZoneToSession",
            "loc",
            "parseTime",
            "timezone",
            "zeroDateTimeBehavior",
            "tinyInt1isBit",
            "useLegacyDatetimeCode",
        ],
        Meaning::Nothing("dbdyno's sessions use UTC, and it reads values as the server sends them"),
    ),
    of(
        &[
            "allowPublicKeyRetrieval",
            "allowNativePasswords",
            "allowCleartextPasswords",
            "allowOldPasswords",
            "enable-cleartext-plugin",
            "get-server-public-key",
        ],
        Meaning::Nothing(
            "dbdyno sends a password itself only through a Unix socket, or through TLS to a server that has proved who it is",
        ),
    ),
    of(
        &[
            "autoReconnect",
            "reconnect",
            "pool",
            "pool_size",
            "connection_limit",
            "useServerPrepStmts",
            "cachePrepStmts",
            "prepStmtCacheSize",
            "prepStmtCacheSqlLimit",
            "rewriteBatchedStatements",
            "useBulkStmts",
            "interpolateParams",
            "multiStatements",
            "allowMultiQueries",
            "clientFoundRows",
            "maxAllowedPacket",
            "checkConnLiveness",
            "rejectReadOnly",
            "useLocalSessionState",
            "elideSetAutoCommits",
            "maintainTimeStats",
            "useInformationSchema",
            "nullCatalogMeansCurrent",
            "prepared_statements",
            "statement_cache_size",
            "adapter",
            "tcpKeepAlive",
            "usePipelineAuth",
            "permitMysqlScheme",
        ],
        Meaning::Nothing("the plan sets the sessions, and each prepares its statements"),
    ),
    of(
        &[
            "program_name",
            "conn_attrs",
            "connectionAttributes",
            "applicationName",
            "application_name",
        ],
        Meaning::Nothing("dbdyno sends no attributes of a connection"),
    ),
    of(
        &[
            "local_infile",
            "allowLoadLocalInfile",
            "allowLocalInfile",
            "allowAllFiles",
        ],
        Meaning::Nothing("dbdyno's bulk loads send rows, and no file can be asked for"),
    ),
    of(
        &["compress", "useCompression", "compression"],
        Meaning::NothingIf(OFF, "dbdyno's connections are not compressed; leave it out"),
    ),
    of(
        &[
            "sessionVariables",
            "init_command",
            "initSql",
            "init-command",
        ],
        Meaning::Never("write NAME=VALUE for each setting of the measured sessions"),
    ),
    of(
        &[
            "defaultauth",
            "default_auth",
            "default-auth",
            "plugin",
            "authenticationPlugins",
            "defaultAuthenticationPlugin",
        ],
        Meaning::Nothing("the server names the method of the login"),
    ),
];
