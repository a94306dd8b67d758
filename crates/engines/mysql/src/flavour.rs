//! The two servers that speak this protocol, where they differ.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    MariaDb,
    MySql,
}

impl Flavour {
    /// Only MariaDB puts its name into its version.
    pub fn of_version(version: &str) -> Self {
        if version.to_ascii_lowercase().contains("mariadb") {
            Self::MariaDb
        } else {
            Self::MySql
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
        }
    }

    /// The schema of the table `global_status`, which everybody may read.
    pub fn status_schema(self) -> &'static str {
        match self {
            Self::MariaDb => "information_schema",
            Self::MySql => "performance_schema",
        }
    }

    /// The query that names the settings somebody set, with their values.
    pub fn settings_query(self) -> &'static str {
        match self {
            Self::MariaDb => {
                "SELECT variable_name, global_value FROM information_schema.system_variables \
                 WHERE global_value_origin IN ('CONFIG', 'COMMAND-LINE', 'SQL', 'ENV')"
            }
            Self::MySql => {
                "SELECT i.variable_name, g.variable_value \
                 FROM performance_schema.variables_info i \
                 JOIN performance_schema.global_variables g USING (variable_name) \
                 WHERE i.variable_source <> 'COMPILED'"
            }
        }
    }

    /// The query that gives the defaults of settings, by their names in lower case.
    pub fn defaults_query(self, names: &[&str]) -> String {
        let names = format!("'{}'", names.join("','"));
        match self {
            Self::MariaDb => format!(
                "SELECT lower(variable_name), default_value FROM information_schema.system_variables \
                 WHERE variable_name IN ({names})"
            ),
            // It has no defaults to read: what nobody set is one.
            Self::MySql => format!(
                "SELECT i.variable_name, g.variable_value FROM performance_schema.variables_info i \
                 JOIN performance_schema.global_variables g USING (variable_name) \
                 WHERE i.variable_source = 'COMPILED' AND i.variable_name IN ({names})"
            ),
        }
    }
}
