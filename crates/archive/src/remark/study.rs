//! Studies: what is unsound in a published protocol that is repeated as it stands.

macro_rules! study {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Published protocol: each value is measured once.
MeasuredOnce => "each value is measured once: its noise is unknown, and no interval can be given";
/// Published protocol: one side is measured as a whole before the other.
SidesInSequence { first: String, second: String } =>
    "{first} is measured as a whole before {second}: whatever else changes in between is in the difference";
/// Published protocol: levels are measured in a fixed, rising order.
OrderFixed { levels: String } =>
    "{levels} are measured in a fixed, rising order: a drift, and what one leaves in memory or on disk for the next, looks like an effect";
/// Published protocol: what the document does not tell, and what is taken instead.
ProtocolUntold { what: String, taken: String } => "the document does not tell {what}; here: {taken}";
/// A doubt that belongs to a published figure, as its reference has it.
PublishedDoubt { doubt: String } => "{doubt}";

    } };
}
