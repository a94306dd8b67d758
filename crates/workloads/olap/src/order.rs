//! Order of the queries in each stream: appendix A of the specification.

use super::QUERIES;

/// Orders of the streams 0 to 11; stream 0 is that of one user alone.
const ORDERS: [[u32; QUERIES as usize]; 12] = [
    [
        14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12,
    ],
    [
        21, 3, 18, 5, 11, 7, 6, 20, 17, 12, 16, 15, 13, 10, 2, 8, 14, 19, 9, 22, 1, 4,
    ],
    [
        6, 17, 14, 16, 19, 10, 9, 2, 15, 8, 5, 22, 12, 7, 13, 18, 1, 4, 20, 3, 11, 21,
    ],
    [
        8, 5, 4, 6, 17, 7, 1, 18, 22, 14, 9, 10, 15, 11, 20, 2, 21, 19, 13, 16, 12, 3,
    ],
    [
        5, 21, 14, 19, 15, 17, 12, 6, 4, 9, 8, 16, 11, 2, 10, 18, 1, 13, 7, 22, 3, 20,
    ],
    [
        21, 15, 4, 6, 7, 16, 19, 18, 14, 22, 11, 13, 3, 1, 2, 5, 8, 20, 12, 17, 10, 9,
    ],
    [
        10, 3, 15, 13, 6, 8, 9, 7, 4, 11, 22, 18, 12, 1, 5, 16, 2, 14, 19, 20, 17, 21,
    ],
    [
        18, 8, 20, 21, 2, 4, 22, 17, 1, 11, 9, 19, 3, 13, 5, 7, 10, 16, 6, 14, 15, 12,
    ],
    [
        19, 1, 15, 17, 5, 8, 9, 12, 14, 7, 4, 3, 20, 16, 6, 22, 10, 13, 2, 21, 18, 11,
    ],
    [
        8, 13, 2, 20, 17, 3, 6, 21, 18, 11, 19, 10, 15, 4, 22, 1, 7, 12, 9, 14, 5, 16,
    ],
    [
        6, 15, 18, 17, 12, 1, 7, 2, 22, 13, 21, 10, 14, 9, 3, 16, 20, 19, 11, 4, 8, 5,
    ],
    [
        15, 14, 18, 17, 10, 20, 16, 11, 1, 8, 4, 22, 5, 12, 3, 9, 21, 2, 13, 6, 19, 7,
    ],
];
/// Each stream has an order of its own, and stream 0 is not one of several.
pub const STREAMS_MAX: u32 = ORDERS.len() as u32 - 1;

/// Stream of queries: its number determines their order, and their parameters if these are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// 0 for one user alone, from 1 on for several.
    pub number: u32,
    pub queries: Vec<u32>,
}

impl Stream {
    pub fn of_users(users: u32, selected: &[u32]) -> Vec<Self> {
        let of = |number| Self {
            number,
            queries: of_stream(number, selected),
        };
        (1..=users).map(of).collect()
    }

    pub fn of_user(selected: &[u32]) -> Self {
        Self {
            number: 0,
            queries: of_stream(0, selected),
        }
    }

    pub fn of_query(query: u32) -> Self {
        Self {
            number: 0,
            queries: vec![query],
        }
    }
}

pub fn of_stream(stream: u32, selected: &[u32]) -> Vec<u32> {
    let order = ORDERS[stream as usize % ORDERS.len()];
    order
        .into_iter()
        .filter(|query| selected.contains(query))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, Scale};

    #[test]
    fn every_order_has_every_query_once() {
        let all: Vec<u32> = (1..=QUERIES).collect();
        for stream in 0..=STREAMS_MAX {
            let mut order = of_stream(stream, &all);
            assert_ne!(order, all);
            order.sort_unstable();
            assert_eq!(order, all, "{stream}");
        }
        assert_eq!(of_stream(0, &[1, 6, 14]), [14, 6, 1]);
    }

    /// Golden: Σ index · query and Σ index² · query of each order, computed from other implementations of appendix A.
    #[test]
    fn the_orders_are_those_of_the_specification() {
        let all: Vec<u32> = (1..=QUERIES).collect();
        let moment = |stream: u32, power: u32| -> u32 {
            let order = of_stream(stream, &all);
            (1..)
                .zip(order)
                .map(|(place, query): (u32, u32)| place.pow(power) * query)
                .sum()
        };
        let of = |power| {
            (0..=STREAMS_MAX)
                .map(|s| moment(s, power))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of(1),
            [
                2801, 2796, 2873, 3154, 2816, 2753, 3281, 2787, 3050, 2874, 2826, 2667
            ]
        );
        assert_eq!(
            of(2),
            [
                40197, 40332, 43601, 47514, 42914, 40707, 53449, 42167, 47786, 42100, 40726, 39249
            ]
        );
    }

    /// With drawn parameters, the first of several users runs other queries than one user alone.
    #[test]
    fn no_user_of_several_is_the_stream_of_one_alone() {
        let streams = Stream::of_users(3, &[6, 1]);
        assert_eq!(
            streams.iter().map(|s| s.number).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert!(
            streams
                .iter()
                .all(|s| s.queries == of_stream(s.number, &[1, 6]))
        );
        let scale = Scale::new(1.0).unwrap();
        let drawn = |stream: u32| Parameters::seeded(6, scale, 7, stream);
        let alone = drawn(Stream::of_query(6).number);
        assert!(streams.iter().all(|s| drawn(s.number) != alone));
    }
}
