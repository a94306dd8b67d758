//! Rights of a user, from the privileges of its session.

use archive::{RightsMissing, Unseen};
use engine::inspection::Right;

/// Views that are read, by the names in a GRANT.
const VIEWS: &[&str] = &[
    "V_$SESSION",
    "V_$PARAMETER",
    "V_$SYSSTAT",
    "V_$SYSTEM_EVENT",
    "V_$INSTANCE",
    "V_$RESOURCE_LIMIT",
];

/// Privileges of a session, as far as the server shows them.
#[derive(Debug, Clone, Default)]
pub(super) struct Privileges {
    pub held: Option<Vec<String>>,
    pub sees_sessions: bool,
    pub user: String,
}

impl Privileges {
    fn has(&self, privilege: &str) -> bool {
        // A server that does not show them refuses the statement itself.
        let Some(held) = &self.held else { return true };
        held.iter().any(|it| it == privilege)
    }

    pub(super) fn may_alter_system(&self) -> bool {
        self.has("ALTER SYSTEM")
    }

    pub(super) fn may_create_code(&self) -> bool {
        self.has("CREATE PROCEDURE")
    }

    fn grant_views(&self) -> String {
        let grants = VIEWS
            .iter()
            .map(|view| format!("GRANT SELECT ON SYS.{view} TO {}", self.user));
        grants.collect::<Vec<_>>().join("; ")
    }

    pub(super) fn rights(&self, is_read_only: bool) -> Vec<Right> {
        let right = |name: &str, needed_for, without, is_required| Right {
            name: name.into(),
            is_held: self.has(name),
            needed_for,
            without,
            is_required,
            grant: format!("GRANT {name} TO {}", self.user),
        };
        let mut rights = Vec::new();
        if !is_read_only {
            rights.push(right(
                "CREATE TABLE",
                "dbdyno's tables",
                "a run is refused",
                true,
            ));
            rights.push(right(
                "CREATE PROCEDURE",
                "tests and order entry in PL/SQL",
                "they are left out",
                false,
            ));
        }
        rights.push(right(
            "ALTER SYSTEM",
            "checkpoints, and the end of statements that exceed a time limit",
            "blocks are written when the server likes, and such a statement goes on until the server notices",
            false,
        ));
        rights.push(Right {
            name: "SELECT on V$SESSION and other views".into(),
            is_held: self.sees_sessions,
            needed_for: "other active sessions, waits, counters and settings",
            without: "they are unknown",
            is_required: false,
            grant: self.grant_views(),
        });
        rights
    }

    /// Without a right, views are missing: that is reported, not taken for zero.
    pub(super) fn missing(&self, others_allowed: bool) -> Option<RightsMissing> {
        let mut unseen = vec![Unseen::ServerProcesses, Unseen::DataFileWaits];
        if !others_allowed {
            unseen.insert(0, Unseen::OthersAtWork);
        }
        (!self.sees_sessions).then(|| RightsMissing {
            unseen,
            grant: self.grant_views(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_grant() {
        let found = Privileges {
            held: Some(vec!["CREATE SESSION".into(), "CREATE PROCEDURE".into()]),
            sees_sessions: false,
            user: "BENCH".into(),
        };
        let rights = found.rights(false);
        let table = rights
            .iter()
            .find(|right| right.name == "CREATE TABLE")
            .unwrap();
        assert!(table.is_obstacle());
        assert_eq!(table.grant, "GRANT CREATE TABLE TO BENCH");
        assert!(
            rights
                .iter()
                .any(|right| right.name == "CREATE PROCEDURE" && right.is_held)
        );
        assert!(!found.may_alter_system());
        let missing = found.missing(false).unwrap();
        assert!(
            missing.grant.contains("SYS.V_$SESSION TO BENCH"),
            "{}",
            missing.grant
        );
        assert!(
            Privileges {
                sees_sessions: true,
                ..found
            }
            .missing(false)
            .is_none()
        );
    }
}
