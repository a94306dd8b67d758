//! Traffic of each network interface of the host at each sweep's best level.

use archive::{InterfaceKind, InterfaceUse, Table};

use super::section::Fragment;
use super::sweep::{Rate, Sweep};
use crate::number;

const LEVELS_MAX: usize = 12;
const COLUMNS: &str = "interface | received [MB] | received [MB/s] | received [packets] | received [errors] | \
     received [drops] | sent [MB] | sent [MB/s] | sent [packets] | sent [errors] | sent [drops]";
const HOW: &str = "What the host's interfaces carried at the best level. A virtual interface (bridge, bond, VLAN, container) may carry what a \
     physical one carries as well; the loopback carries what programs of the host send each other, and is left out of the charts.";

/// The table; empty if interfaces were not sampled.
pub fn view(sweeps: &[Sweep<'_>], rate: Rate) -> Fragment {
    let mut table = Table::new(COLUMNS);
    let mut levels = 0;
    for sweep in sweeps {
        let peak = sweep.curve.as_ref().and_then(|c| c.peak(rate.name));
        let points = peak.map(|level| level.points).unwrap_or_default();
        let Some(point) = points.into_iter().find(|p| !p.interfaces.is_empty()) else {
            continue;
        };
        levels += 1;
        if levels <= LEVELS_MAX {
            table.heading(format!("{} @{}", sweep.label, point.key.dop()));
            point
                .interfaces
                .iter()
                .for_each(|used| table.row(row(used)));
        }
    }
    let mut parts = Fragment::default();
    if levels > 0 {
        parts
            .table("devices", "Network by interface", &table)
            .left_out("Levels not shown", levels.saturating_sub(LEVELS_MAX))
            .how(HOW);
    }
    parts.folded("Network by interface", false)
}

fn row(used: &InterfaceUse) -> Vec<String> {
    let kind = match used.kind {
        InterfaceKind::Others => "all that are not listed",
        kind => kind.name(),
    };
    let mut row = vec![format!("{}\n{kind}", used.name)];
    for traffic in [used.received, used.sent] {
        row.extend([
            number::figure(traffic.bytes as f64 / 1e6),
            number::figure_or_unknown(used.mb_per_s(traffic.bytes)),
        ]);
        row.extend([traffic.packets, traffic.errors, traffic.drops].map(number::count));
    }
    row
}
