//! What is going to be written, foretold before any target is opened.

/// Bytes, at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Volume {
    /// Written in all, logs included.
    pub written_bytes: u64,
    pub room_bytes: u64,
}

/// What steps write in one repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// By their points; the room is that of the largest.
    pub points: Volume,
    /// To each node, by tables that are loaded once and stay.
    pub loads_bytes: u64,
}

impl Written {
    /// Adds a point, whose room is free again behind it.
    pub fn add(&mut self, point: Volume) {
        let points = &mut self.points;
        points.written_bytes = points.written_bytes.saturating_add(point.written_bytes);
        points.room_bytes = points.room_bytes.max(point.room_bytes);
    }
}
