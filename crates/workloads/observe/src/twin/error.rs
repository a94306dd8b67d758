//! Reasons why a run has no twin.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TwinError {
    #[error("run {0} has no observation; make one with `dbdyno observe`")]
    NotObserved(String),
    #[error("run {0} has {1} observations, and a twin is of one")]
    Several(String, usize),
    #[error("the observation is not valid: {0}")]
    Invalid(String),
    #[error("the observation has no counts of a load")]
    NothingCounted,
    #[error(
        "neither transactions nor statements were counted while the database was observed, so there is nothing to make a plan of; observe it under load"
    )]
    NothingAtWork,
    #[error("what rows take in the log of {0} is not known")]
    Engine(String),
}
