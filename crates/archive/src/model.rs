//! Runs, points and figures: the result schema as plain data.

mod figures;
mod platform;
mod point;
mod run;

pub use figures::{Better, FIGURES, Figure, FigureInfo, Figures};
pub use platform::{BlockDevice, Platform};
pub use point::{
    Component, Histograms, Latency, Point, PointKey, Sample, Steady, TimedEvent, WorkDone,
};
pub use run::{Missing, Run, RunState, TargetRecord};
