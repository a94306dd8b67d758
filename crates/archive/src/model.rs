//! Runs, points and figures: the result schema as plain data.

#[macro_use]
mod words;

mod by_operation;
mod device;
mod engine_io;
mod event;
mod execution;
mod figures;
mod grade;
mod held_back;
mod interface;
mod inventory;
mod observed;
mod platform;
mod point;
mod rights;
mod run;
mod section;
mod study;

pub use by_operation::{ByOperation, OperationSample, OperationTimes, TransactionKind};
pub use device::{DeviceSample, DeviceUse, Purpose, Requests};
pub use engine_io::{EngineIo, IoOperation, IoUnknown};
pub use event::{CacheState, EventClass, EventSource};
pub use execution::Execution;
pub use figures::{
    Better, CPU_S_MIN, FIGURES, Figure, FigureInfo, Figures, OTHERS_IO_MB_PER_S_MIN,
    OTHERS_IO_PCT_MAX, OTHERS_PCT_MAX,
};
pub use grade::{Grade, Graded};
pub use held_back::{BackgroundEvent, Bottleneck, HeldBack, Resource, WaitHistogram};
pub use interface::{InterfaceKind, InterfaceUse, Traffic};
pub use inventory::{Advice, Fact, Inventory};
pub use observed::{About, Observed, load_row};
pub use platform::{BlockDevice, ControlGroup, DeviceCap, Platform};
pub use point::{
    Component, Histograms, Latency, Point, PointKey, Sample, Steady, TimedEvent, WorkDone,
};
pub use rights::{RightsMissing, Unseen};
pub use run::{Missing, OF_PARAMETER_FILES, Run, RunState, TargetRecord};
pub use section::{Axis, Block, Cell, Chart, Column, Section, Series, Table};
pub use study::{
    Alternative, Arranged, Arrangement, Ended, Factor, PlannedAnalysis, SIDES_MAX, Screened,
    SideLabel, StudyPart, Until,
};
