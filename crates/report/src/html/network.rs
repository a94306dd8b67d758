//! Traffic of each network interface of the host at each sweep's best level.

use archive::{InterfaceKind, InterfaceUse, Point, Traffic};
use askama::Template;

use super::sweep::{Rate, Sweep};
use crate::number;

const CELLS: usize = 10;
const LEVELS_MAX: usize = 12;

#[derive(Template, Default)]
#[template(path = "network.html", whitespace = "minimize")]
pub struct View {
    levels: Vec<LevelView>,
    more: usize,
}

struct LevelView {
    /// "sqlite @4".
    title: String,
    rows: Vec<RowView>,
}

struct RowView {
    name: String,
    kind: &'static str,
    cells: [String; CELLS],
}

/// Builds the table; empty if interfaces were not sampled.
pub fn view(sweeps: &[Sweep<'_>], rate: Rate) -> View {
    let mut view = View::default();
    for sweep in sweeps {
        let peak = sweep.curve.as_ref().and_then(|c| c.peak(rate.name));
        let points = peak.map(|level| level.points).unwrap_or_default();
        let Some(point) = points.into_iter().find(|p| !p.interfaces.is_empty()) else {
            continue;
        };
        match view.levels.len() {
            LEVELS_MAX => view.more += 1,
            _ => view.levels.push(level(&sweep.label, point)),
        }
    }
    view
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }
}

fn level(label: &str, point: &Point) -> LevelView {
    LevelView {
        title: format!("{label} @{}", point.key.dop()),
        rows: point.interfaces.iter().map(row).collect(),
    }
}

fn row(used: &InterfaceUse) -> RowView {
    let cells = [used.received, used.sent].map(|traffic| carried(used, traffic));
    let mut cells = cells.into_iter().flatten();
    RowView {
        name: used.name.clone(),
        kind: match used.kind {
            InterfaceKind::Others => "all that are not listed",
            kind => kind.name(),
        },
        cells: std::array::from_fn(|_| cells.next().unwrap_or_default()),
    }
}

fn carried(used: &InterfaceUse, traffic: Traffic) -> [String; 5] {
    [
        number::figure(traffic.bytes as f64 / 1e6),
        number::figure_or_unknown(used.mb_per_s(traffic.bytes)),
        number::count(traffic.packets),
        number::count(traffic.errors),
        number::count(traffic.drops),
    ]
}
