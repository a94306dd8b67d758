//! Figures of one worker: sums for the current interval, distributions for everything that counts.

use std::sync::mpsc::Sender;

use super::error::Operation;
use super::figures::{Cell, Latencies};
use super::message::Message;

/// Times of an I/O in nanoseconds since the start of the run: intended, taken, handed over, completed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub intended_ns: u64,
    pub issued_ns: u64,
    pub submitted_ns: u64,
    pub completed_ns: u64,
}

pub(crate) struct Recorder {
    worker: usize,
    messages: Sender<Message>,
    interval_ns: u64,
    first_counted: u32,
    /// Current interval, from 1.
    number: u32,
    begin_ns: u64,
    cells: Vec<Cell>,
    in_flight: Vec<u64>,
    latencies: Vec<[Latencies; 2]>,
    /// The I/Os of the cell have intended starts; without them, issued and response times are the same.
    paced: Vec<bool>,
}

impl Recorder {
    /// A recorder for cells whose streams are `paced` or not; it allocates all its memory here.
    pub fn new(
        worker: usize,
        messages: Sender<Message>,
        interval_ns: u64,
        first_counted: u32,
        cells: Vec<Cell>,
        paced: Vec<bool>,
    ) -> Self {
        Self {
            worker,
            messages,
            interval_ns: interval_ns.max(1),
            first_counted,
            number: 1,
            begin_ns: 0,
            in_flight: vec![0; cells.len()],
            latencies: cells.iter().map(|_| Default::default()).collect(),
            cells,
            paced,
        }
    }

    #[inline]
    pub fn issued(&mut self, cell: usize, now_ns: u64) {
        self.in_flight[cell] += 1;
        // ∫ in flight dt = Σ ends − Σ starts, both from the start of the interval; I/Os open at the end of the
        // interval are added there. Starts come first, so the sum wraps.
        let since = now_ns - self.begin_ns;
        self.cells[cell].in_flight_ns = self.cells[cell].in_flight_ns.wrapping_sub(since);
    }

    /// Records that an I/O of `cell` has completed, within the interval that [`Recorder::roll`] opened.
    #[inline]
    pub fn completed(&mut self, cell: usize, operation: Operation, bytes: u64, times: &Times) {
        let service_ns = times.completed_ns - times.submitted_ns;
        let issued_ns = times.completed_ns - times.issued_ns;
        let response_ns = times.completed_ns - times.intended_ns;
        self.left(cell, times.completed_ns);
        self.cells[cell].tallies[operation.index()].record(
            bytes,
            service_ns,
            issued_ns,
            response_ns,
        );
        let latencies = &mut self.latencies[cell][operation.index()];
        latencies.service.record_ns(service_ns);
        latencies.issued.record_ns(issued_ns);
        if self.paced[cell] {
            latencies.response.record_ns(response_ns);
        }
    }

    #[cold]
    pub fn failed(&mut self, cell: usize, operation: Operation, now_ns: u64) {
        self.left(cell, now_ns);
        self.cells[cell].tallies[operation.index()].errors += 1;
    }

    #[inline]
    pub fn left(&mut self, cell: usize, now_ns: u64) {
        self.in_flight[cell] -= 1;
        let since = now_ns - self.begin_ns;
        self.cells[cell].in_flight_ns = self.cells[cell].in_flight_ns.wrapping_add(since);
    }

    #[inline]
    pub fn roll(&mut self, now_ns: u64) {
        while now_ns >= self.begin_ns + self.interval_ns {
            self.close(self.begin_ns + self.interval_ns);
            if self.number == self.first_counted {
                // Times of the warm-up matter only if nothing follows.
                self.latencies.fill_with(Default::default);
            }
        }
    }

    pub fn interval_end_ns(&self) -> u64 {
        self.begin_ns + self.interval_ns
    }

    /// Ends the last interval at `end_ns` and returns the distributions, with false if they are of a warm-up that
    /// nothing followed. Nothing may be recorded afterwards.
    pub fn finish(&mut self, end_ns: u64) -> (Vec<[Latencies; 2]>, bool) {
        self.roll(end_ns.saturating_sub(1));
        let counts = self.number >= self.first_counted;
        if end_ns > self.begin_ns {
            self.close(end_ns);
        }
        for (pair, paced) in self.latencies.iter_mut().zip(&self.paced) {
            if !paced {
                // Cloning an empty distribution would allocate its memory.
                for latencies in pair.iter_mut().filter(|l| !l.issued.is_empty()) {
                    latencies.response = latencies.issued.clone();
                }
            }
        }
        (std::mem::take(&mut self.latencies), counts)
    }

    #[cold]
    fn close(&mut self, end_ns: u64) {
        let length_ns = end_ns - self.begin_ns;
        for (cell, in_flight) in self.cells.iter_mut().zip(&self.in_flight) {
            cell.in_flight_ns = cell.in_flight_ns.wrapping_add(in_flight * length_ns);
        }
        // The receiver is gone only while the run is being torn down.
        let _ = self.messages.send(Message::Interval {
            worker: self.worker,
            number: self.number,
            end_ns,
            length_ns,
            cells: self.cells.clone(),
        });
        for cell in &mut self.cells {
            *cell = Cell {
                stream: cell.stream,
                storage: cell.storage,
                ..Cell::default()
            };
        }
        self.number += 1;
        self.begin_ns = end_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn intervals(recorder: impl FnOnce(Recorder)) -> Vec<(u32, u64, Cell)> {
        let (sender, receiver) = channel();
        let cells = vec![Cell::default()];
        recorder(Recorder::new(0, sender, 1000, 2, cells, vec![true]));
        receiver
            .iter()
            .filter_map(|message| match message {
                Message::Interval {
                    number,
                    length_ns,
                    cells,
                    ..
                } => Some((number, length_ns, cells[0])),
                _ => None,
            })
            .collect()
    }

    /// One I/O from 400 to 2300 with an intended start at 100 is in flight for 600, 1000 and 300 of three intervals.
    #[test]
    fn depth_and_times_go_to_their_intervals() {
        let all = intervals(|mut recorder| {
            recorder.issued(0, 400);
            recorder.roll(2300);
            recorder.completed(
                0,
                Operation::Write,
                512,
                &Times {
                    intended_ns: 100,
                    issued_ns: 400,
                    submitted_ns: 500,
                    completed_ns: 2300,
                },
            );
            let (latencies, counts) = recorder.finish(2500);
            assert!(counts);
            assert_eq!(latencies[0][1].service.count(), 1);
            assert!(latencies[0][0].service.is_empty());
        });
        let depths: Vec<u64> = all.iter().map(|(_, _, cell)| cell.in_flight_ns).collect();
        assert_eq!(depths, [600, 1000, 300]);
        let lengths: Vec<u64> = all.iter().map(|(_, length, _)| *length).collect();
        assert_eq!(lengths, [1000, 1000, 500]);
        let write = all[2].2.of(Operation::Write);
        assert_eq!(
            (write.service_ns, write.issued_ns, write.response_ns),
            (1800, 1900, 2200)
        );
    }

    fn counted(completed_ns: &[u64], end_ns: u64) -> (u64, bool) {
        let mut found = (0, false);
        intervals(|mut recorder| {
            for &completed_ns in completed_ns {
                recorder.roll(completed_ns);
                recorder.issued(0, completed_ns);
                let times = Times {
                    completed_ns,
                    ..Times::default()
                };
                recorder.completed(0, Operation::Read, 1, &times);
            }
            let (latencies, counts) = recorder.finish(end_ns);
            found = (latencies[0][0].response.count(), counts);
        });
        found
    }

    #[test]
    fn warm_up_is_in_no_distribution_unless_nothing_follows() {
        assert_eq!(counted(&[500, 999, 1000], 1500), (1, true));
        assert_eq!(counted(&[500, 999], 1000), (2, false));
    }
}
