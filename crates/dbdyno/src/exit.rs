//! Exit statuses; their numbers are a contract (docs/USAGE.md).

use std::process::ExitCode;

use archive::ArchiveError;
use archive::reference::ReferenceError;
use columnar::ColumnarError;
use engine::{ErrorKind, TargetError, UrlError};
use fleet::FleetError;
use host::inventory::{DocumentError, StatedError};
use host::remote::AddressError;
use lab::LabError;
use olap::OlapError;
use oltp::OltpError;
use storage::engine::{EngineError, Obstacle};
use storage::execution::ExecutionError;
use storage::layout::LayoutError;
use verdict::compare::{CompareError, NotComparable};
use verdict::metric::MetricError;
use verdict::price::PriceError;
use verdict::sla::SlaError;

use crate::resumption;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Measured and valid, or completed as requested.
    Fine = 0,
    /// The environment failed: unreachable, full, damaged.
    Environment = 1,
    /// Invalid input: a flag, a plan, a URL, a name, or a database that does not hold what the command needs.
    InvalidInput = 2,
    /// Measured, but a check failed. In `report --limits`: the run as a whole is incomplete or was changed, which wins
    /// over any limit. In `check`: a run would be refused, or a check of the engine failed.
    CheckFailed = 3,
    /// Measured, but below the requirement: a limit missed or without a valid figure, or a verdict of --fail-on.
    Missed = 4,
    /// Any failure of `vdbench`: the original's only status, -99, as a shell sees it.
    VdbenchFailed = 157,
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status as u8)
    }
}

/// Invalid input without an error type of its own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

pub fn invalid<T>(why: impl Into<String>) -> anyhow::Result<T> {
    Err(InvalidInput(why.into()).into())
}

/// The exit status and advice of an error. Libraries know keys of plans; only this file knows flags and verbs.
trait Outcome: std::error::Error + 'static {
    fn status(&self) -> Status {
        Status::InvalidInput
    }

    /// Advice in terms of the command line; `None` if the error already contains it.
    fn advice(&self) -> Option<String> {
        None
    }
}

/// Lists the errors that the command knows: those that are always invalid input, and those with an implementation below.
macro_rules! known_errors {
    (invalid_input: [$($invalid:ty),* $(,)?], others: [$($other:ty),* $(,)?]) => {
        $(impl Outcome for $invalid {})*

        fn known<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e dyn Outcome> {
            $(if let Some(error) = error.downcast_ref::<$invalid>() {
                return Some(error);
            })*
            $(if let Some(error) = error.downcast_ref::<$other>() {
                return Some(error);
            })*
            None
        }
    };
}

known_errors!(
    invalid_input: [
        InvalidInput,
        AddressError,
        MetricError,
        ReferenceError,
        SlaError,
        PriceError,
        StatedError,
        verdict::fleet::FleetError,
        observe::twin::TwinError,
    ],
    others: [
        LabError,
        OltpError,
        OlapError,
        ColumnarError,
        FleetError,
        ArchiveError,
        TargetError,
        UrlError,
        DocumentError,
        ExecutionError,
        LayoutError,
        CompareError,
    ]
);

impl Outcome for LabError {
    fn status(&self) -> Status {
        match self {
            Self::Interrupted { .. } => Status::Interrupted,
            Self::Plan(_) | Self::Url(_) | Self::NotLoaded { .. } => Status::InvalidInput,
            Self::Archive(error) => error.status(),
            // The statement came from the run's plan.
            Self::Target(error) if error.kind == ErrorKind::Statement => Status::InvalidInput,
            _ => Status::Environment,
        }
    }

    fn advice(&self) -> Option<String> {
        let resume = |verb, label| format!("resume with: {}", resumption::command(verb, label));
        match self {
            Self::Archive(error) => error.advice(),
            Self::Url(error) => error.advice(),
            Self::Interrupted { verb, label, .. } => Some(resume(verb, label)),
            Self::Broken { verb, label, .. } => Some(format!("then {}", resume(verb, label))),
            Self::NotLoaded { what, verb, label } => {
                let load = known(what.as_ref()).and_then(Outcome::advice);
                let load = load.map(|load| format!("{load}, then "));
                Some(load.unwrap_or_default() + &resume(verb, label))
            }
            _ => None,
        }
    }
}

impl Outcome for ArchiveError {
    fn status(&self) -> Status {
        if self.is_environment() {
            Status::Environment
        } else {
            Status::InvalidInput
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::Unreachable { .. } | Self::OtherVersion { .. } | Self::Busy { .. } => {
                "or name another file with --archive"
            }
            Self::Absent { .. } => "or name the right file with --archive",
            Self::Damaged { .. } => "or move it away and name another file with --archive",
            Self::NotAnArchive { .. } => "name another file with --archive",
            Self::Full { .. } => "then resume the run with --resume",
            Self::NotComplete { .. } => "resume it with --resume",
            Self::UnknownRun { .. } => "`dbdyno runs list` lists the runs",
            _ => return None,
        };
        Some(advice.into())
    }
}

impl Outcome for CompareError {
    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::NotComparable(NotComparable::Itself(_)) => {
                "or measure both configurations with `dbdyno ab`"
            }
            Self::NotComparable(NotComparable::NothingInCommon { .. }) => {
                "`dbdyno runs list` shows the tests of each run"
            }
            Self::NotComparable(NotComparable::Differently { .. }) => {
                "or add --allow-mismatch to compare them with that label"
            }
            Self::TooNoisy { .. } => "or give --band a number",
            _ => return None,
        };
        Some(advice.into())
    }
}

impl Outcome for UrlError {
    fn advice(&self) -> Option<String> {
        let is_engine = matches!(self, Self::UnknownEngine { .. });
        is_engine.then(|| "`dbdyno list engines` lists the engines".into())
    }
}

impl Outcome for DocumentError {
    fn advice(&self) -> Option<String> {
        let is_none = matches!(self, Self::NotAnInventory { .. });
        is_none.then(|| "write one with `dbdyno check --inventory --format json`".into())
    }
}

impl Outcome for TargetError {
    fn status(&self) -> Status {
        Status::Environment
    }
}

impl Outcome for OltpError {
    fn status(&self) -> Status {
        match self {
            Self::Interrupted => Status::Interrupted,
            Self::Target(_)
            | Self::CommitLog(_)
            | Self::Metadata { .. }
            | Self::Rows { .. }
            | Self::Copy(_) => Status::Environment,
            _ => Status::InvalidInput,
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::ForeignKeys(_) => "leave out --set foreign_keys=true",
            Self::Procedures(_) => "or leave out --set statements=procedure",
            Self::Absent => "run: dbdyno data load oltp TARGET --warehouses N",
            Self::NotWhole {
                warehouses, seed, ..
            } => {
                return Some(format!(
                    "run: dbdyno data load oltp TARGET --warehouses {warehouses} --seed {seed}"
                ));
            }
            Self::Present { .. } => "add --replace to replace it",
            Self::Other { .. } => "run: dbdyno data load oltp TARGET --replace --warehouses N",
            Self::Used => "run: dbdyno data restore oltp TARGET",
            Self::Rival => "to drop them, run: dbdyno data drop olap TARGET",
            Self::Metadata { .. } | Self::Rows { .. } | Self::Copy(_) => {
                "run: dbdyno data load oltp TARGET --replace --warehouses N"
            }
            _ => return None,
        };
        Some(advice.into())
    }
}

impl Outcome for OlapError {
    fn status(&self) -> Status {
        match self {
            Self::Interrupted => Status::Interrupted,
            Self::Target(_)
            | Self::Refresh(_)
            | Self::NotPutBack { .. }
            | Self::Metadata(_)
            | Self::Rows { .. } => Status::Environment,
            _ => Status::InvalidInput,
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::Absent => "run: dbdyno data load olap TARGET --scale SF",
            Self::NotWhole { scale } | Self::Refreshed { scale } => {
                return Some(format!("run: dbdyno data load olap TARGET --scale {scale}"));
            }
            Self::Present { .. } => "add --replace to replace it",
            Self::Other { .. } => "run: dbdyno data load olap TARGET --replace --scale SF",
            Self::Rival => "to drop them, run: dbdyno data drop oltp TARGET",
            Self::NotPutBack { .. } | Self::Metadata(_) | Self::Rows { .. } => {
                "run: dbdyno data load olap TARGET --replace --scale SF"
            }
            _ => return None,
        };
        Some(advice.into())
    }
}

impl Outcome for ColumnarError {
    fn status(&self) -> Status {
        match self {
            Self::Interrupted => Status::Interrupted,
            Self::Target(_) | Self::Unsized { .. } => Status::Environment,
            _ => Status::InvalidInput,
        }
    }

    fn advice(&self) -> Option<String> {
        match self {
            Self::Unholdable { flags, .. } => Some(format!(
                "use --tables {flags}, --unfit skip or --unfit text"
            )),
            Self::TooLarge { .. } => Some("use --memory, --levels or --tables".into()),
            _ => None,
        }
    }
}

impl Outcome for FleetError {
    fn status(&self) -> Status {
        match self {
            Self::Archive(error) => error.status(),
            Self::Target(error) if error.kind == ErrorKind::Foreign => Status::InvalidInput,
            Self::Target(_) | Self::Unreadable { .. } => Status::Environment,
            _ => Status::InvalidInput,
        }
    }

    fn advice(&self) -> Option<String> {
        let is_unknown = matches!(self, Self::Archive(ArchiveError::UnknownRun { .. }));
        is_unknown.then(|| "name the runs as FILE?before=RUN&after=RUN".into())
    }
}

impl Outcome for ExecutionError {
    fn status(&self) -> Status {
        Status::VdbenchFailed
    }

    fn advice(&self) -> Option<String> {
        match self {
            Self::Engine(EngineError::Sd {
                path,
                obstacle: Obstacle::Bears(_),
                ..
            }) => {
                let path = path.display();
                Some(format!("or add --force={path} if its contents may be lost"))
            }
            _ => None,
        }
    }
}

impl Outcome for LayoutError {
    fn status(&self) -> Status {
        match self {
            Self::Invalid { .. }
            | Self::Unknown { .. }
            | Self::There { .. }
            | Self::NotThere { .. }
            | Self::Bears { .. }
            | Self::NoDevice { .. } => Status::InvalidInput,
            _ => Status::Environment,
        }
    }

    fn advice(&self) -> Option<String> {
        match self {
            Self::There(name) => Some(format!(
                "`dbdyno storage layout remove {name}` removes it with everything on it"
            )),
            Self::NotThere { .. } => {
                Some("`dbdyno storage layout show` lists those that are".into())
            }
            _ => None,
        }
    }
}

/// The first known error of a chain of causes.
fn outcome(error: &anyhow::Error) -> Option<&dyn Outcome> {
    error.chain().find_map(known)
}

/// The status of an error; an unknown one counts as a failed environment.
pub fn status_of(error: &anyhow::Error) -> Status {
    outcome(error).map_or(Status::Environment, Outcome::status)
}

/// An error and its causes in one line, with advice.
pub fn sentence(error: &anyhow::Error) -> String {
    let Some(advice) = outcome(error).and_then(Outcome::advice) else {
        return format!("{error:#}");
    };
    let goes_on = ["or ", "then "].iter().any(|word| advice.starts_with(word));
    let joint = if goes_on { ", " } else { "; " };
    format!("{error:#}{joint}{advice}")
}
