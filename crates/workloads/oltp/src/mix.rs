//! Mix of a user's transactions, and its pauses (clause 5.2).

use stats::random::Random;

/// The five transactions, in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Enters an order of 5 to 15 lines.
    NewOrder,
    /// Pays on a customer's account.
    Payment,
    /// Reads a customer's last order.
    OrderStatus,
    /// Delivers the oldest order of each district of a warehouse.
    Delivery,
    /// Counts the items of recent orders that run short.
    StockLevel,
}

pub const KINDS: usize = 5;
pub const CARDS: usize = 23;
/// Limit of a think time as a multiple of its mean (clause 5.2.5.4).
const THINK_CUT: f64 = 10.0;

impl Kind {
    /// All kinds; the index is the number.
    pub const ALL: [Kind; KINDS] = [
        Kind::NewOrder,
        Kind::Payment,
        Kind::OrderStatus,
        Kind::Delivery,
        Kind::StockLevel,
    ];

    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Names in results, by number.
    pub const NAMES: [&'static str; KINDS] = [
        "new-order",
        "payment",
        "order-status",
        "delivery",
        "stock-level",
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Cards of this kind in a deck (clause 5.2.4.2).
    pub fn cards(self) -> usize {
        match self {
            Kind::NewOrder | Kind::Payment => 10,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 1,
        }
    }

    /// Time to fill in the form, in s.
    pub fn keying_s(self) -> f64 {
        match self {
            Kind::NewOrder => 18.0,
            Kind::Payment => 3.0,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 2.0,
        }
    }

    /// Mean time to read the answer, in s.
    pub fn think_mean_s(self) -> f64 {
        match self {
            Kind::NewOrder | Kind::Payment => 12.0,
            Kind::OrderStatus => 10.0,
            Kind::Delivery | Kind::StockLevel => 5.0,
        }
    }

    /// Mean time of a user between two transactions: 476 s for the 23 cards of a deck.
    pub fn pause_mean_s() -> f64 {
        let pause_s = |kind: Kind| kind.cards() as f64 * (kind.keying_s() + kind.think_mean_s());
        Kind::ALL.map(pause_s).iter().sum::<f64>() / CARDS as f64
    }

    /// Think time in s: negative exponential, truncated at ten times its mean.
    pub fn think_s(self, random: &mut Random) -> f64 {
        let mean_s = self.think_mean_s();
        random.exponential(mean_s).min(THINK_CUT * mean_s)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// Keying and think times of the specification.
    KeyingAndThinking,
    /// No pause: the number of warehouses is then only a size, as results state.
    None,
}

/// A user's cards, dealt without replacement and reshuffled when all are dealt.
#[derive(Debug, Clone)]
pub struct Deck {
    cards: [u8; CARDS],
    left: u8,
}

impl Default for Deck {
    fn default() -> Self {
        let mut cards = [0; CARDS];
        let kinds = Kind::ALL.into_iter();
        let all = kinds.flat_map(|kind| std::iter::repeat_n(kind as u8, kind.cards()));
        cards
            .iter_mut()
            .zip(all)
            .for_each(|(card, kind)| *card = kind);
        Self { cards, left: 0 }
    }
}

impl Deck {
    /// Next card. Taking a random one of those that are left is a step of the shuffle of Fisher and Yates.
    pub fn deal(&mut self, random: &mut Random) -> Kind {
        if self.left == 0 {
            self.left = CARDS as u8;
        }
        let taken = random.below(u64::from(self.left)) as usize;
        self.left -= 1;
        self.cards.swap(taken, usize::from(self.left));
        Kind::ALL[usize::from(self.cards[usize::from(self.left)])]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// From any seed, every 23 cards are a whole deck.
        #[test]
        fn every_deck_is_whole(seed: u64, decks in 1_usize..20) {
            let (mut random, mut deck) = (Random::new(seed), Deck::default());
            for _ in 0..decks {
                let mut counts = [0; KINDS];
                (0..CARDS).for_each(|_| counts[deck.deal(&mut random) as usize] += 1);
                prop_assert_eq!(counts, Kind::ALL.map(Kind::cards));
            }
        }
    }

    /// Each of the 23 positions has a rare card as often as any other: χ² of 22 degrees of freedom is above 56 once in
    /// ten thousand seeds, and the seed is fixed.
    #[test]
    fn decks_are_shuffled() {
        let (mut random, mut deck) = (Random::new(1), Deck::default());
        let mut places = [0_f64; CARDS];
        for _ in 0..23_000 {
            for place in &mut places {
                *place += f64::from(u8::from(deck.deal(&mut random) == Kind::Delivery));
            }
        }
        let chi2: f64 = places.iter().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi2 < 56.0, "{chi2}: {places:?}");
    }

    #[test]
    fn kinds_have_their_numbers() {
        for (number, kind) in (0..).zip(Kind::ALL) {
            assert_eq!((Kind::of(number), kind as u8), (Some(kind), number));
        }
        assert_eq!(Kind::of(5), None);
        assert_eq!(Kind::ALL.map(Kind::cards).iter().sum::<usize>(), CARDS);
    }

    /// The mean of an exponential that is truncated at ten means is 1 − e⁻¹⁰ of it.
    #[test]
    fn think_times_have_their_mean_and_their_end() {
        for kind in Kind::ALL {
            let mut random = Random::new(7);
            let drawn: Vec<f64> = (0..200_000).map(|_| kind.think_s(&mut random)).collect();
            let mean_s = drawn.iter().sum::<f64>() / 200_000.0;
            assert!(
                (mean_s / kind.think_mean_s() - 1.0).abs() < 0.01,
                "{kind:?} {mean_s}"
            );
            let longest_s = drawn.iter().copied().fold(0.0, f64::max);
            assert_eq!(longest_s, 10.0 * kind.think_mean_s());
        }
    }

    /// Cycle from which follow the most new orders that a warehouse's ten users can enter: 476 s for 23 cards.
    #[test]
    fn golden_pace() {
        let share = |kind: Kind| kind.cards() as f64 / CARDS as f64;
        let cycle_s = Kind::pause_mean_s();
        let per_min = 10.0 * 60.0 / cycle_s * share(Kind::NewOrder);
        assert!((cycle_s - 476.0 / 23.0).abs() < 1e-9, "{cycle_s}");
        assert!((per_min - 12.605).abs() < 1e-3, "{per_min}");
    }
}
