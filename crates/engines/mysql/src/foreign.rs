//! Settings of MySQL's and MariaDB's clients, connectors and ORMs in URLs.

use engine::url::Foreign;

const OFF: &[&str] = &["false", "0", "off", "no", "disabled"];
const ON: &[&str] = &["true", "1", "on", "yes", ""];

/// Their meaning here; docs/SERVERS.md refers users to this list.
pub(super) const FOREIGN: &[Foreign] = &[
    Foreign::same("ssl-mode ssl_mode sslMode", "sslmode"),
    Foreign::same("ssl-ca ssl_ca serverSslCert", "sslrootcert"),
    Foreign::same("ssl-cert ssl_cert", "sslcert"),
    Foreign::same("ssl-key ssl_key", "sslkey"),
    Foreign::same("unix_socket unixSocket localSocket", "socket"),
    Foreign::same(
        "read_default_file default_file defaults_file",
        "defaults-file",
    ),
    Foreign::set_by(
        "useSSL ssl tls",
        OFF,
        ("sslmode", "disable"),
        "clients differ in what it means; write sslmode=require, verify-ca or verify-full instead",
    ),
    Foreign::set_by(
        "ssl_disabled skip-ssl",
        ON,
        ("sslmode", "disable"),
        "write sslmode=require, verify-ca or verify-full instead",
    ),
    Foreign::only(
        "requireSSL ssl-verify-server-cert ssl_verify_cert ssl_verify_identity verifyServerCertificate",
        OFF,
        "clients differ in what it means; write sslmode=require, verify-ca or verify-full instead",
    ),
    Foreign::only(
        "trustServerCertificate disableSslHostnameVerification",
        ON,
        "write sslmode=require, verify-ca or verify-full instead",
    ),
    Foreign::never(
        "sslaccept sslidentity sslpassword trustCertificateKeyStoreUrl clientCertificateKeyStoreUrl",
        "write sslmode=require, verify-ca or verify-full, and the files in sslrootcert, sslcert and sslkey (PEM, not encrypted)",
    ),
    Foreign::never(
        "ssl-crl ssl-crlpath",
        "dbdyno reads no revocation lists; leave it out to connect without that check",
    ),
    Foreign::nothing(
        "tls-version tlsVersions enabledTLSProtocols enabledSslProtocolSuites",
        "dbdyno accepts TLS 1.2 and 1.3",
    ),
    Foreign::nothing(
        "charset characterEncoding useUnicode use_unicode encoding connectionCollation collation",
        "dbdyno's sessions use utf8mb4",
    ),
    Foreign::nothing(
        "connect_timeout connectTimeout connection_timeout connectionTimeout timeout pool_timeout",
        "dbdyno waits 10 s for a connection",
    ),
    Foreign::nothing(
        "socketTimeout socket_timeout read_timeout readTimeout write_timeout writeTimeout",
        "a statement takes as long as it takes; dbdyno notices a server that is gone by itself",
    ),
    Foreign::nothing(
        "serverTimezone connectionTimeZone forceConnectionTimeZoneToSession loc parseTime timezone zeroDateTimeBehavior tinyInt1isBit \
         useLegacyDatetimeCode",
        "dbdyno's sessions use UTC, and it reads values as the server sends them",
    ),
    Foreign::nothing(
        "allowPublicKeyRetrieval allowNativePasswords allowCleartextPasswords allowOldPasswords enable-cleartext-plugin \
         get-server-public-key",
        "dbdyno sends a password itself only through a Unix socket, or through TLS to a server that has proved who it is",
    ),
    Foreign::nothing(
        "autoReconnect reconnect pool pool_size connection_limit useServerPrepStmts cachePrepStmts prepStmtCacheSize \
         prepStmtCacheSqlLimit rewriteBatchedStatements useBulkStmts interpolateParams multiStatements allowMultiQueries \
         clientFoundRows maxAllowedPacket checkConnLiveness rejectReadOnly useLocalSessionState elideSetAutoCommits maintainTimeStats \
         useInformationSchema nullCatalogMeansCurrent prepared_statements statement_cache_size adapter tcpKeepAlive usePipelineAuth \
         permitMysqlScheme",
        "the plan sets the sessions, and each prepares its statements",
    ),
    Foreign::nothing(
        "program_name conn_attrs connectionAttributes applicationName application_name",
        "dbdyno sends no attributes of a connection",
    ),
    Foreign::nothing(
        "local_infile allowLoadLocalInfile allowLocalInfile allowAllFiles",
        "dbdyno's bulk loads send rows, and no file can be asked for",
    ),
    Foreign::only(
        "compress useCompression compression",
        OFF,
        "dbdyno's connections are not compressed; leave it out",
    ),
    Foreign::never(
        "sessionVariables init_command initSql init-command",
        "write NAME=VALUE for each setting of the measured sessions",
    ),
    Foreign::nothing(
        "defaultauth default_auth default-auth plugin authenticationPlugins defaultAuthenticationPlugin",
        "the server names the method of the login",
    ),
];
