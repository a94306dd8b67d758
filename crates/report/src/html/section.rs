//! Whole sections of results as parts of a page.

use archive::{Axis, Block, Chart, Section};
use chart::{self, Dash, Shape, tick, tick_latency};

use super::figure::Figure;
pub use super::fragment::Fragment;

impl Fragment {
    pub fn of(level: u8, section: &Section) -> Self {
        let mut parts = Self::default();
        parts.results(level, section);
        parts
    }

    pub fn of_blocks(section: &Section) -> Self {
        let mut parts = Self::default();
        parts.blocks(section);
        parts
    }

    pub fn results(&mut self, level: u8, section: &Section) -> &mut Self {
        self.heading(level, &section.title).blocks(section)
    }

    /// A section whose heading the page has already.
    pub fn blocks(&mut self, section: &Section) -> &mut Self {
        if !section.blocks.is_empty() {
            self.how(section.note.as_deref().unwrap_or_default());
        }
        for block in &section.blocks {
            match block {
                Block::Sentence(text) => self.sentence(text),
                Block::Caution(text) => self.caution(text),
                Block::Table(table) => self.table("", &section.title, table),
                Block::Chart(chart) => self.figures(&[figure(chart)]),
            };
        }
        self
    }
}

/// A chart of a section with its values as a table.
pub fn figure(chart: &Chart) -> Figure {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let series = chart.series.iter().enumerate().map(|(nth, series)| {
        let (name, points) = (series.name.clone(), series.points.clone());
        chart::Series::new(name, nth, Shape::nth(nth), Dash::nth(nth), points)
    });
    let drawn = chart::Chart::new(
        &chart.title,
        axis(&chart.x, points().map(|point| point.0), chart::Axis::span),
        axis(
            &chart.y,
            points().filter_map(|point| point.1),
            chart::Axis::linear,
        ),
        series.collect(),
    );
    let how = chart.note.clone().unwrap_or_default();
    Figure::new(chart.title.clone(), drawn.render(), how, chart.table())
}

type Label = fn(f64) -> String;

fn axis(
    axis: &Axis,
    values: impl Iterator<Item = f64> + Clone,
    from_zero: fn(&str, f64, Label) -> chart::Axis,
) -> chart::Axis {
    let title = match axis.unit.as_str() {
        "" => axis.name.clone(),
        unit => format!("{}, {unit}", axis.name),
    };
    let label = if axis.unit == "µs" {
        tick_latency
    } else {
        tick
    };
    let high = values.clone().fold(0.0, f64::max);
    let low = values.clone().fold(0.0, f64::min);
    if axis.is_logarithmic {
        let positive = values.filter(|value| *value > 0.0);
        chart::Axis::log(&title, positive.fold(f64::INFINITY, f64::min), high, label)
    } else if low < 0.0 {
        chart::Axis::around_zero(&title, low, high, label)
    } else {
        from_zero(&title, high, label)
    }
}
