//! Estimate of the data to write, made before any target is opened.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Volume {
    pub written_bytes: u64,
    pub room_bytes: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Data of their points; the space is that of the largest.
    pub points: Volume,
    /// Data of tables that are loaded once to each node and stay.
    pub loads_bytes: u64,
}

impl Written {
    pub fn add(&mut self, point: Volume) {
        let points = &mut self.points;
        points.written_bytes = points.written_bytes.saturating_add(point.written_bytes);
        points.room_bytes = points.room_bytes.max(point.room_bytes);
    }
}
